//! Prepares a file for its reader: decoded text, a title from the file's name, and limits.

use std::collections::BTreeMap;

use pikerag_knowledge::{Block, Chunking, Document, Link};

use super::blocks::one_line;
use super::writing::Writing;
use crate::{ExternalTools, Format, Limits, ParseError};
use pikerag_unpack::Problems;
use pikerag_unpack::encoding;

/// A file whose format is not text.
pub(crate) struct Input<'a> {
    /// The file's name from the user.
    pub(crate) name: &'a str,
    /// The whole file, unchanged.
    pub(crate) bytes: &'a [u8],
    /// The result of [`crate::format_of`]; for a converted file, its original format.
    pub(crate) format: Format,
    /// Limits on the file's demands.
    pub(crate) limits: &'a Limits,
    /// External programs for this file.
    pub(crate) tools: &'a dyn ExternalTools,
}

impl Input<'_> {
    /// Makes a document from written text; if the file has no title, the title comes from the
    /// file's name.
    pub(crate) fn document(&self, title: Option<String>, writing: Writing) -> Document {
        let Writing { text, blocks, links, images, .. } = writing;
        Document {
            fragment: String::new(),
            title: title
                .and_then(|title| one_line(&title))
                .unwrap_or_else(|| title_from(self.name)),
            media_type: self.format.media_type().to_owned(),
            text,
            blocks,
            links,
            images,
            chunking: Chunking::Free,
            metadata: BTreeMap::new(),
        }
    }

    /// The file breaks the rules of its format.
    pub(crate) fn malformed(&self, format: &str, reason: impl std::fmt::Display) -> ParseError {
        ParseError::malformed(self.name, format, reason)
    }
}

/// A file whose format is text, decoded.
#[derive(Debug)]
pub(crate) struct TextFile<'a> {
    /// The file's name from the user.
    pub(crate) name: &'a str,
    /// The title made from the name; never blank.
    pub(crate) title: String,
    /// The result of [`crate::format_of`]; for a converted file, its original format.
    pub(crate) format: Format,
    /// Its text without a byte order mark; spans count from after the mark.
    pub(crate) text: String,
    /// The original encoding, if it is not UTF-8.
    pub(crate) encoding: Option<&'static str>,
    /// Limits on the file's demands.
    pub(crate) limits: &'a Limits,
}

impl<'a> TextFile<'a> {
    /// Decodes the bytes; undecodable bytes become U+FFFD and a problem.
    pub(crate) fn decode(
        name: &'a str,
        bytes: &[u8],
        format: Format,
        limits: &'a Limits,
        problems: &mut Problems,
    ) -> Result<Self, ParseError> {
        let decoded = {
            let declared = (format == Format::Html).then(|| encoding::declared(bytes)).flatten();
            encoding::decode(name, bytes, declared, problems)?
        };
        if decoded.text.trim().is_empty() {
            return Err(ParseError::NothingInside { name: name.to_owned() });
        }
        let title = title_from(name);
        let (text, encoding) = (decoded.text, decoded.encoding);
        Ok(Self { name, title, format, text, encoding, limits })
    }

    /// A document of this file with [`Chunking::Free`] and without metadata.
    pub(crate) fn document(
        &self,
        title: Option<String>,
        text: String,
        blocks: Vec<Block>,
        links: Vec<Link>,
    ) -> Document {
        Document {
            fragment: String::new(),
            title: title.unwrap_or_else(|| self.title.clone()),
            media_type: self.format.media_type().to_owned(),
            text,
            blocks,
            links,
            images: Vec::new(),
            chunking: Chunking::Free,
            metadata: BTreeMap::new(),
        }
    }
}

/// `a/b/annual_report-2023.md` → `annual report 2023`.
fn title_from(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = match base.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => base,
    };
    one_line(&stem.replace(['-', '_'], " "))
        .or_else(|| one_line(base))
        .unwrap_or_else(|| "untitled".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_come_from_file_names() {
        let titles =
            ["a/b/annual_report-2023.md", "年报.txt", "C:\\x\\notes", ".md", "___.txt", ""]
                .map(title_from);
        assert_eq!(titles, ["annual report 2023", "年报", "notes", ".md", "___.txt", "untitled"]);
    }
}
