//! Decides which links are kept.

/// Whether a link leads elsewhere: not to the same page, a script or inline data.
pub(crate) fn is_followed(target: &str) -> bool {
    let target = target.trim().to_ascii_lowercase();
    let nowhere = ["#", "javascript:", "vbscript:", "data:"];
    !target.is_empty() && !nowhere.iter().any(|start| target.starts_with(start))
}
