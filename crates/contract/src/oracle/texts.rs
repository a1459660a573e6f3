//! Writes the texts that embedders receive.

use pikerag_knowledge::{Chunk, DocumentGraph, NodeId, Section, TextToEmbed, VectorSet};

use super::{Document, State};

/// The number of characters of a source, section or entity that embedders receive.
const LONGEST: usize = 2000;

impl State {
    /// All texts to embed, as embedders receive them.
    pub(super) fn texts(&self, set: VectorSet) -> Vec<TextToEmbed> {
        let text = |node: NodeId, text: String| TextToEmbed { node, text };
        let cut = |text: String| text.chars().take(LONGEST).collect::<String>();
        match set {
            VectorSet::Chunks => {
                let searchable = self.chunks().filter(|chunk| chunk.is_searchable());
                let seen = |it: &Chunk| format!("{}\n{}", it.full_title(), it.searched_text());
                searchable.map(|chunk| text(chunk.id.into(), seen(chunk))).collect()
            }
            VectorSet::Atoms(kind) => {
                let atoms = self.atoms.values().flatten().filter(|atom| atom.kind == kind);
                atoms.map(|atom| text(atom.id.into(), atom.text.clone())).collect()
            }
            VectorSet::Entities => {
                let all = self.entity_ids().into_iter().filter_map(|id| self.entity(id));
                all.map(|it| text(it.id.into(), cut(format!("{}: {}", it.name, it.description))))
                    .collect()
            }
            VectorSet::Summaries => {
                let all = self.summaries.values();
                all.map(|summary| text(summary.id.into(), summary.text.clone())).collect()
            }
            VectorSet::Sources => {
                let text_of = |held: &Document| {
                    let source = &held.graph.source;
                    let about = source.summary.as_deref().filter(|about| !about.is_empty());
                    let titled = about.map(|about| format!("{}\n{about}", source.title));
                    text(source.id.into(), cut(titled.unwrap_or_else(|| source.title.clone())))
                };
                self.documents.values().map(text_of).collect()
            }
            VectorSet::Sections => {
                let mut all = Vec::new();
                for held in self.documents.values() {
                    for section in &held.graph.sections {
                        all.push(text(section.id.into(), cut(path(&held.graph, section))));
                    }
                }
                all
            }
        }
    }
}

/// The headings that lead to a section, below the title of its source.
fn path(graph: &DocumentGraph, section: &Section) -> String {
    let mut headings = vec![section.heading.clone()];
    let mut above = section.parent;
    while let Some(parent) = above.and_then(|id| graph.sections.iter().find(|it| it.id == id)) {
        headings.insert(0, parent.heading.clone());
        above = parent.parent;
    }
    let title = &graph.source.title;
    match headings.first() {
        Some(outermost) if outermost == title => headings.join(" › "),
        _ => format!("{title} › {}", headings.join(" › ")),
    }
}
