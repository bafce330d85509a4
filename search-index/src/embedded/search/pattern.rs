//! Patterns of terms, which walk the dictionary and leave out what cannot match.

use tantivy_fst::Automaton;

use super::watch::Watch;

/// A pattern that is borrowed, as an automaton. It matches nothing more once the search must end.
pub(super) struct Pattern<'p, P> {
    pub(super) pattern: &'p P,
    pub(super) watch: &'p Watch,
}

impl<P> Pattern<'_, P> {
    /// Counts a step of the walk.
    pub(super) fn count(&self) {
        self.watch.goes_on(1);
    }

    /// Returns whether the search must end.
    pub(super) fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }
}

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

impl Automaton for Pattern<'_, IgnoringCase> {
    /// How many bytes fit; `None` for a term that does not.
    type State = Option<usize>;

    fn start(&self) -> Self::State {
        Some(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        *state == Some(self.pattern.text.len())
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_some() && !self.is_stopped()
    }

    fn will_always_match(&self, state: &Self::State) -> bool {
        self.pattern.is_prefix && self.is_match(state) && !self.is_stopped()
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        self.count();
        let at = (*state)?;
        match self.pattern.text.get(at) {
            Some(expected) => (*expected == byte.to_ascii_lowercase()).then_some(at + 1),
            None => self.pattern.is_prefix.then_some(at),
        }
    }
}
