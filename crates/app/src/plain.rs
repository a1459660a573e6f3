//! Makes texts safe for a terminal: control sequences in documents, file names and replies of models are shown, not sent.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

/// The text with its line breaks and tabs. Other control characters are visible: `␛` for escape, `\u{9b}` and `\u{202e}`
/// for characters without a picture.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    visible(text, |c| controls(c) && !matches!(c, '\n' | '\t'))
}

/// The same on one line: a name with a line break in it must not look like two lines of ours.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    visible(text, controls)
}

/// The word as a shell reads it, in quotes if it contains special characters.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// JSON with the same value, without control characters in its strings. Outside its strings, JSON has only line breaks.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    // The JSON writer escapes the first 32 characters.
    let raw = |c: char| '\u{1f}' < c && controls(c);
    if !text.contains(raw) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match raw(c) {
            // All of them are in the first plane.
            true => {
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            false => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Writes plain text to a terminal, a line at a time, so that no character is cut.
pub(crate) struct Shown<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Shown<W> {
    pub(crate) fn on(terminal: W) -> Self {
        Self { to: terminal, line: Vec::new() }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let whole = std::mem::replace(&mut self.line, rest);
            self.to.write_all(plain(&String::from_utf8_lossy(&whole)).as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.to.write_all(plain(&String::from_utf8_lossy(&rest)).as_bytes())?;
        self.to.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

fn visible(text: &str, is_shown: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_shown(c) => shown.push(c),
            '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('�')),
            '\u{7f}' => shown.push('␡'),
            c => {
                let _ = write!(shown, "{}", c.escape_unicode());
            }
        }
    }
    Cow::Owned(shown)
}

/// C0, DEL and C1; the controls of bidirectional text; the separators that some terminals break lines at.
fn controls(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let lines = [
            plain("a\tb").into_owned(),
            plain("\x1b[31mred\x1b[0m\r\x08\x07").into_owned(),
            plain("\u{9b}2J \u{85} \x7f").into_owned(),
            plain("\u{202e}txt.exe\u{202c} \u{2066}x\u{2069}").into_owned(),
            plain("中文、עברית、é、👩\u{200d}🔬").into_owned(),
            one_line("a\nb\tc").into_owned(),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        a	b
        ␛[31mred␛[0m␍␈␇
        \u{9b}2J \u{85} ␡
        \u{202e}txt.exe\u{202c} \u{2066}x\u{2069}
        中文、עברית、é、👩‍🔬
        a␊b␉c
        ");
    }

    #[test]
    fn an_export_to_a_terminal_is_plain_in_pieces_of_any_size() {
        let text = "{\"a\": \"中\u{9b}2J\"}\n<b>\x1b]0;x\x07</b>";
        let mut shown = Vec::new();
        let mut writer = Shown::on(&mut shown);
        for byte in text.as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        drop(writer);
        assert_eq!(String::from_utf8(shown).unwrap(), plain(text));
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a": "\x1b[2J\u{9b}2J\u{7f}\u{202e}中\n"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let safe = json(&text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        assert_eq!(plain(&safe), safe);
    }
}
