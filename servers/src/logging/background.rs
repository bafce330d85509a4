//! Lines that are written by a thread of their own, so that nobody waits for a disk, a pipe or a
//! terminal.
//!
//! What does not fit is lost, counted, and said once writing works again.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::line::{cut, lost};

/// Bytes of lines that may wait.
const QUEUE_BYTES: usize = 1 << 20;

/// What a line costs beside its bytes.
const LINE_COST: usize = 64;

/// Bytes that are written at once.
const WRITE_BYTES: usize = 64 << 10;

/// Time until it is tried again to say what was lost, when nothing else is to be written.
const RETRY: Duration = Duration::from_secs(1);

/// Time until a destination that is busy is tried again.
const BUSY: Duration = Duration::from_millis(10);

/// The lines of a destination, such as standard error. Copies write to the same one.
pub struct Background {
    shared: Arc<Shared>,
    /// A line that is not complete yet.
    line: Vec<u8>,
}

impl Clone for Background {
    /// Returns a writer of other lines.
    fn clone(&self) -> Self {
        Background {
            shared: Arc::clone(&self.shared),
            line: Vec::new(),
        }
    }
}

struct Shared {
    queue: Mutex<Queue>,
    /// There is something to write.
    filled: Condvar,
    /// All has been written.
    written: Condvar,
    json: AtomicBool,
}

#[derive(Default)]
struct Queue {
    entries: VecDeque<Entry>,
    /// Bytes in the queue and on the way to the destination.
    bytes: usize,
    /// Whether the thread has taken lines and not written them yet.
    writing: bool,
}

enum Entry {
    Line(Vec<u8>),
    /// So many lines are missing here.
    Lost(u64),
}

impl Background {
    /// Starts a thread that writes to `destination`.
    ///
    /// # Errors
    ///
    /// Fails if the system starts no more threads.
    pub fn start(destination: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            filled: Condvar::new(),
            written: Condvar::new(),
            json: AtomicBool::new(false),
        });
        let writer = Writer {
            shared: Arc::clone(&shared),
            destination,
            lost: 0,
            inside_line: false,
        };
        thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || writer.run())?;
        Ok(Background {
            shared,
            line: Vec::new(),
        })
    }

    /// Makes lines JSON documents, of which long ones are cut so that they stay JSON.
    pub fn set_json(&self, json: bool) {
        self.shared.json.store(json, Ordering::Relaxed);
    }

    /// Waits until all lines are written, for `time` at most; tells whether they are.
    pub fn flush_within(&self, time: Duration) -> bool {
        let queue = self.shared.lock();
        let (queue, _) = self
            .shared
            .written
            .wait_timeout_while(queue, time, |queue| !queue.is_written())
            .unwrap_or_else(PoisonError::into_inner);
        queue.is_written()
    }

    /// Takes a line, which ends with a line feed.
    fn push(&self, line: &[u8]) {
        let line = cut(line, self.shared.json.load(Ordering::Relaxed));
        let mut queue = self.shared.lock();
        let cost = line.len() + LINE_COST;
        if queue.bytes + cost > QUEUE_BYTES {
            queue.lose(1);
        } else {
            queue.bytes += cost;
            queue.entries.push_back(Entry::Line(line.into_owned()));
        }
        drop(queue);
        self.shared.filled.notify_one();
    }
}

/// Never fails and never waits.
impl Write for Background {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for part in text.split_inclusive(|byte| *byte == b'\n') {
            if self.line.is_empty() && part.ends_with(b"\n") {
                self.push(part);
                continue;
            }
            // Whatever is beyond the length of a line is cut off.
            if self.line.len() < QUEUE_BYTES {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.push(&line);
            }
        }
        Ok(text.len())
    }

    /// Hands on what is there of a line, too.
    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.push(&line);
        }
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_written(&self) -> bool {
        self.entries.is_empty() && !self.writing
    }

    fn lose(&mut self, lines: u64) {
        match self.entries.back_mut() {
            Some(Entry::Lost(n)) => *n += lines,
            _ => self.entries.push_back(Entry::Lost(lines)),
        }
    }
}

struct Writer<W> {
    shared: Arc<Shared>,
    destination: W,
    /// Lines that could not be written, and of which nothing has been said yet.
    lost: u64,
    /// The last line was not written to its end.
    inside_line: bool,
}

impl<W: Write> Writer<W> {
    fn run(mut self) {
        loop {
            let (entries, bytes) = self.take();
            let json = self.shared.json.load(Ordering::Relaxed);
            let mut batch = Batch::default();
            for entry in entries {
                match entry {
                    Entry::Lost(lines) => self.lost += lines,
                    Entry::Line(line) => {
                        self.say(&mut batch, json);
                        batch.add(&line, 0);
                    }
                }
                if batch.bytes.len() >= WRITE_BYTES {
                    self.write(std::mem::take(&mut batch));
                }
            }
            self.say(&mut batch, json);
            self.write(batch);
            let mut queue = self.shared.lock();
            queue.bytes -= bytes;
            queue.writing = false;
            if queue.is_written() {
                self.shared.written.notify_all();
            }
        }
    }

    /// Waits for lines, and takes all of them.
    fn take(&self) -> (VecDeque<Entry>, usize) {
        let mut queue = self.shared.lock();
        let from = Instant::now();
        while queue.entries.is_empty() {
            queue = match self.lost {
                0 => self
                    .shared
                    .filled
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner),
                _ if from.elapsed() >= RETRY => break,
                _ => {
                    let wait = self.shared.filled.wait_timeout(queue, RETRY);
                    wait.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        queue.writing = true;
        (std::mem::take(&mut queue.entries), queue.bytes)
    }

    /// Adds a line about those that are lost.
    fn say(&mut self, batch: &mut Batch, json: bool) {
        let lines = std::mem::take(&mut self.lost);
        if lines > 0 {
            batch.add(&lost(lines, json), lines);
        }
    }

    /// Writes lines; those that cannot be written are lost.
    fn write(&mut self, batch: Batch) {
        let mut rest = batch.bytes.as_slice();
        if self.inside_line && !rest.is_empty() {
            match self.attempt(b"\n") {
                0 => {
                    self.lost += batch.lost_from(0);
                    return;
                }
                _ => self.inside_line = false,
            }
        }
        while !rest.is_empty() {
            match self.attempt(rest) {
                0 => break,
                n => rest = rest.get(n..).unwrap_or_default(),
            }
        }
        let written = batch.bytes.len() - rest.len();
        let ends = |line: &(usize, u64)| line.0 == written;
        self.inside_line = written > 0 && !batch.ends.iter().any(ends);
        self.lost += batch.lost_from(written);
        // Where it makes a difference, what is in a buffer of the destination counts as written.
        let _ = self.destination.flush();
    }

    /// Writes some bytes; none when that fails.
    fn attempt(&mut self, bytes: &[u8]) -> usize {
        loop {
            match self.destination.write(bytes) {
                Ok(n) => return n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(BUSY),
                Err(_) => return 0,
            }
        }
    }
}

/// Lines that are written at once.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Where each line ends, and how many lost ones it speaks of: 0 for a line of its own.
    ends: Vec<(usize, u64)>,
}

impl Batch {
    fn add(&mut self, line: &[u8], lost: u64) {
        self.bytes.extend_from_slice(line);
        self.ends.push((self.bytes.len(), lost));
    }

    /// Counts the lines that end behind `written`.
    fn lost_from(&self, written: usize) -> u64 {
        let lost = self.ends.iter().filter(|(end, _)| *end > written);
        lost.map(|(_, lines)| (*lines).max(1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

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
        assert!(lines.shared.lock().bytes <= QUEUE_BYTES);
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
}
