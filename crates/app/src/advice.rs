//! What can be done about it? Libraries say what is the case; here it is put into flags, commands and settings.

use std::error::Error;

use pikerag_engine::keys::KeysError;
use pikerag_engine::knowledge::{DataError, ModelError, StoreError, Structure};
use pikerag_engine::parts::{
    BaseProblem, EvalError, FileError, IndexReport, Lacking, RetrieveError, SolveError,
    withheld_keys,
};
use pikerag_engine::settings::SettingsError;
use pikerag_engine::{
    DoctorCheck, DoctorFinding, EngineError, FeedbackError, Missing, Needed, Notice, Offer,
    WeightsOf, Wordless,
};
use pikerag_server::ServeError;

/// What an interrupted run ends with.
pub(crate) const GO_ON: &str =
    "run the same command again to go on; what is done is not paid twice";

/// The same, where the budget interrupted it.
pub(crate) fn go_on(is_over_budget: bool) -> &'static str {
    match is_over_budget {
        true => {
            "raise the budget and run the same command again to go on; what is done is not paid twice"
        }
        false => GO_ON,
    }
}

/// Where a model is served nobody answers.
const OUT_OF_REACH: &str =
    "see that its endpoint runs and the address is right, or go without it: `--offline`";

/// Models refused something.
pub(crate) const REFUSED: &str = "rules, or words in place of vectors, stand in; `pikerag index --retry-refused PATH…` asks again";

/// What a run of indexing ends with that did not do all.
pub(crate) fn unfinished(report: &IndexReport) -> String {
    match report.out_of_reach {
        true => format!("{OUT_OF_REACH}; {GO_ON}"),
        false => go_on(report.over_budget).to_owned(),
    }
}

/// An error with its causes, and what to do.
pub(crate) fn told(error: &anyhow::Error) -> String {
    // A key that was kept back says more than what came of it.
    let kept_back = || error.chain().find_map(|error| withheld_keys(error).last());
    let advice = match kept_back() {
        Some(key) => Some(withheld(key)),
        None => error.chain().find_map(about),
    };
    format!("{error:#}{}", joined(advice))
}

/// Something to know, and what to do.
pub(crate) fn notice(notice: &Notice) -> String {
    let advice = match notice {
        Notice::OtherVectors { .. } => Some("run `pikerag index PATH…` to make them anew"),
        Notice::NoEmbedder { .. } | Notice::Foreign { .. } => Some("see `pikerag doctor`"),
        _ => None,
    };
    format!("{notice}{}", joined(advice.map(str::to_owned)))
}

/// What `doctor` says of a finding, and what to do.
pub(crate) fn finding(finding: DoctorFinding) -> String {
    match finding.check {
        DoctorCheck::Base if finding.absent => {
            format!("{}; `pikerag index PATH…` makes one", finding.says)
        }
        DoctorCheck::Chat if finding.absent => match &finding.offer {
            Some(offer) => format!("{}. {}", finding.says, self::offer(offer)),
            None => format!(
                "{}. To use one, set OPENAI_BASE_URL, OPENAI_MODEL and, where needed, OPENAI_API_KEY, or [chat] in \
                 pikerag.toml (`pikerag init`)",
                finding.says
            ),
        },
        _ if finding.out_of_reach => format!("{}; {OUT_OF_REACH}", finding.says),
        _ => finding.says,
    }
}

/// Which models of this machine could be used, and how.
fn offer(offer: &Offer) -> String {
    let url = &offer.base_url;
    match offer.models.first() {
        Some(first) => format!(
            "Ollama runs on this machine and holds {}: OPENAI_BASE_URL={url} OPENAI_MODEL={} uses it",
            offer.models.join(", "),
            first
        ),
        None => format!(
            "Ollama runs on this machine and holds no model yet: after `ollama pull qwen3:8b`, OPENAI_BASE_URL={url} \
             OPENAI_MODEL=qwen3:8b uses it"
        ),
    }
}

/// What could not be built, and what to do.
pub(crate) fn lacking(lacking: Lacking) -> String {
    let advice = match lacking {
        Lacking::TreeModels | Lacking::TagModel => "see `pikerag doctor`",
        Lacking::TagClasses => "declare some with `pikerag tags add-class`",
    };
    format!("{lacking}; {advice}")
}

/// What could not be brought up to date, and what to do.
pub(crate) fn stale(lacking: Lacking) -> String {
    let structure = match lacking {
        Lacking::TreeModels => Structure::Tree,
        Lacking::TagModel | Lacking::TagClasses => Structure::Tags,
    };
    format!(
        "{lacking}: what there is stays as it is; `pikerag index --without {structure} PATH…` keeps it up no longer"
    )
}

/// Why a file was left out, and what to do.
pub(crate) fn file(error: &FileError) -> String {
    format!("{error}{}", joined(about_file(error)))
}

fn about_file(error: &FileError) -> Option<String> {
    let advice = match error {
        FileError::TooLarge { .. } => "raise `limits.file_mib`, or split it",
        FileError::TooSlow { .. } => "raise `limits.wall_seconds` if it is worth the wait",
        FileError::TooMuchWork { .. } => "raise `limits.cpu_seconds` if it is worth the wait",
        FileError::TooMuchMemory { .. } | FileError::Unfolds { .. } => {
            "raise `limits.memory_mib`, or split it"
        }
        FileError::EmptyFolder => "hidden files and folders are passed over",
        FileError::NotUtf8 => "rename it",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn joined(advice: Option<String>) -> String {
    advice.map(|advice| format!("; {advice}")).unwrap_or_default()
}

/// What to do about a server that does not run.
fn serving(error: &ServeError) -> Option<String> {
    let advice = match error {
        ServeError::NoAddress { .. } => {
            "such as 127.0.0.1, 0.0.0.0, ::1, or a name of this machine"
        }
        ServeError::NeedsKey { .. } => {
            "`pikerag keys make NAME` makes one; without, it listens on this machine alone"
        }
        ServeError::NotBound { .. } => {
            "see that no other server has it, or `--port N` names another port"
        }
        ServeError::NoAudit { .. } => {
            "`server.audit` names a file in a folder that is there and may be written"
        }
        ServeError::KeysGone { mark, .. } => {
            return Some(format!(
                "bring the store back from a copy, or make a new key with `pikerag keys make NAME --scope admin`; \
                 to serve without keys from now on, remove {} and the other marks",
                mark.display()
            ));
        }
        ServeError::Keys(KeysError::Store { .. }) => {
            "bring it back from a copy; or move it away and make a new key with `pikerag keys make NAME --scope admin`"
        }
        ServeError::Keys(_) => return None,
    };
    Some(advice.to_owned())
}

/// What to do about one of the errors of a chain.
fn about(error: &(dyn Error + 'static)) -> Option<String> {
    let fixed = |advice: &str| Some(advice.to_owned());
    if let Some(error) = error.downcast_ref::<EngineError>() {
        return session(error);
    }
    if let Some(error) = error.downcast_ref::<SettingsError>() {
        return settings(error);
    }
    if let Some(error) = error.downcast_ref::<FileError>() {
        return about_file(error);
    }
    if let Some(error) = error.downcast_ref::<ServeError>() {
        return serving(error);
    }
    match error.downcast_ref() {
        Some(BaseProblem::ReadOnly { .. }) => {
            return fixed("`ask`, `search`, `export` and `backup` work without writing");
        }
        Some(BaseProblem::Busy { .. }) => return fixed("run it again when the other is done"),
        Some(BaseProblem::Forgotten { .. }) => return fixed("try it again"),
        Some(BaseProblem::StillRead { .. }) => {
            return fixed(
                "run `pikerag check --repair` when that has ended: it overwrites the rest",
            );
        }
        Some(BaseProblem::Exists { .. }) => return fixed("`--base DIR` names another folder"),
        Some(BaseProblem::FileThere { .. }) => return fixed("name another file"),
        Some(BaseProblem::DamagedDatabase { .. }) => return fixed("try an older backup"),
        None => {}
    }
    match error.downcast_ref() {
        Some(ModelError::OverBudget { .. }) => fixed("raise it and run again to go on"),
        Some(ModelError::NoLogprobs { .. }) => fixed(SELF_ASSESSMENT),
        Some(ModelError::Unreachable { .. }) => fixed(OUT_OF_REACH),
        Some(ModelError::Denied { .. }) => {
            fixed("check its key, name and address, and the account")
        }
        _ => None,
    }
}

/// A key of the environment can be named in the file; one of the file has its address there.
fn withheld(key: &str) -> String {
    match key.contains('.') {
        true => format!("give `base_url` beside `{key}`"),
        false => format!("to send it there, put `api_key_env = \"{key}\"` beside that `base_url`"),
    }
}

fn settings(error: &SettingsError) -> Option<String> {
    match error {
        SettingsError::NoneInFlight => Some("`--in-flight` takes 1 or more".to_owned()),
        SettingsError::Untrusted { path, .. } => {
            let path = path.display();
            Some(format!(
                "look at it, then run `pikerag trust`; or name it for once with `--config {path}`"
            ))
        }
        SettingsError::NoStateFolder | SettingsError::TrustNotKept { .. } => Some(
            "name the file with `--config FILE` or PIKERAG_CONFIG: what is named needs no trust"
                .to_owned(),
        ),
        _ => None,
    }
}

const WITHOUT_RERANKER: &str = "`first = 0` in `[rerank]`, or `search --rerank 0`, goes without it";

const SELF_ASSESSMENT: &str =
    "set `[methods] certainty = \"self-assessment\"` to let the model grade itself instead";

fn session(error: &EngineError) -> Option<String> {
    let advice = match error {
        EngineError::Solve(error) => return solve(error),
        EngineError::Retrieve(RetrieveError::Rerank(error)) => return reranking(error),
        EngineError::Settings(error) => return settings(error),
        EngineError::ClassOfOtherMethod { .. } => {
            "leave `--method` out, or `--class` and `--level`"
        }
        EngineError::Wordless(Wordless::Question) => "put it in quotes: `pikerag ask \"Who …?\"`",
        EngineError::Wordless(Wordless::Query) => "put it in quotes: `pikerag search \"…\"`",
        EngineError::Store(StoreError::Data(
            DataError::NoTable { .. }
            | DataError::BadStatement { .. }
            | DataError::NotAllowed { .. },
        )) => "`pikerag tables` lists them with their columns",
        EngineError::NoMethod(_) => "`pikerag methods` says what each does",
        EngineError::Eval(EvalError::UnknownFormat { .. }) => "name one with `--format`",
        EngineError::SettingsExist { .. } => "`--config FILE` names another",
        EngineError::UnclearRun { .. } | EngineError::RunNotAnswered { .. } => {
            "`pikerag runs` lists them"
        }
        EngineError::Feedback(FeedbackError::NoVerified { .. }) => {
            "`pikerag feedback list` lists them"
        }
        EngineError::Feedback(FeedbackError::NothingToAccept { .. }) => {
            "`pikerag feedback correct RUN \"…\"` says what is right"
        }
        EngineError::Feedback(FeedbackError::NoAuthor) => {
            "name yourself with `--by`, or set PIKERAG_AUTHOR or `author`"
        }
        EngineError::Feedback(FeedbackError::EmptyCorrection) => {
            "put it in quotes: `pikerag feedback correct RUN \"…\"`; `reject` says that an answer is wrong and no more"
        }
        EngineError::NotFound { what, .. } => return missing(*what),
        EngineError::Needs(needed) => needs(*needed),
        EngineError::NoBase { .. } => "make one with `pikerag index PATH…`",
        EngineError::NoWeights { of: WeightsOf::Reranker(_), .. } => WITHOUT_RERANKER,
        EngineError::TagClassExists { .. } => "drop it first",
        EngineError::OtherRun { .. } => "give another --out, or --fresh",
        EngineError::CorpusIncomplete { .. } => "run the same command again to go on",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn missing(what: Missing) -> Option<String> {
    let advice = match what {
        Missing::Run => "`pikerag runs` lists them",
        Missing::File => "`pikerag files` lists what there is",
        Missing::Original => {
            "index it again with `index.originals = true`; larger ones need `index.originals_mib`"
        }
        Missing::Node => "`pikerag graph export` lists them all",
        Missing::TagClass => "`pikerag tags` lists them",
        Missing::TagPair => "`pikerag tags pairs` lists them",
        Missing::Chunk | Missing::Correction | Missing::Evaluation | Missing::Backup => {
            return None;
        }
    };
    Some(advice.to_owned())
}

fn needs(needed: Needed) -> &'static str {
    match needed {
        Needed::Embedder | Needed::ChatForPairs => "see `pikerag doctor`",
        Needed::Reranker => "set `[rerank]`, as `pikerag init` writes it down",
        Needed::TagClasses => "run `pikerag index --with tags PATH…` first",
        Needed::RunFolder => "name one with `--out DIR`",
        Needed::DataFolder => "give `--data DIR` or `--questions FILE`",
        Needed::Judge => "set `chat.model` or `[roles.judge]`",
        Needed::LogProbabilities => "set `chat.model`",
    }
}

/// A model that was to rerank has failed. What a spent budget needs is said of the error itself.
fn reranking(error: &ModelError) -> Option<String> {
    let first = match error {
        ModelError::OverBudget { .. } | ModelError::NotRecorded { .. } => return None,
        ModelError::Unreachable { .. } => "see that its endpoint runs and the address is right; ",
        ModelError::Denied { .. } => "check its key, name and address, and the account; ",
        _ => "",
    };
    Some(format!("{first}{WITHOUT_RERANKER}"))
}

fn solve(error: &SolveError) -> Option<String> {
    Some(match error {
        SolveError::Retrieve(RetrieveError::Rerank(error)) => return reranking(error),
        SolveError::NoModel { .. } => {
            "set `[chat] model`, or choose kar3, hop-rag, naive-rag or hybrid-rag, which also work without"
                .to_owned()
        }
        SolveError::NoScorer => SELF_ASSESSMENT.to_owned(),
        SolveError::NotBuilt { structure } => {
            format!("run `pikerag index --with {structure} PATH…`")
        }
        SolveError::NoLabelledQuestions => {
            "set `[methods] skr_examples` to a file with lines {\"question\": \"…\", \"known\": true}"
                .to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use pikerag_engine::EndpointOf;
    use pikerag_engine::knowledge::Role;

    use super::*;

    fn untrusted(has_changed: bool) -> SettingsError {
        let sets = vec!["chat.base_url".to_owned(), "tools.soffice".to_owned()];
        SettingsError::Untrusted { path: "pikerag.toml".into(), sets, has_changed }
    }

    /// What a person reads, with the causes and the advice of each.
    #[test]
    fn errors_come_with_what_to_do() {
        let told = |error: EngineError| told(&anyhow::Error::from(error));
        let over_budget = ModelError::OverBudget { cap: "2 calls".into(), spent: "2 calls".into() };
        let lines = [
            told(EngineError::NoBase { folder: ".pikerag".into() }),
            told(SolveError::NoModel { role: Role::Propose }.into()),
            told(SolveError::NotBuilt { structure: Structure::Graph }.into()),
            told(EngineError::Endpoint { of: EndpointOf::Role(Role::Answer), source: over_budget }),
            told(EngineError::Endpoint {
                of: EndpointOf::Role(Role::Answer),
                source: ModelError::Unreachable { model: "m".into(), source: "gone".into() },
            }),
            told(EngineError::Wordless(Wordless::Question)),
            super::told(&SettingsError::NoneInFlight.into()),
            super::told(&untrusted(false).into()),
            super::told(&untrusted(true).into()),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        .pikerag cannot be opened: there is no knowledge base yet; make one with `pikerag index PATH…`
        this method asks a language model (`propose`), and none is set; set `[chat] model`, or choose kar3, hop-rag, naive-rag or hybrid-rag, which also work without
        this method works on the graph of the base, which is not built; run `pikerag index --with graph PATH…`
        the model for `answer` is not set up right: the budget of 2 calls is spent (2 calls so far); raise it and run again to go on
        the model for `answer` is not set up right: m is out of reach: gone; see that its endpoint runs and the address is right, or go without it: `--offline`
        the question holds no word; put it in quotes: `pikerag ask "Who …?"`
        at least one model call must be in flight; `--in-flight` takes 1 or more
        pikerag.toml is not trusted, and sets chat.base_url, tools.soffice; look at it, then run `pikerag trust`; or name it for once with `--config pikerag.toml`
        pikerag.toml has changed since it was trusted, and sets chat.base_url, tools.soffice; look at it, then run `pikerag trust`; or name it for once with `--config pikerag.toml`
        "#);
    }

    #[test]
    fn what_cannot_be_built_comes_with_what_to_do() {
        insta::assert_snapshot!(lacking(Lacking::TagModel), @"tags need a chat model; see `pikerag doctor`");
        insta::assert_snapshot!(
            file(&FileError::TooLarge { bytes: 3 << 19, most: 1 << 20 }),
            @"it has 1.5 MiB, over the limit of 1 MiB; raise `limits.file_mib`, or split it"
        );
    }
}
