//! Numbers that are the same for the same seed, on every platform.

pub(crate) use test_support::random::Random;
use test_support::random::mix;

/// Returns a number that depends on a seed and texts alone.
pub(crate) fn hash(seed: u64, texts: &[&str]) -> u64 {
    let mut value = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    for text in texts {
        for byte in text.bytes() {
            value = mix(value ^ u64::from(byte)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        value = mix(value ^ 0xff00);
    }
    value
}
