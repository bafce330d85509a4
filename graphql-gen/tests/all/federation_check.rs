//! Subgraph schemas before other implementations of federation.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs Node and npm: see CONTRIBUTING.md"]
fn other_implementations_accept_all_subgraph_schemas() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/check-federation.sh");
    let run = Command::new("bash").arg(&script).output();
    let run = run.unwrap_or_else(|error| panic!("bash cannot run {}: {error}", script.display()));
    let said = [run.stdout, run.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    println!("{}", said[0]);
    assert!(run.status.success(), "{}\n{}", said[0], said[1]);
}
