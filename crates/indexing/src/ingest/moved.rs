//! Deletes the data of moved and renamed files under their old names, so that no file is found twice.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{StoreError, Which};

use crate::outcome::{Outcome, Report};
use crate::params::Params;
use crate::tools::Tools;

/// Deletes the data of each missing file whose bytes this run found under another name, and of each
/// renamed file whose new name it read. Runs before the stages, so that they process nothing twice.
pub(super) async fn delete_moved(
    tools: &Tools,
    params: &Params,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Params { gone, renamed, .. } = params;
    if gone.is_empty() && renamed.is_empty() {
        return Ok(());
    }
    let hashes: HashMap<String, String> = tools
        .base
        .files(Which::All)
        .await?
        .into_iter()
        .map(|file| (file.path, file.hash))
        .collect();
    let is_in = |outcome: &Outcome| matches!(outcome, Outcome::Stored { .. } | Outcome::Unchanged);
    let read: HashSet<&String> =
        report.files.iter().filter(|(_, outcome)| is_in(outcome)).map(|(path, _)| path).collect();
    let mut by_hash: HashMap<&String, &String> = HashMap::new();
    for (path, _) in &report.files {
        if let Some(hash) = hashes.get(path).filter(|_| read.contains(path)) {
            by_hash.entry(hash).or_insert(path);
        }
    }
    let of_bytes = gone.iter().filter(|old| !read.contains(old)).filter_map(|old| {
        let new = by_hash.get(hashes.get(old)?)?;
        Some((old, *new))
    });
    let of_name = renamed.iter().map(|(old, new)| (old, new));
    for (old, new) in of_bytes.chain(of_name.filter(|(_, new)| read.contains(new))) {
        if tools.base.delete_file(old).await? {
            report.moved.push((old.clone(), new.clone()));
        }
    }
    Ok(())
}
