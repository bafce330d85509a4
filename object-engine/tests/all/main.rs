//! The behaviour of the object service, over every kind of store.

mod access;
mod access_page;
mod aggregates;
#[cfg(feature = "async-graphql")]
mod async_graphql;
mod bounds;
mod cases;
mod chunks;
mod connections;
mod counts;
mod differential;
mod documentation;
mod explain;
mod federation;
mod fixture;
mod guard;
mod hints;
mod hostile;
mod injection;
mod languages;
mod leaks;
mod model;
mod mutations;
mod plans;
mod rights_of_writing;
mod row_rules;
mod star_wars;
mod stores;
mod transactions;
mod type_cast;

use test_support::{back_end, images};
