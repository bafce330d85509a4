//! CONTRIBUTING.md lists the commands of the checks; `.ci/run` runs them.

use std::path::Path;

fn read(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(file)).unwrap()
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
