//! Patterns of terms, which walk the dictionary and leave out what cannot match.

use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

/// Terms that are equal but for the case of ASCII letters.
pub(super) struct IgnoringCase {
    text: Vec<u8>,
    /// More may follow.
    is_prefix: bool,
}

impl IgnoringCase {
    pub(super) fn new(text: &str, is_prefix: bool) -> Self {
        IgnoringCase {
            text: text.to_ascii_lowercase().into_bytes(),
            is_prefix,
        }
    }
}

/// A pattern that is borrowed, as an automaton.
pub(super) struct Pattern<'p, P>(pub(super) &'p P);

impl Automaton for Pattern<'_, IgnoringCase> {
    /// How many bytes fit; `None` for a term that does not.
    type State = Option<usize>;

    fn start(&self) -> Self::State {
        Some(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        *state == Some(self.0.text.len())
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_some()
    }

    fn will_always_match(&self, state: &Self::State) -> bool {
        self.0.is_prefix && self.is_match(state)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let at = (*state)?;
        match self.0.text.get(at) {
            Some(expected) => (*expected == byte.to_ascii_lowercase()).then_some(at + 1),
            None => self.0.is_prefix.then_some(at),
        }
    }
}

/// Terms that begin as a term does, and go on with few errors.
pub(super) struct Alike {
    prefix: Vec<u8>,
    rest: DFA,
    edits: u8,
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
            rest: builder(edits, transpositions).build_dfa(rest),
            edits,
        }
    }

    /// Returns the number of errors of a term that matches.
    pub(super) fn errors(&self, term: &[u8]) -> u8 {
        let rest = term.get(self.prefix.len()..).unwrap_or_default();
        match self.rest.eval(rest) {
            Distance::Exact(errors) | Distance::AtLeast(errors) => errors,
        }
    }
}

/// Returns the tables of automata, which take a while to make.
fn builder(edits: u8, transpositions: bool) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 4] = [const { OnceLock::new() }; 4];
    let at = usize::from(edits.clamp(1, 2) - 1) * 2 + usize::from(transpositions);
    BUILDERS[at].get_or_init(|| LevenshteinAutomatonBuilder::new(edits.clamp(1, 2), transpositions))
}

/// Where a term is.
#[derive(Clone, Copy)]
pub(super) enum AlikeState {
    /// So many bytes of the prefix fit.
    Prefix(usize),
    /// Behind the prefix.
    Rest(u32),
}

impl Automaton for Pattern<'_, Alike> {
    type State = AlikeState;

    fn start(&self) -> AlikeState {
        match self.0.prefix.len() {
            0 => AlikeState::Rest(self.0.rest.initial_state()),
            _ => AlikeState::Prefix(0),
        }
    }

    fn is_match(&self, state: &AlikeState) -> bool {
        match state {
            AlikeState::Prefix(_) => false,
            AlikeState::Rest(state) => {
                matches!(self.0.rest.distance(*state), Distance::Exact(errors) if errors <= self.0.edits)
            }
        }
    }

    fn can_match(&self, state: &AlikeState) -> bool {
        !matches!(state, AlikeState::Rest(SINK_STATE))
    }

    fn accept(&self, state: &AlikeState, byte: u8) -> AlikeState {
        match *state {
            AlikeState::Prefix(at) if self.0.prefix[at] != byte => AlikeState::Rest(SINK_STATE),
            AlikeState::Prefix(at) if at + 1 == self.0.prefix.len() => {
                AlikeState::Rest(self.0.rest.initial_state())
            }
            AlikeState::Prefix(at) => AlikeState::Prefix(at + 1),
            AlikeState::Rest(state) => AlikeState::Rest(self.0.rest.transition(state, byte)),
        }
    }
}
