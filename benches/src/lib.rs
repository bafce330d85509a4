//! What the platform is measured with: generated university data, the LinGBM query templates over
//! it, and what runs and times them. How to run it and what the numbers mean is in the README.

pub mod bound;
pub mod drive;
pub mod edge;
pub mod embedded;
pub mod embedded_http;
pub mod floor;
pub mod gateway;
pub mod generator;
pub mod http;
pub mod log;
pub mod log_line;
pub mod measure;
pub mod page_after_write;
pub mod pages;
pub mod process;
pub mod random;
pub mod remote;
pub mod search;
pub mod soak;
pub mod tokens;
pub mod values;
pub mod workload;
pub mod writes;

pub use generator::SCHEMA;
