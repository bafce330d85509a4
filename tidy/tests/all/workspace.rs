//! This workspace is laid out as `ARCHITECTURE.md` says.

use std::path::Path;

#[test]
fn crates_and_modules_depend_on_each_other_as_the_architecture_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let findings = tidy::check(root);
    let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "\n\n{}\n\n", texts.join("\n\n"));
}
