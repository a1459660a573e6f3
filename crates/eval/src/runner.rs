//! Runs an evaluation: every method on every question, many at a time. Each row is delivered as
//! soon as it is known, so that a run can be resumed.

use std::collections::{BTreeMap, HashSet};
use std::future::pending;
use std::time::Instant;

use futures::stream::{self, StreamExt};
use pikerag_baselines::{Method, answer};
use pikerag_knowledge::{
    Account, Answer, ChatModel, Check, Citation, Context, ContextChunk, Filter, ModelError, Role,
    RunRecord, Snapshots, error_chain,
};
use pikerag_methods::{Finished, Ports, RunParams, SolveError, TagUse};
use pikerag_prompt::AskError;

use crate::criteria::{Criteria, judge_ideas, proxies};
use crate::datasets::{Item, Task};
use crate::faithful::is_consistent;
use crate::judge::judge;
use crate::metrics::{
    FigureScore, ForecastScore, contains, figure_score, forecast_score, law, refuses, rouge_l,
    score, supporting_recall,
};
use crate::report::{Cost, Row, TaskScores};

/// The parameters of a run.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    /// The data set's name, for the rows.
    pub data_set: &'a str,
    /// Each question reads a snapshot of its own.
    pub snapshots: &'a dyn Snapshots,
    /// Questions asked at a time.
    pub in_flight: usize,
    /// The use of questions' tags.
    pub tags: TagUse,
    /// The tokens that the answering model may read at a time, if it is slow.
    pub reads_at_most: Option<u32>,
    /// The judges of the answers.
    pub judges: Judges<'a>,
    /// US dollars per million tokens of prompt and of reply, by role; a missing role has no known
    /// price.
    pub prices: &'a BTreeMap<Role, (f64, f64)>,
}

/// The judges of the answers, each if it is wanted; their cost is not part of the methods' account.
#[derive(Clone, Copy, Default)]
pub struct Judges<'a> {
    /// Decides which answers are right (Acc).
    pub right: Option<&'a dyn ChatModel>,
    /// Decides which answers come from the retrieved passages (CRP-RAG Table 4).
    pub consistent: Option<&'a dyn ChatModel>,
}

/// Runs the pairs of method and question that are not in `done` yet, `params.in_flight` questions
/// at a time. Passes each row and its run to `keep` in the order of the questions. Questions do not
/// affect each other.
///
/// A failed question gives a row with the reason and the cost, and the rest go on. A failure that
/// would repeat for every further question ends the run: a spent budget, a bad key, an unreachable
/// endpoint, a call that was never recorded, a judge's model without the log-probabilities that it
/// needs. Any other failure of a judge fails the question.
///
/// # Errors
/// The error that ended the run, or that `keep` returned. Rows passed before stay valid.
pub async fn run<E>(
    ports: &Ports,
    items: &[Item],
    methods: &[(String, Method)],
    done: &HashSet<(String, String)>,
    params: Params<'_>,
    mut keep: impl FnMut(Row, &Finished) -> Result<(), E>,
) -> Result<(), RunError<E>> {
    let mut jobs = Vec::new();
    for (name, method) in methods {
        for item in items {
            if !done.contains(&(name.clone(), item.id.clone())) {
                jobs.push((name, *method, item));
            }
        }
    }
    let answers = stream::iter(jobs.into_iter().enumerate()).map(
        |(place, (name, method, item))| async move {
            (place, (name, item, asked(ports, method, item, params).await))
        },
    );
    // Unordered, so that one slow question does not block others; passed on in the order of the
    // questions.
    let mut answers = answers.buffer_unordered(params.in_flight.max(1));
    let (mut early, mut next) = (BTreeMap::new(), 0);
    while let Some((place, done)) = answers.next().await {
        early.insert(place, done);
        while let Some((name, item, asked)) = early.remove(&next) {
            next += 1;
            let Asked { run, ends_the_run, verdicts, seconds } = asked;
            if ends_the_run {
                return run.result.map(drop).map_err(RunError::Solve);
            }
            let row = row(name, item, &run, &verdicts, seconds, params);
            keep(row, &run).map_err(RunError::Keep)?;
        }
    }
    Ok(())
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// A question could not be asked or judged, and no other could be either.
    #[error("the run ended early")]
    Solve(#[source] SolveError),
    /// A row could not be kept.
    #[error("a result could not be kept")]
    Keep(#[source] E),
}

struct Asked {
    /// A judge's failure fails it.
    run: Finished,
    /// Whether every further question would fail the same way.
    ends_the_run: bool,
    verdicts: Verdicts,
    /// Without the judges' time.
    seconds: f64,
}

/// The judges' verdicts, and their cost.
#[derive(Default)]
struct Verdicts {
    is_right: Option<bool>,
    is_consistent: Option<bool>,
    criteria: Option<Criteria>,
    account: Account,
}

async fn asked(ports: &Ports, method: Method, item: &Item, params: Params<'_>) -> Asked {
    let Params { snapshots, judges, tags, reads_at_most, .. } = params;
    let question = item.asked();
    let began = Instant::now();
    let mut run = match snapshots.snapshot(&Filter::default(), &Filter::default()).await {
        Ok(base) => {
            // A memory belongs to the state of another question.
            let ports = Ports { base, memory: None, ..ports.clone() };
            let run = RunParams { tags, reads_at_most, ..RunParams::default() };
            answer(&ports, &question, method, run, pending()).await
        }
        Err(error) => Finished {
            record: RunRecord::default(),
            events: Vec::new(),
            result: Err(SolveError::Store(error)),
            scored: Vec::new(),
            structured: Vec::new(),
        },
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut verdicts = Verdicts::default();
    let mut ends_the_run = run.result.as_ref().is_err_and(ends_every_answer);
    if let Ok(answer) = &run.result
        && let Err(error) = judged(judges, item, answer, &mut verdicts).await
    {
        ends_the_run = ends_every_judgement(&error);
        run.result = Err(SolveError::Ask(error));
    }
    Asked { run, ends_the_run, verdicts, seconds }
}

async fn judged(
    judges: Judges<'_>,
    item: &Item,
    answer: &Answer,
    verdicts: &mut Verdicts,
) -> Result<(), AskError> {
    let account = &mut verdicts.account;
    if let (Some(model), Task::Ideas) = (judges.right, item.task) {
        verdicts.criteria = Some(judge_ideas(model, &item.question, answer, account).await?);
    } else if let Some(model) = judges.right {
        let right = judge(model, &item.question, &item.answers, &answer.text, account).await?;
        verdicts.is_right = Some(right);
    }
    if let Some(model) = judges.consistent {
        verdicts.is_consistent = is_consistent(model, &item.question, answer, account).await?;
    }
    Ok(())
}

/// Whether no further question would be answered. Only some methods need log-probabilities.
pub fn ends_every_answer(error: &SolveError) -> bool {
    match (error, error.model()) {
        (SolveError::Store(_), _) => true,
        (_, Some(ModelError::NoLogprobs { .. }) | None) => false,
        (_, Some(model)) => model.concerns_every_call(),
    }
}

/// Whether no further answer would be judged: a judge sends the same kind of request each time.
fn ends_every_judgement(error: &AskError) -> bool {
    match error {
        AskError::Model { source, .. } => source.concerns_every_call(),
        AskError::Template { .. } => true,
        AskError::Unreadable { .. } => false,
    }
}

/// The row of a question: the cost of its run in every case; then its answer, or why there is none.
fn row(
    method: &str,
    item: &Item,
    run: &Finished,
    verdicts: &Verdicts,
    seconds: f64,
    params: Params<'_>,
) -> Row {
    let spent = &run.record.cost.spent;
    let total = Cost::total(spent);
    let row = Row {
        method: method.to_owned(),
        data_set: params.data_set.to_owned(),
        item: item.id.clone(),
        kind: item.kind.clone(),
        hops: item.hops,
        seconds,
        calls: total.calls,
        prompt_tokens: total.prompt_tokens,
        completion_tokens: total.completion_tokens,
        by_role: Cost::by_role(spent),
        usd: spent.priced(params.prices),
        judge: Cost::total(&verdicts.account.cost().spent),
        ..Row::default()
    };
    match &run.result {
        // If the replies had log-probabilities: see `with_logprobs` (CRP-RAG Table 3).
        Ok(answer) => Row { perplexity: run.perplexity(), ..answered(row, item, answer, verdicts) },
        Err(error) => failed(row, item, error, params),
    }
}

fn answered(row: Row, item: &Item, answer: &Answer, verdicts: &Verdicts) -> Row {
    let (recall, final_recall) = recall_by_round(item, &answer.context);
    let is_verified = |citation: &&Citation| citation.check == Check::Verified;
    Row {
        answer: answer.text.clone(),
        scores: score(&answer.text, &item.answers),
        acc: verdicts.is_right.map(|right| f64::from(u8::from(right))),
        consistent: verdicts.is_consistent.map(|holds| f64::from(u8::from(holds))),
        task: task_scores(&answer.text, item),
        foresight: forecast_score_of(item, Some(answer)),
        figured: item.wanted.map(|wanted| figure_score(Some(answer), wanted, &item.answers)),
        criteria: verdicts.criteria,
        proxies: (item.task == Task::Ideas).then(|| proxies(&item.question, answer)),
        class: answer.worked.as_ref().map(|worked| worked.class),
        refused: answer.refused || refuses(&answer.text, &item.answers),
        citations: answer.citations.len() as u64,
        verified: answer.citations.iter().filter(is_verified).count() as u64,
        final_recall,
        supporting_recall: recall,
        ..row
    }
}

/// The share of the gold evidence after each iteration, and at the end (KAR³ Table 8). A round with
/// several chunks is one iteration, and a round without chunks keeps the value. Chunks that were
/// filled in afterwards count only at the end.
fn recall_by_round(item: &Item, context: &Context) -> (Vec<f32>, Option<f32>) {
    let gold_of = |held: &ContextChunk| {
        let uri = held.chunk.uri.clone();
        item.supporting.iter().filter(move |gold| is_of(&uri, gold)).cloned()
    };
    let rounds = context.chunks.iter().map(|held| held.hop).max().unwrap_or(0);
    let mut recall = Vec::with_capacity(rounds);
    for round in 1..=rounds {
        let held = context.chunks.iter().filter(|held| (1..=round).contains(&held.hop));
        let found: Vec<String> = held.flat_map(gold_of).collect();
        recall.extend(supporting_recall(&item.supporting, &found));
    }
    let all: Vec<String> = context.chunks.iter().flat_map(gold_of).collect();
    (recall, supporting_recall(&item.supporting, &all))
}

fn failed(row: Row, item: &Item, error: &SolveError, params: Params<'_>) -> Row {
    let (is_judged, is_ideas) = (params.judges.right.is_some(), item.task == Task::Ideas);
    Row {
        acc: (is_judged && !is_ideas).then_some(0.0),
        criteria: (is_judged && is_ideas).then(Criteria::default),
        proxies: is_ideas.then(Criteria::default),
        foresight: forecast_score_of(item, None),
        figured: item.wanted.map(|_| FigureScore { withheld: 1.0, ..FigureScore::default() }),
        consistent: params.judges.consistent.is_some().then_some(0.0),
        task: task_scores("", item),
        final_recall: supporting_recall(&item.supporting, &[]),
        failed: Some(error_chain(error)),
        ..row
    }
}

fn forecast_score_of(item: &Item, answer: Option<&Answer>) -> ForecastScore {
    match item.task {
        Task::Forecast => forecast_score(&item.question, answer, &item.answers, item.before),
        _ => ForecastScore::default(),
    }
}

/// The scores for the item's task.
fn task_scores(answer: &str, item: &Item) -> TaskScores {
    let labels = &item.answers;
    let mut scores = TaskScores::default();
    let articles = || law::articles_score(answer, labels).unzip();
    match item.task {
        Task::Short => scores.contained = Some(contains(answer, labels)),
        Task::Long => {
            scores.rouge_l = Some(rouge_l(answer, labels));
            (scores.articles, scores.articles_f1) = articles();
        }
        Task::Choice => scores.choice = law::choice(answer, labels),
        Task::Articles => (scores.articles, scores.articles_f1) = articles(),
        Task::Forecast | Task::Figure | Task::Ideas => {}
        Task::Crimes => scores.crimes_f1 = law::crimes_score(answer, labels).map(|(_, f1)| f1),
    }
    scores
}

/// Whether a chunk's URI is the gold evidence: the document itself, a file of that name, or a
/// record with that identifier.
pub(crate) fn is_of(uri: &str, gold: &str) -> bool {
    uri.strip_suffix(gold).is_some_and(|before| before.is_empty() || before.ends_with(['/', '#']))
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Spent;

    use super::*;

    #[test]
    fn each_task_has_its_scores() {
        let item =
            |task, label: &str| Item { task, answers: vec![label.to_owned()], ..Item::default() };
        let scores = |task, label, answer| task_scores(answer, &item(task, label));
        let within = |answer| scores(Task::Short, "Paris", answer).contained;
        assert_eq!((within("It was in Paris."), within("Parisian")), (Some(1.0), Some(0.0)));
        assert_eq!(scores(Task::Choice, "正确答案：AC。", "选A和C").choice, Some(1.0));
        assert_eq!(scores(Task::Choice, "正确答案：AC。", "").choice, Some(0.0));
        let articles = scores(Task::Articles, "刑法第264条", "第二百六十四条、第三条");
        assert_eq!((articles.articles, articles.rouge_l), (Some(0.0), None));
        assert!((articles.articles_f1.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let long = scores(Task::Long, "有权自主经营", "有权自主经营。");
        assert_eq!((long.rouge_l, long.articles), (Some(1.0), None));
        assert_eq!(scores(Task::Crimes, "罪名:盗窃", "盗窃罪").crimes_f1, Some(1.0));
    }

    /// Two chunks of one round are one iteration, a round without any has its place, and filled-in
    /// chunks count at the end.
    #[test]
    fn iterations_are_rounds() {
        let supporting = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let item = Item { supporting, ..Item::default() };
        let mut context = Context::default();
        for (id, hop) in [("a", 1), ("b", 1), ("c", 3), ("d", 0)] {
            let id_number = u64::from(id.as_bytes()[0]);
            let chunk = pikerag_doubles::chunk(id_number, id, id);
            context.add(hop, pikerag_knowledge::Chunk { uri: format!("x.jsonl#{id}"), ..chunk });
        }
        assert_eq!(recall_by_round(&item, &context), (vec![0.5, 0.5, 0.75], Some(1.0)));
        assert_eq!(recall_by_round(&item, &Context::default()), (vec![], Some(0.0)));
    }

    /// A method that needs log-probabilities fails alone without them; a judge that needs them
    /// fails for every question, and no call is paid in vain.
    #[test]
    fn failures_of_every_question_end_the_run() {
        let of = |source| AskError::Model { role: Role::Answer, source };
        let ends = |source: fn() -> ModelError| {
            (ends_every_answer(&SolveError::Ask(of(source()))), ends_every_judgement(&of(source())))
        };
        assert_eq!(ends(|| ModelError::NoLogprobs { model: "m".to_owned() }), (false, true));
        let unsupported =
            || ModelError::Unsupported { model: "m".to_owned(), hint: "x".to_owned() };
        assert_eq!(ends(unsupported), (true, true));
        let refused = || ModelError::Refused { model: "m".to_owned(), source: "no".into() };
        assert_eq!(ends(refused), (false, false));
    }

    #[test]
    fn money_is_known_if_every_price_is() {
        let mut spent = Spent::default();
        let usage =
            pikerag_knowledge::Usage { prompt_tokens: 1_000_000, completion_tokens: 500_000 };
        spent.add(Role::Answer, usage);
        let prices = BTreeMap::from([(Role::Answer, (2.0, 8.0))]);
        assert_eq!(spent.priced(&prices), Some(6.0));
        // Not -0.0, which would be shown as "-$0".
        let nothing = Spent::default().priced(&prices);
        assert!(nothing.is_some_and(|usd| usd == 0.0 && usd.is_sign_positive()), "{nothing:?}");
        spent.add(Role::Propose, usage);
        let unknown = Spent::default().priced(&BTreeMap::new());
        assert_eq!((spent.priced(&prices), unknown), (None, None));
    }

    #[test]
    fn gold_evidence_is_named_in_three_ways() {
        assert!(is_of("docs/a.md", "a.md"));
        assert!(is_of("docs/x.jsonl#INC-1", "x.jsonl#INC-1"));
        assert!(is_of("docs/x.jsonl#p1", "p1"));
        assert!(!is_of("docs/x.jsonl#p11", "p1"));
        assert!(!is_of("docs/ba.md", "a.md"));
    }
}
