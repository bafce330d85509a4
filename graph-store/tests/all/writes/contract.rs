//! Servers fulfil the contract of stores that can be written to, but for two behaviours: queries over all
//! graphs read the change graph too (`no_answer_has_records`), and writers need a runtime, which the threads
//! of `no_two_transactions_go_by_the_same_data` do not have; `isolation` checks that one here.

use std::sync::OnceLock;

use graph_store::contract::behaviour;
use tokio::runtime::Runtime;

use crate::back_end::{Kind, Shared};

/// Makes a test of each behaviour over each kind of server.
macro_rules! over_every_writer {
    ($($behaviour:ident)*) => {
        mod in_process {
            $(#[test] fn $behaviour() { super::check(super::Kind::RemoteApart, stringify!($behaviour)); })*
        }
        mod rdf4j {
            $(#[test]
            #[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
            fn $behaviour() { super::check(super::Kind::Rdf4j { infers: false }, stringify!($behaviour)); })*
        }
        mod fuseki {
            $(#[test]
            #[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
            fn $behaviour() { super::check(super::Kind::Fuseki, stringify!($behaviour)); })*
        }
    };
}

over_every_writer! {
    a_commit_is_seen_as_a_whole_with_its_record
    a_transaction_without_commit_leaves_nothing
    a_view_shows_what_was_applied_and_nobody_else_sees_it
    removals_name_their_graph
    quads_that_exist_or_do_not_change_nothing
    quads_are_found_by_each_pattern
    quads_of_many_patterns_come_once
    quads_are_seen_as_they_were_changed
    waiting_for_a_turn_ends_with_the_deadline_or_cancellation
    nothing_is_written_after_the_deadline
    sequences_ascend_by_one
    records_say_what_their_writer_said
    records_are_found_by_request_and_by_key
    forgotten_records_are_gone_and_the_sequence_goes_on
    no_listing_has_records
}

fn check(kind: Kind, name: &str) {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().unwrap());
    let _entered = runtime.enter();
    let shared = Shared::new(kind);
    behaviour(name).check(&|quads| {
        shared.load(quads);
        shared.instance()
    });
}
