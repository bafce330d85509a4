//! Every kind of store fulfils the contract of `GraphStore`: a test of each behaviour over each.

mod batches;
mod broken;
mod fixed;
mod image;
mod long_work;
mod malformed;
mod pages;
mod pattern;
mod tree;

use std::sync::OnceLock;

use graph_store::contract::behaviour;
use tokio::runtime::Runtime;

use crate::back_end::{BackEnd, Kind};

/// Makes a test of each behaviour over each kind of store.
macro_rules! over_every_store {
    ([] $($room:ident::$behaviour:ident)*) => {
        mod written_image {
            $(#[test]
            fn $behaviour() { super::check(super::Kind::WrittenImage, stringify!($behaviour)); })*
        }
        mod remote {
            $(#[test] fn $behaviour() { super::check(super::Kind::Remote, stringify!($behaviour)); })*
        }
        mod remote_apart {
            $(#[test] fn $behaviour() { super::check(super::Kind::RemoteApart, stringify!($behaviour)); })*
        }
        mod rdf4j {
            $(#[test]
            #[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
            fn $behaviour() { super::check(super::Kind::Rdf4j { infers: false }, stringify!($behaviour)); })*
        }
        mod fuseki {
            $(#[test]
            #[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
            fn $behaviour() { super::check(super::Kind::Fuseki, stringify!($behaviour)); })*
        }
    };
}

graph_store::__each_behaviour!(over_every_store![]);

/// Makes a test of each behaviour of stores that can be written to over each kind of them.
macro_rules! over_every_writer {
    ([] $($room:ident::$behaviour:ident)*) => {
        mod image_writes {
            $(#[test] fn $behaviour() { super::check(super::Kind::Image, stringify!($behaviour)); })*
        }
        mod folder_writes {
            $(#[test] fn $behaviour() { super::check(super::Kind::Folder, stringify!($behaviour)); })*
        }
    };
}

graph_store::__each_write_behaviour!(over_every_writer![]);

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime starts"))
}

/// Checks a behaviour of a kind of store.
fn check(kind: Kind, name: &str) {
    let _entered = runtime().enter();
    let back_end = BackEnd::new(kind);
    behaviour(name).check(&|quads| {
        back_end.load(quads);
        back_end.graph_store()
    });
}
