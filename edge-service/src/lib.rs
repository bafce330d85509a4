#![doc = include_str!("../README.md")]

mod app;
pub mod code;
mod forwarding;
mod health;
mod options;
mod paths;
mod rate;
mod relay;
mod route;
mod throttle;
mod tunnel;
mod upstream;

pub use app::{EdgeApp, EdgeError};
pub use options::{EdgeOptions, RouteAccess, RouteOptions, Target, UpstreamOptions};
pub use rate::Rate;
pub use route::RouteError;
pub use upstream::Hosted;
