//! How much tests with random input run: all of it with `RANDOM_TESTS=full`, a tenth without or with `tenth`.
//!
//! All is for releases and for whoever changes what is tested, the tenth for every change.
//! Inputs follow from seeds, so parts are always the same ones.

/// Returns the number that a variable sets.
pub fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    }
}

/// Returns how many inputs a test runs: what the variable `name` sets, else `full` or a part of it.
pub fn count(name: &str, full: u64) -> u64 {
    let default = match std::env::var("RANDOM_TESTS").as_deref() {
        Ok("full") => full,
        Ok("tenth") | Err(std::env::VarError::NotPresent) => full.div_ceil(10),
        other => panic!("RANDOM_TESTS is `full`, `tenth` or not set: {other:?}"),
    };
    setting(name, default)
}
