//! Builds the perspectives of the agents of `pike`, with their models.

use std::sync::Arc;

use super::file::{ChatTable, PerspectiveTable, SettingsFile};
use super::{ChatSettings, PerspectiveSettings};

/// The perspectives, with the endpoints of those that have their own.
pub(super) fn perspectives(
    file: &SettingsFile,
    chat: fn(&ChatTable) -> ChatSettings,
) -> Vec<PerspectiveSettings> {
    let own = |set: &PerspectiveTable| {
        let is_own = set.chat != ChatTable::default();
        let table = is_own.then(|| set.chat.over(&file.chat));
        PerspectiveSettings {
            name: set.name.trim().to_owned(),
            about: set.about.trim().to_owned(),
            chat: table.filter(|table| table.model.is_some()).map(|table| Arc::new(chat(&table))),
        }
    };
    file.perspectives.iter().map(own).collect()
}
