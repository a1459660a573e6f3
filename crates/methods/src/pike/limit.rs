//! Says which classes of questions a level includes (PIKE-RAG Table 1).

use pikerag_knowledge::{Level, Reason, TaskClass};

/// Why a question of this class is not answered at the level; `None` where it is.
pub(super) fn too_high(level: Option<Level>, class: TaskClass) -> Option<Reason> {
    let needs = class.level();
    let level = level.filter(|level| *level < needs)?;
    Some(Reason::AboveLevel { class, level, needs })
}
