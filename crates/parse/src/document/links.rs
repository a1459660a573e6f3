//! Where does a link lead?

/// Leads a link anywhere? Not to a place in the same page, to a script or to inline data.
pub(crate) fn is_followed(target: &str) -> bool {
    let target = target.trim().to_ascii_lowercase();
    let nowhere = ["#", "javascript:", "vbscript:", "data:"];
    !target.is_empty() && !nowhere.iter().any(|start| target.starts_with(start))
}
