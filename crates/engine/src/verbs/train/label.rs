//! Labels questions for the three modules of RA-ISF, and compares modules with labels (RA-ISF §3.2, §5.5, Appendix A).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pikerag_eval::datasets::{self, Item};
use pikerag_knowledge::{Role, Spent};
use pikerag_methods::Ports;
use pikerag_train::Right;
use pikerag_train::agree::{Agreement, agreement};
use pikerag_train::label::{LabelCounts, LabelParams, Labelled, Module, label};
use pikerag_train::split::{Apart, Part, split};
use serde::Serialize;

use super::each::Each;
use super::kept::{self, Kept, LabelHeader};
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::verbs::eval::plan::hash;
use crate::verbs::eval::{as_chain, ports_for_measuring};
use crate::verbs::progress::OnProgress;

/// The questions to label, and how.
#[derive(Clone)]
pub struct LabelRequest<'a> {
    /// A file of questions with their answers.
    pub questions: PathBuf,
    /// Format of the questions; `None` detects it from their first record.
    pub format: Option<String>,
    /// The number of questions drawn with the seed; `None`: all.
    pub limit: Option<usize>,
    /// How questions are labelled.
    pub params: LabelParams,
    /// Seed of the draw.
    pub seed: u64,
    /// Questions labelled at a time.
    pub concurrency: usize,
    /// The folder of the labels.
    pub out: PathBuf,
    /// Whether earlier labels in this folder are discarded.
    pub fresh: bool,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// What was labelled.
#[derive(Debug, Serialize)]
pub struct LabelResponse {
    /// The counts of all labels of the folder.
    pub counts: LabelCounts,
    /// Calls and tokens of this run by role, made or read from the ledger.
    pub spent: Spent,
    /// The reason why the run ended early, if it did. The next run continues from there.
    #[serde(serialize_with = "as_chain")]
    pub stopped: Option<EngineError>,
    /// Folder of the labels.
    pub out: PathBuf,
}

/// The forecast cost of labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LabelForecast {
    /// The questions.
    pub questions: usize,
    /// Calls, at most.
    pub most_calls: u64,
}

/// Labels to compare the modules with.
#[derive(Clone)]
pub struct AgreeRequest<'a> {
    /// A folder of labels.
    pub labels: PathBuf,
    /// What the parts of the export do not share.
    pub apart: Apart,
    /// The share that the export holds out for the test: only these questions are asked; at 0 all of them.
    pub held_out: f64,
    /// Seed of the split.
    pub seed: u64,
    /// Questions asked at a time.
    pub concurrency: usize,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// How often the modules agree with labels.
#[derive(Debug, Serialize)]
pub struct AgreeResponse {
    /// The questions that were asked.
    pub questions: usize,
    /// The agreement.
    pub agreement: Agreement,
    /// The models by role.
    pub models: BTreeMap<String, String>,
    /// The models that made the labels, by role.
    pub labelled_by: BTreeMap<String, String>,
    /// The reason why the run ended early, if it did.
    #[serde(serialize_with = "as_chain")]
    pub stopped: Option<EngineError>,
}

/// The figures of RA-ISF, Table 4, in percent: the module, as persons found, and as GPT-4 found.
pub const TABLE_4: [(Module, Option<f64>, f64); 3] = [
    (Module::Know, None, 97.0),
    (Module::Relevant, Some(93.5), 95.0),
    (Module::Decompose, Some(89.5), 87.0),
];

/// Labels questions by the models of the roles: a closed-book answer by `answer`, each passage by `relevant`,
/// sub-questions by `decompose`. A run that was stopped continues where it was; calls in the ledger are not paid again.
///
/// # Errors
/// The questions cannot be read; there is no base or no model; the folder belongs to other settings. An early end is
/// in the response.
///
/// # Cancel safety
/// Dropping the future loses at most the questions in flight.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::LabelParams;
/// use pikerag_engine::{LabelRequest, train_label};
///
/// let request = LabelRequest {
///     questions: "questions.jsonl".into(),
///     format: None,
///     limit: Some(1_000),
///     params: LabelParams::default(),
///     seed: 1,
///     concurrency: 4,
///     out: "runs/labels".into(),
///     fresh: false,
///     progress: &|_| {},
/// };
/// let counts = train_label(session, &request).await?.counts;
/// println!("the model knows {} of {} answers", counts.knows[0], counts.questions);
/// # Ok(())
/// # }
/// ```
pub async fn train_label(session: &Session, request: &LabelRequest<'_>) -> Result<LabelResponse> {
    Box::pin(session.unless_cancelled(labelled(session, request))).await
}

/// The cost of labelling, without a call and without a written file.
///
/// # Errors
/// The questions cannot be read.
pub fn train_label_forecast(request: &LabelRequest<'_>) -> Result<LabelForecast> {
    let questions = questions(request)?.len();
    Ok(LabelForecast { questions, most_calls: request.params.calls() * questions as u64 })
}

/// Asks the models of the roles `know`, `relevant` and `decompose` about labelled questions, and a judge about
/// sub-questions.
///
/// # Errors
/// The labels cannot be read; there is no base or no model; the questions cannot be split by document. An early end is
/// in the response.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::TrainApart;
/// use pikerag_engine::{AgreeRequest, train_agree};
///
/// let request = AgreeRequest {
///     labels: "runs/labels".into(),
///     apart: TrainApart::Question,
///     held_out: 0.1,
///     seed: 1,
///     concurrency: 4,
///     progress: &|_| {},
/// };
/// let know = train_agree(session, &request).await?.agreement.know;
/// println!("{} of {} verdicts agree", know.agree, know.all);
/// # Ok(())
/// # }
/// ```
pub async fn train_agree(session: &Session, request: &AgreeRequest<'_>) -> Result<AgreeResponse> {
    Box::pin(session.unless_cancelled(agreed(session, request))).await
}

fn questions(request: &LabelRequest<'_>) -> Result<Vec<Item>> {
    let format = request.format.as_deref().map(str::parse).transpose()?;
    let set = datasets::read(&request.questions, format)?;
    Ok(match request.limit {
        Some(limit) => datasets::sample(set.items, limit, request.seed),
        None => set.items,
    })
}

async fn labelled(session: &Session, request: &LabelRequest<'_>) -> Result<LabelResponse> {
    let items = questions(request)?;
    let base = session.base_for_a_question().await?;
    let ports = ports_for_measuring(session, &base, request.progress).await?;
    let judge = (request.params.right == Right::Judge).then_some(Role::Judge);
    let roles = [Role::Answer, Role::Relevant, Role::Decompose].into_iter().chain(judge);
    let header = LabelHeader {
        questions: hash(&request.questions)?,
        params: request.params,
        models: names(&ports, roles)?,
        embedder: ports.embedder.as_ref().map(|embedder| embedder.name().to_owned()),
        prices: session.settings().prices_by_role(),
    };
    let mut kept: Kept<Labelled> = Kept::open(&request.out, &header, request.fresh)?;
    let there: BTreeSet<String> = kept.all.iter().map(|one| one.item.clone()).collect();
    let to_do: Vec<&Item> = items.iter().filter(|item| !there.contains(&item.id)).collect();
    let each = Each {
        ports: &ports,
        snapshots: &*base,
        name: "labelling",
        earlier: items.len() - to_do.len(),
        concurrency: request.concurrency,
        progress: request.progress,
    };
    let params = &request.params;
    let one = |ports: Ports, item| async move { label(&ports, item, params).await };
    let stopped = each.work(to_do, one, |made| kept.keep(made.into_iter().collect())).await?;
    let mut spent = Spent::default();
    for one in kept.all.iter().skip(kept.earlier) {
        spent.merge(&one.spent);
    }
    let (counts, out) = (LabelCounts::of(&kept.all), request.out.clone());
    Ok(LabelResponse { counts, spent, stopped: stopped.map(EngineError::from), out })
}

async fn agreed(session: &Session, request: &AgreeRequest<'_>) -> Result<AgreeResponse> {
    let mut all: Vec<Labelled> = kept::read(&request.labels)?;
    all.retain(|one| one.failed.is_none());
    if 0.0 < request.held_out {
        let part_of = split(&all, request.apart, request.held_out, request.seed)?;
        all.retain(|one| part_of.get(&one.item) == Some(&Part::Test));
    }
    let base = session.base_for_a_question().await?;
    let ports = ports_for_measuring(session, &base, request.progress).await?;
    let roles = Module::ALL.into_iter().map(Module::role).chain([Role::Judge]);
    let models = names(&ports, roles)?;
    let labelled_by =
        kept::header::<Labelled>(&request.labels).map(|header| header.models).unwrap_or_default();
    let each = Each {
        ports: &ports,
        snapshots: &*base,
        name: "comparing",
        earlier: 0,
        concurrency: request.concurrency,
        progress: request.progress,
    };
    let mut total = Agreement::default();
    let one = |ports: Ports, labelled| async move { agreement(&ports, labelled).await };
    let add = |made| {
        total += made;
        Ok(())
    };
    let stopped = each.work(all.iter().collect(), one, add).await?.map(EngineError::from);
    Ok(AgreeResponse { questions: all.len(), agreement: total, models, labelled_by, stopped })
}

/// The models of roles by the names of the roles.
fn names(ports: &Ports, roles: impl Iterator<Item = Role>) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    for role in roles {
        let model = ports.models.need(role).map_err(EngineError::from)?.name().to_owned();
        names.insert(role.to_string(), model);
    }
    Ok(names)
}
