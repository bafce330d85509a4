//! CONTRIBUTING.md lists the commands of the checks; `.ci/run` runs them, on what they need as it is committed.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// Returns the commands of a shell script, each as one line.
fn commands(script: &str) -> Vec<String> {
    let joined = script.replace("\\\n", " ");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_command =
        |line: &String| !line.is_empty() && !line.starts_with('#') && !line.starts_with("step ");
    joined.lines().map(words).filter(is_command).collect()
}

#[test]
fn contributing_lists_the_commands_that_are_run_for_every_change() {
    let (script, text) = (read(".ci/run"), read("CONTRIBUTING.md"));
    let (_, run) = script.split_once("\n# --- checks ---\n").unwrap();
    let (_, section) = text.split_once("\n## Checks\n").unwrap();
    let (_, block) = section.split_once("```sh\n").unwrap();
    let (listed, _) = block.split_once("```").unwrap();
    let listed = commands(listed);
    assert!(listed.iter().any(|line| line.contains("test-all.sh")));
    assert_eq!(listed, commands(run));
}

/// The programs outside of the workspace are built with `--locked`, and have the members of the workspace in
/// locks of their own. What has not been downloaded is not found here; a lock that is out of date is.
#[test]
fn the_locks_of_the_programs_outside_of_the_workspace_are_up_to_date() {
    let run = read(".ci/run");
    let manifests: Vec<&str> = run
        .split_whitespace()
        .filter(|word| word.ends_with("/Cargo.toml"))
        .collect();
    assert!(!manifests.is_empty());
    for manifest in manifests {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--offline", "--format-version=1"])
            .arg("--manifest-path")
            .arg(root().join(manifest))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !errors.contains("the lock file"),
            "{manifest}: cargo update --workspace --manifest-path {manifest} --offline\n{errors}"
        );
    }
}
