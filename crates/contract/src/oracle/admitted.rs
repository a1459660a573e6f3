//! Applies a filter: copies the base and removes everything that the filter does not admit.

use std::collections::BTreeSet;
use std::sync::Arc;

use pikerag_knowledge::filter::document_date;
use pikerag_knowledge::{
    Child, Chunk, ChunkId, Condition, Filter, FilterField, NameKey, RecordOrigin, StoreError,
    TagClassId,
};
use pikerag_language::names::tag_words;

use super::State;

impl State {
    /// A copy of the part that a caller may see.
    pub(super) fn visible(&self, filter: &Filter) -> Self {
        if filter.is_empty() { self.clone() } else { self.part(filter) }
    }

    /// A copy of the part that the filter admits.
    pub(super) fn admitted(&self, filter: &Filter) -> Result<Self, StoreError> {
        if filter.is_empty() {
            return Ok(self.clone());
        }
        let known = self.fields();
        for condition in &filter.conditions {
            let is_known = match &condition.field {
                FilterField::Tag(name) => self.class_named(name).is_some(),
                field => known.contains(field),
            };
            if !is_known {
                let field = condition.field.clone();
                return Err(StoreError::NoField { field, known: known.into_iter().collect() });
            }
        }
        Ok(self.part(filter))
    }

    fn part(&self, filter: &Filter) -> Self {
        let mut part = self.clone();
        let fits = |chunk: &Chunk| filter.conditions.iter().all(|it| self.fits(it, chunk));
        let chunks: BTreeSet<ChunkId> =
            self.chunks().filter(|chunk| fits(chunk)).map(|chunk| chunk.id).collect();
        let all = |of: BTreeSet<ChunkId>| of.is_subset(&chunks);
        part.communities.retain(|_, community| {
            community.members.iter().all(|member| {
                all(self.mentions_of(*member).iter().map(|(chunk, _)| *chunk).collect())
            })
        });
        part.summaries.retain(|id, _| all(self.leaves(Child::Summary(*id))));
        part.descriptions.retain(|node, _| {
            let of_entity = self.mentions_of(pikerag_knowledge::EntityId(node.0));
            let of_relation = self.statements_of(pikerag_knowledge::RelationId(node.0));
            all(of_entity.iter().map(|(chunk, _)| *chunk).collect())
                && all(of_relation.iter().map(|(chunk, _)| *chunk).collect())
        });
        for document in part.documents.values_mut() {
            let graph = &mut document.graph;
            if !graph.chunks.iter().all(|chunk| chunks.contains(&chunk.id)) {
                graph.source.summary = None;
            }
            graph.chunks.retain(|chunk| chunks.contains(&chunk.id));
            graph.names.retain(|(chunk, _)| chunks.contains(chunk));
            graph.figures.retain(|(chunk, _)| chunks.contains(chunk));
            graph.links.retain(|(chunk, _)| chunks.contains(chunk));
            let mut sections: BTreeSet<_> =
                graph.chunks.iter().filter_map(|chunk| chunk.section).collect();
            // Parents come before their subsections.
            for section in graph.sections.iter().rev() {
                if sections.contains(&section.id) {
                    sections.extend(section.parent);
                }
            }
            graph.sections.retain(|section| sections.contains(&section.id));
        }
        part.documents.retain(|_, document| !document.graph.chunks.is_empty());
        let files: BTreeSet<&String> =
            part.documents.values().map(|document| &document.file).collect();
        part.files.retain(|path, _| files.contains(path));
        part.extractions.retain(|chunk, _| chunks.contains(chunk));
        part.verified.retain(|_, (verified, _)| {
            let of = verified.chunks();
            !of.is_empty() && of.iter().all(|chunk| chunks.contains(chunk))
        });
        part.prune();
        part.prune_found();
        part.hide_tags(self);
        part.whole = Some(self.whole.clone().unwrap_or_else(|| Arc::new(self.clone())));
        part
    }

    /// Hides the classes and pairs that only hidden chunks of `whole` have.
    fn hide_tags(&mut self, whole: &Self) {
        let borne = |state: &Self| -> BTreeSet<(TagClassId, NameKey)> {
            state.tags.values().flatten().map(|tag| (tag.class, tag.key)).collect()
        };
        let (here, there) = (borne(self), borne(whole));
        let hidden: BTreeSet<_> = there.difference(&here).collect();
        let has_class = |id: TagClassId| here.iter().any(|(class, _)| *class == id);
        self.classes.retain(|held| {
            held.is_dropped
                || has_class(held.class.id)
                || !held.class.examples.is_empty()
                || !hidden.iter().any(|(class, _)| *class == held.class.id)
        });
        self.pairs.retain(|(_, professional), _| {
            here.iter().any(|(_, key)| key == professional)
                || !hidden.iter().any(|(_, key)| key == professional)
        });
    }

    /// Every field that a filter can use.
    fn fields(&self) -> BTreeSet<FilterField> {
        let mut fields =
            BTreeSet::from([FilterField::Source, FilterField::Folder, FilterField::Date]);
        for document in self.documents.values() {
            fields.extend(document.graph.source.metadata.keys().cloned().map(FilterField::Meta));
        }
        let classes = self.classes.iter().filter(|held| !held.is_dropped);
        fields.extend(classes.map(|held| FilterField::Tag(held.class.name.clone())));
        for held in self.records.iter().filter(|held| !self.is_structured(held)) {
            let schema = &held.record.schema;
            fields.extend(held.record.fields.iter().map(|field| FilterField::Record {
                schema: schema.clone(),
                field: field.name.clone(),
            }));
        }
        fields
    }

    fn class_named(&self, name: &str) -> Option<TagClassId> {
        let key = NameKey::of_folded(&tag_words(name));
        let held = self.classes.iter().find(|held| held.key == key && !held.is_dropped);
        held.map(|held| held.class.id)
    }

    fn fits(&self, condition: &Condition, chunk: &Chunk) -> bool {
        let Some(source) = self.source(chunk.source) else { return false };
        match &condition.field {
            FilterField::Source | FilterField::Folder => condition.fits_uri(&source.uri),
            FilterField::Date => {
                document_date(&source.metadata).is_some_and(|date| condition.fits_date(&date))
            }
            FilterField::Meta(name) => {
                source.metadata.get(name).is_some_and(|value| condition.fits_text(value))
            }
            FilterField::Tag(class) => {
                let Some(class) = self.class_named(class) else { return false };
                let keys: Vec<NameKey> = condition
                    .any_of
                    .iter()
                    .map(|tag| NameKey::of_folded(&tag_words(tag)))
                    .collect();
                let mut tags = self.tags.get(&chunk.id).into_iter().flatten();
                tags.any(|tag| tag.class == class && keys.contains(&tag.key))
            }
            FilterField::Record { schema, field } => self.records.iter().any(|held| {
                if self.is_structured(held) {
                    return false;
                }
                let record = &held.record;
                let of_document = record.origin == RecordOrigin::Metadata;
                let is_here = match self.chunk(record.chunk) {
                    Some(at) if of_document => at.source == chunk.source,
                    _ => record.chunk == chunk.id,
                };
                let value = record.field(field).filter(|_| record.schema == *schema);
                is_here && value.is_some_and(|it| condition.fits_value(&it.raw, it.value.as_ref()))
            }),
        }
    }
}
