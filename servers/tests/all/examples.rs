//! The examples of the pages, run in a shell: blocks of the language `console`.
//!
//! A line that begins with `$ ` is a command; what follows it is what it prints, on standard output
//! and standard error alike. `UPDATE_EXPECT=1` rewrites what is printed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::command_line::out;
use crate::processes;

const OPENING: &str = "```console\n";
const CLOSING: &str = "```\n";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Runs a command in a folder; returns what it prints.
pub(crate) fn run_in(folder: &Path, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_soml")).parent().unwrap();
    let others = env::var_os("PATH").unwrap();
    let path = [programs.to_owned()]
        .into_iter()
        .chain(env::split_paths(&others));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; {command}")]);
    shell.current_dir(folder);
    shell.env("PATH", env::join_paths(path).unwrap());
    out(&processes::output(&mut shell, b""))
}

/// Returns a block with what its commands print now.
pub(crate) fn rerun(folder: &Path, block: &str) -> String {
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    commands
        .map(|command| format!("$ {command}\n{}", run_in(folder, command)))
        .collect()
}

fn rerun_page(text: &str) -> (String, usize) {
    let folder = docs().join("examples");
    let (mut page, mut rest, mut blocks) = (String::new(), text, 0);
    while let Some((before, after)) = rest.split_once(OPENING) {
        let (block, behind) = after.split_once(CLOSING).unwrap();
        page.push_str(&format!(
            "{before}{OPENING}{}{CLOSING}",
            rerun(&folder, block)
        ));
        rest = behind;
        blocks += 1;
    }
    (page + rest, blocks)
}

#[test]
fn commands_of_the_pages_print_what_is_shown() {
    for name in ["cli.md", "search.md"] {
        let path = docs().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let (page, blocks) = rerun_page(&text);
        assert!(blocks > 0, "{name} has examples");
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, page).unwrap();
        } else {
            assert_eq!(
                page, text,
                "docs/{name} is out of date: run with UPDATE_EXPECT=1"
            );
        }
    }
}
