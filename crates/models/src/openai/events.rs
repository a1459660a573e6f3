//! Splits a stream of server-sent events, cut anywhere, into the data of its events.

use super::trouble::Trouble;

/// The longest event that we keep; a token with its probabilities takes a few kilobytes.
const LONGEST_EVENT: usize = 1 << 20;

/// Reads events as far as they have arrived. Comments and all fields but `data` are left out.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// The line that has no end yet.
    line: Vec<u8>,
    /// The data of the event that has no end yet, its lines joined by line breaks.
    data: Option<Vec<u8>>,
    /// Whether a line has ended: the first one may begin with a byte order mark.
    has_begun: bool,
    /// Whether the last byte was a carriage return: a line feed after it ends no further line.
    after_return: bool,
}

impl EventReader {
    /// Takes the next bytes, and returns the data of the events that they complete, in order.
    ///
    /// # Errors
    /// An event is too long.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        let mut events = Vec::new();
        for &byte in bytes {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(byte),
            }
            let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
            if LONGEST_EVENT < held {
                return Err(Trouble::wrong("has an event that is longer than 1 MiB"));
            }
        }
        Ok(events)
    }

    /// The data of the last event, if the stream ended without the line breaks after it. It may be
    /// half an event.
    pub(super) fn rest(mut self) -> Option<Vec<u8>> {
        // Ends the line that has no end yet, then the event.
        self.end_line().or_else(|| self.end_line())
    }

    /// Ends a line. An empty line ends the event, and returns its data if it has any.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let whole = std::mem::take(&mut self.line);
        let mut line = whole.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.data.take().filter(|data| !data.is_empty());
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::default();
        let events = pieces.iter().flat_map(|piece| reader.take(piece).unwrap());
        events.map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn comments_and_other_fields_are_left_out_and_lines_of_data_joined() {
        let stream = b": keep-alive\n\nevent: x\nid: 1\ndata: {\"a\":\ndata:1}\n\ndata\n\n:\n\ndata: [DONE]\n\n";
        assert_eq!(read(&[stream]), ["{\"a\":\n1}", "[DONE]"]);
    }

    #[test]
    fn an_event_without_its_empty_line_is_not_whole() {
        assert_eq!(read(&[b"data: 1\n"]), [""; 0]);
        assert_eq!(read(&[b"data: 1\r", b"\n\r", b"\ndata: 2\r\r"]), ["1", "2"]);
    }

    #[test]
    fn the_last_event_may_miss_its_line_breaks() {
        let rest = |stream: &[u8]| {
            let mut reader = EventReader::default();
            reader.take(stream).unwrap();
            reader.rest().map(|data| String::from_utf8(data).unwrap())
        };
        assert_eq!(rest(b"data: 1\n\ndata: 2\n").as_deref(), Some("2"));
        assert_eq!(rest(b"data: 1\n\ndata: [DONE]").as_deref(), Some("[DONE]"));
        assert_eq!(rest(b"data: 1\ndata: 2").as_deref(), Some("1\n2"));
        for stream in [b"data: 1\n\n".as_slice(), b"data: 1\r\n\r\n: comment", b""] {
            assert_eq!(rest(stream), None);
        }
    }

    #[test]
    fn a_byte_order_mark_hides_no_event() {
        let mark = "\u{feff}";
        assert_eq!(read(&[mark.as_bytes(), b"data: 1\n\ndata: 2\n\n"]), ["1", "2"]);
        assert_eq!(read(&[format!("{mark}\ndata: 1\n\n").as_bytes()]), ["1"]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = EventReader::default();
        let line = vec![b'x'; LONGEST_EVENT / 2];
        assert!(reader.take(&line).is_ok());
        assert!(reader.take(&line).is_ok());
        assert!(reader.take(b"x").is_err());
        let mut reader = EventReader::default();
        let lines = "data: x\n".repeat(LONGEST_EVENT);
        assert!(reader.take(lines.as_bytes()).is_err());
    }

    proptest! {
        /// It does not matter where the bytes are cut.
        #[test]
        fn cuts_change_nothing(stream in "(data: ?|[a-c:]|\n|\r|\r\n|é){0,40}", cut in 0_usize..80) {
            let bytes = stream.as_bytes();
            let cut = cut.min(bytes.len());
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(&[bytes]), read(&single));
            prop_assert_eq!(read(&[bytes]), read(&[&bytes[..cut], &bytes[cut..]]));
        }
    }
}
