//! Numbers that are the same for the same seed, on every platform.

pub(crate) use test_support::random::Random;

fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

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
