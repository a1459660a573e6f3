//! Names documents: by their file, and within a file of several documents also by a fragment after
//! `#`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// The URI of the document that is the whole file `path`, and the prefix of those inside it. A `#`
/// in the path is written `%23`, so that the first `#` of a URI ends the file's part.
pub fn file_uri(path: &str) -> Cow<'_, str> {
    if !path.contains('#') && !path.contains("%23") && !path.contains("%25") {
        return Cow::Borrowed(path);
    }
    // Escapes are escaped as well, so that two paths never become the same URI.
    Cow::Owned(path.replace("%25", "%2525").replace("%23", "%2523").replace('#', "%23"))
}

/// The URI of a document inside a file; an empty fragment is the file itself.
pub fn document_uri(path: &str, fragment: &str) -> String {
    match fragment {
        "" => file_uri(path).into_owned(),
        fragment => format!("{}#{fragment}", file_uri(path)),
    }
}

/// The file's part of a document's URI; compare it with [`file_uri`].
pub fn file_part(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(file, _)| file)
}

/// The path of a document's file, the reverse of [`file_uri`].
pub fn file_path(uri: &str) -> String {
    file_part(uri).replace("%23", "#").replace("%2523", "%23").replace("%2525", "%25")
}

/// A path as part of a `file:` URI (RFC 3986): all bytes but letters, digits, `/` and `-._~` are
/// percent-encoded.
pub fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(*byte));
            }
            byte => {
                // Writing to a string never fails.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// The beginning of the names of tables in databases: `postgres://host/database/schema.table`.
pub const RELATION: &str = "postgres://";

/// Whether a name or URI is that of a table in a database, not of a file.
pub fn is_relation(name: &str) -> bool {
    name.starts_with(RELATION)
}

/// The last part of a name, without the ending of a file or the schema of a table.
pub fn stem(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.rsplit_once('.') {
        Some((_, table)) if is_relation(name) && !table.is_empty() => table,
        Some((stem, _)) if !is_relation(name) && !stem.is_empty() => stem,
        _ => last,
    }
}

/// The URI of a row: that of its table, with the values of its key: `…/public.staff?id=7`.
pub fn row_uri<'a>(table: &str, key: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut uri = table.to_owned();
    for (place, (name, value)) in key.enumerate() {
        uri.push(if place == 0 { '?' } else { '&' });
        escape(name, &mut uri);
        uri.push('=');
        escape(value, &mut uri);
    }
    uri
}

/// Escapes the characters that end or separate the parts of a query. Letters of all scripts stay
/// readable.
fn escape(text: &str, uri: &mut String) {
    for c in text.chars() {
        if !c.is_whitespace() && !c.is_control() && !"%&=#?+\"<>".contains(c) {
            uri.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            uri.push('%');
            for digit in [byte >> 4, byte & 15] {
                uri.extend(
                    char::from_digit(digit.into(), 16).map(|digit| digit.to_ascii_uppercase()),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn no_two_documents_have_the_same_uri() {
        let paths = ["r.jsonl", "r.jsonl#x.md", "r.jsonl%23x.md", "r.jsonl%2523x.md", "100%.md"];
        let more = ["%#", "%%23", "%25%23", "%2#", "#", "%23", "%25", "%2525", "%252523"];
        let mut called = HashMap::new();
        for path in paths.into_iter().chain(more) {
            for fragment in ["", "x.md", "a#b"] {
                let uri = document_uri(path, fragment);
                assert_eq!(file_part(&uri), file_uri(path), "{path} {fragment}");
                assert_eq!(file_path(&uri), path);
                let other = called.insert(uri.clone(), (path, fragment));
                assert_eq!(other, None, "{uri} is {path} {fragment}");
            }
        }
        assert_eq!(document_uri("a/b.md", ""), "a/b.md");
        assert_eq!(document_uri("100%.jsonl", "7"), "100%.jsonl#7");
        assert_eq!(document_uri("r.jsonl#x.md", ""), "r.jsonl%23x.md");
    }

    #[test]
    fn other_bytes_of_a_path_are_percent_encoded() {
        for (path, encoded) in [
            ("/srv/a-b_c.d~1", "/srv/a-b_c.d~1"),
            ("/a b/50%#1?x=2", "/a%20b/50%25%231%3Fx%3D2"),
            ("/报告", "/%E6%8A%A5%E5%91%8A"),
        ] {
            assert_eq!(percent_encoded(Path::new(path)), encoded);
        }
    }

    #[test]
    fn tables_are_named_without_their_schema_and_files_without_their_ending() {
        let stems = ["a/b.c.csv", "a/.md", "readme", "postgres://h/db/public.staff"].map(stem);
        assert_eq!(stems, ["b.c", ".md", "readme", "staff"]);
        assert!(is_relation("postgres://h/db/public.staff") && !is_relation("postgres.md"));
    }

    #[test]
    fn rows_are_addressed_by_their_key() {
        let uri =
            |key: &[(&str, &str)]| row_uri("postgres://h/db/public.staff", key.iter().copied());
        assert_eq!(uri(&[("id", "7")]), "postgres://h/db/public.staff?id=7");
        assert_eq!(
            uri(&[("部门", "研发"), ("a b", "1&2=3%")]),
            "postgres://h/db/public.staff?部门=研发&a%20b=1%262%3D3%25"
        );
    }
}
