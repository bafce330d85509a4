//! The time of a line, whose date and second are formatted once a second on each thread.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

/// `2026-08-01T12:00:00.`, which the microseconds follow.
const SECOND_BYTES: usize = 20;

/// What [`SystemTime`] writes, without computing the date each time.
#[derive(Debug, Default)]
pub(super) struct Time;

thread_local! {
    /// A second since 1970, and its text.
    static LAST: Cell<(u64, [u8; SECOND_BYTES])> = const { Cell::new((0, [0; SECOND_BYTES])) };
}

impl FormatTime for Time {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = now();
        let (second, text) = LAST.get();
        if second == now.as_secs() && second > 0 {
            writer.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)?;
            return write!(writer, "{:06}Z", now.subsec_micros());
        }
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let second = time.as_bytes().first_chunk();
        // The second may have ended before the text was made. Years beyond 9999 have longer ones.
        if let Some(text) = second.filter(|text| text.ends_with(b"."))
            && self::now().as_secs() == now.as_secs()
        {
            LAST.set((now.as_secs(), *text));
        }
        writer.write_str(&time)
    }
}

/// Returns the time since 1970, which is zero before.
fn now() -> Duration {
    let now = std::time::SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(time: &impl FormatTime) -> String {
        let mut text = String::new();
        time.format_time(&mut Writer::new(&mut text)).unwrap();
        text
    }

    #[test]
    fn times_are_those_of_the_library() {
        // Texts of times are in the order of times, as long as no clock is set back.
        for _ in 0..3 {
            let [before, time, after] = [text(&SystemTime), text(&Time), text(&SystemTime)];
            assert!(before <= time && time <= after, "{before} {time} {after}");
            assert_eq!(time.len(), before.len());
        }
        LAST.set((now().as_secs() - 1, *b"1999-12-31T23:59:59."));
        let time = text(&Time);
        assert!(*time >= text(&SystemTime)[..4], "{time}");
    }
}
