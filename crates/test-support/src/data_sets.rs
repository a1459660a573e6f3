//! Writes a small data set under each name that the presets of `eval` look for.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::world::{Sizes, World};

/// Data sets with questions of the world, as they are.
const OF_THE_WORLD: [&str; 8] = [
    "hotpotqa",
    "2wiki",
    "musique",
    "nq",
    "triviaqa",
    "webquestions",
    "strategyqa",
    "open-australian-legal-qa",
];
/// LawBench's tasks: their names, and whether the answer is a letter.
const LAWBENCH: [(&str, bool); 6] =
    [("1-1", false), ("1-2", true), ("3-1", false), ("3-2", false), ("3-6", true), ("3-8", false)];

/// Writes questions and corpora into a folder for `eval --data`, and `known.jsonl` with labelled
/// questions for `skr`.
///
/// # Panics
/// The folder cannot be written.
pub fn write_data_sets(folder: &Path) {
    let world = World::generate(33, Sizes { paragraphs: 16, questions: 4 });
    fs::create_dir_all(folder).unwrap();
    let write = |name: String, text: String| fs::write(folder.join(name), text).unwrap();
    for name in OF_THE_WORLD {
        write(format!("{name}.questions.jsonl"), world.questions());
        write(format!("{name}.corpus.jsonl"), world.corpus());
    }
    let mut claims = String::new();
    for (number, claim) in world.claims().enumerate() {
        let line = json!({"id": format!("F{number}"), "question": claim, "answers": ["SUPPORTS"]});
        writeln!(claims, "{line}").unwrap();
    }
    write("fever.claims.jsonl".to_owned(), claims);
    write("fever.corpus.jsonl".to_owned(), world.corpus());
    for (task, is_choice) in LAWBENCH {
        let line = match is_choice {
            true => json!({
                "id": task, "task": task, "instruction": "请给出正确选项。",
                "question": "船员出海前应当做什么？A:检查缆绳;B:关闭灯塔;C:更换船名;D:离开港口。",
                "answers": ["正确答案：A。"], "choice": ["A"],
            }),
            false => json!({
                "id": task, "task": task, "instruction": "请回答下面的问题，并给出法条。",
                "question": "船员出海前应当做什么？", "answers": ["第七条：船员出海前应当检查缆绳。"],
            }),
        };
        write(format!("{task}.questions.jsonl"), format!("{line}\n"));
    }
    let statute =
        json!({"chunk_id": "s-7", "title": "港口法", "content": "第七条 船员出海前应当检查缆绳。"});
    write("statutes.corpus.jsonl".to_owned(), format!("{statute}\n"));
    let known = [("Who was the first captain?", true), ("Which river flows by the port?", false)];
    let known = known.map(|(question, known)| json!({"question": question, "known": known}));
    write("known.jsonl".to_owned(), known.map(|line| format!("{line}\n")).concat());
}
