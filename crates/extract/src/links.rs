//! Resolves a document's links and lists the names under which each chunk is found.

use pikerag_knowledge::uri::stem;
use pikerag_knowledge::{Chunk, ChunkId, Link, NameUse, Source, file_uri};
use pikerag_language::names::{Name, names_in, title_names};

use crate::keys::{address, key};
use crate::references::mentioned as mentioned_documents;

/// The links of each chunk; paths become URIs of this base.
pub(crate) fn by_chunk(path: &str, links: &[Link], chunks: &[Chunk]) -> Vec<(ChunkId, Link)> {
    let mut found = Vec::new();
    for link in links {
        let Some(target) = target_uri(path, &link.target) else { continue };
        // Chunks are in reading order: takes the last one that begins before the link.
        let after = chunks.partition_point(|chunk| chunk.span.start <= link.span.start);
        let holder = after.checked_sub(1).and_then(|place| chunks.get(place));
        let holder = holder.filter(|chunk| link.span.start < chunk.span.end);
        if let Some(chunk) = holder {
            found.push((chunk.id, Link { target, span: link.span }));
        }
    }
    found
}

/// The names of each chunk: its own (title, heading, file, address of its document), those it
/// mentions, and those it links to.
pub(crate) fn names(
    path: &str,
    source: &Source,
    chunks: &[Chunk],
    links: &[(ChunkId, Link)],
) -> Vec<(ChunkId, NameUse)> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = stem(path);
    let mut uses = Vec::new();
    for chunk in chunks.iter().filter(|chunk| chunk.is_searchable()) {
        let mut titles = title_names(&source.title);
        if let Some(heading) = chunk.headings.last().filter(|heading| !heading.is_empty()) {
            titles.extend(
                title_names(heading).into_iter().map(|(name, weight)| (name, weight / 5 * 4)),
            );
        }
        // A file of many records is not a name of each record.
        if source.uri == file_uri(path) {
            titles.extend([file, stem].into_iter().flat_map(title_names));
        }
        let mut mentioned = names_in(&chunk.text);
        mentioned.extend(names_in(&source.title));
        mentioned.extend(titles.iter().map(|(name, _)| name.clone()));
        let called = mentioned_documents(&chunk.text, source, &mentioned);
        uses.extend(called.into_iter().map(|key| (chunk.id, NameUse::Mentions(key))));
        // The identifier of a record is asked for, as in *What happened in INC-205?*
        titles.extend(record_identifier(&source.uri).map(|name| (name, 100)));
        for (name, weight) in titles {
            uses.push((chunk.id, NameUse::Bears { key: key(&name), weight }));
        }
        uses.push((chunk.id, NameUse::Bears { key: address(&source.uri), weight: 100 }));
        uses.extend(mentioned.iter().map(|name| (chunk.id, NameUse::Mentions(key(name)))));
    }
    uses.extend(links.iter().map(|(chunk, link)| (*chunk, NameUse::Links(address(&link.target)))));
    uses.sort_unstable();
    uses.dedup();
    uses
}

/// The identifier of a record in a file of many records: the fragment of its URI, if it has letters
/// and digits. A number is only the place in the file, and a word names a part of it.
fn record_identifier(uri: &str) -> Option<Name> {
    let (_, identifier) = uri.split_once('#')?;
    if !identifier.contains(char::is_alphabetic) || !identifier.contains(char::is_numeric) {
        return None;
    }
    title_names(identifier).into_iter().next().map(|(name, _)| name)
}

/// A link's target as a URI: a path is resolved against its file, an outside address is unchanged,
/// and a link into the same document gives `None`.
fn target_uri(path: &str, target: &str) -> Option<String> {
    let target = target.trim();
    if target.is_empty() || target.starts_with('#') {
        return None;
    }
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| {
        1 < scheme.len() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    }) {
        return Some(target.to_owned());
    }
    let bare = target.split(['#', '?']).next().unwrap_or_default();
    let decoded = percent_decoded(bare);
    let mut parts: Vec<&str> = Vec::new();
    if !decoded.starts_with('/') {
        parts.extend(path.split('/'));
        parts.pop();
    } else if path.starts_with('/') {
        parts.push("");
    }
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(file_uri(&parts.join("/")).into_owned())
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                digit(*high).zip(digit(*low)).map(|(high, low)| (high * 16 + low) as u8)
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_named_by_its_identifier_but_not_by_its_place() {
        let name = |uri| record_identifier(uri).map(|name| name.join(" "));
        assert_eq!(name("incidents.jsonl#INC-205").as_deref(), Some("inc 205"));
        assert_eq!(name("pumps.jsonl#Pump 7#B2").as_deref(), Some("pump 7 b2"));
        assert_eq!(name("表.csv#合同A12").as_deref(), Some("合 同 a12"));
        for counted in ["rows.csv#17", "rows.csv#2024-05", "rows.csv#summary", "notes.md", "a.csv#"]
        {
            assert_eq!(name(counted), None, "{counted}");
        }
    }

    #[test]
    fn targets() {
        assert_eq!(target_uri("a/b.md", "c.md"), Some("a/c.md".to_owned()));
        assert_eq!(target_uri("a/b.md", "../x/./c.md?v=1#top"), Some("x/c.md".to_owned()));
        assert_eq!(target_uri("a/b.md", "%E5%9B%BE.md"), Some("a/图.md".to_owned()));
        assert_eq!(target_uri("a/b.md", "100%.md"), Some("a/100%.md".to_owned()));
        assert_eq!(
            target_uri("a/b.md", "https://x.example/y#z"),
            Some("https://x.example/y#z".to_owned())
        );
        assert_eq!(target_uri("a/b.md", "#part"), None);
        // The result equals the file's own URI.
        assert_eq!(target_uri("a/b.md", "c%23.md"), Some("a/c%23.md".to_owned()));
    }
}
