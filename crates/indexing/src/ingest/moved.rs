//! Which files have only moved? Those that are gone, and whose bytes are in the base under another name now; and
//! those that are called otherwise: they are not to be found twice.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{StoreError, Which};

use crate::outcome::{Outcome, Report};
use crate::params::Params;
use crate::tools::Tools;

/// Drops what the base holds of each file whose bytes this run has met under another name, or whose new name it has
/// read. Before the stages that follow: nothing is made of it once more.
pub(super) async fn follow(
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
