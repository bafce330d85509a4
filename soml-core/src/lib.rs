//! SOML, the Semantic Objects Modeling Language.

pub mod config;
pub mod datatype;
pub mod lang;
pub mod rbac;
pub mod schema;
pub mod search;
pub mod span;
