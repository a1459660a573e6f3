//! Checks that every error and notice has English and Chinese words.

use std::collections::HashSet;
use std::fmt::Debug;
use std::io;
use std::mem::{Discriminant, discriminant};
use std::path::PathBuf;

use pikerag_baselines::BadParameter;
use pikerag_eval::EvalError;
use pikerag_indexing::FileError;
use pikerag_knowledge::{
    Filter, Misfit, ModelError, QueryError, Role, RunId, RunState, StoreError, Structure,
};
use pikerag_methods::SolveError;
use pikerag_narrate::{InWords, Language};
use pikerag_prompt::{AskError, Markup, Unreadable};
use pikerag_retrieve::{RetrieveError, Search};
use pikerag_store::CheckFact;
use pikerag_train::TrainError;
use strum::VariantArray;

use crate::error::{
    EndpointOf, EngineError, FeedbackError, Missing, Needed, NoWords, QuestionFile, WeightsOf,
};
use crate::notice::{Notice, Unmet};
use crate::settings::SettingsError;
use crate::words::chinese_check;

fn named() -> String {
    "X1".to_owned()
}

fn path() -> PathBuf {
    PathBuf::from("X1")
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// A cause follows a colon in its own words. The text before it is Chinese, except for a name at
/// the start and for names in backticks.
fn check(shown: &(impl InWords + Debug)) {
    let english = shown.in_words(Language::English);
    assert!(!english.is_empty() && !english.chars().any(is_chinese), "{shown:?}: {english}");
    let chinese = shown.in_words(Language::Chinese);
    let own = chinese.trim_start_matches("X1：").split('：').next().unwrap_or_default();
    let bare: String = own.split('`').step_by(2).collect();
    let is_plain = !bare.chars().any(|c| c.is_ascii_lowercase());
    assert!(own.chars().any(is_chinese) && is_plain, "{shown:?}: {chinese}");
}

fn check_each<T: InWords + Debug>(kinds: usize, all: &[T]) {
    let seen: HashSet<Discriminant<T>> = all.iter().map(discriminant).collect();
    assert_eq!(seen.len(), kinds);
    all.iter().for_each(check);
}

fn store() -> StoreError {
    StoreError::Missing { what: named() }
}

fn model() -> ModelError {
    ModelError::OverBudget { cap: named(), spent: named() }
}

fn ask() -> AskError {
    AskError::Unreadable { role: Role::Answer, reply: named(), reason: Unreadable::Empty }
}

fn json() -> serde_json::Error {
    serde_json::from_str::<u8>("x").unwrap_err()
}

fn toml() -> toml::de::Error {
    toml::from_str::<toml::Table>("=").unwrap_err()
}

fn broken() -> io::Error {
    io::Error::other("X1")
}

fn solve_errors() -> Vec<SolveError> {
    let mut all = vec![
        SolveError::Retrieve(RetrieveError::Model(model())),
        SolveError::Ask(ask()),
        SolveError::Store(store()),
        SolveError::NoModel { role: Role::Answer },
        SolveError::NoScorer,
        SolveError::NoLabelledQuestions,
        SolveError::Query(QueryError::NoField(named())),
        SolveError::NoEngine,
        SolveError::Cancelled,
        SolveError::Diverged { seq: 1 },
        SolveError::UnfitChange { seq: 1, wanted: "X1" },
        SolveError::NoCandidate { index: 1, candidates: 1 },
    ];
    let structures = [Structure::Graph, Structure::Tree, Structure::Tags];
    all.extend(structures.map(|structure| SolveError::NotBuilt { structure }));
    all
}

/// At least one error of each kind.
fn errors() -> Vec<EngineError> {
    let run = RunId::default;
    let mut all = vec![
        EngineError::Settings(SettingsError::NoneInFlight),
        EngineError::SettingsExist { path: path() },
        EngineError::NoProgram(broken()),
        EngineError::NoFolder(broken()),
        EngineError::NoBase { folder: path() },
        EngineError::OnlyPart,
        EngineError::TooMany { given: 2, most: 1 },
        EngineError::NoWords(NoWords::Question),
        EngineError::NoWords(NoWords::Query),
        EngineError::NoWords(NoWords::Name(named())),
        EngineError::File { file: named(), source: FileError::NotUtf8 },
        EngineError::Misfit(Misfit::NotThere),
        EngineError::RunForgotten { run: run(), forgotten: 0 },
        EngineError::Store(store()),
        EngineError::Retrieve(RetrieveError::Model(model())),
        EngineError::NoMethod("x".parse::<pikerag_baselines::Method>().unwrap_err()),
        EngineError::NoSearch("x".parse::<Search>().unwrap_err()),
        EngineError::Eval(EvalError::Unreadable { path: path(), source: broken() }),
        EngineError::Train(TrainError::Unreadable { path: path(), source: broken() }),
        EngineError::Train(TrainError::NoDecompositions { path: path() }),
        EngineError::Train(TrainError::NoQuestions),
        EngineError::Train(TrainError::JudgeOfRuns),
        EngineError::Train(TrainError::NothingRight { trajectories: 3 }),
        EngineError::Train(TrainError::Mixed { path: path(), holds: "labels" }),
        EngineError::Train(TrainError::Connected { largest: 3, questions: 4 }),
        EngineError::Endpoint { of: EndpointOf::Role(Role::Answer), source: model() },
        EngineError::Endpoint { of: EndpointOf::Embedder, source: model() },
        EngineError::Endpoint { of: EndpointOf::Reranker, source: model() },
        EngineError::NoWeights { of: WeightsOf::Embedder, reason: named() },
        EngineError::NoWeights { of: WeightsOf::Reranker(path()), reason: named() },
        EngineError::UnclearRun { name: named() },
        EngineError::UnclearFile { name: named(), files: vec![named()] },
        EngineError::PromptMissing { run: run(), prompt: named() },
        EngineError::NoDecision { run: run(), seq: 1, decisions: vec![2] },
        EngineError::Parameter(BadParameter::Unknown {
            method: None,
            name: named(),
            known: named(),
        }),
        EngineError::Cancelled,
        EngineError::ClassOfOtherMethod { method: named() },
        EngineError::NothingAdmitted { filter: Filter::default() },
        EngineError::NoProposal(ask()),
        EngineError::NotParsed { path: path(), source: FileError::NotUtf8 },
        EngineError::NotDeleted { path: named(), source: store() },
        EngineError::TagClassExists { name: named() },
        EngineError::NotWritten { path: path(), source: broken() },
        EngineError::Output(broken()),
        EngineError::Page(Markup::new(&[("X1", "{{")]).unwrap_err()),
        EngineError::Json(json()),
        EngineError::NamedTwice { label: named() },
        EngineError::BadParameter { label: named(), source: toml() },
        EngineError::CorporaDoNotFit { questions: 2, corpora: 3 },
        EngineError::NoEvidence { data_set: named() },
        EngineError::OtherRun { folder: path(), what: "X1" },
        EngineError::BadRows { path: path(), source: json() },
        EngineError::CorpusUnreadable { path: named(), reason: FileError::NotUtf8 },
        EngineError::CorpusIncomplete { reason: named(), over_budget: false },
    ];
    all.extend(Missing::VARIANTS.iter().map(|&what| EngineError::NotFound { what, name: named() }));
    all.extend(Needed::VARIANTS.iter().copied().map(EngineError::Needs));
    all.extend(
        RunState::ALL.iter().map(|&state| EngineError::RunNotAnswered { run: run(), state }),
    );
    for of in [QuestionFile::Asked, QuestionFile::Labelled, QuestionFile::Demonstrations] {
        all.push(EngineError::QuestionsUnreadable { of, path: path(), source: broken() });
        all.push(EngineError::BadQuestion { of, path: path(), line: 1, source: json() });
    }
    all.extend(
        [
            FeedbackError::NoVerified { name: named() },
            FeedbackError::NothingToAccept { run: run() },
            FeedbackError::NoAuthor,
            FeedbackError::EmptyCorrection,
        ]
        .map(EngineError::Feedback),
    );
    all
}

#[test]
fn errors_have_words() {
    let solve = solve_errors();
    assert_eq!(solve.iter().map(discriminant).collect::<HashSet<_>>().len(), 13);
    let mut all = errors();
    all.extend(solve.into_iter().map(EngineError::Solve));
    check_each(50, &all);
}

/// The code of each error with its Chinese words.
#[test]
fn chinese_of_error_codes() {
    let mut all = errors();
    all.extend(solve_errors().into_iter().map(EngineError::Solve));
    let mut lines: Vec<String> = all
        .iter()
        .map(|error| format!("{}: {}", error.code(), error.in_words(Language::Chinese)))
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Names of files stay as they are.
#[test]
fn findings_of_check_have_words() {
    let (n, names) = (2, || vec!["X1".to_owned()]);
    let facts = [
        CheckFact::Counts { chunks: n, calls: n, runs: n },
        CheckFact::Documents { documents: n },
        CheckFact::ChangedDocuments { damaged: 1, documents: n },
        CheckFact::Originals { originals: n },
        CheckFact::ChangedOriginals { damaged: 1, originals: n },
        CheckFact::Chunks { chunks: n },
        CheckFact::Vectors { vectors: n },
        CheckFact::NotBuilt,
        CheckFact::Behind,
        CheckFact::NotOpened,
        CheckFact::NotRead,
        CheckFact::WrongChecksum { files: Vec::new() },
        CheckFact::WrongChecksum { files: names() },
        CheckFact::OtherChunks { missing: 1, more: n },
        CheckFact::OtherVectors,
        CheckFact::NoLeftovers,
        CheckFact::Leftovers { files: names() },
        CheckFact::NothingToOverwrite,
        CheckFact::NotOverwritten,
        CheckFact::Faults { faults: names() },
    ];
    let kinds: HashSet<_> = facts.iter().map(discriminant).collect();
    assert_eq!(kinds.len(), 19);
    let lines: Vec<String> = facts
        .iter()
        .map(|fact| {
            let chinese = chinese_check(fact);
            assert!(!chinese.contains(|c: char| c.is_ascii_lowercase()), "{fact:?}: {chinese}");
            format!("{fact} | {chinese}")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn notices_have_words() {
    let (questions, of) = (1, 2);
    let left_out = |unmet: &Unmet| Notice::MethodsLeftOut {
        data_set: named(),
        methods: vec![named()],
        unmet: *unmet,
    };
    Unmet::VARIANTS.iter().map(left_out).for_each(|notice| check(&notice));
    check_each(
        15,
        &[
            left_out(&Unmet::Graph),
            Notice::PasswordTyped,
            Notice::OtherVectors { made_by: named(), in_use: named() },
            Notice::NoEmbedder { made_by: named() },
            Notice::Foreign { embedder: named() },
            Notice::NoReranker { model: named() },
            Notice::ReadOnly { folder: path() },
            Notice::RunNotKept { reason: named() },
            Notice::RunForgotten,
            Notice::ClockLeap { days: 365 },
            Notice::NoAtomizer,
            Notice::NoModel { base_url: named() },
            Notice::Unanswerable { path: path(), questions },
            Notice::NoEvidence { data_set: named(), questions, of },
            Notice::EvidenceNotIndexed { data_set: named(), questions, of },
        ],
    );
}
