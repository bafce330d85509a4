//! The memory that JSON values take.
//!
//! An object with one member takes six hundred bytes and more, whatever its text: objects are hash tables with room
//! for three members at least.

use apollo_compiler::response::serde_json_bytes::ByteString;
use apollo_compiler::response::{JsonMap, JsonValue};
use call_context::memory::allocated;

/// Bytes of a value itself, without what it leads to.
const VALUE: usize = size_of::<JsonValue>();

/// Bytes of a member of an object: its hash, key and value.
const MEMBER: usize = size_of::<u64>() + size_of::<ByteString>() + VALUE;

/// Bytes by which a text that two values share is counted: three words.
const SHARED: usize = 3 * size_of::<usize>();

/// Which values are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Values as they were read.
    Read,
    /// A copy of them, which shares their texts.
    Copy,
}

/// Returns about how many bytes the members of an object take.
pub(super) fn of_members(members: &JsonMap, counted: Counted) -> usize {
    let each = members.iter().map(|(key, value)| {
        let key = of_text(key.as_str(), counted);
        key + of_parts(value, counted)
    });
    table(members.len()) + each.sum::<usize>()
}

/// Returns about how many bytes a value leads to.
fn of_parts(value: &JsonValue, counted: Counted) -> usize {
    match value {
        JsonValue::String(text) => of_text(text.as_str(), counted),
        JsonValue::Array(items) => {
            let room = match counted {
                Counted::Read => items.capacity(),
                // Items of a copy come one by one, so its room was doubled whenever it was full.
                Counted::Copy => match items.len() {
                    0 => 0,
                    length => length.next_power_of_two().max(4),
                },
            };
            let each = items.iter().map(|item| of_parts(item, counted));
            allocated(room * VALUE) + each.sum::<usize>()
        }
        JsonValue::Object(members) => of_members(members, counted),
        JsonValue::Null | JsonValue::Bool(_) | JsonValue::Number(_) => 0,
    }
}

fn of_text(text: &str, counted: Counted) -> usize {
    match (counted, text.len()) {
        (_, 0) => 0,
        (Counted::Read, length) => allocated(length),
        (Counted::Copy, _) => allocated(SHARED),
    }
}

/// Returns the bytes of a hash table with as many members: an index of buckets, seven of eight used at most, and the
/// members.
fn table(members: usize) -> usize {
    let buckets = match members {
        0 => return 0,
        1..4 => 4,
        4..8 => 8,
        many => (many * 8).div_ceil(7).next_power_of_two(),
    };
    let room = if buckets <= 8 {
        buckets - 1
    } else {
        buckets / 8 * 7
    };
    let index = buckets * (size_of::<usize>() + 1) + 16;
    allocated(index) + allocated(room * MEMBER)
}
