//! Lists the versions of the prompts that answer questions.

/// A line is `SHA-256 VERSION PATH`; `cargo xtask prompts` writes it.
const LOCK: &str = include_str!("../prompts.lock");

/// Whether this program has the version of a prompt that a call records, such as `methods/look.2`.
pub fn has_version(label: &str) -> bool {
    let Some((name, version)) = label.rsplit_once('.') else { return false };
    let Ok(version) = version.parse::<u32>() else { return false };
    let latest = LOCK.lines().filter_map(named).find(|(of, _)| of == name);
    latest.is_some_and(|(_, latest)| (1..=latest).contains(&version))
}

/// The name and the latest version of a prompt: `crates/CRATE/src/…/prompts/TEMPLATE.md` is
/// `CRATE/TEMPLATE`. `None` for an earlier text.
fn named(line: &str) -> Option<(String, u32)> {
    let mut columns = line.split(' ').skip(1);
    let (version, path) = (columns.next()?.parse().ok()?, columns.next()?);
    let (package, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let (folder, file) = rest.rsplit_once('/')?;
    let template = file.strip_suffix(".md")?;
    (!folder.ends_with("/earlier")).then(|| (format!("{package}/{template}"), version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_up_to_the_latest_are_known() {
        let (name, latest) = LOCK.lines().find_map(named).unwrap();
        for (label, is_known) in [
            (format!("{name}.{latest}"), true),
            (format!("{name}.1"), true),
            (format!("{name}.0"), false),
            (format!("{name}.{}", latest + 1), false),
            (format!("{name}.x"), false),
            (name, false),
            ("methods/no_such_prompt.1".to_owned(), false),
        ] {
            assert_eq!(has_version(&label), is_known, "{label}");
        }
    }

    #[test]
    fn earlier_texts_are_no_prompts() {
        let line = |path: &str| named(&format!("abc 3 {path}"));
        let look = Some(("methods/look".to_owned(), 3));
        assert_eq!(line("crates/methods/src/prompts/look.md"), look);
        assert_eq!(line("crates/methods/src/deep/er/prompts/look.md"), look);
        assert_eq!(line("crates/methods/src/prompts/earlier/look.1.md"), None);
        assert_eq!(named("# A comment about crates/methods/src/prompts/look.md"), None);
    }
}
