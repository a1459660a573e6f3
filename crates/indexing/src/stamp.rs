//! Computes the stamp of a structure over all documents, which shows whether it is up to date.

use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{KnowledgeWriter, Role, StoreError, Structure};

use super::plan::Plan;

/// A text of the inputs that a structure is built from. While it stays the same, the structure is up to
/// date.
pub(crate) async fn stamp(
    base: &dyn KnowledgeWriter,
    plan: &Plan<'_>,
    embedder: Option<&str>,
    structure: Structure,
) -> Result<String, StoreError> {
    let generation = base.state().await?.generation;
    let has = |role, none| if plan.has(role) { "model" } else { none };
    let maker = match structure {
        Structure::Graph => {
            format!("{} {}", has(Role::Extract, "names"), has(Role::Summarize, "names"))
        }
        Structure::Tree => embedder.unwrap_or_default().to_owned(),
        Structure::Tags => {
            let mut ids: Vec<u64> =
                base.tag_classes().await?.classes.iter().map(|class| class.id.0).collect();
            ids.extend(plan.params.tags.classes.iter().map(|class| class.id.0));
            let bytes: Vec<u8> = ids.into_iter().flat_map(u64::to_le_bytes).collect();
            format!("{} {:016x}", has(Role::Tag, "none"), content_id("classes", &[&bytes]))
        }
    };
    Ok(format!("{generation} {maker}"))
}
