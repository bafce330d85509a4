//! What is seen of a load or a dump: findings, and a progress bar on a terminal.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rdf_load::{Finding, LoadObserver, thousands};

use super::{CliError, Console};

/// Findings beyond this number are only counted.
const SHOWN: u64 = 100;

pub(super) struct Reporter<'a, 'c> {
    console: &'a mut Console<'c>,
    bar: Option<ProgressBar>,
    files: Vec<PathBuf>,
    files_read: usize,
    statements: u64,
    findings: u64,
    failed: Option<io::Error>,
}

impl<'a, 'c> Reporter<'a, 'c> {
    /// Watches a load of `files`; the bar is drawn to `target`, and on terminals alone.
    pub(super) fn new(
        console: &'a mut Console<'c>,
        files: &[PathBuf],
        target: ProgressDrawTarget,
    ) -> Self {
        let bar = (console.interactive && !files.is_empty()).then(|| bar(files, target));
        Reporter {
            console,
            bar,
            files: files.to_vec(),
            files_read: 0,
            statements: 0,
            findings: 0,
            failed: None,
        }
    }

    /// Shows how many triples there are, and what is read.
    fn show(&self) {
        let Some(bar) = &self.bar else { return };
        let rate = self.statements as f64 / bar.elapsed().as_secs_f64().max(0.001);
        let (triples, rate) = (thousands(self.statements), thousands(rate as u64));
        bar.set_message(match self.files.get(self.files_read) {
            Some(file) => format!("{triples} triples, {rate}/s, {}", file.display()),
            None => format!("{triples} triples, all read: building the store"),
        });
    }

    /// Ends the bar, and says what was not shown.
    pub(super) fn finish(mut self) -> Result<(), CliError> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if self.findings > SHOWN {
            let more = thousands(self.findings - SHOWN);
            writeln!(
                self.console.err,
                "warning: {more} more findings are not shown"
            )?;
        }
        self.failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Makes the bar of a load: by bytes where all sizes are known.
fn bar(files: &[PathBuf], target: ProgressDrawTarget) -> ProgressBar {
    let size = |file: &PathBuf| {
        let metadata = fs::metadata(file).ok();
        metadata
            .filter(fs::Metadata::is_file)
            .map(|file| file.len())
    };
    let bytes: Option<u64> = files.iter().map(size).sum();
    let template = match bytes {
        Some(_) => "{bar:30} {bytes}/{total_bytes}, {eta} left, {msg}",
        None => "{spinner} {bytes} in {elapsed}, {msg}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    let bar = ProgressBar::with_draw_target(bytes, target).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// How much is written, on a terminal.
pub(super) struct Counter(Option<ProgressBar>);

impl Counter {
    /// Counts quads, of which there are so many if that is known.
    pub(super) fn of_quads(is_interactive: bool, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "{bar:30} {human_pos}/{human_len} quads, {eta} left",
            None => "{spinner} {human_pos} quads in {elapsed}",
        };
        Counter::new(is_interactive, total, template)
    }

    /// Counts bytes, of which no one knows how many come.
    pub(super) fn of_bytes(is_interactive: bool) -> Self {
        Counter::new(is_interactive, None, "{spinner} {bytes} in {elapsed}")
    }

    fn new(is_interactive: bool, total: Option<u64>, template: &str) -> Self {
        Counter(is_interactive.then(|| {
            let style =
                ProgressStyle::with_template(template).expect("the template is well-formed");
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.with_style(style)
        }))
    }

    /// Notes how many there are so far.
    pub(super) fn set(&self, count: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(count);
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl LoadObserver for Reporter<'_, '_> {
    fn finding(&mut self, finding: &Finding) {
        self.findings += 1;
        if self.findings > SHOWN {
            return;
        }
        let mut write = || writeln!(self.console.err, "warning: {finding}");
        let written = match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
    }

    fn progress(&mut self, bytes: u64, statements: u64) {
        self.statements = statements;
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
        self.show();
    }

    fn file_read(&mut self, files: usize) {
        self.files_read = files;
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_names_the_file_and_then_says_that_the_store_is_built() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console {
            out: &mut out,
            err: &mut err,
            coloured: false,
            interactive: true,
        };
        let files = ["Cargo.toml", "README.md"].map(PathBuf::from);
        let mut reporter = Reporter::new(&mut console, &files, ProgressDrawTarget::hidden());
        let message = |reporter: &Reporter<'_, '_>| reporter.bar.as_ref().unwrap().message();
        reporter.progress(10, 1_234);
        let said = message(&reporter);
        assert!(
            said.starts_with("1,234 triples, ") && said.ends_with("/s, Cargo.toml"),
            "{said}"
        );
        reporter.file_read(1);
        assert!(message(&reporter).ends_with("README.md"));
        reporter.file_read(2);
        let built = "1,234 triples, all read: building the store";
        assert_eq!(message(&reporter), built);
        reporter.finish().unwrap();
    }
}
