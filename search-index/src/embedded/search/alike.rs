//! Terms that are a few typing errors away from another, found by an automaton that is worked out while
//! terms are read.
//!
//! A table of all states would be quicker to go through, and takes milliseconds and megabytes to make for a
//! long term. A state here is a few bytes: the positions of the term that are reached with each number of
//! errors. As many characters as were read, they are no further from each other than the errors allow.

use tantivy_fst::Automaton;

use super::pattern::Pattern;

/// Maximum number of errors.
pub(super) const MAX_EDITS: u8 = 2;

/// Numbers of errors, none among them.
const ROWS: usize = MAX_EDITS as usize + 1;

/// Terms that begin as a term does, and go on with few errors.
pub(super) struct Alike {
    prefix: Vec<u8>,
    rest: Vec<char>,
    edits: usize,
    transpositions: bool,
}

impl Alike {
    /// Takes the terms with up to `edits` errors behind the first `prefix` characters.
    pub(super) fn new(term: &str, prefix: usize, edits: u8, transpositions: bool) -> Self {
        let split = term
            .char_indices()
            .nth(prefix)
            .map_or(term.len(), |(at, _)| at);
        let (prefix, rest) = term.split_at(split);
        Alike {
            prefix: prefix.as_bytes().to_vec(),
            rest: rest.chars().collect(),
            edits: edits.clamp(1, MAX_EDITS).into(),
            transpositions,
        }
    }

    /// Returns the number of errors of a term; `None` for one that does not match.
    pub(super) fn errors(&self, term: &[u8]) -> Option<u8> {
        let rest = term.strip_prefix(self.prefix.as_slice())?;
        let bytes = rest.iter();
        let end = bytes.fold(self.beginning(), |reached, byte| self.read(reached, *byte));
        self.errors_at(&end)
    }

    fn beginning(&self) -> Reached {
        let mut rows = [0; ROWS];
        for (errors, row) in rows.iter_mut().enumerate().take(self.edits + 1) {
            // Characters of the term that are not there.
            *row = 1 << (self.edits + errors);
        }
        let mut reached = Reached {
            read: 0,
            rows,
            swapped: [0; ROWS],
            character: 0,
            missing: 0,
        };
        self.cut(&mut reached);
        reached
    }

    /// Returns the bits of all positions, those behind the end of the term not among them.
    fn positions(&self, read: u32) -> u8 {
        let widest = 2 * self.edits + 1;
        let last = (self.rest.len() + self.edits).checked_sub(read as usize);
        match last {
            Some(last) => ((1_u32 << (last + 1).min(widest)) - 1) as u8,
            None => 0,
        }
    }

    fn cut(&self, reached: &mut Reached) {
        let positions = self.positions(reached.read);
        reached.rows.iter_mut().for_each(|row| *row &= positions);
        reached.swapped.iter_mut().for_each(|row| *row &= positions);
    }

    fn read(&self, mut reached: Reached, byte: u8) -> Reached {
        if reached.missing > 0 && byte & 0xc0 == 0x80 {
            reached.character = reached.character << 6 | u32::from(byte & 0x3f);
            reached.missing -= 1;
        } else {
            (reached.character, reached.missing) = match byte {
                0..0x80 => (byte.into(), 0),
                0xf0.. => ((byte & 0x07).into(), 3),
                0xe0.. => ((byte & 0x0f).into(), 2),
                _ => ((byte & 0x1f).into(), 1),
            };
        }
        match reached.missing {
            0 => self.next(reached),
            _ => reached,
        }
    }

    /// Goes on by a whole character.
    fn next(&self, reached: Reached) -> Reached {
        let equal = self.equal(&reached);
        let mut next = Reached {
            read: reached.read.saturating_add(1),
            rows: [0; ROWS],
            swapped: [0; ROWS],
            character: 0,
            missing: 0,
        };
        next.rows[0] = reached.rows[0] & equal;
        for errors in 1..=self.edits {
            let fewer = reached.rows[errors - 1];
            // The character is right, another one, or too much; one of the term is not there.
            next.rows[errors] =
                reached.rows[errors] & equal | fewer | fewer >> 1 | next.rows[errors - 1] << 1;
            if self.transpositions {
                next.rows[errors] |= (reached.swapped[errors] & equal) << 1;
                next.swapped[errors] = (fewer & equal >> 1) >> 1;
            }
        }
        self.cut(&mut next);
        next
    }

    /// Returns the positions at which the term has the character that was read, and one more.
    fn equal(&self, reached: &Reached) -> u8 {
        let first = reached.read as usize;
        let (start, shift) = match first.checked_sub(self.edits) {
            Some(start) => (start, 0),
            None => (0, self.edits - first),
        };
        let width = 2 * self.edits + 2 - shift;
        let window = self
            .rest
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take(width)
            .enumerate();
        window.fold(0, |equal, (at, character)| {
            equal | u8::from(u32::from(*character) == reached.character) << (at + shift)
        })
    }

    /// Returns the least number of errors of a term that ends here.
    fn errors_at(&self, reached: &Reached) -> Option<u8> {
        let end = (self.rest.len() + self.edits).checked_sub(reached.read as usize)?;
        if reached.missing > 0 || end > 2 * self.edits {
            return None;
        }
        let rows = reached.rows.iter().take(self.edits + 1);
        let found = rows.enumerate().find(|(_, row)| *row >> end & 1 == 1);
        found.map(|(errors, _)| errors as u8)
    }
}

/// Which positions of a term are reached by what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// Characters that were read.
    read: u32,
    /// Positions by the number of errors; the bit in the middle stands for `read`.
    rows: [u8; ROWS],
    /// Positions at which the last character stands one place further: the next one has to be the one that it
    /// has changed places with.
    swapped: [u8; ROWS],
    /// The bits so far of a character of several bytes.
    character: u32,
    /// Bytes of the character that are missing.
    missing: u8,
}

impl Reached {
    fn is_anywhere(&self) -> bool {
        self.rows.iter().chain(&self.swapped).any(|row| *row != 0)
    }
}

/// Where a term is.
#[derive(Clone, Copy)]
pub(super) enum AlikeState {
    /// So many bytes of the prefix fit.
    Prefix(usize),
    /// Behind the prefix.
    Rest(Reached),
    /// The prefix is another one.
    Nowhere,
}

impl Automaton for Pattern<'_, Alike> {
    type State = AlikeState;

    fn start(&self) -> AlikeState {
        match self.pattern.prefix.len() {
            0 => AlikeState::Rest(self.pattern.beginning()),
            _ => AlikeState::Prefix(0),
        }
    }

    fn is_match(&self, state: &AlikeState) -> bool {
        match state {
            AlikeState::Prefix(_) | AlikeState::Nowhere => false,
            AlikeState::Rest(reached) => self.pattern.errors_at(reached).is_some(),
        }
    }

    fn can_match(&self, state: &AlikeState) -> bool {
        !self.is_stopped()
            && match state {
                AlikeState::Prefix(_) => true,
                AlikeState::Rest(reached) => reached.is_anywhere(),
                AlikeState::Nowhere => false,
            }
    }

    fn accept(&self, state: &AlikeState, byte: u8) -> AlikeState {
        self.count();
        let alike = self.pattern;
        match *state {
            AlikeState::Prefix(at) if alike.prefix[at] != byte => AlikeState::Nowhere,
            AlikeState::Prefix(at) if at + 1 == alike.prefix.len() => {
                AlikeState::Rest(alike.beginning())
            }
            AlikeState::Prefix(at) => AlikeState::Prefix(at + 1),
            AlikeState::Rest(reached) => AlikeState::Rest(alike.read(reached, byte)),
            AlikeState::Nowhere => AlikeState::Nowhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use call_context::{CallContext, CallError};
    use levenshtein_automata::{Distance, LevenshteinAutomatonBuilder};
    use proptest::prelude::*;
    use tantivy_fst::{Automaton, IntoStreamer, Map, Streamer};

    use super::{Alike, Pattern};
    use crate::embedded::search::pattern::IgnoringCase;
    use crate::embedded::search::watch::Watch;
    use crate::engine::EngineError;

    /// Words of few letters, of one to four bytes each, so that many of them are alike.
    fn word() -> impl Strategy<Value = String> {
        let letters = prop::sample::select(vec!['a', 'b', 'c', 'é', '語', '𝄞']);
        prop::collection::vec(letters, 0..9).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn errors_are_those_of_the_table_of_all_states(
            term in word(), other in word(), edits in 1_u8..=2, transpositions: bool,
        ) {
            let builder = LevenshteinAutomatonBuilder::new(edits, transpositions);
            let expected = match builder.build_dfa(&term).eval(&other) {
                Distance::Exact(errors) => Some(errors),
                Distance::AtLeast(_) => None,
            };
            let alike = Alike::new(&term, 0, edits, transpositions);
            prop_assert_eq!(alike.errors(other.as_bytes()), expected);
        }
    }

    #[test]
    fn a_long_term_is_compared_without_a_table() {
        let term = "ab".repeat(5_000);
        let alike = Alike::new(&term, 3, 2, true);
        assert_eq!(alike.errors(term.as_bytes()), Some(0));
        assert_eq!(alike.errors(&term.as_bytes()[..9_998]), Some(2));
        assert_eq!(alike.errors(&term.as_bytes()[..9_997]), None);
        let swapped = format!("{}ba{}", &term[..4_000], &term[4_002..]);
        assert_eq!(alike.errors(swapped.as_bytes()), Some(1));
        // The prefix has to be the same.
        assert_eq!(alike.errors(format!("x{}", &term[1..]).as_bytes()), None);
    }
    /// Returns how many of 10,000 terms a walk finds.
    fn found(automaton: impl Automaton) -> usize {
        let terms = (0..10_000_u64).map(|at| (format!("t{at:04}"), at));
        let terms = Map::from_iter(terms).expect("they are in order");
        let mut stream = terms.search(automaton).into_stream();
        std::iter::from_fn(|| stream.next().map(|_| ())).count()
    }

    #[test]
    fn a_walk_through_a_dictionary_ends_once_nobody_waits() {
        let alike = Alike::new("t1234", 0, 2, true);
        let nothing = Alike::new("8888888888888888888", 0, 2, true);
        let any_case = IgnoringCase::new("T", true);
        let by_errors = |pattern: &Alike, context: CallContext| {
            let watch = &Watch::new(context, 0);
            (found(Pattern { pattern, watch }), watch.outcome())
        };
        let by_case = |pattern: &IgnoringCase, context: CallContext| {
            let watch = &Watch::new(context, 0);
            (found(Pattern { pattern, watch }), watch.outcome())
        };
        let live = CallContext::new;
        let cancelled = || {
            let context = live();
            context.cancellation.cancel();
            context
        };
        let late = || live().with_deadline(std::time::Instant::now());
        assert!(matches!(by_case(&any_case, live()), (10_000, Ok(()))));
        let (found, whole) = by_errors(&alike, live());
        assert!(found > 100 && whole.is_ok());
        for (found, ended) in [
            by_errors(&alike, cancelled()),
            by_case(&any_case, cancelled()),
        ] {
            assert!(found < 1_000, "{found}");
            assert!(matches!(
                ended,
                Err(EngineError::Call(CallError::Cancelled))
            ));
        }
        let (_, ended) = by_case(&any_case, late());
        assert!(matches!(ended, Err(EngineError::Call(CallError::Deadline))));
        // What finds nothing ends too.
        assert!(matches!(by_errors(&nothing, cancelled()), (0, _)));
    }
}
