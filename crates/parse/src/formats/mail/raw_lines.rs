//! Rewrites raw lines of a message as UTF-8: header lines, and the body if no charset is declared.
//!
//! Mail programs should write headers in ASCII (RFC 2047). Some write raw text in the encoding of
//! their machine, in China mostly GBK. The parser of messages reads such lines as UTF-8.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::{Encoding, WINDOWS_1252};
use pikerag_unpack::encoding;

/// The message with all raw lines in UTF-8. Lines that are valid UTF-8 stay as they are.
pub(super) fn in_utf8(message: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(message).is_ok() {
        return Cow::Borrowed(message);
    }
    let lines = lines(message);
    let is_raw = |line: &Line<'_>| line.is_undeclared && std::str::from_utf8(line.bytes).is_err();
    let raw: Vec<u8> =
        lines.iter().filter(|line| is_raw(line)).flat_map(|line| line.bytes).copied().collect();
    if raw.is_empty() {
        return Cow::Borrowed(message);
    }
    let encoding = encoding_of(&raw, &lines);
    let mut written = Vec::with_capacity(message.len() + raw.len());
    for line in &lines {
        match is_raw(line) {
            true => {
                let (text, _) = encoding.decode_without_bom_handling(line.bytes);
                written.extend_from_slice(text.as_bytes());
            }
            false => written.extend_from_slice(line.bytes),
        }
    }
    Cow::Owned(written)
}

/// A line with its end.
struct Line<'a> {
    bytes: &'a [u8],
    /// Whether it is a header line, or a body line of a message that declares no charset.
    is_undeclared: bool,
}

/// The lines of a message. Header lines begin the message, and each part after its boundary.
/// Headers of messages within the message are not header lines, because each is read by itself.
fn lines(message: &[u8]) -> Vec<Line<'_>> {
    let mut boundaries: HashSet<Vec<u8>> = HashSet::new();
    let (mut in_first_header, mut in_header) = (true, true);
    // Whether the first header admits a body of plain text in an unknown encoding.
    let (mut has_charset, mut is_text) = (false, true);
    let mut lines = Vec::new();
    for bytes in message.split_inclusive(|byte| *byte == b'\n') {
        let content = bytes.trim_ascii_end();
        if content.is_empty() {
            (in_first_header, in_header) = (false, false);
        } else if content.strip_prefix(b"--").is_some_and(|name| boundaries.contains(name)) {
            in_header = true;
        }
        if in_header {
            let text = String::from_utf8_lossy(content).to_ascii_lowercase();
            boundaries.extend(boundary(content));
            if in_first_header {
                has_charset |= text.contains("charset");
                let kind = text.strip_prefix("content-type:").map(str::trim_start);
                is_text &= kind.is_none_or(|kind| kind.starts_with("text/"));
            }
        }
        let is_body_of_text = !in_first_header && is_text && !has_charset;
        lines.push(Line { bytes, is_undeclared: in_header || is_body_of_text });
    }
    lines
}

/// The boundary of parts that a header line declares.
fn boundary(line: &[u8]) -> Option<Vec<u8>> {
    const KEY: &[u8] = b"boundary=";
    let at = line.windows(KEY.len()).position(|window| window.eq_ignore_ascii_case(KEY))?;
    let value = line.get(at + KEY.len()..)?;
    let (value, ends) = match value.strip_prefix(b"\"") {
        Some(quoted) => (quoted, b"\"".as_slice()),
        None => (value, b"; \t".as_slice()),
    };
    let value = value.split(|byte| ends.contains(byte)).next()?;
    (!value.is_empty()).then(|| value.to_vec())
}

/// The encoding that a part declares if all raw lines are valid in it, else a guess from them.
/// Latin is not trusted, because programs declare it without asking.
fn encoding_of(raw: &[u8], lines: &[Line<'_>]) -> &'static Encoding {
    let headers = lines.iter().filter(|line| line.is_undeclared);
    let mut declared = headers.filter_map(|line| encoding::declared(line.bytes));
    let fits = |found: &&'static Encoding| {
        *found != WINDOWS_1252
            && found.decode_without_bom_handling_and_without_replacement(raw).is_some()
    };
    declared.find(fits).unwrap_or_else(|| encoding::guess(raw, None))
}

#[cfg(test)]
mod tests {
    use encoding_rs::GBK;

    use crate::test_support::run;

    fn gbk(message: &str) -> Vec<u8> {
        GBK.encode(message).0.into_owned()
    }

    #[test]
    fn raw_subjects_and_senders_are_decoded() {
        let header = "From: 张伟 <zhang@a.example>\r\nSubject: 关于第三季度设备检修计划的通知\r\n";
        let drawn = "== 关于第三季度设备检修计划的通知\n\
            h1 \"关于第三季度设备检修计划的通知\"\n\
            p \"From: 张伟 <zhang@a.example>\"\n\
            p \"请各部门准备。\"\n\
            from = 张伟 <zhang@a.example>\n\
            subject = 关于第三季度设备检修计划的通知\n";
        for kind in [
            "",
            "Content-Type: text/plain\r\n",
            "Content-Type: text/plain; charset=gb2312\r\nContent-Transfer-Encoding: 8bit\r\n",
        ] {
            let mail = gbk(&format!("{header}{kind}\r\n请各部门准备。\r\n"));
            assert_eq!(run("m.eml", mail), drawn, "{kind}");
        }
        // The body is in UTF-8, the header is not.
        let kind = "Content-Type: text/plain; charset=utf-8\r\n\r\n请各部门准备。\r\n";
        assert_eq!(run("m.eml", [gbk(header), kind.into()].concat()), drawn);
    }

    /// One part declares its encoding and stays as it is; the raw file name of the other does not.
    #[test]
    fn raw_names_of_attachments_are_decoded() {
        let mail = "From: a@b.example\r\nSubject: 报告\r\nContent-Type: multipart/mixed; boundary=\"x y\"\r\n\r\n\
            --x y\r\nContent-Type: text/plain; charset=gb2312\r\n\r\n-- \r\n请各部门准备。\r\n\
            --x y\r\nContent-Type: text/csv; name=\"采购.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nbmFtZSxsb2FkCkExLDUK\r\n--x y--\r\n";
        let drawn = run("m.eml", gbk(mail));
        assert!(drawn.starts_with("== 报告\n"), "{drawn}");
        assert!(drawn.contains("请各部门准备。"), "{drawn}");
        assert!(drawn.contains("== 采购 #采购.csv\n"), "{drawn}");
    }

    #[test]
    fn names_in_latin_letters_are_decoded() {
        let mail = b"From: Ren\xe9 Lef\xe8vre <rene@a.example>\r\nSubject: R\xe9sum\xe9 du projet\r\n\r\nText.\r\n";
        let drawn = run("m.eml", mail);
        assert!(drawn.contains("subject = Résumé du projet"), "{drawn}");
        assert!(drawn.contains("from = René Lefèvre <rene@a.example>"), "{drawn}");
    }
}
