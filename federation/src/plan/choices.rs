//! The choices of a candidate, so that others can be tried: a candidate is what its choices make it.

/// Where several ways lead on, which one is taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    /// The choices to make; the first way where there is none.
    given: Vec<usize>,
    /// The choices that were made, and among how many.
    made: Vec<(usize, usize)>,
}

impl Choices {
    /// Repeats choices; beyond them the first way is taken.
    pub(super) fn of(given: Vec<usize>) -> Self {
        Choices {
            given,
            made: Vec::new(),
        }
    }

    /// Chooses one of several ways.
    pub(super) fn choose(&mut self, ways: usize) -> usize {
        if ways <= 1 {
            return 0;
        }
        let given = self.given.get(self.made.len()).copied().unwrap_or(0);
        let chosen = given.min(ways - 1);
        self.made.push((chosen, ways));
        chosen
    }

    /// Returns the next choices in the order of a search that tries everything, the last choice first.
    pub(super) fn next(&self) -> Option<Vec<usize>> {
        let last = self
            .made
            .iter()
            .rposition(|(chosen, ways)| chosen + 1 < *ways)?;
        let mut next: Vec<usize> = self.made[..=last]
            .iter()
            .map(|(chosen, _)| *chosen)
            .collect();
        next[last] += 1;
        Some(next)
    }

    /// Returns the choices that differ from these in one place, and leave open what follows.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        self.made
            .iter()
            .enumerate()
            .flat_map(move |(place, (chosen, ways))| {
                (0..*ways)
                    .filter(move |other| other != chosen)
                    .map(move |other| {
                        let before = self.made[..place].iter().map(|(chosen, _)| *chosen);
                        before.chain([other]).collect()
                    })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_tried_once() {
        let mut seen = Vec::new();
        let mut given = Some(Vec::new());
        while let Some(choices) = given {
            let mut choices = Choices::of(choices);
            let first = choices.choose(2);
            // The second choice depends on the first.
            let second = choices.choose(if first == 0 { 3 } else { 1 });
            seen.push((first, second));
            given = choices.next();
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 0)]);
    }
}
