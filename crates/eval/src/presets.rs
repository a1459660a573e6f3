//! Defines presets (`presets.toml`): commands that repeat the tables of the papers.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::EvalError;

/// One table or figure of a paper as a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name that the user gives: `kar3-table-1`.
    pub name: String,
    /// One line about the table, for the list of presets.
    pub about: String,
    /// The same in Chinese.
    pub about_zh: String,
    /// The paper, as in [`Figure`](crate::papers::Figure).
    pub paper: String,
    /// Its table, as in [`Figure`](crate::papers::Figure); diagrams are not kept as data.
    pub table: String,
    /// Data sets by [`known_name`](crate::datasets::known_name), in the order of the table.
    pub data_sets: Vec<String>,
    /// The classes of questions to ask, by the data sets' own names; all if none is named.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Methods by name, with parameters; they are checked when they are used.
    pub methods: Vec<String>,
    /// The metrics that the table prints, by [`Metric::name`](crate::report::Metric::name).
    pub metrics: Vec<String>,
    /// Questions drawn from each data set, with the seed of the run; all if it has fewer.
    pub sample: usize,
    /// Whether a model judges the answers (Acc).
    pub judge: bool,
    /// A setting that the user must make, if any.
    #[serde(default)]
    pub note: Option<String>,
    /// The same in Chinese.
    #[serde(default)]
    pub note_zh: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    preset: Vec<Preset>,
}

/// All presets, paper by paper.
///
/// # Errors
/// The data file is broken: a bug of ours, which a test finds.
pub fn presets() -> Result<Vec<Preset>, EvalError> {
    let file: Result<File, toml::de::Error> = toml::from_str(include_str!("presets.toml"));
    file.map(|file| file.preset)
        .map_err(|error| EvalError::Data { file: "presets.toml", reason: error.to_string() })
}

/// A preset by name.
///
/// # Errors
/// There is none; the message lists all.
pub fn preset(name: &str) -> Result<Preset, EvalError> {
    let all = presets()?;
    let known = || all.iter().map(|preset| preset.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|preset| preset.name == name).cloned();
    found.ok_or_else(|| EvalError::NoSuchPreset { name: name.to_owned(), known: known() })
}

/// The place of a data set on this disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The file of questions, in any [`Format`](crate::datasets::Format).
    pub questions: PathBuf,
    /// Its corpus; none if the questions have their own contexts, or there is no corpus.
    pub corpus: Option<PathBuf>,
}

/// The places of data sets below the folder of `--data`: name, questions, and the corpus if it is
/// elsewhere. The neutral files come first, then the published ones under their own names.
const PLACES: [(&str, &[&str], &str); 22] = [
    ("hotpotqa", &["hotpotqa.questions.jsonl", "hotpot_dev_distractor_v1.json"], ""),
    ("2wiki", &["2wiki.questions.jsonl", "2wikimultihopqa/dev.json", "2wiki/dev.json"], ""),
    ("musique", &["musique.questions.jsonl", "musique_ans_v1.0_dev.jsonl"], ""),
    ("nq", &["nq.questions.jsonl", "NQ-open.dev.jsonl", "NQ-open.efficientqa.dev.1.1.jsonl"], ""),
    ("triviaqa", &["triviaqa.questions.jsonl", "web-dev.json", "unfiltered-web-dev.json"], ""),
    ("webquestions", &["webquestions.questions.jsonl", "webquestions.examples.test.json"], ""),
    ("strategyqa", &["strategyqa.questions.jsonl", "strategyqa_train.json"], ""),
    ("popqa", &["popqa.questions.jsonl", "popQA.tsv", "popqa.tsv"], ""),
    (
        "fever",
        &["fever.claims.jsonl", "shared_task_dev.jsonl", "paper_dev.jsonl"],
        "fever.corpus.jsonl",
    ),
    ("lawbench-1-1", &["1-1.questions.jsonl", "1-1.json"], STATUTES),
    ("lawbench-1-2", &["1-2.questions.jsonl", "1-2.json"], STATUTES),
    ("lawbench-3-1", &["3-1.questions.jsonl", "3-1.json"], STATUTES),
    ("lawbench-3-2", &["3-2.questions.jsonl", "3-2.json"], STATUTES),
    ("lawbench-3-6", &["3-6.questions.jsonl", "3-6.json"], STATUTES),
    ("lawbench-3-8", &["3-8.questions.jsonl", "3-8.json"], STATUTES),
    // Our own, with questions of all classes: `examples/maintenance`.
    ("maintenance", &["maintenance.questions.jsonl"], "docs"),
    // Our own, over public tables: `examples/tables`.
    ("tables", &["main/questions.jsonl"], "docs"),
    ("tables-third", &["third/questions.jsonl"], "docs"),
    // Our own, over the files of two made-up companies: `examples`.
    ("vellmarsh", &["vellmarsh/questions.jsonl"], "docs"),
    ("linyuan", &["linyuan/questions.jsonl"], "docs"),
    ("forecasts", &["forecasts.questions.jsonl"], "forecasts.corpus.csv"),
    ("open-australian-legal-qa", &["open-australian-legal-qa.questions.jsonl", "qa.jsonl"], ""),
];

const STATUTES: &str = "statutes.corpus.jsonl";

/// The files of a data set below `data`: in the folder itself or in one of `folders`, which are its
/// subfolders in a fixed order.
///
/// # Errors
/// There is none; the message lists the names that were tried.
pub fn find(data: &Path, folders: &[PathBuf], name: &str) -> Result<Files, EvalError> {
    let place = PLACES.iter().find(|(known, _, _)| *known == name);
    let (names, corpus) = place.map_or((&[][..], ""), |(_, names, corpus)| (*names, *corpus));
    let here = [data.to_owned()];
    for file in names {
        for folder in here.iter().chain(folders) {
            let questions = folder.join(file);
            if !questions.is_file() {
                continue;
            }
            let beside = match corpus {
                "" => file.replace(".questions.", ".corpus."),
                corpus => corpus.to_owned(),
            };
            let corpus = questions.with_file_name(&beside);
            let has_corpus = corpus.exists() && corpus != questions;
            return Ok(Files { questions, corpus: has_corpus.then_some(corpus) });
        }
    }
    Err(EvalError::NoDataSet {
        name: name.to_owned(),
        folder: data.to_owned(),
        names: names.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::methods::named;
    use crate::papers::figures;

    #[test]
    fn every_method_of_a_preset_is_one_of_ours() {
        for preset in presets().unwrap() {
            for method in &preset.methods {
                let read = named(method).unwrap();
                assert!(read.method.parse::<pikerag_baselines::Method>().is_ok(), "{method}");
                let set = read.overrides.try_into::<pikerag_baselines::Overrides>();
                assert!(set.is_ok(), "{}: {method}: {set:?}", preset.name);
            }
        }
    }

    #[test]
    fn every_preset_is_complete() {
        let presets = presets().unwrap();
        let names: HashSet<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
        assert_eq!(names.len(), presets.len(), "a name occurs twice");
        let figures = figures().unwrap();
        for preset in &presets {
            let Preset { name, methods, .. } = preset;
            let labels: HashSet<String> =
                methods.iter().map(|method| named(method).unwrap().label).collect();
            assert_eq!(labels.len(), methods.len(), "{name}: a method occurs twice");
            assert!(!preset.metrics.is_empty() && 0 < preset.sample, "{name}");
            assert!(preset.about_zh.chars().any(pikerag_language::is_chinese), "{name}");
            assert_eq!(preset.note.is_some(), preset.note_zh.is_some(), "{name}");
            for data_set in &preset.data_sets {
                assert!(PLACES.iter().any(|(known, _, _)| known == data_set), "{name}: {data_set}");
            }
            // The paper's figures for the table are about the data sets of the preset.
            let of_table =
                figures.iter().filter(|f| (&f.paper, &f.table) == (&preset.paper, &preset.table));
            for figure in of_table {
                let is_known = preset.data_sets.contains(&figure.data_set);
                assert!(is_known || figure.data_set == "average", "{name}: {}", figure.data_set);
                let method = &figure.method;
                let has = |label: &String| {
                    let plain = label.replace(":rule=printed", "");
                    plain == *method || label.split(':').next() == Some(method)
                };
                assert!(methods.iter().any(has), "{name}: {method}");
                assert!(preset.judge || figure.metric != "acc", "{name} judges nothing");
            }
        }
    }

    /// KAR³ §4.1, PIKE-RAG §6.1: all rows of a table follow the printed thresholds, and search atomic
    /// questions alone. A row of `self-ask-r` retrieves what its paper does: 4 chunks in KAR³ (§A.3),
    /// 16 in PIKE-RAG (§6.1).
    #[test]
    fn the_rows_of_a_table_follow_one_rule() {
        for Preset { name, paper, methods, .. } in presets().unwrap() {
            if paper != "kar3" && !name.starts_with("pike-rag-table") {
                continue;
            }
            for label in &methods {
                let read = named(label).unwrap();
                let set: pikerag_baselines::Overrides = read.overrides.try_into().unwrap();
                let method: pikerag_baselines::Method = read.method.parse().unwrap();
                let parameters = method.with(&set).parameters();
                let rule = parameters.get("rule").and_then(|rule| rule.as_str());
                assert!(rule.is_none_or(|rule| rule == "printed"), "{name}: {label}: {rule:?}");
                if read.method == "self-ask-r" {
                    let chunks = parameters.get("chunks").and_then(serde_json::Value::as_u64);
                    let wanted = if paper == "kar3" { 4 } else { 16 };
                    assert_eq!(chunks, Some(wanted), "{name}: {label}");
                }
            }
        }
    }

    /// The conditions of a paper's tables, and the parts of the base that a row needs, are in the note.
    #[test]
    fn conditions_are_noted() {
        let wanted = [
            ("ra-isf", &["Contriever-MS-MARCO", "20 December 2018", "100 words", "64 tokens"][..]),
            ("crp-rag", &["GLM-4-plus", "BGE-large-en", "April 2024", "0.1"]),
        ];
        for preset in presets().unwrap() {
            let (note, zh) = (preset.note.unwrap_or_default(), preset.note_zh.unwrap_or_default());
            for (paper, words) in wanted {
                let has = |word: &&str| note.contains(word);
                assert!(preset.paper != paper || words.iter().all(has), "{}: {note}", preset.name);
            }
            for label in &preset.methods {
                let method: pikerag_baselines::Method =
                    named(label).unwrap().method.parse().unwrap();
                let part = match method.needed_structure() {
                    Some(structure) => structure.as_str(),
                    None if method.needs_labelled_questions() => "skr_examples",
                    None => continue,
                };
                assert!(
                    note.contains(part) && zh.contains(part),
                    "{}: {label}: {note}",
                    preset.name
                );
            }
        }
    }

    /// Each analysis of the four papers is one command.
    #[test]
    fn every_table_has_its_preset() {
        for (paper, tables) in [
            ("kar3-table", "1 2 3 6 8 9 10 11 12 13 14"),
            ("pike-rag-table", "4 5 6 9 10 11"),
            ("ra-isf-table", "1 2 3"),
            ("crp-rag-table", "1 2 3 4 5"),
            ("crp-rag-figure", "3"),
            ("ra-isf", "figure-2 passages"),
            ("pike", "levels l3 l4"),
        ] {
            for table in tables.split(' ') {
                preset(&format!("{paper}-{table}")).unwrap();
            }
        }
        preset("tables").unwrap();
        let error = preset("kar3-table-4").unwrap_err().to_string();
        assert!(error.contains("`kar3-table-4`") && error.contains("kar3-table-14"), "{error}");
    }

    #[test]
    fn files_are_found_in_folders_and_next_to_each_other() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("law");
        std::fs::create_dir(&folder).unwrap();
        for file in [
            "hotpotqa.questions.jsonl",
            "law/1-2.json",
            "law/statutes.corpus.jsonl",
            "law/popqa.tsv",
        ] {
            std::fs::write(data.path().join(file), "").unwrap();
        }
        let find = |name| find(data.path(), std::slice::from_ref(&folder), name);
        assert_eq!(find("hotpotqa").unwrap().corpus, None);
        let law = find("lawbench-1-2").unwrap();
        assert_eq!(law.questions, folder.join("1-2.json"));
        assert_eq!(law.corpus, Some(folder.join(STATUTES)));
        assert_eq!(find("popqa").unwrap().corpus, None);
        let error = find("nq").unwrap_err().to_string();
        assert!(error.contains("`nq`") && error.contains("NQ-open.dev.jsonl"), "{error}");
    }
}
