//! Which form of SPARQL is the fastest for a template.

use std::time::{Duration, Instant};

use oxigraph::store::Store;

use super::{DriveError, failed};
use crate::workload::{Form, Instance, Template, write_json};

/// Turns in which forms are compared.
const TURNS: u32 = 4;
/// A form that takes so many times as long as the best one is given up.
const GIVE_UP: u32 = 4;

/// Returns the form that takes the least time for all instances.
///
/// Some forms take minutes over large data: each is tried with one instance first, and given up
/// when it takes much longer than the best.
pub(crate) fn fastest(
    store: &Store,
    template: &'static Template,
    drawn: &[Instance],
) -> Result<&'static Form, DriveError> {
    let mut forms = Vec::new();
    let first = &drawn[..drawn.len().min(1)];
    for form in template.forms {
        let time = least(store, template, form, first, Duration::MAX)?;
        forms.push((time, form));
    }
    forms.sort_by_key(|(first, _)| *first);
    let mut fastest: Option<(Duration, &Form)> = None;
    for (_, form) in forms {
        let bound = fastest.map_or(Duration::MAX, |(least, _)| least * GIVE_UP);
        let least = least(store, template, form, drawn, bound)?;
        if fastest.is_none_or(|(time, _)| least < time) {
            fastest = Some((least, form));
        }
    }
    Ok(fastest.expect("every template has a form").1)
}

/// Returns the least time that a form takes for some instances, in a few turns, or the time
/// after which it was given up.
fn least(
    store: &Store,
    template: &'static Template,
    form: &'static Form,
    drawn: &[Instance],
    bound: Duration,
) -> Result<Duration, DriveError> {
    let mut least = Duration::MAX;
    let mut out = Vec::new();
    for _ in 0..TURNS {
        let start = Instant::now();
        for instance in drawn {
            out.clear();
            write_json(store, form, instance, &mut out)
                .map_err(|source| failed(template, form, source))?;
            if start.elapsed() > bound {
                return Ok(start.elapsed());
            }
        }
        least = least.min(start.elapsed());
    }
    Ok(least)
}
