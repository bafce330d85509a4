//! The order of documents.

use std::cmp::Ordering;

use search_index::dsl::{FieldSort, Missing, Sort, SortMode, Value};
use search_index::mapping::IntegerType;

use super::fields::{Fields, Kind};
use super::tree::{Cell, Node};

/// The value of a sort key; `None` for a missing keyword.
pub(crate) type Key = Option<Cell>;

/// Returns the values of the sort keys of a document.
pub(crate) fn keys(node: &Node, score: f32, sort: &[Sort], fields: &Fields) -> Vec<Key> {
    let key = |sort: &Sort| match sort {
        Sort::Score { .. } => Some(Cell::Double(score.into())),
        Sort::Field(by) => {
            let kind = &fields[&by.field].kind;
            by_field(node, by, kind).or_else(|| for_missing(by, kind))
        }
    };
    sort.iter().map(key).collect()
}

/// Compares documents by the values of their sort keys.
pub(crate) fn compare(a: &[Key], b: &[Key], sort: &[Sort]) -> Ordering {
    let each = sort.iter().zip(a).zip(b);
    let orders = each.map(|((sort, a), b)| match (a, b) {
        (Some(a), Some(b)) if is_descending(sort) => b.order(a),
        (Some(a), Some(b)) => a.order(b),
        (a, b) if missing(sort) == Missing::First => a.is_some().cmp(&b.is_some()),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// Reads the values of `search_after`.
pub(crate) fn after(values: &[Option<Value>], sort: &[Sort], fields: &Fields) -> Vec<Key> {
    let key = |(value, sort): (&Option<Value>, &Sort)| {
        let value = value.as_ref()?;
        let kind = match sort {
            Sort::Score { .. } => &Kind::Double,
            Sort::Field(by) => &fields[&by.field].kind,
        };
        Some(match (kind, value) {
            (Kind::Double, Value::Text(text)) => Cell::Double(text.parse().expect("a number")),
            (_, Value::Text(text)) => Cell::Text(text.clone()),
            (_, Value::Double(number)) => Cell::Double(*number),
            (_, Value::Integer(number)) => Cell::Integer((*number).into()),
            (_, Value::Unsigned(number)) => Cell::Integer((*number).into()),
            (_, Value::Boolean(value)) => Cell::Integer((*value).into()),
        })
    };
    values.iter().zip(sort).map(key).collect()
}

/// Returns the value of a sort key in an answer.
pub(crate) fn shown(key: Key) -> Option<Value> {
    match key? {
        Cell::Double(number) if number == f64::INFINITY => Some("Infinity".into()),
        Cell::Double(number) if number == f64::NEG_INFINITY => Some("-Infinity".into()),
        cell => Some(cell.value()),
    }
}

fn is_descending(sort: &Sort) -> bool {
    match sort {
        Sort::Score { ascending } => !ascending,
        Sort::Field(by) => by.descending,
    }
}

fn missing(sort: &Sort) -> Missing {
    match sort {
        Sort::Score { .. } => Missing::Last,
        Sort::Field(by) => by.missing,
    }
}

fn by_field(node: &Node, by: &FieldSort, kind: &Kind) -> Option<Cell> {
    let cells: Vec<Cell> = match &by.nested {
        None => node.cells(&by.field).to_vec(),
        Some(level) => {
            let inside = node.inside(level);
            let of_each = inside.iter().map(|child| child.cells(&by.field));
            of_each.flatten().cloned().collect()
        }
    };
    let default = if by.descending {
        SortMode::Max
    } else {
        SortMode::Min
    };
    let least = cells.iter().min_by(|a, b| a.order(b))?.clone();
    let greatest = cells.iter().max_by(|a, b| a.order(b))?.clone();
    let chosen = match (by.mode.unwrap_or(default), kind) {
        (SortMode::Min, _) => least,
        (SortMode::Max, _) => greatest,
        (mode, Kind::Double) => Cell::Double(of_doubles(mode, &cells)),
        (mode, Kind::Instant) => Cell::Integer(of_integers(mode, &cells, false).into()),
        (mode, Kind::Integer(ty)) => {
            let chosen = of_integers(mode, &cells, *ty == IntegerType::UnsignedLong);
            Cell::Integer(match ty {
                IntegerType::UnsignedLong => (chosen as u64).into(),
                _ => chosen.into(),
            })
        }
        (mode, kind) => panic!("{mode:?} of {kind:?}"),
    };
    Some(match chosen {
        // Booleans are sorted as numbers.
        Cell::Boolean(value) => Cell::Integer(value.into()),
        chosen => chosen,
    })
}

fn of_doubles(mode: SortMode, cells: &[Cell]) -> f64 {
    let number = |cell: &Cell| match cell {
        Cell::Double(number) => *number,
        other => panic!("{other:?} is no double"),
    };
    let numbers: Vec<f64> = cells.iter().map(number).collect();
    let sum: f64 = numbers.iter().sum();
    let (count, middle) = (numbers.len() as f64, numbers.len() / 2);
    match mode {
        SortMode::Sum => sum,
        SortMode::Avg => sum / count,
        _ if numbers.len() % 2 == 1 => numbers[middle],
        _ => f64::midpoint(numbers[middle - 1], numbers[middle]),
    }
}

/// Works out an integer of 64 bits; sums lose their upper bits before means are worked out.
fn of_integers(mode: SortMode, cells: &[Cell], is_unsigned: bool) -> i64 {
    let number = |cell: &Cell| match cell {
        Cell::Integer(number) => *number as i64,
        other => panic!("{other:?} is no integer"),
    };
    let numbers: Vec<i64> = cells.iter().map(number).collect();
    let wrapping = |numbers: &[i64]| numbers.iter().fold(0_i64, |sum, n| sum.wrapping_add(*n));
    // Unsigned integers are divided as integers, all others as floating-point numbers; halves go up.
    let mean = |sum: i64, double: f64, count: usize| {
        if is_unsigned {
            ((u128::from(sum as u64) * 2 + count as u128) / (2 * count as u128)) as i64
        } else {
            let mean = double / count as f64;
            (mean.floor()
                + if mean.fract().rem_euclid(1.0) >= 0.5 {
                    1.0
                } else {
                    0.0
                }) as i64
        }
    };
    let (sum, count, middle) = (wrapping(&numbers), numbers.len(), numbers.len() / 2);
    match mode {
        SortMode::Sum => sum,
        SortMode::Avg if count == 1 => sum,
        SortMode::Avg => mean(sum, sum as f64, count),
        _ if count % 2 == 1 => numbers[middle],
        _ => {
            let (one, other) = (numbers[middle - 1], numbers[middle]);
            mean(one.wrapping_add(other), one as f64 + other as f64, 2)
        }
    }
}

/// Returns what a number that is missing is sorted as: the end of what the engine sorts by.
fn for_missing(by: &FieldSort, kind: &Kind) -> Option<Cell> {
    let is_greatest = (by.missing == Missing::Last) != by.descending;
    let end = |least: i128, greatest: i128| {
        Some(Cell::Integer(if is_greatest { greatest } else { least }))
    };
    match kind {
        Kind::Text(_) | Kind::Keyword => None,
        Kind::Double if is_greatest => Some(Cell::Double(f64::INFINITY)),
        Kind::Double => Some(Cell::Double(f64::NEG_INFINITY)),
        Kind::Integer(IntegerType::UnsignedLong) => end(0, u64::MAX.into()),
        Kind::Instant | Kind::Integer(IntegerType::Long) => end(i64::MIN.into(), i64::MAX.into()),
        // Sums have 64 bits.
        Kind::Integer(_) if by.mode == Some(SortMode::Sum) => end(i64::MIN.into(), i64::MAX.into()),
        // Whatever is shorter is sorted with 32 bits.
        Kind::Boolean | Kind::Integer(_) => end(i32::MIN.into(), i32::MAX.into()),
    }
}
