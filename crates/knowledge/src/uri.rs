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
}
