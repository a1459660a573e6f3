//! Stores people's feedback on answers (`feedback`). Accepted and corrected answers become part of
//! the base; they can be listed, revoked and exported (PIKE-RAG §4.1).

mod labels;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use pikerag_knowledge::{
    Answer, Event, Filter, Ground, Judgement, KeptVerified, RunQuery, RunRecord, RunState,
    TaskClass, Verified,
};
use pikerag_methods::find_support;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::labels::{LabelsRequest, LabelsResponse, judge_by_labels};
use super::ask::has_word;
use super::ask::keeping::now;
use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, FeedbackError, Missing, QuestionFile, Result};
use crate::verbs::runs::named;

/// Feedback on the answer of a run.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// The run of the answer: its name or the beginning of it, or `last` for the latest run.
    pub run: String,
    /// The verdict on the answer.
    pub verdict: Verdict,
    /// The right answer, with `correct`.
    #[serde(default)]
    pub answer: Option<String>,
    /// The author; by default the name of the key, else the author in the settings.
    #[serde(default)]
    pub by: Option<String>,
    /// A note.
    #[serde(default)]
    pub note: String,
}

/// A verdict on an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The answer is right.
    #[default]
    Accept,
    /// Another answer is right.
    Correct,
    /// The answer is wrong.
    Reject,
}

/// The stored feedback.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FeedbackResponse {
    /// The verified answer.
    pub verified: Verified,
    /// Whether no passage supports the right answer, so that it rests on the author alone.
    pub is_bare: bool,
}

/// A better answer and a worse one to the same question, for training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerPair {
    /// The question.
    pub question: String,
    /// The answer that a person considers right.
    pub better: String,
    /// The answer that a person corrected or rejected.
    pub worse: String,
    /// The author of the verdict on the worse answer.
    pub by: String,
}

/// The result of an import of verified answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ImportResponse {
    /// Verified answers that were read and kept.
    pub kept: usize,
    /// The imported ones that rest on passages which this base does not have.
    pub stale: usize,
}

/// A line of an export: of the whole graph, or of verified answers alone.
#[derive(Deserialize)]
struct Line {
    #[serde(flatten)]
    verified: Verified,
}

/// Stores feedback on an answer. New feedback of the same author on the same answer replaces the
/// earlier one.
///
/// # Errors
/// [`EngineError::NotFound`], [`EngineError::UnclearRun`], [`EngineError::RunNotAnswered`], [`FeedbackError::NoAuthor`],
/// [`FeedbackError::EmptyCorrection`], [`FeedbackError::NothingToAccept`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{FeedbackRequest, Verdict, feedback};
///
/// let request = FeedbackRequest {
///     run: "last".to_owned(),
///     verdict: Verdict::Correct,
///     answer: Some("The laboratory calibrates it.".to_owned()),
///     by: Some("Chen".to_owned()),
///     ..Default::default()
/// };
/// let response = feedback(session, &request).await?;
/// println!("{} rests on {} passages", response.verified.id, response.verified.grounds.len());
/// # Ok(()) }
/// ```
pub async fn feedback(session: &Session, request: &FeedbackRequest) -> Result<FeedbackResponse> {
    let base = session.base().await?.for_a_question().await?;
    let run = match request.run.trim() {
        "last" => {
            base.runs(RunQuery::Latest(1)).await?.pop().ok_or_else(|| no_run(&request.run))?
        }
        name => named(session, &base, name).await?,
    };
    keep(session, &base, run, request).await
}

/// Stores feedback on the answer of `run`, whichever run the request names.
async fn keep(
    session: &Session,
    base: &Base,
    run: RunRecord,
    request: &FeedbackRequest,
) -> Result<FeedbackResponse> {
    let by = request.by.as_ref().or(session.settings().author.as_ref());
    let by = by.map(|by| by.trim()).filter(|by| !by.is_empty()).ok_or(FeedbackError::NoAuthor)?;
    let Some(answer) = run.answer.as_ref().filter(|_| run.state == RunState::Answered) else {
        return Err(EngineError::RunNotAnswered { run: run.id, state: run.state });
    };
    let (judgement, correction) = match (request.verdict, &request.answer) {
        (Verdict::Accept, _) if answer.refused => {
            return Err(FeedbackError::NothingToAccept { run: run.id }.into());
        }
        (Verdict::Accept, _) => (Judgement::Accepted, None),
        (Verdict::Reject, _) => (Judgement::Rejected, None),
        (Verdict::Correct, Some(text)) if has_word(text) => {
            (Judgement::Corrected, Some(text.trim().to_owned()))
        }
        (Verdict::Correct, _) => return Err(FeedbackError::EmptyCorrection.into()),
    };
    let question = run.question.query().trim().to_owned();
    let grounds = match &correction {
        // A wrong quote in the answer is not evidence.
        None => grounds_of(answer),
        Some(text) => support_of(session, base, &run, text).await?,
    };
    let verified = Verified {
        id: Verified::id_of(&question, &answer.text, by),
        question,
        judgement,
        given: answer.text.trim().to_owned(),
        correction,
        by: by.to_owned(),
        at: now(),
        note: request.note.trim().to_owned(),
        class: class_of(base, &run, answer).await?,
        method: run.method.clone(),
        run: Some(run.id.clone()),
        grounds,
        context: answer.context.ids(),
    };
    base.put_verified(vec![verified.clone()], true).await?;
    let is_bare = verified.holds().is_some() && verified.grounds.is_empty();
    Ok(FeedbackResponse { verified, is_bare })
}

/// Feedback on answers, the latest first, without answers that rest on text the caller may not see.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for kept in pikerag_engine::verified(session).await? {
///     println!("{}: {}", kept.verified.question, kept.verified.judgement);
/// }
/// # Ok(()) }
/// ```
pub async fn verified(session: &Session) -> Result<Vec<KeptVerified>> {
    let seen = session.snapshot(&session.base_in_part().await?, &Filter::default()).await?;
    Ok(seen.verified().await?)
}

/// Verified answers whose sources have changed, without later feedback on the question. A person
/// must check them again.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for kept in pikerag_engine::stale_verified(session).await? {
///     println!("{}: {} changed", kept.verified.question, kept.changed.join(", "));
/// }
/// # Ok(()) }
/// ```
pub async fn stale_verified(session: &Session) -> Result<Vec<KeptVerified>> {
    stale(&session.base().await?).await
}

/// Revokes feedback, by its identifier or the beginning of it, and returns it.
///
/// # Errors
/// [`FeedbackError::NoVerified`] if none or several match; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let revoked = pikerag_engine::revoke_verified(session, "3f2a").await?;
/// println!("revoked: {} by {}", revoked.question, revoked.by);
/// # Ok(()) }
/// ```
pub async fn revoke_verified(session: &Session, id: &str) -> Result<Verified> {
    let (base, id) = (session.base().await?, id.trim());
    let all = base.verified().await?;
    let begins = |kept: &&KeptVerified| kept.verified.id.to_string().starts_with(id);
    let mut found = all.iter().filter(begins);
    let (Some(kept), None) = (found.next().filter(|_| !id.is_empty()), found.next()) else {
        return Err(FeedbackError::NoVerified { name: id.to_owned() }.into());
    };
    base.revoke_verified(kept.verified.id).await?;
    Ok(kept.verified.clone())
}

/// Pairs of a better and a worse answer: one for each correction, and one for each rejected answer
/// to a question with a known right answer.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for pair in pikerag_engine::answer_pairs(session).await? {
///     println!("{}\n+ {}\n- {}", pair.question, pair.better, pair.worse);
/// }
/// # Ok(()) }
/// ```
pub async fn answer_pairs(session: &Session) -> Result<Vec<AnswerPair>> {
    let all = session.base().await?.verified().await?;
    let mut pairs: Vec<AnswerPair> = Vec::new();
    for Verified { question, given, by, .. } in
        all.iter().map(|kept| &kept.verified).filter(|answer| answer.holds() != Some(&answer.given))
    {
        // The latest right answer to the question is the better one.
        let right = all.iter().map(|kept| &kept.verified);
        let right = right.filter(|other| other.question == *question);
        let better = right.filter_map(Verified::holds).find(|better| better != given);
        pairs.extend(better.map(|better| AnswerPair {
            question: question.clone(),
            better: better.to_owned(),
            worse: given.clone(),
            by: by.clone(),
        }));
    }
    Ok(pairs)
}

/// Writes all verified answers, one JSON object per line, the latest first. Returns their number.
///
/// # Errors
/// There is no base, it cannot be read, or `writer` fails.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let mut file = std::fs::File::create("verified.jsonl")?;
/// println!("{} lines", pikerag_engine::export_verified(session, &mut file).await?);
/// # Ok(()) }
/// ```
pub async fn export_verified(session: &Session, writer: &mut (dyn Write + Send)) -> Result<usize> {
    let all = verified(session).await?;
    for kept in &all {
        writeln!(writer, "{}", serde_json::to_string(kept)?)?;
    }
    writer.flush()?;
    Ok(all.len())
}

/// Imports verified answers of another base. They refer to other documents, so none is used as an
/// answer until someone accepts it here.
///
/// # Errors
/// [`EngineError::QuestionsUnreadable`] if the file cannot be read, [`EngineError::BadQuestion`] if
/// a line is not a verified answer; nothing is stored in these cases. There is no base, or it
/// cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let path = std::path::Path::new("verified.jsonl");
/// println!("{} are imported", pikerag_engine::import_verified(session, path).await?.kept);
/// # Ok(()) }
/// ```
pub async fn import_verified(session: &Session, path: &Path) -> Result<ImportResponse> {
    let base = session.base().await?;
    let unreadable = |source| EngineError::QuestionsUnreadable {
        of: QuestionFile::Asked,
        path: PathBuf::from(path),
        source,
    };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(line, text)| {
        let read: Result<Line, _> = serde_json::from_str(text);
        read.map(|line| line.verified).map_err(|source| EngineError::BadQuestion {
            of: QuestionFile::Asked,
            path: PathBuf::from(path),
            line,
            source,
        })
    });
    let mut all = read.collect::<Result<Vec<Verified>>>()?;
    for answer in &mut all {
        // The file's identifiers are not trusted, because they could replace other answers of this
        // base.
        answer.id = Verified::id_of(&answer.question, &answer.given, &answer.by);
    }
    let ids: Vec<_> = all.iter().map(|answer| answer.id).collect();
    base.put_verified(all, false).await?;
    let now = base.verified().await?;
    let ours = now.iter().filter(|kept| ids.contains(&kept.verified.id));
    Ok(ImportResponse { kept: ids.len(), stale: ours.filter(|kept| kept.is_stale()).count() })
}

/// The passages that support a corrected answer, among those that the run saw and those that its
/// question finds now.
async fn support_of(
    session: &Session,
    base: &Base,
    run: &RunRecord,
    text: &str,
) -> Result<Vec<Ground>> {
    let seen = session.snapshot(base, &run.filter).await?;
    let (ports, _) = session.ports(base, seen).await?;
    let context = run.answer.as_ref().map(|answer| answer.context.ids()).unwrap_or_default();
    Ok(find_support(&ports, &run.question, &context, text).await?)
}

/// The class of the answered question. For answers from passages, it is in the trace.
async fn class_of(base: &Base, run: &RunRecord, answer: &Answer) -> Result<Option<TaskClass>> {
    if let Some(worked) = &answer.worked {
        return Ok(Some(worked.class));
    }
    let events = base.run_events(&run.id).await?;
    Ok(events.iter().rev().find_map(|event| match event.event {
        Event::Classified { class, .. } => Some(class),
        _ => None,
    }))
}

/// The same as [`stale_verified`].
pub(super) async fn stale(base: &Base) -> Result<Vec<KeptVerified>> {
    let mut settled = BTreeSet::new();
    let mut all = base.verified().await?;
    all.retain(|kept| settled.insert(kept.verified.question.clone()) && kept.is_stale());
    Ok(all)
}

/// The correct citations, each passage once.
fn grounds_of(answer: &Answer) -> Vec<Ground> {
    let mut grounds: Vec<Ground> = Vec::new();
    for citation in &answer.citations {
        if citation.check == pikerag_knowledge::Check::Verified
            && grounds.iter().all(|held| (held.chunk, held.span) != (citation.chunk, citation.span))
        {
            grounds.push(Ground::from(citation));
        }
    }
    grounds
}

fn no_run(name: &str) -> EngineError {
    EngineError::NotFound { what: Missing::Run, name: name.to_owned() }
}
