//! Detects the published format of a file from its first record.

use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::multihop::Pool;
use super::{Item, legal, multihop, neutral, singlehop, tables};
use crate::EvalError;

/// The published formats of data sets, with the fields that identify each.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase", parse_err_ty = EvalError, parse_err_fn = no_such_format)]
pub enum Format {
    /// Ours: `id`, `question`, `answers`, and further known fields.
    Neutral,
    /// A list; `context` and `supporting_facts`.
    HotpotQa,
    /// As HotpotQA, with further `evidences` (triples).
    #[serde(rename = "2wiki")]
    #[strum(serialize = "2wiki")]
    TwoWiki,
    /// JSON Lines; `paragraphs` and `question_decomposition`.
    MuSiQue,
    /// Natural Questions, open: JSON Lines; `question` and a list `answer`.
    Nq,
    /// `Data` with `Question`, `QuestionId` and `Answer`; or the same in lower case as JSON Lines.
    TriviaQa,
    /// A list; `utterance` and `targetValue`; or `question` and `answers`, with `url`.
    WebQuestions,
    /// A list; `qid`, `term`, and `answer` true or false.
    StrategyQa,
    /// Tab-separated, or JSON Lines; `possible_answers` is a list written as text.
    PopQa,
    /// JSON Lines; `claim` and `label`.
    Fever,
    /// A list per task; `instruction`, `question`, `answer`. The file's name names the task.
    LawBench,
    /// JSON Lines; `question`, `answer` and the `source` document of the question.
    #[strum(serialize = "open-australian-legal-qa")]
    OpenAustralianLegalQa,
    /// Ours, with questions over tables: `kind`, `operation` and `files`.
    Tables,
}

impl Format {
    /// All names in one line, with commas between them, for messages.
    pub(crate) fn names() -> String {
        <Self as strum::VariantNames>::VARIANTS.join(", ")
    }

    /// The format of a file that begins with this record; `None` if it is unknown.
    pub(super) fn of(first: &Value) -> Option<Self> {
        let has = |key: &str| first.get(key).is_some();
        let is_list = |key: &str| first.get(key).is_some_and(Value::is_array);
        let is_text = |key: &str| first.get(key).is_some_and(Value::is_string);
        let is_object = |key: &str| first.get(key).is_some_and(Value::is_object);
        // The most distinctive field first.
        Some(if has("supporting_facts") && has("context") {
            if has("evidences") { Self::TwoWiki } else { Self::HotpotQa }
        } else if is_list("paragraphs") && has("question") {
            Self::MuSiQue
        } else if has("claim") && has("label") {
            Self::Fever
        } else if has("possible_answers") {
            Self::PopQa
        } else if has("targetValue") || has("url") && is_list("answers") {
            Self::WebQuestions
        } else if is_object("Answer") || is_object("answer") {
            Self::TriviaQa
        } else if has("qid") && first.get("answer").is_some_and(Value::is_boolean) {
            Self::StrategyQa
        } else if has("operation") && is_list("files") {
            Self::Tables
        } else if has("id") && has("question") {
            Self::Neutral
        } else if is_text("instruction") && is_text("answer") {
            Self::LawBench
        } else if is_object("source") && is_text("answer") {
            Self::OpenAustralianLegalQa
        } else if has("question") && (is_list("answer") || is_text("answer")) {
            Self::Nq
        } else if has("id") {
            Self::Neutral // Its own error names the missing field.
        } else {
            return None;
        })
    }

    /// The question of a record; `None` if the data set marks it as unanswerable.
    pub(super) fn item(
        self,
        record: Value,
        number: usize,
        stem: &str,
        pool: &mut Pool,
    ) -> Result<Option<Item>, Error> {
        match self {
            Self::Neutral => neutral::item(record),
            Self::Tables => tables::item(record).map(Some),
            Self::HotpotQa | Self::TwoWiki => multihop::hotpotqa(record, pool).map(Some),
            Self::MuSiQue => multihop::musique(record, pool),
            Self::Nq => singlehop::nq(record, number).map(Some),
            Self::TriviaQa => singlehop::triviaqa(record).map(Some),
            Self::WebQuestions => singlehop::webquestions(record, number).map(Some),
            Self::StrategyQa => singlehop::strategyqa(record).map(Some),
            Self::PopQa => singlehop::popqa(record).map(Some),
            Self::Fever => singlehop::fever(record).map(Some),
            Self::LawBench => legal::lawbench(record, number, stem).map(Some),
            Self::OpenAustralianLegalQa => legal::open_australian(record, number, pool).map(Some),
        }
    }
}

fn no_such_format(name: &str) -> EvalError {
    EvalError::NoSuchFormat { name: name.to_owned(), known: Format::names() }
}

/// One fixture per published format: our own words under the published names.
#[cfg(test)]
mod tests {
    use super::Format;
    use crate::EvalError;
    use crate::datasets::{DataSet, Task, read};

    const HOTPOTQA: &str = r#"[{"_id": "5a7", "question": "Who built the mill at Oosterbeek?", "answer": "Jan Vos",
        "type": "bridge", "level": "hard", "supporting_facts": [["Mill", 0], ["Jan Vos", 1], ["Mill", 1]],
        "context": [["Mill", ["The mill stands at Oosterbeek.", " Vos built it."]], ["Jan Vos", ["A builder."]],
                    ["Moon", ["It is far."]]]},
      {"_id": "5a8", "question": "Is the Moon far?", "answer": "yes", "type": "comparison", "level": "easy",
        "supporting_facts": [["Moon", 0]], "context": [["Moon", ["It is far."]], ["Sun", ["It is hot."]]]}]"#;
    const HOTPOTQA_HUB: &str = r#"{"id": "5a7", "question": "Who built it?", "answer": "Jan Vos", "type": "bridge", "level": "hard", "supporting_facts": {"title": ["Mill"], "sent_id": [0]}, "context": {"title": ["Mill", "Moon"], "sentences": [["Vos built it."], ["Far."]]}}"#;
    const TWO_WIKI: &str = r#"[{"_id": "ab1", "type": "compositional", "question": "Where was the builder born?", "answer": "Delft",
        "context": [["Mill", ["Vos built it."]], ["Vos", ["Born in Delft."]]], "supporting_facts": [["Mill", 0], ["Vos", 0]],
        "evidences": [["Mill", "builder", "Vos"], ["Vos", "place of birth", "Delft"]], "evidences_id": [], "answer_id": "Q1"}]"#;
    const MUSIQUE: &str = r##"{"id": "3hop1__11_22_33", "paragraphs": [{"idx": 0, "title": "A", "paragraph_text": "a.", "is_supporting": true}, {"idx": 1, "title": "B", "paragraph_text": "b.", "is_supporting": false}, {"idx": 2, "title": "B", "paragraph_text": "other b.", "is_supporting": true}], "question": "Who?", "question_decomposition": [{"id": 1, "question": "A >> x", "answer": "y", "paragraph_support_idx": 0}, {"id": 2, "question": "#1 >> z", "answer": "Ann", "paragraph_support_idx": 2}, {"id": 3, "question": "w", "answer": "Ann", "paragraph_support_idx": 2}], "answer": "Ann", "answer_aliases": ["Anne", "Ann"], "answerable": true}
{"id": "2hop__44_55", "paragraphs": [], "question": "And who?", "question_decomposition": [], "answer": "Bo", "answer_aliases": [], "answerable": false}"##;
    const NQ: &str = r#"{"question": "who keeps the light", "answer": ["Ada", "the keeper"]}
{"question": "what is it", "answer": ["a lamp"]}"#;
    const TRIVIAQA: &str = r#"{"Data": [{"Answer": {"Aliases": ["Lamp", "Lantern"], "MatchedWikiEntityName": "Lamp",
        "NormalizedAliases": ["lamp", "lantern"], "NormalizedValue": "lamp", "Type": "WikipediaEntity", "Value": "Lamp"},
        "EntityPages": [], "Question": "What gives light?", "QuestionId": "tc_1", "QuestionSource": "x", "SearchResults": []}],
      "Domain": "Web", "VerifiedEval": false, "Version": 1.0}"#;
    const TRIVIAQA_HUB: &str = r#"{"question": "What gives light?", "question_id": "tc_1", "answer": {"value": "Lamp", "aliases": ["Lantern"], "normalized_value": "lamp"}}"#;
    const WEBQUESTIONS: &str = r#"[{"url": "http://x/en/ann", "targetValue": "(list (description \"Ann Bo\") (description Rome) (description \"the \\\"Big\\\" one\"))", "utterance": "who is ann?"}]"#;
    const WEBQUESTIONS_HUB: &str =
        r#"{"url": "http://x/en/ann", "question": "who is ann?", "answers": ["Ann Bo", "Rome"]}"#;
    const STRATEGYQA: &str = r#"[{"qid": "b8", "term": "Lamp", "description": "a light", "question": "Could a lamp light a mill?", "answer": true,
        "facts": ["Lamps light."], "decomposition": ["What does a lamp do?", "Is #1 enough?"],
        "evidence": [[[["Lamp-1", "Light-2"]], ["operation"]], [[["Mill-1"]], ["no_evidence", "operation"]]]}]"#;
    const POPQA: &str = "id\tsubj\tprop\tobj\ts_pop\tquestion\tpossible_answers\n\
        42\tAnn\toccupation\tkeeper\t14\tWhat is Ann's occupation?\t\"[\"\"keeper\"\", \"\"guard\"\"]\"\n";
    const FEVER: &str = r#"{"id": 75, "verifiable": "VERIFIABLE", "label": "REFUTES", "claim": "The lamp is dark.", "evidence": [[[92, 104, "Lamp", 7], [92, 105, "Light_(physics)", 2]], [[93, 1, "Moon", 0]]]}
{"id": 76, "verifiable": "NOT VERIFIABLE", "label": "NOT ENOUGH INFO", "claim": "It sings.", "evidence": [[[1, null, null, null]]]}"#;
    const LAWBENCH: &str = r#"[{"instruction": "选出正确的答案。", "question": "几条？A:1;B:2;C:3;D:4。", "answer": "正确答案：AC。"}]"#;
    const AUSTRALIAN: &str = r#"{"question": "What must a landlord do?", "answer": "Give notice.", "text": "Question: …", "prompt": "…", "source": {"version_id": "nsw:1", "type": "decision", "jurisdiction": "new_south_wales", "source": "nsw_caselaw", "citation": "Lamp v Mill [2020] NSWX 1", "url": "https://x", "text": "The landlord must give notice."}}"#;

    #[test]
    fn each_format_is_known_by_its_first_record() {
        for (name, file, text, format) in published() {
            let set = set(file, text);
            assert_eq!(set.format, format, "{name}");
            assert!(!set.items.is_empty(), "{name}");
            assert!(set.items.iter().all(|item| !item.question.is_empty()), "{name}");
        }
    }

    #[test]
    fn reads_the_fields_of_each_format() {
        let mut lines = Vec::new();
        for (name, file, text, _) in published() {
            for item in set(file, text).items {
                let question: String = item.question.chars().rev().take(18).collect();
                let question: String = question.chars().rev().collect();
                lines.push(format!(
                    "{name} {}: …{question:?} {:?} {:?} {:?} gold {:?} of {:?}",
                    item.id, item.answers, item.kind, item.hops, item.supporting, item.context
                ));
            }
        }
        insta::assert_snapshot!(lines.join("\n"), @r#"
        hotpotqa 5a7: …"ill at Oosterbeek?" ["Jan Vos"] Some("bridge") None gold ["p00001", "p00002"] of ["p00001", "p00002", "p00003"]
        hotpotqa 5a8: …"Is the Moon far?" ["yes"] Some("comparison") None gold ["p00003"] of ["p00003", "p00004"]
        hotpotqa-hub 5a7: …"Who built it?" ["Jan Vos"] Some("bridge") None gold ["p00001"] of ["p00001", "p00002"]
        2wiki ab1: …" the builder born?" ["Delft"] Some("compositional") Some(2) gold ["p00001", "p00002"] of ["p00001", "p00002"]
        musique 3hop1__11_22_33: …"Who?" ["Ann", "Anne"] Some("3hop1") Some(3) gold ["p00001", "p00003"] of ["p00001", "p00002", "p00003"]
        nq nq-00001: …"ho keeps the light" ["Ada", "the keeper"] None None gold [] of []
        nq nq-00002: …"what is it" ["a lamp"] None None gold [] of []
        triviaqa tc_1: …"What gives light?" ["Lamp", "Lantern"] None None gold [] of []
        triviaqa-hub tc_1: …"What gives light?" ["Lamp", "Lantern"] None None gold [] of []
        webquestions webquestions-00001: …"who is ann?" ["Ann Bo", "Rome", "the \"Big\" one"] None None gold [] of []
        webquestions-hub webquestions-00001: …"who is ann?" ["Ann Bo", "Rome"] None None gold [] of []
        strategyqa b8: …"lamp light a mill?" ["yes"] None Some(2) gold ["Lamp-1", "Light-2"] of []
        popqa 42: …" Ann's occupation?" ["keeper", "guard"] Some("occupation") None gold [] of []
        fever 75: …" The lamp is dark." ["REFUTES", "REFUTED", "refuted by the evidence", "false", "no"] Some("REFUTES") None gold ["Lamp", "Light_(physics)"] of []
        fever 76: …".\nClaim: It sings." ["NOT ENOUGH INFO", "NEI", "not enough information", "insufficient information"] Some("NOT ENOUGH INFO") None gold [] of []
        lawbench lawbench-1-2-001: …"条？A:1;B:2;C:3;D:4。" ["正确答案：AC。"] Some("1-2") None gold [] of []
        australian oalqa-0001: …"ust a landlord do?" ["Give notice."] Some("decision") None gold ["p00001"] of ["p00001"]
        "#);
    }

    #[test]
    fn the_pool_holds_each_paragraph_of_the_sample_once() {
        let set = set("dev.json", HOTPOTQA);
        let titles = |items: &[_]| {
            set.pool(items).iter().map(|p| format!("{} {}", p.id, p.title)).collect::<Vec<_>>()
        };
        assert_eq!(
            titles(&set.items),
            ["p00001 Mill", "p00002 Jan Vos", "p00003 Moon", "p00004 Sun"]
        );
        assert_eq!(titles(&set.items[1..]), ["p00003 Moon", "p00004 Sun"]);
        assert_eq!(set.paragraphs[0].text, "The mill stands at Oosterbeek. Vos built it.");
    }

    #[test]
    fn unanswerable_questions_are_counted_and_letters_make_a_choice() {
        assert_eq!(set("musique_full.jsonl", MUSIQUE).unanswerable, 1);
        let own = r#"{"id": "a", "question": "Who?", "answers": ["Ann"], "answerable": true}
{"id": "b", "question": "Why?", "answers": [], "answerable": false}"#;
        let own = set("questions.jsonl", own);
        assert_eq!((own.items.len(), own.unanswerable), (1, 1));
        let tasks = |file| set(file, LAWBENCH).items[0].task;
        assert_eq!((tasks("1-2.json"), tasks("3-1.json")), (Task::Choice, Task::Articles));
        let error = parse("law.json", LAWBENCH, None).unwrap_err();
        assert!(matches!(error, EvalError::NotAQuestion { .. }), "{error}");
    }

    /// FEVER and LawBench: the instruction on how to answer is asked, and not looked up.
    #[test]
    fn instructions_are_no_part_of_the_query() {
        for (file, text, query) in [
            ("shared_task_dev.jsonl", FEVER, "The lamp is dark."),
            (
                "fever.claims.jsonl",
                r#"{"id": "1", "question": "The lamp is dark.", "answers": ["REFUTES"]}"#,
                "The lamp is dark.",
            ),
            ("1-2.json", LAWBENCH, "几条？A:1;B:2;C:3;D:4。"),
        ] {
            let asked = set(file, text).items[0].asked();
            assert_eq!(asked.query(), query, "{file}");
            assert_ne!(asked.text, query, "{file}");
        }
    }

    #[test]
    fn a_named_format_overrides_the_detected_one() {
        let error = parse("x.jsonl", NQ, Some("fever")).unwrap_err();
        assert!(error.to_string().contains("line 1: not a question"), "{error}");
        let error = parse("x.jsonl", NQ, Some("squad")).unwrap_err().to_string();
        assert!(error.starts_with("there is no format `squad`; choose from neutral, hotpotqa"));
        let error = parse("x.jsonl", r#"{"text": "x"}"#, None).unwrap_err().to_string();
        assert!(error.contains("in no known format"), "{error}");
    }

    fn published() -> [(&'static str, &'static str, &'static str, Format); 14] {
        [
            ("hotpotqa", "dev.json", HOTPOTQA, Format::HotpotQa),
            ("hotpotqa-hub", "dev.jsonl", HOTPOTQA_HUB, Format::HotpotQa),
            ("2wiki", "dev.json", TWO_WIKI, Format::TwoWiki),
            ("musique", "dev.jsonl", MUSIQUE, Format::MuSiQue),
            ("nq", "NQ-open.dev.jsonl", NQ, Format::Nq),
            ("triviaqa", "web-dev.json", TRIVIAQA, Format::TriviaQa),
            ("triviaqa-hub", "dev.jsonl", TRIVIAQA_HUB, Format::TriviaQa),
            ("webquestions", "test.json", WEBQUESTIONS, Format::WebQuestions),
            ("webquestions-hub", "test.jsonl", WEBQUESTIONS_HUB, Format::WebQuestions),
            ("strategyqa", "train.json", STRATEGYQA, Format::StrategyQa),
            ("popqa", "popqa.tsv", POPQA, Format::PopQa),
            ("fever", "shared_task_dev.jsonl", FEVER, Format::Fever),
            ("lawbench", "1-2.json", LAWBENCH, Format::LawBench),
            ("australian", "qa.jsonl", AUSTRALIAN, Format::OpenAustralianLegalQa),
        ]
    }

    fn set(file: &str, text: &str) -> DataSet {
        parse(file, text, None).unwrap_or_else(|error| {
            panic!("{file}: {error}: {:?}", std::error::Error::source(&error))
        })
    }

    fn parse(file: &str, text: &str, format: Option<&str>) -> Result<DataSet, EvalError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, text).unwrap();
        read(&path, format.map(str::parse).transpose()?)
    }
}
