//! Lines that are written by a thread of their own, so that no one waits for a disk, a pipe or a
//! terminal.
//!
//! They are written a few milliseconds later, together, and at once from `WARN` on. What does not fit is lost,
//! counted, and said once writing works again.
//!
//! The writers of `tracing-appender` bound lines and not bytes, log nothing about those that are missing, and count
//! none that a destination refuses. They wake their thread for each line: to log one takes two to four times as long.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use super::queue::{QUEUE_BYTES, Queue};
use super::writer::Writer;

/// How long lines wait for others to be written with.
const GATHER: Duration = Duration::from_millis(5);

/// The lines of a destination, such as standard error. Copies write to the same one.
pub struct Background {
    queue: Arc<Queue>,
    /// A line that is not complete yet.
    line: Vec<u8>,
}

impl Background {
    /// Starts a thread that writes to `destination`.
    ///
    /// # Errors
    ///
    /// Fails if the system starts no more threads.
    pub fn start(destination: impl Write + Send + 'static) -> io::Result<Self> {
        Self::start_gathering(destination, GATHER)
    }

    fn start_gathering(
        destination: impl Write + Send + 'static,
        gather: Duration,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(gather));
        let writer = Writer::new(Arc::clone(&queue), destination);
        thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || writer.run())?;
        Ok(Background {
            queue,
            line: Vec::new(),
        })
    }

    /// Makes lines JSON documents, of which long ones are cut so that they stay JSON.
    pub fn set_json(&self, json: bool) {
        self.queue.set_json(json);
    }

    /// Has all lines written at once and waits for that, for `time` at most; returns whether they are written.
    pub fn flush_within(&self, time: Duration) -> bool {
        self.queue.flush_within(time)
    }

    /// Hands on what is there of a line.
    fn push_line(&mut self) {
        self.queue.push(&self.line, false);
        self.line.clear();
    }
}

impl Clone for Background {
    /// Returns a writer of other lines.
    fn clone(&self) -> Self {
        Background {
            queue: Arc::clone(&self.queue),
            line: Vec::new(),
        }
    }
}

/// Never fails and never waits.
impl Write for Background {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for part in text.split_inclusive(|byte| *byte == b'\n') {
            // Whatever is beyond the length of a line is cut off.
            if self.line.len() < QUEUE_BYTES {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.push_line();
            }
        }
        Ok(text.len())
    }

    /// Hands on what is there of a line, too.
    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.push_line();
        }
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Background {
    type Writer = EventWriter<'a>;

    fn make_writer(&'a self) -> EventWriter<'a> {
        EventWriter {
            queue: &self.queue,
            urgent: false,
        }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> EventWriter<'a> {
        EventWriter {
            queue: &self.queue,
            urgent: *event.level() <= Level::WARN,
        }
    }
}

/// Takes events, each as a whole. Never fails and never waits.
pub struct EventWriter<'a> {
    queue: &'a Queue,
    urgent: bool,
}

impl Write for EventWriter<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.queue.push(text, self.urgent);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::time::Instant;

    use super::super::queue::WRITE_BYTES;
    use super::super::writer::BUSY;
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A destination that fails or stalls when it is told to.
    #[derive(Clone, Default)]
    struct Told {
        fails: Arc<AtomicBool>,
        /// Held while it stalls.
        text: Arc<Mutex<String>>,
    }

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.fails.load(Ordering::SeqCst) {
                return Err(ErrorKind::StorageFull.into());
            }
            // Not all at once, as pipes do it.
            let bytes = &bytes[..bytes.len().min(1_000)];
            let mut text = self.text.lock().unwrap();
            text.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn told() -> (Background, Told) {
        let told = Told::default();
        (Background::start(told.clone()).unwrap(), told)
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted_and_said_once_writing_works_again() {
        let (mut lines, told) = told();
        told.fails.store(true, Ordering::SeqCst);
        for n in 0..3 {
            writeln!(lines, "line {n}").unwrap();
            assert!(lines.flush_within(LONG));
        }
        told.fails.store(false, Ordering::SeqCst);
        writeln!(lines, "line 3").unwrap();
        assert!(lines.flush_within(LONG));
        let text = told.text.lock().unwrap();
        assert!(text.contains("3 log lines were lost"), "{text}");
        assert!(text.ends_with("\nline 3\n"), "{text}");
    }

    #[test]
    fn nothing_else_need_happen_for_losses_to_be_said() {
        let (mut lines, told) = told();
        told.fails.store(true, Ordering::SeqCst);
        writeln!(lines, "line").unwrap();
        assert!(lines.flush_within(LONG));
        told.fails.store(false, Ordering::SeqCst);
        let from = Instant::now();
        while !told.text.lock().unwrap().contains("1 log line was lost") {
            assert!(from.elapsed() < LONG);
            thread::sleep(BUSY);
        }
    }

    #[test]
    fn a_stalled_destination_costs_lines_and_neither_time_nor_memory() {
        let (lines, told) = told();
        let stalled = told.text.lock().unwrap();
        let mut others = lines.clone();
        let (done, written) = mpsc::channel();
        thread::spawn(move || {
            for n in 0..20_000 {
                writeln!(others, "line {n} {}", "x".repeat(200)).unwrap();
            }
            done.send(())
        });
        written.recv_timeout(LONG).expect("nobody waits");
        assert!(lines.queue.bytes() <= QUEUE_BYTES);
        assert!(!lines.flush_within(BUSY));
        drop(stalled);
        assert!(lines.flush_within(LONG));
        let text = told.text.lock().unwrap();
        // They are missing where a line says it; there are several where the thread that writes begins late.
        let mut next = 0;
        for line in text.lines() {
            let number = |text: &str| text.rsplit(' ').next().and_then(|n| n.parse().ok());
            match (line.strip_prefix("line "), line.find(" log line")) {
                (Some(kept), _) => {
                    let number = kept.split(' ').next().and_then(|n| n.parse().ok());
                    assert_eq!(number, Some(next), "{line}");
                    next += 1;
                }
                (None, Some(end)) => next += number(&line[..end]).unwrap_or(0),
                (None, None) => panic!("{line}"),
            }
        }
        assert_eq!(next, 20_000);
    }

    #[test]
    fn a_line_that_comes_in_parts_stays_one() {
        let (mut lines, told) = told();
        write!(lines, "a").unwrap();
        let mut other = lines.clone();
        writeln!(other, "other").unwrap();
        write!(lines, "b\nc").unwrap();
        lines.flush().unwrap();
        assert!(lines.flush_within(LONG));
        let text = told.text.lock().unwrap();
        assert_eq!(*text, "other\nab\nc");
    }

    /// A destination that sends on what is written at once.
    struct Sent(Sender<String>);

    impl Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = std::str::from_utf8(bytes).unwrap().to_owned();
            self.0.send(text).map_err(|_| ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Lines that nothing but their number or one that is urgent has written.
    fn gathering() -> (Background, Receiver<String>) {
        let (sender, written) = mpsc::channel();
        let hours = 1_000 * LONG;
        (
            Background::start_gathering(Sent(sender), hours).unwrap(),
            written,
        )
    }

    #[test]
    fn lines_are_written_together_and_at_once_when_one_is_a_warning() {
        let (lines, written) = gathering();
        let format = tracing_subscriber::fmt().without_time().with_target(false);
        let subscriber = format.with_ansi(false).with_writer(lines.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("a");
            tracing::info!("b");
            tracing::warn!("c");
            assert_eq!(
                written.recv_timeout(LONG).unwrap(),
                " INFO a\n INFO b\n WARN c\n"
            );
            tracing::info!("d");
            tracing::error!("e");
            assert_eq!(written.recv_timeout(LONG).unwrap(), " INFO d\nERROR e\n");
        });
    }

    #[test]
    fn many_lines_do_not_wait_for_more() {
        let (mut lines, written) = gathering();
        let line = format!("{}\n", "x".repeat(1_000));
        for _ in 0..WRITE_BYTES.div_ceil(line.len()) {
            lines.write_all(line.as_bytes()).unwrap();
        }
        let text = written.recv_timeout(LONG).unwrap();
        assert!(text.len() >= WRITE_BYTES && text.ends_with(&line));
    }

    #[test]
    fn the_end_has_lines_written_at_once() {
        let (mut lines, written) = gathering();
        writeln!(lines, "last").unwrap();
        assert!(lines.flush_within(LONG));
        assert_eq!(written.try_recv().unwrap(), "last\n");
    }

    #[test]
    fn the_first_line_wakes_a_thread_that_sleeps() {
        let (sender, written) = mpsc::channel();
        let mut lines = Background::start_gathering(Sent(sender), Duration::ZERO).unwrap();
        for n in 0..3 {
            while !lines.queue.is_asleep() {
                thread::yield_now();
            }
            writeln!(lines, "line {n}").unwrap();
            assert_eq!(written.recv_timeout(LONG).unwrap(), format!("line {n}\n"));
        }
    }

    #[test]
    fn what_is_missing_between_lines_is_said_between_them() {
        let (lines, told) = told();
        let stalled = told.text.lock().unwrap();
        let fits = format!("{}\n", "x".repeat(10_000 - 1));
        for _ in 0..=QUEUE_BYTES / fits.len() {
            lines.queue.push(fits.as_bytes(), false);
        }
        lines.queue.push(b"short\n", false);
        drop(stalled);
        assert!(lines.flush_within(LONG));
        let text = told.text.lock().unwrap();
        let mut last = text.lines().rev();
        assert_eq!(last.next(), Some("short"));
        let said = last.next().unwrap();
        assert!(said.ends_with("1 log line was lost"), "{said}");
        assert_eq!(last.count(), QUEUE_BYTES / fits.len());
    }

    #[test]
    fn a_line_that_was_not_written_to_its_end_is_not_continued_by_the_next() {
        let (sender, written) = mpsc::channel();
        let destination = Broken {
            sent: Sent(sender),
            room: 7,
        };
        let mut lines = Background::start(destination).unwrap();
        lines.queue.push(b"one\ntwo and more\nthree\n", false);
        assert!(lines.flush_within(LONG));
        writeln!(lines, "four").unwrap();
        assert!(lines.flush_within(LONG));
        let text: String = written.try_iter().collect();
        let (before, after) = text.split_once("two\n").unwrap();
        assert_eq!(before, "one\n");
        assert!(after.ends_with(" lost\nfour\n"), "{text}");
    }

    /// A destination that fails once, when so many bytes are written.
    struct Broken {
        sent: Sent,
        room: usize,
    }

    impl Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                self.room = usize::MAX;
                return Err(ErrorKind::StorageFull.into());
            }
            let count = self.sent.write(&bytes[..bytes.len().min(self.room)])?;
            self.room -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
