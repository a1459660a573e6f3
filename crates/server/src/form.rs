//! Reads a form of files (`multipart/form-data`, RFC 7578) piece by piece.
//!
//! Only a part's head and one piece of its bytes are in memory, and a head has a limit, which
//! libraries for forms do not set.

/// The longest head of a part, in bytes.
const HEAD: usize = 16 << 10;
/// The longest boundary between parts, in bytes (RFC 2046 §5.1.1).
const BOUNDARY: usize = 70;
const LINE_END: &[u8] = b"\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A form that breaks the format.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the form cannot be read: {0}")]
pub(crate) struct BadForm(&'static str);

/// What comes next in a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FormPiece {
    /// A part begins.
    Part(PartHead),
    /// The next bytes of the part.
    Bytes(Vec<u8>),
    /// The form is complete.
    End,
}

/// The names of a part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PartHead {
    /// The name of the field.
    pub(crate) field: String,
    /// The name of the file; `None` for a field that is no file.
    pub(crate) file: Option<String>,
}

/// A form whose bytes arrive in pieces of any length.
#[derive(Debug)]
pub(crate) struct FormReader {
    /// A line end, two hyphens and the boundary.
    delimiter: Vec<u8>,
    /// Bytes that have arrived and were not returned.
    held: Vec<u8>,
    at: At,
}

/// The place in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first delimiter.
    Preamble,
    /// Behind a delimiter.
    Delimiter,
    Head,
    Bytes,
    End,
}

impl FormReader {
    /// A reader for a request of this `Content-Type`; `None` if that is no form.
    pub(crate) fn new(content_type: &str) -> Option<Self> {
        let (kind, parameters) = parameters(content_type);
        let boundary = parameters.into_iter().find(|(name, _)| name == "boundary")?.1;
        let is_form = kind == "multipart/form-data" && (1..=BOUNDARY).contains(&boundary.len());
        is_form.then(|| Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            // The first delimiter may be at the very beginning.
            held: LINE_END.to_vec(),
            at: At::Preamble,
        })
    }

    /// Adds bytes that have arrived.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        // Bytes behind the form mean nothing.
        if self.at != At::End {
            self.held.extend_from_slice(bytes);
        }
    }

    /// The next piece; `None` if more bytes must arrive first.
    ///
    /// # Errors
    /// The form breaks the format; it has no further piece.
    pub(crate) fn next_piece(&mut self) -> Result<Option<FormPiece>, BadForm> {
        loop {
            match self.at {
                At::Preamble => {
                    let Some(at) = find(&self.held, &self.delimiter) else {
                        self.skip(self.n_before_delimiter());
                        return Ok(None);
                    };
                    self.skip(at + self.delimiter.len());
                    self.at = At::Delimiter;
                }
                At::Delimiter => {
                    if self.held.starts_with(b"--") {
                        self.held.clear();
                        self.at = At::End;
                        continue;
                    }
                    let Some(at) = find(&self.held, LINE_END) else {
                        return self.incomplete_head("a boundary has no line end");
                    };
                    let padding = self.held.get(..at).unwrap_or_default();
                    if !padding.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                        return Err(BadForm("more than a boundary is on its line"));
                    }
                    // The line end stays: a head without a line is a line end twice.
                    self.skip(at);
                    self.at = At::Head;
                }
                At::Head => {
                    let Some(at) = find(&self.held, HEAD_END) else {
                        return self.incomplete_head("the head of a part has no end");
                    };
                    let head = head(self.held.get(..at).unwrap_or_default())?;
                    self.skip(at + HEAD_END.len());
                    self.at = At::Bytes;
                    return Ok(Some(FormPiece::Part(head)));
                }
                At::Bytes => {
                    let found = find(&self.held, &self.delimiter);
                    if found == Some(0) {
                        self.skip(self.delimiter.len());
                        self.at = At::Delimiter;
                        continue;
                    }
                    // A delimiter may have arrived in part.
                    let n_bytes = found.unwrap_or_else(|| self.n_before_delimiter());
                    if n_bytes == 0 {
                        return Ok(None);
                    }
                    let rest = self.held.split_off(n_bytes);
                    return Ok(Some(FormPiece::Bytes(std::mem::replace(&mut self.held, rest))));
                }
                At::End => return Ok(Some(FormPiece::End)),
            }
        }
    }

    /// The number of held bytes that no delimiter can begin with.
    fn n_before_delimiter(&self) -> usize {
        (self.held.len() + 1).saturating_sub(self.delimiter.len())
    }

    fn skip(&mut self, n_bytes: usize) {
        self.held.drain(..n_bytes.min(self.held.len()));
    }

    fn incomplete_head(&self, problem: &'static str) -> Result<Option<FormPiece>, BadForm> {
        if HEAD < self.held.len() { Err(BadForm(problem)) } else { Ok(None) }
    }
}

fn find(held: &[u8], sought: &[u8]) -> Option<usize> {
    let first = sought.first()?;
    let mut from = 0;
    loop {
        let rest = held.get(from..)?;
        let at = rest.iter().position(|byte| byte == first)?;
        if rest.get(at..)?.starts_with(sought) {
            return Some(from + at);
        }
        from += at + 1;
    }
}

/// Reads the head of a part.
fn head(head: &[u8]) -> Result<PartHead, BadForm> {
    let Ok(text) = std::str::from_utf8(head) else {
        return Err(BadForm("the head of a part is not UTF-8"));
    };
    let mut part = None;
    for line in text.split("\r\n") {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "content-disposition" => part = Some(disposition(value)?),
            "content-transfer-encoding" => {
                let encoding = value.trim().to_ascii_lowercase();
                if !["7bit", "8bit", "binary"].contains(&encoding.as_str()) {
                    return Err(BadForm("a part is encoded; send its bytes as they are"));
                }
            }
            _ => {}
        }
    }
    part.ok_or(BadForm("a part has no Content-Disposition"))
}

fn disposition(value: &str) -> Result<PartHead, BadForm> {
    let (kind, parameters) = parameters(value);
    let of = |sought: &str| {
        let found = parameters.iter().find(|(name, _)| name == sought);
        found.map(|(_, value)| value.clone())
    };
    if kind != "form-data" {
        return Err(BadForm("a part is no field of a form"));
    }
    let field = of("name").ok_or(BadForm("a part has no name"))?;
    // The encoded name comes first (RFC 6266 §4.3).
    let file = match of("filename*") {
        Some(encoded) => Some(decoded(&encoded).ok_or(BadForm("`filename*` cannot be decoded"))?),
        // Browsers, curl and HTTP libraries encode these three characters (the HTML standard).
        None => of("filename")
            .map(|name| name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")),
    };
    Ok(PartHead { field, file })
}

/// A value such as `UTF-8''a%20b` (RFC 8187).
fn decoded(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match first {
            b'%' => {
                let (digits, behind) = rest.split_at_checked(2)?;
                rest = behind;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A value such as `form-data; name="a"; filename="b"`: its kind, and its parameters by name.
/// Kind and names are in lower case.
fn parameters(text: &str) -> (String, Vec<(String, String)>) {
    let (kind, mut rest) = text.split_once(';').unwrap_or((text, ""));
    let mut parameters = Vec::new();
    while let Some((name, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, after) = behind.split_once(';').unwrap_or((behind, ""));
                (value.trim().to_owned(), after)
            }
        };
        let name = name.trim_matches(|c: char| c == ';' || c.is_whitespace());
        parameters.push((name.to_ascii_lowercase(), value));
        rest = after;
    }
    (kind.trim().to_ascii_lowercase(), parameters)
}

/// The text before the closing quotation mark, and the rest behind it. Only a quotation mark and a
/// backslash are escaped, because names on Windows contain backslashes.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, quoted.get(at + 1..).unwrap_or_default()),
            '\\' => {
                let escaped = characters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                value.push(escaped.map_or(c, |(_, escaped)| escaped));
            }
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=\"x-1\"";

    /// The pieces of a form whose bytes arrive `step` at a time; bytes of a part are joined.
    fn pieces(form: &[u8], step: usize) -> Result<Vec<FormPiece>, BadForm> {
        let mut reader = FormReader::new(KIND).unwrap();
        let mut pieces: Vec<FormPiece> = Vec::new();
        for bytes in form.chunks(step) {
            reader.take(bytes);
            while let Some(piece) = reader.next_piece()? {
                match (pieces.last_mut(), piece) {
                    (_, FormPiece::End) => {
                        pieces.push(FormPiece::End);
                        return Ok(pieces);
                    }
                    (Some(FormPiece::Bytes(before)), FormPiece::Bytes(next)) => before.extend(next),
                    (_, piece) => pieces.push(piece),
                }
            }
        }
        Ok(pieces)
    }

    fn part(field: &str, file: Option<&str>) -> FormPiece {
        FormPiece::Part(PartHead { field: field.to_owned(), file: file.map(str::to_owned) })
    }

    fn bytes(bytes: &[u8]) -> FormPiece {
        FormPiece::Bytes(bytes.to_vec())
    }

    #[test]
    fn parts_are_the_same_however_the_bytes_arrive() {
        let form = b"before\r\n--x-1  \r\nContent-Disposition: form-data; name=\"file\"; \
            filename=\"a b.md\"\r\nContent-Type: text/markdown\r\n\r\nOne\r\n--x-\r\n\r\n--x-1\r\n\
            content-disposition:form-data;name=file;filename=\"empty.md\"\r\n\r\n\r\n--x-1\r\n\
            Content-Disposition: form-data; name=\"note\"\r\n\r\n\0\r\r\n\r\n--x-1--\r\nbehind";
        let expected = [
            part("file", Some("a b.md")),
            bytes(b"One\r\n--x-\r\n"),
            part("file", Some("empty.md")),
            part("note", None),
            bytes(b"\0\r\r\n"),
            FormPiece::End,
        ];
        for step in 1..=form.len() {
            assert_eq!(pieces(form, step).unwrap(), expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn names_are_read_as_clients_send_them() {
        let name_of = |disposition: &str| {
            let head = head(format!("\r\nContent-Disposition: {disposition}").as_bytes());
            head.map(|head| head.file.unwrap_or_default()).map_err(|bad| bad.0)
        };
        let named = |rest: &str| name_of(&format!("form-data; name=\"file\"; {rest}"));
        assert_eq!(named(r#"filename="a\"b;c=d.md""#).unwrap(), "a\"b;c=d.md");
        assert_eq!(named(r#"filename="C:\law\a.md""#).unwrap(), r"C:\law\a.md");
        assert_eq!(named("filename=\"青砚.md\"").unwrap(), "青砚.md");
        assert_eq!(named("filename=\"a %22b%22 100%25.md\"").unwrap(), "a \"b\" 100%25.md");
        let both = "filename=\"x.md\"; filename*=UTF-8''%E9%9D%92%20a.md";
        assert_eq!(named(both).unwrap(), "青 a.md");
        assert!(named("filename*=latin1''a").is_err());
        assert!(named("filename*=utf-8''%E9%9").is_err());
        assert!(name_of("attachment; filename=a").is_err());
        assert!(name_of("form-data; filename=a").is_err());
    }

    #[test]
    fn broken_forms_are_refused_and_cut_ones_do_not_end() {
        let head = "--x-1\r\nContent-Disposition: form-data; name=file; filename=a\r\n";
        let ends =
            |form: &str| pieces(form.as_bytes(), 5).map(|all| all.last() == Some(&FormPiece::End));
        assert_eq!(ends(&format!("{head}\r\nx\r\n--x-1--")), Ok(true));
        assert_eq!(ends(&format!("{head}\r\nx")), Ok(false));
        assert_eq!(ends("no form at all"), Ok(false));
        assert!(ends(&format!("{head}Content-Transfer-Encoding: base64\r\n\r\nx")).is_err());
        assert!(ends("--x-1\r\n\r\nx\r\n--x-1--").is_err());
        assert!(ends("--x-10\r\n\r\n").is_err());
        assert!(ends(&format!("{head}X: {}", "x".repeat(HEAD))).is_err());
        for kind in ["application/json", "multipart/form-data", "multipart/mixed; boundary=x"] {
            assert!(FormReader::new(kind).is_none(), "{kind}");
        }
    }

    #[test]
    fn a_preamble_and_a_part_need_little_memory() {
        let mut reader = FormReader::new(KIND).unwrap();
        for _ in 0..100 {
            reader.take(&[b'x'; 1000]);
            assert_eq!(reader.next_piece(), Ok(None));
        }
        assert!(reader.held.len() < 2000, "{}", reader.held.len());
        reader.take(b"\r\n--x-1\r\nContent-Disposition: form-data; name=file\r\n\r\n");
        assert_eq!(reader.next_piece(), Ok(Some(part("file", None))));
        reader.take(&vec![b'x'; 100_000]);
        assert!(matches!(reader.next_piece(), Ok(Some(FormPiece::Bytes(_)))));
        assert!(reader.held.len() < 10);
    }
}
