//! Locates a chunk's sentences in its text, so that an embedder reads text and sentences in one call.

use std::collections::HashMap;
use std::ops::Range;

use pikerag_knowledge::{
    AtomId, AtomKind, AtomQuery, ChunkId, KnowledgeWriter, NodeId, NodeVector, Parted,
    PartedVectors, StoreError, Vector,
};

/// Texts of chunks with the spans of their sentences.
pub(crate) struct Chunks {
    pub(crate) texts: Vec<Parted>,
    /// By text, the atoms of its parts.
    atoms: Vec<Vec<AtomId>>,
}

impl Chunks {
    /// Locates the sentences of these chunks. Sentences that do not occur in the text are left out; they
    /// are embedded separately.
    pub(crate) async fn of(
        base: &dyn KnowledgeWriter,
        nodes: &[NodeId],
        texts: &[String],
    ) -> Result<Self, StoreError> {
        let chunks: Vec<ChunkId> = nodes.iter().map(|node| ChunkId(node.0)).collect();
        let mut sentences: HashMap<ChunkId, Vec<(AtomId, String)>> = HashMap::new();
        for atom in base.atoms(AtomQuery::InChunks(AtomKind::Sentence, &chunks)).await? {
            sentences.entry(atom.chunk).or_default().push((atom.id, atom.text));
        }
        let mut parted = Self { texts: Vec::new(), atoms: Vec::new() };
        for (chunk, text) in chunks.iter().zip(texts) {
            let own = sentences.remove(chunk).unwrap_or_default().into_iter();
            let found = own.filter_map(|(atom, sentence)| Some((atom, place_of(&sentence, text)?)));
            let (atoms, parts) = found.unzip();
            parted.texts.push(Parted { text: text.clone(), parts });
            parted.atoms.push(atoms);
        }
        Ok(parted)
    }

    /// Splits vectors into those of the texts, in order, and those of the sentences.
    pub(crate) fn split_vectors(
        self,
        vectors: Vec<PartedVectors>,
    ) -> (Vec<Vector>, Vec<NodeVector>) {
        let mut wholes = Vec::with_capacity(vectors.len());
        let mut sentences = Vec::new();
        for (PartedVectors { whole, parts }, atoms) in vectors.into_iter().zip(self.atoms) {
            wholes.push(whole);
            let of_sentences = atoms.into_iter().zip(parts);
            sentences.extend(
                of_sentences.map(|(atom, vector)| NodeVector { node: atom.into(), vector }),
            );
        }
        (wholes, sentences)
    }
}

/// The first occurrence of a sentence in a text, whose white space between words may differ.
fn place_of(sentence: &str, text: &str) -> Option<Range<usize>> {
    let first = sentence.chars().next()?;
    text.match_indices(first).find_map(|(start, _)| {
        let (_, mut rest) = text.split_at(start);
        for (nth, word) in sentence.split(' ').enumerate() {
            if nth != 0 {
                let words = rest.trim_start();
                if words.len() == rest.len() {
                    return None;
                }
                rest = words;
            }
            rest = rest.strip_prefix(word)?;
        }
        Some(start..text.len() - rest.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_across_white_space() {
        let text = "Title\nIt is so. 一二三。\n It  is\nlate.  Ends";
        for (sentence, found) in [
            ("It is so.", Some("It is so.")),
            ("It is late.", Some("It  is\nlate.")),
            ("一二三。", Some("一二三。")),
            ("Ends", Some("Ends")),
            ("Title It", Some("Title\nIt")),
            ("Itis", None),
            ("It i s", None),
            ("Ends here", None),
            ("", None),
        ] {
            let place = place_of(sentence, text);
            assert_eq!(place.map(|place| &text[place]), found, "{sentence}");
        }
    }
}
