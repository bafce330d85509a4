//! The console of a service: lines that no one waits for, and a terminal made of them.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressDrawTarget, TermLike};
use service_log::Background;

use super::Console;

/// Time for what is left to be written at the end.
const LAST_LINES: Duration = Duration::from_secs(1);

/// How often a progress bar is drawn in a second.
const DRAWN_PER_SECOND: u8 = 5;

/// Columns of a terminal that does not tell.
const COLUMNS: u16 = 80;

/// Standard output and standard error, without waiting for them.
pub(super) struct Lines {
    pub(super) out: Background,
    pub(super) err: Background,
}

impl Lines {
    pub(super) fn start() -> io::Result<Self> {
        Ok(Lines {
            out: Background::start(io::stdout())?,
            err: Background::start(io::stderr())?,
        })
    }

    /// Runs `work` with a console that never waits; its last lines are given a second.
    pub(super) fn with_console<T>(
        &self,
        console: &Console<'_>,
        work: impl FnOnce(&mut Console<'_>) -> T,
    ) -> T {
        let (mut out, mut err) = (self.out.clone(), self.err.clone());
        let result = work(&mut Console {
            out: &mut out,
            err: &mut err,
            coloured: console.coloured,
            interactive: console.interactive,
        });
        for lines in [&mut out, &mut err] {
            let flushed = lines.flush();
            debug_assert!(flushed.is_ok(), "handing on lines does not fail");
            lines.flush_within(LAST_LINES);
        }
        result
    }

    /// Returns a place for a progress bar.
    pub(super) fn terminal(&self) -> ProgressDrawTarget {
        let terminal = Terminal(Mutex::new(self.err.clone()));
        ProgressDrawTarget::term_like_with_hz(Box::new(terminal), DRAWN_PER_SECOND)
    }
}

struct Terminal(Mutex<Background>);

impl Terminal {
    fn lines(&self) -> MutexGuard<'_, Background> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terminal")
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        let columns = std::env::var("COLUMNS").ok();
        columns.and_then(|n| n.parse().ok()).unwrap_or(COLUMNS)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        moved(&mut self.lines(), n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        moved(&mut self.lines(), n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        moved(&mut self.lines(), n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        moved(&mut self.lines(), n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        writeln!(self.lines(), "{text}")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        write!(self.lines(), "{text}")
    }

    fn clear_line(&self) -> io::Result<()> {
        write!(self.lines(), "\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        self.lines().flush()
    }
}

fn moved(lines: &mut Background, n: usize, direction: char) -> io::Result<()> {
    match n {
        0 => Ok(()),
        n => write!(lines, "\u{1b}[{n}{direction}"),
    }
}
