//! `files`: which files the base is made of; and what `index` and `status` say of files that are not seen.

use pikerag_engine::{OnDisk, Session, Unseen};

use crate::output::{note, say, say_json};
use crate::plain::{one_line, shell_word};
use crate::render::count;

/// Files that are named one by one.
const LISTED: usize = 20;

pub(crate) async fn files(session: &Session, json: bool) -> anyhow::Result<u8> {
    let response = pikerag_engine::files(session).await?;
    if json {
        return say_json(&response);
    }
    for file in &response.files {
        let mut line = format!(
            "{}: {}, {}",
            one_line(&file.name),
            count(file.documents, "document"),
            count(file.chunks, "chunk")
        );
        match file.on_disk {
            OnDisk::There => {}
            OnDisk::Gone => line += "; gone from disk",
            OnDisk::Unclear => line += "; not seen",
        }
        if !file.same_as.is_empty() {
            line.push_str("; the same as ");
            line.push_str(&one_line(&file.same_as.join(", ")));
        }
        say(&line);
    }
    note(&format!("names count from {}", response.root.display()));
    Ok(0)
}

/// Says which files are gone that the base still answers from.
pub(super) fn tell_gone(gone: &[String]) {
    for path in gone.iter().take(LISTED) {
        note(&format!("gone from disk: {}", one_line(path)));
    }
    if let Some(more) = gone.len().checked_sub(LISTED + 1) {
        note(&format!("… and {} (all with --json)", count(more + 1, "more file")));
    }
    if !gone.is_empty() {
        note(&format!(
            "the base still answers from {} gone from disk; `pikerag index --prune FOLDER` or `pikerag delete PATH` removes them",
            count(gone.len(), "file")
        ));
    }
}

/// Says which names have the same content.
pub(super) fn tell_same(same: &[Vec<String>]) {
    for names in same.iter().take(LISTED) {
        say(&format!("  the same content: {}", one_line(&names.join(", "))));
    }
    if let Some(more) = same.len().checked_sub(LISTED + 1) {
        say(&format!("  … and {} more times (all with --json)", more + 1));
    }
}

/// Says which folders do not tell whether their files are gone.
pub(super) fn tell_unseen(unseen: &[Unseen]) {
    for Unseen { folder, files, why } in unseen {
        let folder = folder.display().to_string();
        note(&format!(
            "not seen: {} in {}: {why}; kept, `pikerag delete {}` removes them",
            count(*files, "file"),
            one_line(&folder),
            one_line(&shell_word(&folder)),
        ));
    }
}
