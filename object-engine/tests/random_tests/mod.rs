//! How much tests with random input run: all of it with `RANDOM_TESTS=full`, a third with `third`, a tenth without.
//!
//! The full numbers are for whoever changes what is tested, the third for the checks of every change, the tenth for the
//! many runs until then. Inputs follow from seeds, so parts are always the same ones.

/// Returns the number that a variable sets.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    }
}

/// Returns how many inputs a test runs: what the variable `name` sets, else `full` or a part of it.
pub(crate) fn count(name: &str, full: u64) -> u64 {
    let default = match std::env::var("RANDOM_TESTS").as_deref() {
        Ok("full") => full,
        Ok("third") => full.div_ceil(3),
        Err(std::env::VarError::NotPresent) => full.div_ceil(10),
        other => panic!("RANDOM_TESTS is `full`, `third` or not set: {other:?}"),
    };
    setting(name, default)
}
