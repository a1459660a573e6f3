//! Tests that every variant of every fact has English and Chinese words.

use std::collections::BTreeSet;
use std::fmt::Debug;

use pikerag_knowledge::facts::{JudgedIdea, OfferedRecords, TabulatedRow, UnreadableReply};
use pikerag_knowledge::tables::By;
use pikerag_knowledge::worked::{
    Coverage, Forecast, ForecastModel, IdeaScores, NoRecord, PassagesRead, Tried,
};
use pikerag_knowledge::{
    AtomId, Candidate, ChunkId, ClassifiedBy, ColumnKind, Consulted, Criterion, Event, FactRead,
    JudgedBy, LeftOut, Level, Likelihood, MappedTag, NodeKind, Note, PlanStep, Quoting, Reason,
    Recollection, RecordQuery, Respelling, Role, StepKind, StopReason, Structure, TaskClass,
    VerifiedId, Via,
};
use pikerag_language::is_chinese;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, to_value};
use utoipa::PartialSchema;

use crate::{InWords, Language, Narration, Sentence, candidate, coverage, gaps, narrate};

/// A name from a document, model or settings file.
const NAMED: &str = "X1";

fn named() -> String {
    NAMED.to_owned()
}

fn names() -> Vec<String> {
    vec![named(), named()]
}

fn respelled() -> Vec<Respelling> {
    vec![Respelling { word: named(), to: named() }]
}

/// Checks that the English has no Chinese characters, and that the Chinese has some and no English
/// words. Terms that the glossary keeps in Latin letters do not count as English words.
fn check(shown: impl Debug, in_words: impl Fn(Language) -> String) {
    let english = in_words(Language::English);
    assert!(!english.is_empty() && !english.chars().any(is_chinese), "{shown:?}: {english}");
    let mut chinese = in_words(Language::Chinese);
    for term in [
        "Token",
        "kar3",
        "`pikerag schema propose`",
        "`pikerag sql`",
        "`[[records]]`",
        "`reason`",
        "`[roles.reason]`",
        "`[chat]`",
        "pikerag.toml",
        "`answer`",
    ] {
        chinese = chinese.replace(term, "");
    }
    let is_chinese_text = chinese.chars().any(is_chinese);
    assert!(
        is_chinese_text && !chinese.chars().any(|c| c.is_ascii_lowercase()),
        "{shown:?}: {chinese}"
    );
}

/// All tags in the schema of an enum.
fn tags<T: PartialSchema>(tag: Option<&str>) -> BTreeSet<String> {
    fn collect(schema: &Value, tag: Option<&str>, found: &mut BTreeSet<String>) {
        let own = match tag {
            Some(tag) => schema.pointer(&format!("/properties/{tag}/enum")),
            None => schema.get("enum"),
        };
        let names = own.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        found.extend(names.map(str::to_owned));
        for key in ["oneOf", "allOf"] {
            let inner = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            inner.for_each(|schema| collect(schema, tag, found));
        }
    }
    let mut found = BTreeSet::new();
    collect(&to_value(T::schema()).unwrap(), tag, &mut found);
    assert!(!found.is_empty());
    found
}

/// Checks that the facts include all variants of the schema, and that each has words.
fn check_all<T: InWords + Serialize + PartialSchema + Debug>(tag: Option<&str>, facts: &[T]) {
    let tag_of = |fact: &T| {
        let fact = to_value(fact).unwrap();
        let name = tag.map_or(Some(&fact), |tag| fact.get(tag));
        name.and_then(Value::as_str).unwrap().to_owned()
    };
    assert_eq!(facts.iter().map(tag_of).collect::<BTreeSet<_>>(), tags::<T>(tag));
    for fact in facts {
        check(fact, |language| fact.in_words(language));
    }
}

/// Checks all values of an enum without fields.
fn check_terms<T: InWords + DeserializeOwned + PartialSchema + Debug>() {
    for tag in tags::<T>(None) {
        let term: T = serde_json::from_value(Value::String(tag)).unwrap();
        check(&term, |language| term.in_words(language));
    }
}

#[test]
fn terms_have_words() {
    check_terms::<TaskClass>();
    check_terms::<ColumnKind>();
    check_terms::<Via>();
    check_terms::<StopReason>();
    check_terms::<Criterion>();
    check_terms::<ClassifiedBy>();
    check_terms::<JudgedBy>();
    check_terms::<ForecastModel>();
    check_terms::<NoRecord>();
    check_terms::<LeftOut>();
    check_terms::<Quoting>();
    check_terms::<Likelihood>();
}

#[test]
fn reasons_have_words() {
    let (schema, words, (count, percent)) = (named, names, (3, 41.6));
    let records = OfferedRecords { schema: named(), count, dates: Some((named(), named())) };
    check_all(
        Some("reason"),
        &[
            Reason::AsksForIdeas,
            Reason::ComparesNamed { things: names() },
            Reason::AsksAboutFuture,
            Reason::RecordsCoverPeriod { schema: schema() },
            Reason::RecordsAllowForecast { count, schema: schema(), last: Some(named()) },
            Reason::AsksForJudgement,
            Reason::AsksWhatIsStated,
            Reason::NothingToJudge,
            Reason::JudgementNeedsModel,
            Reason::NoRecordsForForecast,
            Reason::OneDocumentLists { schema: schema() },
            Reason::AsksForList,
            Reason::AsksForFigure,
            Reason::NeedsCalculation { count, schema: schema() },
            Reason::AsksForSummary,
            Reason::Compares,
            Reason::WordsNotInRecords { schema: schema(), words: words() },
            Reason::IsChain,
            Reason::IsScattered,
            Reason::BestPassageCovers { percent },
            Reason::AsksForFact,
            Reason::ClassRequested,
            Reason::LevelRequested { level: Level::L3 },
            Reason::AboveLevel { class: TaskClass::Predictive, level: Level::L2, needs: Level::L3 },
            Reason::CombinesSteps,
            Reason::StepGave { name: named(), result: named() },
            Reason::StepGaveNothing { name: named() },
            Reason::AgentAsks,
            Reason::VerifiedSameQuestion { by: named() },
            Reason::VerifiedSimilarQuestion { question: named() },
            Reason::BaseOffers { records: vec![records], documents: 2, percent, titles: names() },
            Reason::BaseOffers { records: Vec::new(), documents: 1, percent, titles: names() },
            Reason::NoMatchingRecords,
            Reason::RecordsLackAnswer,
            Reason::PassagesLackRecords { schema: schema(), read: 2 },
            Reason::RecordsDoNotMention { schema: schema(), words: words() },
            Reason::TablesAnswer { tables: words() },
            Reason::TableUnclear {
                table: schema(),
                columns: words(),
                words: words(),
                readings: words(),
                statements: words(),
            },
            Reason::TableExcerpt {
                table: schema(),
                columns: words(),
                read: 3,
                rows: 30,
                readings: words(),
                statements: Vec::new(),
            },
            Reason::TableUndecided { readings: words(), statements: Vec::new() },
            Reason::TooLittleCovered { percent },
            Reason::NotTwoThings,
            Reason::NothingToCompare,
            Reason::TableUnreadable,
            Reason::FewerThanTwoDescribed,
            Reason::NoPartSummarized,
            Reason::NothingToSummarize,
            Reason::NoSentences,
            Reason::NoIdeas,
            Reason::IdeasNeedModel,
            Reason::ForecastNeedsRecords,
            Reason::NoDates { field: named() },
            Reason::MixedUnits,
            Reason::DatesTooFarApart { field: named() },
            Reason::TooFewPeriods { least: 4, known: 2, period: By::Quarter },
            Reason::SeriesHasGaps { periods: 9, missing: 6 },
            Reason::TooFarAhead { last: named(), steps: 40, farthest: 24 },
            Reason::TooFewCases { least: 5, known: 2 },
        ],
    );
}

#[test]
fn plans_and_recollections_have_words() {
    check_all(
        Some("step"),
        &[
            PlanStep::FindPassages,
            PlanStep::ReadAndSearch,
            PlanStep::QuoteSentences,
            PlanStep::FindEachThing,
            PlanStep::AlignByAttribute,
            PlanStep::ConcludeFromTable,
            PlanStep::FindRecords,
            PlanStep::StructurePassages,
            PlanStep::GatherRecords { schema: named() },
            PlanStep::ComputeFigure,
            PlanStep::CiteRecords,
            PlanStep::TakeDocuments,
            PlanStep::SummarizeParts,
            PlanStep::SortByTime,
            PlanStep::ForecastSeries,
            PlanStep::FindPastAndCauses,
            PlanStep::WeighEvidence,
            PlanStep::CheckEvidence,
            PlanStep::ChoosePerspectives,
            PlanStep::RunAgents,
            PlanStep::JudgeIdeas,
            PlanStep::MergeIdeas,
            PlanStep::AnswerPart { name: named(), kind: StepKind::Compute, question: named() },
        ],
    );
    check_all(
        Some("recollection"),
        &[
            Recollection::Reused,
            Recollection::Rejected,
            Recollection::EvidenceChanged { titles: names() },
            Recollection::NewPassages { count: 1 },
            Recollection::ComputedAgain,
            Recollection::ClassRequested,
            Recollection::RecordsAnswer,
        ],
    );
}

#[test]
fn notes_and_faults_have_words() {
    let because = Quoting::NoModel;
    let structure = |structure| Note::StructureUnhelpful { structure };
    let scores = IdeaScores { fit: 4.0, feasibility: 3.25, novelty: 2.0 };
    let judged = |scores| JudgedIdea { title: named(), scores };
    let ranking = vec![judged(Some(scores)), judged(None)];
    check_all(
        Some("note"),
        &[
            Note::EvidenceUnchecked { unchecked: 1, given: 3 },
            Note::VerdictUnsupported { verdict: Likelihood::Likely },
            Note::QuotesEvidence { because },
            Note::NothingToQuote { because: Quoting::ReplyUnreadable, fit: 0.2 },
            Note::SummaryQuotes,
            Note::SummarizesTag { tag: named(), passages: 1 },
            Note::SummarizesDocuments { titles: names() },
            Note::ReadsFirstPassages { limit: 9 },
            Note::ContextCut { passages: 2, of: 6, tokens: 900 },
            Note::PartsNotSummarized { unread: 1, parts: 3 },
            Note::FewerAgents { agents: 1 },
            Note::AgentFailed { name: named(), error: named() },
            Note::CoordinatorFailed { error: named() },
            Note::QuestionsSkipped { name: named() },
            Note::Critiqued { round: 1, ranking: ranking.clone() },
            Note::IdeasRevised {
                name: named(),
                changed: names(),
                defended: names(),
                dropped: names(),
            },
            Note::NothingRevised { round: 2 },
            Note::Perspectives { names: names() },
            Note::WordingDropped { figures: names() },
            Note::CountedNotForecast { last: named() },
            Note::DerivesSchema { schema: named(), fields: names(), key: names() },
            Note::ReusesSchema { schema: named(), run: named() },
            Note::TakesAsSame { field: named(), values: names() },
            Note::WordsUnused { words: names() },
            Note::ReadingsDiffer { rules: named(), model: named() },
            Note::ReadingRejected { model: named() },
            Note::AnswersFromMemory,
            Note::PassageScored { title: named(), score: 0.5 },
            Note::AnswerWeighed { answer: named(), weight: 0.5 },
            Note::NothingToVerify { query: named() },
            Note::NothingToComplete { query: named() },
            Note::SplitLimit { times: 2, question: named() },
            Note::SubQuestionsLeftOut { left_out: 1, limit: 4 },
            Note::NotAnswered { question: named() },
            Note::GraphFull { steps: 3, left_out: 0 },
            Note::GraphFull { steps: 3, left_out: 1 },
            Note::SufficiencyThreshold { perplexity: 2.5 },
            Note::PathsLimited { followed: 1, paths: 2 },
            Note::NoAtomicQuestions,
            Note::NoSentences,
            Note::Calibrated { delta: 0.25 },
            Note::StructureUnhelpful { structure: Structure::Graph },
            structure(Structure::Tree),
            structure(Structure::Tags),
            Note::NoTags,
            Note::SpellingCorrected { words: respelled() },
            Note::NamesSuggested { words: respelled() },
        ],
    );
    check_all(
        Some("fault"),
        &[
            UnreadableReply::Empty,
            UnreadableReply::CutOff { max_tokens: 9 },
            UnreadableReply::NoObject { keys: named() },
            UnreadableReply::BadKey { key: named(), expected: named() },
            UnreadableReply::Refused,
        ],
    );
}

/// One event of each kind.
fn events() -> Vec<Event> {
    let found = Candidate {
        atom: Some(AtomId(1)),
        text: named(),
        chunk: ChunkId(1),
        title: named(),
        via: Via::Atoms,
        proposal: named(),
        score: 0.5,
        parts: [("words".to_owned(), 1.0)].into(),
    };
    let fact =
        FactRead { passage: 1, chunk: ChunkId(1), title: named(), text: named(), is_quoted: false };
    let node = Consulted { kind: NodeKind::Entity, id: named(), title: named(), score: 0.5 };
    let tag = MappedTag { tag: named(), class: named(), to: names() };
    let tried = Tried { model: ForecastModel::Naive, mae: 1.0, mase: Some(1.0), compared: 3 };
    let forecast = Forecast {
        model: ForecastModel::Naive,
        points: Vec::new(),
        level: 0.8,
        tried: vec![tried],
        within: (1, 2),
        partial: Vec::new(),
        filled: Vec::new(),
        past: Vec::new(),
        unit: None,
        group: None,
    };
    let row = TabulatedRow { key: names(), value: 2.0, unit: None };
    let (thinking, candidates) = (named(), vec![found]);
    vec![
        Event::Began { method: named(), question: named() },
        Event::Proposed { hop: 1, thinking: thinking.clone(), proposals: names() },
        Event::Retrieved { hop: 1, candidates: candidates.clone() },
        Event::Selected {
            hop: 1,
            thinking: thinking.clone(),
            index: 0,
            chunk: ChunkId(1),
            title: named(),
        },
        Event::Stopped { hop: 1, reason: StopReason::NothingFound },
        Event::Unreadable { role: Role::Answer, reason: UnreadableReply::Empty.into() },
        Event::Gathered { candidates },
        Event::RoundRead { look: 1, thinking, facts: vec![fact], answer: named() },
        Event::Thought { step: 1, text: named() },
        Event::Asked { depth: 1, question: named() },
        Event::Resolved { depth: 1, question: named(), answer: named() },
        Event::Judged {
            criterion: Criterion::Clear,
            of: named(),
            holds: true,
            score: Some(0.5),
            by: JudgedBy::Verdict,
        },
        Event::Node { node: 1, after: vec![0], text: named() },
        Event::Merged { steps: names(), into: named() },
        Event::Path { nodes: vec![0, 1], answer: named() },
        Event::Consulted { nodes: vec![node] },
        Event::Tagged { tags: vec![tag], query: named(), keywords: names() },
        Event::Classified {
            class: TaskClass::Factual,
            by: ClassifiedBy::Rules,
            reasons: vec![Reason::Compares.into()],
        },
        Event::Planned {
            round: 2,
            because: vec![Reason::Compares.into()],
            steps: vec![PlanStep::FindPassages.into()],
        },
        Event::Recalled {
            verified: VerifiedId(1),
            question: named(),
            by: named(),
            because: Recollection::Reused.into(),
        },
        Event::Structured { schema: named(), is_declared: false, coverage: Coverage::default() },
        Event::Tabulated { query: RecordQuery::default(), matched: 2, rows: vec![row.into()] },
        Event::Queried { tables: names(), sql: names(), matched: 2, unused: names() },
        Event::SeriesForecast { forecast },
        Event::Organized { given: 2, kept: 1, left_out: vec![(LeftOut::NoRoom, 1)] },
        Event::Answered { answer: named() },
        Event::Filled { schema: named(), is_filled: true },
        Event::Filled { schema: String::new(), is_filled: false },
        Event::Noted { note: Note::NoTags.into() },
    ]
}

#[test]
fn events_have_words() {
    let all = events();
    let tag = |event: &Event| to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    assert_eq!(all.iter().map(tag).collect::<BTreeSet<_>>(), tags::<Event>(Some("event")));
    let named_alone = |text: &str| text.trim_start_matches("1. ") == NAMED || text == "X1（X1）";
    for event in &all {
        let text = |language| {
            let Narration { lines, details, .. } = narrate(event, language);
            assert!(!lines.is_empty(), "{event:?}");
            [lines, details].concat().join("\n")
        };
        let chinese = text(Language::Chinese);
        if !named_alone(&chinese) {
            check(event, text);
        }
        if let Event::Gathered { candidates } = event {
            check(event, |language| candidate(&candidates[0], NAMED, language));
        }
    }
}

#[test]
fn sentences_have_words() {
    let (words, respelled) = (&[NAMED.to_owned()], &respelled());
    let all = [
        Sentence::TableMayAnswer { table: NAMED, words, readings: words, statements: words },
        Sentence::WordsUnknown(words),
        Sentence::NotMentioned(words),
        Sentence::NotInDocuments,
        Sentence::NoAnswer,
        Sentence::AnswerUnsupported,
        Sentence::AnswerLeftOut,
        Sentence::StatingPassage,
        Sentence::SearchedFor(respelled),
        Sentence::DidYouMean(respelled),
        Sentence::Insufficient(NAMED),
        Sentence::MostLikely(NAMED),
        Sentence::MissingKnowledge(NAMED),
        Sentence::SideBySide,
        Sentence::JudgementNeedsModel,
        Sentence::JudgementUnreadable,
        Sentence::IsSame(true),
        Sentence::IsSame(false),
        Sentence::ReplyUnreadable,
    ];
    for sentence in &all {
        check(sentence, |language| sentence.in_words(language));
    }
}

#[test]
fn a_coverage_is_worded_in_both_languages() {
    let (documents, without) = (9, vec![(NoRecord::NotFound, 1), (NoRecord::NotPlain, 3)]);
    let counts = Coverage {
        documents,
        with_records: 5,
        without,
        records: 12,
        things: 8,
        matched: 4,
        undecided: 1,
        unmeasured: 2,
        conflicts: 3,
        passages: None,
    };
    check("coverage", |language| coverage(&counts, language));
    assert_eq!(
        coverage(&counts, Language::English),
        "4 of 8 things match; 12 records from 5 of 9 visible documents. 1 has no such record (no matching table, line or field, \
         and a model found none in the text). 3 have no such record (no matching table, line or field, and no model reads \
         texts). Left out, because a condition cannot be decided for them: 1. Left out, because they have no value of the \
         measured field: 2. Fields with different values in several records (the first value counts): 3."
    );
}

/// An answer warns of passages that were not read and of things that were not counted.
#[test]
fn passages_that_were_read_for_a_question_are_worded() {
    let read = PassagesRead { fit: 40, read: 12, reused: 3, failed: 1, invented: 2, incomplete: 4 };
    let counts = Coverage { passages: Some(read), undecided: 1, ..Coverage::default() };
    check("coverage", |language| coverage(&counts, language));
    check("gaps", |language| gaps(&counts, language).join(" "));
    assert_eq!(
        gaps(&counts, Language::English),
        [
            "28 of 40 matching passages were not read: the figure may be wrong",
            "4 reported things were not counted: nothing in the passage tells such a thing from others",
            "1 thing was left out: the passage does not state what the figure needs",
        ]
    );
    assert!(coverage(&counts, Language::English).ends_with(
        "12 of 40 matching passages were read, 3 of them for an earlier question. Passages that could not be read: 1. \
         Values that were dropped, because their passage does not contain them: 2."
    ));
    let read = PassagesRead { fit: 2, read: 2, ..PassagesRead::default() };
    let whole = Coverage { passages: Some(read), ..Coverage::default() };
    assert!(gaps(&whole, Language::English).is_empty());
}
