//! Which of several choices is made: mostly the one that was made least.
//!
//! What was chosen is forgotten from seed to seed, so that a seed means the same case whatever ran
//! before. Where counts are equal the seed decides which choice comes first, and consecutive seeds
//! begin at places that spread evenly over all choices.

use std::collections::HashMap;

use crate::differential::coverage::{FilterDepth, Operand};

/// Seeds after which a schema holds the same ranges again.
pub(crate) const PERIOD: u64 = 8;

/// What was chosen so far.
#[derive(Debug)]
pub(crate) struct Steering {
    /// Where the choices of this seed begin, as a part of all.
    start: f64,
    chosen: HashMap<(Operand, bool, FilterDepth, &'static str), usize>,
    totals: HashMap<(Operand, bool, FilterDepth), usize>,
}

impl Steering {
    pub(crate) fn new(seed: u64) -> Self {
        let golden = 0.618_033_988_749_894_9;
        #[expect(clippy::cast_precision_loss, reason = "seeds are small")]
        let turn = (seed / PERIOD) as f64;
        Steering {
            start: (turn * golden).fract(),
            chosen: HashMap::new(),
            totals: HashMap::new(),
        }
    }

    /// The option that was chosen least.
    pub(super) fn rarest(
        &self,
        operand: Operand,
        multiple: bool,
        place: FilterDepth,
        options: &[&'static str],
    ) -> &'static str {
        #[expect(clippy::cast_precision_loss, reason = "there are few options")]
        let key = |(at, option): (usize, &&'static str)| {
            let count = self.chosen.get(&(operand, multiple, place, *option));
            let turn = (at as f64 / options.len() as f64 + self.start).fract();
            count.copied().unwrap_or_default() as f64 + turn
        };
        let keys = options
            .iter()
            .enumerate()
            .map(|option| (key(option), *option.1));
        let least = keys.min_by(|(a, _), (b, _)| a.total_cmp(b));
        least.expect("there are options").1
    }

    pub(super) fn count(
        &mut self,
        operand: Operand,
        multiple: bool,
        place: FilterDepth,
        option: &'static str,
    ) {
        let key = (operand, multiple, place, option);
        *self.chosen.entry(key).or_default() += 1;
        *self.totals.entry((operand, multiple, place)).or_default() += 1;
    }

    /// How often anything was chosen for an operand.
    pub(super) fn total(&self, operand: Operand, multiple: bool, place: FilterDepth) -> usize {
        let key = (operand, multiple, place);
        self.totals.get(&key).copied().unwrap_or_default()
    }
}
