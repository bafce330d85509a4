//! What is seen of a load: findings, and a progress bar on a terminal.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{CliError, Console};
use crate::load::{Finding, LoadObserver, thousands};

/// Findings beyond this number are only counted.
const SHOWN: u64 = 100;

pub(super) struct Reporter<'a, 'c> {
    console: &'a mut Console<'c>,
    bar: Option<ProgressBar>,
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
        let bar = (console.interactive && !files.is_empty()).then(|| {
            let bytes = files
                .iter()
                .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
                .sum();
            let style =
                ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {elapsed} {msg}")
                    .expect("the template is well-formed");
            let bar = ProgressBar::with_draw_target(Some(bytes), target).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Reporter {
            console,
            bar,
            findings: 0,
            failed: None,
        }
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
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            let rate = statements as f64 / bar.elapsed().as_secs_f64().max(0.001);
            let rate = thousands(rate as u64);
            bar.set_message(format!("{} triples, {rate}/s", thousands(statements)));
        }
    }
}
