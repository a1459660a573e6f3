//! Shows entities and relations as lines of a prompt.

use pikerag_knowledge::Entity;

use crate::passages::one_line;

/// The longest description in characters; a prompt contains many.
const SHOWN: usize = 2400;

/// An entity as a line of a prompt.
pub fn entity_line(entity: &Entity) -> String {
    let kind = if entity.kind.is_empty() { String::new() } else { format!(" ({})", entity.kind) };
    line(&format!("{}{kind}", entity.name), &entity.description)
}

/// A relation as a line of a prompt, with the names of its ends.
pub fn relation_line(subject: &str, object: &str, description: &str) -> String {
    line(&format!("{subject} → {object}"), description)
}

fn line(head: &str, description: &str) -> String {
    let shown: String = one_line(description).chars().take(SHOWN).collect();
    let between = if shown.is_empty() { "" } else { ": " };
    format!("- {}{between}{shown}", one_line(head))
}
