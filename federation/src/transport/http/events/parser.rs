//! The text of server-sent events, as the HTML standard says, taken in as it arrives.

use super::super::super::TransportError;

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerSentEvent {
    /// Its type; empty if it has none.
    pub(super) kind: String,
    pub(super) data: Vec<u8>,
}

/// Bytes of a line beside its data.
const FIELD: usize = 128;

/// Takes in the bytes of a stream, and gives its events.
#[derive(Debug)]
pub(super) struct EventParser {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return, so that a line feed now belongs to it.
    is_after_return: bool,
    /// Nothing was taken in yet; a byte order mark may stand here.
    is_first_line: bool,
    has_data: bool,
    event: ServerSentEvent,
}

impl EventParser {
    /// Creates a parser of events with at most so many bytes of data.
    pub(super) fn new(limit: usize) -> Self {
        EventParser {
            limit,
            line: Vec::new(),
            is_after_return: false,
            is_first_line: true,
            has_data: false,
            event: ServerSentEvent::default(),
        }
    }

    /// Takes in the first bytes of `bytes`, up to the end of an event; returns that, and what is left.
    pub(super) fn take<'b>(
        &mut self,
        mut bytes: &'b [u8],
    ) -> Result<(Option<ServerSentEvent>, &'b [u8]), TransportError> {
        loop {
            if self.is_after_return && !bytes.is_empty() {
                self.is_after_return = false;
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > self.limit.saturating_add(FIELD) {
                return Err(TransportError::TooLarge { limit: self.limit });
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else {
                return Ok((None, &[]));
            };
            self.is_after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(event) = self.take_line(&line)? {
                return Ok((Some(event), bytes));
            }
        }
    }

    fn take_line(&mut self, line: &[u8]) -> Result<Option<ServerSentEvent>, TransportError> {
        let line = if std::mem::take(&mut self.is_first_line) {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => self.event.kind = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                let data = &mut self.event.data;
                if self.has_data {
                    data.push(b'\n');
                }
                self.has_data = true;
                if data.len() + value.len() > self.limit {
                    return Err(TransportError::TooLarge { limit: self.limit });
                }
                data.extend_from_slice(value);
            }
            // Comments, identifiers, times, and what the standard may add.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(
        text: &[u8],
        piece: usize,
        limit: usize,
    ) -> Result<Vec<(String, String)>, TransportError> {
        let mut parser = EventParser::new(limit);
        let mut found = Vec::new();
        for piece in text.chunks(piece) {
            let mut left = piece;
            while !left.is_empty() {
                let (event, rest) = parser.take(left)?;
                left = rest;
                if let Some(ServerSentEvent { kind, data }) = event {
                    found.push((kind, String::from_utf8(data).unwrap()));
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn lines_end_in_three_ways_wherever_the_text_is_cut() {
        let text = "\u{feff}event: next\r\ndata: {\"a\":1}\r\n\r\n: ping\n\nevent: next\rdata:{\rdata: }\r\r\
                    id: 7\nretry: 5\ndata\n\nevent: lost\n\nevent: complete\ndata:\n\ndata: cut";
        let expected = [
            ("next", "{\"a\":1}"),
            ("next", "{\n}"),
            ("", ""),
            ("complete", ""),
        ];
        for piece in 1..=text.len() {
            let found = events(text.as_bytes(), piece, 100).unwrap();
            let found: Vec<(&str, &str)> = found.iter().map(|(k, d)| (&**k, &**d)).collect();
            assert_eq!(found, expected, "{piece}");
        }
    }

    #[test]
    fn neither_a_line_nor_an_event_grows_without_bound() {
        let too_large = |text: &[u8]| {
            let error = events(text, 7, 100).unwrap_err();
            matches!(error, TransportError::TooLarge { limit: 100 })
        };
        assert!(too_large(&[b'x'; 1_000]));
        assert!(too_large("data: 12345678\n".repeat(20).as_bytes()));
        let fits = format!("data: {}\n\n", "x".repeat(100));
        assert_eq!(events(fits.as_bytes(), 7, 100).unwrap().len(), 1);
    }
}
