//! Opens Office files: their parts, relations between parts, pictures and metadata (ECMA-376 part
//! 2).

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_knowledge::{Image, ProblemFact};

use crate::ParseError;
use crate::document::blocks::one_line;
use crate::document::file::Input;
use pikerag_unpack::Problems;
use pikerag_unpack::archive::{Archive, resolve};
use pikerag_unpack::image_header::shown_type;
use pikerag_unpack::xml::{Tree, decode};

/// The most bytes of one kept picture, and of all of them.
const LARGEST_IMAGE: usize = 16 << 20;
const LARGEST_IMAGES: usize = 64 << 20;

/// An Office file with readable parts; it counts the bytes of its pictures.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    /// Pictures returned so far; a picture on every slide appears once.
    seen: HashSet<String>,
    images_left: usize,
}

/// Relations of a part, by identifier.
#[derive(Debug, Default)]
pub(crate) struct Relations(pub(crate) HashMap<String, Relation>);

/// A reference from one part to another, or out of the file.
#[derive(Debug)]
pub(crate) struct Relation {
    /// Last word of its type: `image`, `hyperlink`, `slide`, …
    pub(crate) kind: String,
    /// The name of a part or, outside the file, the address as written.
    pub(crate) target: String,
    pub(crate) leads_out: bool,
}

impl Relations {
    /// The part of an identifier; `None` if it is unknown or leads out of the file.
    pub(crate) fn part(&self, id: &str) -> Option<&str> {
        self.0.get(id).filter(|relation| !relation.leads_out).map(|found| found.target.as_str())
    }

    /// The address of an identifier; `None` if it is unknown or leads to a part.
    pub(crate) fn address(&self, id: &str) -> Option<&str> {
        self.0.get(id).filter(|relation| relation.leads_out).map(|found| found.target.as_str())
    }

    /// The parts of one kind, sorted by name.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<String> {
        let matching = self.0.values().filter(|found| found.kind == kind && !found.leads_out);
        let mut parts: Vec<String> = matching.map(|found| found.target.clone()).collect();
        parts.sort();
        parts.dedup();
        parts
    }
}

impl<'a> Package<'a> {
    /// See [`Archive::open`].
    pub(crate) fn open(input: &Input<'a>, problems: &mut Problems) -> Result<Self, ParseError> {
        let archive = Archive::open(input.name, input.bytes, problems)?;
        Ok(Self { archive, seen: HashSet::new(), images_left: LARGEST_IMAGES })
    }

    /// The text of a part without a byte order mark; `None` if it is missing or cannot be unpacked.
    pub(crate) fn part(&mut self, name: &str, problems: &mut Problems) -> Option<String> {
        let bytes = self.archive.entry(name, problems)?;
        Some(match String::from_utf8(bytes) {
            Ok(text) if !text.starts_with('\u{feff}') => text,
            Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
            Err(other) => decode(other.as_bytes()).into_owned(),
        })
    }

    /// The relations of a part; the file itself is the part with an empty name.
    pub(crate) fn relations(&mut self, part: &str, problems: &mut Problems) -> Relations {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let name = format!("{folder}{slash}_rels/{file}.rels");
        let mut relations = Relations::default();
        let Some(text) = self.part(&name, problems) else { return relations };
        let tree = Tree::read(&text, &name, problems);
        let Some(root) = tree.root() else { return relations };
        for relation in root.all("Relationship") {
            let attr = |name| relation.attr(name).unwrap_or_default().into_owned();
            let leads_out = attr("TargetMode") == "External";
            let target = attr("Target");
            let kind = attr("Type").rsplit('/').next().unwrap_or_default().to_owned();
            let target = if leads_out { target } else { resolve(part, &target) };
            relations.0.insert(attr("Id"), Relation { kind, target, leads_out });
        }
        relations
    }

    /// The main part; `usual` if the file does not name one.
    pub(crate) fn main(&mut self, usual: &str, problems: &mut Problems) -> String {
        let parts = self.relations("", problems).of_kind("officeDocument");
        parts.into_iter().find(|part| self.archive.has(part)).unwrap_or_else(|| usual.to_owned())
    }

    /// The metadata in the file, with the title under `title`.
    pub(crate) fn metadata(&mut self, problems: &mut Problems) -> BTreeMap<String, String> {
        let mut metadata = BTreeMap::new();
        let Some(text) = self.part("docProps/core.xml", problems) else { return metadata };
        let tree = Tree::read(&text, "docProps/core.xml", problems);
        for element in tree.root().into_iter().flat_map(pikerag_unpack::xml::Element::elements) {
            let key = match element.name() {
                "creator" => "author",
                name @ ("title" | "subject" | "keywords" | "description" | "category"
                | "created" | "modified" | "language") => name,
                _ => continue,
            };
            if let Some(value) = one_line(&element.text()) {
                metadata.insert(key.to_owned(), value);
            }
        }
        metadata
    }

    /// A picture, unless its kind is unsupported or it was returned before.
    pub(crate) fn image(&mut self, part: &str, problems: &mut Problems) -> Picture {
        if !self.seen.insert(part.to_lowercase()) {
            return Picture::Again;
        }
        let Some(bytes) = self.archive.entry(part, problems) else { return Picture::Unshown };
        let Some(media_type) = shown_type(&bytes) else { return Picture::Unshown };
        if LARGEST_IMAGE.min(self.images_left) < bytes.len() {
            problems.add(part, ProblemFact::PictureOverLimit);
            return Picture::Unshown;
        }
        self.images_left -= bytes.len();
        Picture::Shown(Image { media_type: media_type.to_owned(), bytes })
    }
}

/// The result of a request for a picture.
pub(crate) enum Picture {
    Shown(Image),
    /// It is missing, too large, or of a kind that only Office draws.
    Unshown,
    /// It was returned before.
    Again,
}
