//! Maps files to the papers' names of data sets.

use std::path::Path;

use super::Format;
use super::legal::LAWBENCH;

/// Parts of a file's name, and the data set that each identifies.
const KNOWN: [(&str, &str); 10] = [
    ("hotpot", "hotpotqa"),
    ("2wiki", "2wiki"),
    ("musique", "musique"),
    ("triviaqa", "triviaqa"),
    ("webq", "webquestions"),
    ("strategyqa", "strategyqa"),
    ("popqa", "popqa"),
    ("fever", "fever"),
    ("australian", "open-australian-legal-qa"),
    ("nq", "nq"),
];

/// The name of a data set in the papers' figures: `hotpotqa`, `lawbench-1-2`. By format if that
/// decides, else by the file's name; an unknown file keeps its name up to the first dot.
pub fn known_name(format: Format, path: &Path) -> String {
    let stem = stem(path);
    let lower = stem.to_lowercase();
    match format {
        Format::Tables => return of_tables(path),
        Format::Neutral | Format::LawBench => {}
        other => return other.to_string(),
    }
    if let Some(task) =
        LAWBENCH.iter().find(|task| lower == **task || lower.ends_with(&format!("-{task}")))
    {
        return format!("lawbench-{task}");
    }
    let known = KNOWN.iter().find(|(part, _)| match *part {
        "nq" => lower == "nq" || lower.starts_with("nq-") || lower.starts_with("nq_"),
        part => lower.contains(part),
    });
    known.map_or(stem, |(_, name)| (*name).to_owned())
}

/// `tables` for the set on which rules are developed, `tables-third` for a set in the folder
/// `third`.
fn of_tables(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    match folder.as_ref() {
        "" | "main" => "tables".to_owned(),
        set => format!("tables-{set}"),
    }
}

/// The file's name up to its first dot.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_the_names_of_the_papers() {
        for (file, name) in [
            ("a/hotpotqa.questions.jsonl", "hotpotqa"),
            ("hotpot_dev_distractor_v1.json", "hotpotqa"),
            ("1-2.questions.jsonl", "lawbench-1-2"),
            ("nq.questions.jsonl", "nq"),
            ("fever.claims.jsonl", "fever"),
            ("multihoprag.questions.jsonl", "multihoprag"),
            ("questions.jsonl", "questions"),
        ] {
            assert_eq!(known_name(Format::Neutral, file.as_ref()), name);
        }
        assert_eq!(known_name(Format::TwoWiki, "dev.json".as_ref()), "2wiki");
    }
}
