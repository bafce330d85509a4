//! The store fulfils the contract of stores, behaviour by behaviour, and serves what it holds.

use std::process::Command;
use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::pattern::PatternStore;
use own_store::QuadMap;
use oxrdf::Quad;

graph_store::contract_tests!(store);

fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
    let mut data = QuadMap::default();
    data.extend(quads.iter().cloned());
    Arc::new(PatternStore::new(data))
}

#[test]
fn all_behaviours_at_once() {
    graph_store::contract::run(&store);
}

#[test]
fn the_program_prints_the_answer() {
    let output = Command::new(env!("CARGO_BIN_EXE_own-store")).output();
    let output = output.expect("the program runs");
    let expected = "{\"data\":{\"book\":[\
        {\"name\":\"Dune\",\"pages\":612,\"author\":{\"name\":\"Frank Herbert\",\
        \"wrote\":[{\"name\":\"Dune\"},{\"name\":\"Dune Messiah\"}]}},\
        {\"name\":\"Emma\",\"pages\":474,\"author\":{\"name\":\"Jane Austen\",\
        \"wrote\":[{\"name\":\"Emma\"}]}}]}}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(output.status.success());
}
