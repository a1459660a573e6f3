//! Hashes a form of files while it arrives, so that it is compared without being held.

use crate::form::{BadForm, FormPiece, FormReader, PartHead};

/// The hash of the parts of a form: their names and bytes, in order. The boundary does not count,
/// because clients choose another one when they send the form again.
pub(super) struct FormHash {
    reader: FormReader,
    /// Of the request, and of the parts before.
    whole: blake3::Hasher,
    /// Of the part that arrives.
    part: Option<blake3::Hasher>,
    state: State,
}

/// How much of the form has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Arriving,
    Complete,
    Broken,
}

impl FormHash {
    /// The hash of a form that `reader` reads, in a request to this address.
    pub(super) fn new(reader: FormReader, address: &str) -> Self {
        let mut whole = blake3::Hasher::new();
        add(&mut whole, address);
        Self { reader, whole, part: None, state: State::Arriving }
    }

    /// Adds bytes that have arrived. Bytes behind the form do not count.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if self.state == State::Arriving {
            self.reader.take(bytes);
            if self.read().is_err() {
                self.state = State::Broken;
            }
        }
    }

    /// Whether more bytes can change the hash.
    pub(super) fn is_arriving(&self) -> bool {
        self.state == State::Arriving
    }

    /// The hash; `None` if the form is not complete, or breaks the format.
    pub(super) fn finalized(&self) -> Option<blake3::Hash> {
        (self.state == State::Complete).then(|| self.whole.finalize())
    }

    fn read(&mut self) -> Result<(), BadForm> {
        while let Some(piece) = self.reader.next_piece()? {
            match piece {
                FormPiece::Part(PartHead { field, file }) => {
                    self.end_part();
                    add(&mut self.whole, &field);
                    add(&mut self.whole, file.as_deref().unwrap_or_default());
                    self.part = Some(blake3::Hasher::new());
                }
                FormPiece::Bytes(bytes) => {
                    if let Some(part) = &mut self.part {
                        part.update(&bytes);
                    }
                }
                FormPiece::End => {
                    self.end_part();
                    self.state = State::Complete;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A part counts by its hash, so that its bytes cannot look like the next part.
    fn end_part(&mut self) {
        if let Some(part) = self.part.take() {
            self.whole.update(part.finalize().as_bytes());
        }
    }
}

/// Adds a text with its length before it.
fn add(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(boundary: &str, parts: &[(&str, &str)]) -> String {
        let parts = parts.iter().map(|(file, bytes)| {
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=file; filename={file}\r\n\r\n{bytes}\r\n"
            )
        });
        format!("{}--{boundary}--\r\n", parts.collect::<String>())
    }

    fn hash(boundary: &str, form: &str, step: usize) -> Option<blake3::Hash> {
        let kind = format!("multipart/form-data; boundary={boundary}");
        let mut hash = FormHash::new(FormReader::new(&kind).unwrap(), "/files");
        for bytes in form.as_bytes().chunks(step) {
            hash.take(bytes);
        }
        hash.finalized()
    }

    #[test]
    fn the_hash_is_of_names_and_bytes_in_order() {
        let parts = [("a.md", "One"), ("b.md", "Two")];
        let first = hash("x", &form("x", &parts), 1000);
        assert!(first.is_some());
        assert_eq!(hash("another-1", &form("another-1", &parts), 7), first);
        assert_eq!(hash("x", &format!("before\r\n{}behind", form("x", &parts)), 1), first);
        for other in [
            [("a.md", "One"), ("b.md", "Twp")],
            [("a.md", "One"), ("c.md", "Two")],
            [("b.md", "Two"), ("a.md", "One")],
            [("a.md", "OneTwo"), ("b.md", "")],
        ] {
            let other = hash("x", &form("x", &other), 1000);
            assert!(other.is_some() && other != first, "{other:?}");
        }
    }

    #[test]
    fn bytes_behind_a_form_or_an_error_need_not_arrive() {
        let new =
            || FormHash::new(FormReader::new("multipart/form-data; boundary=x").unwrap(), "/files");
        let mut whole = new();
        let text = form("x", &[("a.md", "One")]);
        let (begin, end) = text.split_at(text.len() - 6);
        whole.take(begin.as_bytes());
        assert!(whole.is_arriving());
        whole.take(end.as_bytes());
        assert!(!whole.is_arriving());
        let mut broken = new();
        broken.take(b"--x\r\n\r\nno head\r\n");
        assert!(!broken.is_arriving() && broken.finalized().is_none());
    }

    #[test]
    fn an_incomplete_or_broken_form_has_no_hash() {
        let whole = form("x", &[("a.md", "One")]);
        let cut = whole.trim_end().strip_suffix("--").unwrap();
        assert_eq!(hash("x", cut, 1000), None);
        assert_eq!(hash("x", "--x\r\n\r\nno head\r\n--x--\r\n", 1000), None);
        assert_eq!(hash("x", "no form", 1000), None);
    }
}
