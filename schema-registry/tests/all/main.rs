//! Behaviours of all stores of schemas.

mod local;
