//! Words the mark of a document that a newer version replaces.

use pikerag_knowledge::ReplacedBy;

use crate::language::{InWords, Words};

/// Such as `replaced by travel-policy-2024.docx (version 3, 2024-03-01)`.
impl InWords for ReplacedBy {
    fn words(&self) -> Words {
        let Self { uri, version, date, .. } = self;
        let both = |version: Option<String>, comma: &str| {
            let parts: Vec<String> = version.into_iter().chain(date.clone()).collect();
            parts.join(comma)
        };
        let english = both(version.as_ref().map(|version| format!("version {version}")), ", ");
        let chinese = both(version.as_ref().map(|version| format!("版本 {version}")), "，");
        match english.is_empty() {
            true => Words::new(format!("replaced by {uri}"), format!("已被 {uri} 取代")),
            false => Words::new(
                format!("replaced by {uri} ({english})"),
                format!("已被 {uri} 取代（{chinese}）"),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_named_with_version_and_date() {
        let uri = "policy-v3.md".to_owned();
        let by = |version: Option<&str>, date: Option<&str>| {
            let [version, date] = [version, date].map(|part| part.map(str::to_owned));
            ReplacedBy { uri: uri.clone(), title: "Policy".to_owned(), version, date }.words()
        };
        let words = by(Some("3"), Some("2024-03-01"));
        assert_eq!(words.english, "replaced by policy-v3.md (version 3, 2024-03-01)");
        assert_eq!(words.chinese, "已被 policy-v3.md 取代（版本 3，2024-03-01）");
        assert_eq!(by(None, Some("2024")).chinese, "已被 policy-v3.md 取代（2024）");
        assert_eq!(by(None, None).english, "replaced by policy-v3.md");
    }
}
