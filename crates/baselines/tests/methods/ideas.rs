//! Tests the agents of `pike`: their questions to the levels below, their rounds of critique, and their budget.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use pikerag_baselines::{Method, answer};
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_knowledge::worked::{Idea, IdeaScores};
use pikerag_knowledge::{
    Change, ChatModel, ChatReply, ChatRequest, Check, Event, ForkPoint, ModelError, Note, Question,
    Role, Statement, TaskClass,
};
use pikerag_methods::pike::Params;
use pikerag_methods::{
    Perspective, Portion, Ports, Retrace, RunParams, Shares, SolveError, adaptive,
};
use serde_json::{Value, json};

use super::fixture::{section, trace_of};
use super::pike::{ports, shelf_with};
use crate::common::{Answered, solve};

const NIGHT: &str = "How could we keep the crane from stopping at night?";
const COUNTED: &str = "How many repairs did crane 40-117 have?";
const CHAIN: &str = "How long does the lining that the hoist Varn uses last?";
const HOIST: (&str, &str) =
    ("hoist.md", "# Hoist Varn\n\nThe hoist Varn uses the Halden H4 lining.\n");

/// The perspective that a prompt names.
fn who(shown: &str) -> Option<&str> {
    let (_, rest) = shown.split_once("from one perspective: ")?;
    Some(rest.split_once('.')?.0)
}

/// A model that answers by the kind of prompt; `reply` answers first where it gives something.
fn model(reply: impl Fn(&str) -> Option<Value> + Send + Sync + 'static) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::by(move |request: &ChatRequest| {
        let shown = prompt(request).unwrap();
        if let Some(reply) = reply(shown) {
            return Ok(reply.to_string());
        }
        let who = who(shown).unwrap_or_default();
        let usual = match request.role {
            Role::Reason if shown.contains("{\"questions\":") => json!({"questions": []}),
            Role::Reason if shown.contains("{\"ideas\": [{\"title\": \"a few words\", \"idea\": \"two or three sentences\", \"from\"") => {
                json!({"ideas": [], "why": "", "answer": "See the ideas."})
            }
            Role::Reason if shown.contains("{\"revisions\":") => json!({"revisions": []}),
            Role::Reason => json!({"ideas": [{
                "title": format!("{who} idea"), "idea": format!("{who} {who}s what {who} has."),
                "evidence": [{"passage": 1, "quote": "The brake discs are wet at night."}]
            }]}),
            Role::Grade => json!({"judgements": [
                {"idea": 1, "fit": 4, "feasibility": 4, "novelty": 2, "against": ""}
            ]}),
            Role::Look => look(shown),
            Role::Classify => json!({"reason": "it asks for something new", "class": "creative"}),
            _ => json!({"sql": ""}),
        };
        Ok(usual.to_string())
    }))
}

/// Reads two passages in two rounds: the lining of the hoist, then the hours of the lining.
fn look(shown: &str) -> Value {
    let passage = |words: &str| {
        let context = section(shown, "# Context");
        let blocks = context.split("\n\n[").position(|block| block.contains(words));
        blocks.map(|at| at + 1)
    };
    let lining = json!({"passage": passage("uses the Halden"), "fact": "The hoist Varn uses the Halden H4 lining."});
    match passage("lasts 1,900 hours") {
        Some(number) => json!({
            "thinking": "the lining of the hoist lasts 1,900 hours", "sufficient": true, "missing": [],
            "facts": [lining, {"passage": number, "fact": "It lasts 1,900 hours."}], "answer": "1,900 hours"
        }),
        None => json!({
            "thinking": "it uses the Halden H4 lining", "sufficient": false,
            "missing": ["How long does the Halden H4 lining last?"], "facts": [lining], "answer": "some hours"
        }),
    }
}

fn creative() -> Params {
    let reading = adaptive::Params { chunks: 1, found: 1, ..adaptive::Params::default() };
    let agents = NonZeroUsize::new(2).unwrap();
    Params { agents, reading, class: Some(TaskClass::Creative), ..Params::default() }
}

async fn with_agents(chat: &Arc<ScriptedChat>) -> (crate::common::Shelf, Ports) {
    let shelf = shelf_with(&[HOIST]).await;
    let mut ports = ports(&shelf, Some(Arc::clone(chat)));
    let seen_by = |name: &str| Perspective {
        name: name.to_owned(),
        about: format!("the {name} of the crane"),
        model: None,
    };
    ports.models.perspectives = vec![seen_by("cost"), seen_by("safety")].into();
    (shelf, ports)
}

async fn ask(chat: &Arc<ScriptedChat>, params: Params) -> Answered {
    let (_shelf, ports) = with_agents(chat).await;
    solve(&ports, &Question::new("q", NIGHT), Method::Pike(params)).await.unwrap()
}

fn ideas(answered: &Answered) -> &[Idea] {
    &answered.answer.worked.as_ref().unwrap().ideas
}

fn titles(answered: &Answered) -> Vec<&str> {
    ideas(answered).iter().map(|idea| idea.title.as_str()).collect()
}

/// One agent asks for a total, the other for a fact two documents away; their ideas rest on the answers.
fn asking() -> Arc<ScriptedChat> {
    model(|shown| {
        let who = who(shown)?;
        if shown.contains("{\"questions\":") {
            return Some(json!({"questions": [if who == "cost" { COUNTED } else { CHAIN }]}));
        }
        let is_thought = shown.contains("\"findings\": [1],") && shown.contains("\"idea\": \"two");
        is_thought.then(|| {
            json!({"ideas": [{
                "title": format!("{who} idea"), "idea": match who {
                    "cost" => "Move crane 40-117 to lighter work.",
                    _ => "Store a second lining beside the hoist.",
                },
                "evidence": [], "findings": [1, "1", 7]
            }]})
        })
    })
}

/// A total comes from a query, a chain from reading in rounds; the ideas carry the citations of both.
#[tokio::test]
async fn agents_compute_a_figure_and_read_a_chain_on_the_way() {
    let chat = asking();
    let answered = ask(&chat, creative()).await;
    insta::assert_snapshot!(trace_of(&answered), @r"
    pike (own parameters): How could we keep the crane from stopping at night?
    class: creative by Asker: the caller set the class
    plan 1 (the caller set the class): choose perspectives; let one agent per perspective search and think, all at once; let the agents judge each other's ideas; merge the ideas, with their evidence and their gaps
    note: Perspectives: cost · safety.
    asks at 1: How could we keep the crane from stopping at night? cost the cost of the crane
    gathers: Night stops | repairs | Hoist Varn | Halden H4 | Corvane C2
    asks at 2: How many repairs did crane 40-117 have?
    class: quantitative by Rules: the question asks for a figure; the answer must be computed from 5 things in `repair`
    plan 1 (the question asks for a figure; the answer must be computed from 5 things in `repair`): gather all records of `repair`, one thing per key; compute the figure with the query engine; cite each record behind it
    records: repair (declared: true), 5 of 1
    works out over 3: 3
    answer: 3
    answers at 2: How many repairs did crane 40-117 have? -> 3
    thinks 1: cost: cost idea
    asks at 1: How could we keep the crane from stopping at night? safety the safety of the crane
    gathers: Night stops | repairs | Hoist Varn | Halden H4 | Corvane C2
    asks at 2: How long does the lining that the hoist Varn uses last?
    class: bridging by Rules: the question names one thing by its relation to another; the best passage contains 67 % of the question's words
    plan 1 (the question names one thing by its relation to another; the best passage contains 67 % of the question's words): find the passages that match best; read them, search for missing facts, read again
    gathers: Hoist Varn
    look 1 reads: [1] The hoist Varn uses the Halden H4 lining. -> some hours
    Sufficient false by Verdict: How long does the lining that the hoist Varn uses last?
    hop 1 proposes: How long does the Halden H4 lining last?
    hop 1 finds:
      Chunks: Halden H4: # Halden H4 The Halden H4 lining costs 310 crowns. It lasts 1,900 hours. -> Halden H4
    look 2 reads: [1] The hoist Varn uses the Halden H4 lining. | [2] It lasts 1,900 hours. -> 1,900 hours
    Sufficient true by Verdict: How long does the lining that the hoist Varn uses last?
    answer: 1,900 hours
    answers at 2: How long does the lining that the hoist Varn uses last? -> 1,900 hours
    thinks 1: safety: safety idea
    note: Critique 1: cost idea (fit 4, feasibility 4, novelty 2) > safety idea (fit 4, feasibility 4, novelty 2).
    answer: See the ideas.
    cites repairs.csv: order: R-1; day: 2024-01-03; crane: 40-117; fault: brake wear; downtime: 12.5 h
    cites repairs.csv: order: R-3; day: 2024-02-20; crane: 40-117; fault: brake wear; downtime: 90 min
    cites repairs.csv: order: R-5; day: 2024-04-09; crane: 40-117; fault: cable; downtime: 5 h
    cites hoist.md: The hoist Varn uses the Halden H4 lining.
    cites halden.md: It lasts 1,900 hours.
    calls: 1 decompose | 5 reason | 2 grade | 2 look
    ");
    let quotes = |idea: &Idea| -> Vec<&str> {
        let cited = answered.citations.iter().filter(|one| idea.citations.contains(&one.number));
        cited.map(|citation| citation.quote.as_str()).collect()
    };
    let [cost, safety] = ideas(&answered) else { panic!("{:?}", ideas(&answered)) };
    let found =
        |idea: &Idea| idea.findings.iter().map(|one| one.answer.clone()).collect::<Vec<_>>();
    assert_eq!(found(safety), ["1,900 hours"]);
    assert!(found(cost)[0].starts_with('3'), "{:?}", found(cost));
    assert_eq!(quotes(cost).len(), 3, "{:?}", quotes(cost));
    assert!(quotes(cost).iter().all(|row| row.contains("40-117")), "{:?}", quotes(cost));
    assert_eq!(
        quotes(safety),
        ["The hoist Varn uses the Halden H4 lining.", "It lasts 1,900 hours."]
    );
    assert!(answered.citations.iter().all(|citation| citation.check == Check::Verified));
    assert!(answered.citations.iter().all(|citation| answered.context.holds(citation.chunk)));
}

/// All agents see the tables with their numbers of rows; the passages, tables and findings keep to the agent's tokens.
#[tokio::test]
async fn agents_see_tables_and_critics_see_the_evidence_of_ideas() {
    let chat = asking();
    ask(&chat, creative()).await;
    let prompts = chat.prompts();
    let asked = prompts.iter().find(|shown| shown.contains("{\"questions\":")).unwrap();
    assert!(
        section(asked, "# Tables").contains("(5 rows): order, day, crane, fault, downtime"),
        "{asked}"
    );
    let judged = prompts.iter().filter(|shown| shown.contains("\"judgements\""));
    let judged: Vec<String> = judged.map(|shown| section(shown, "# Evidence")).collect();
    assert!(judged.iter().any(|shown| shown.contains(&format!("{COUNTED} → 3"))), "{judged:?}");
    assert!(judged.iter().any(|shown| shown.contains("→ 1,900 hours")), "{judged:?}");
    let plain = model(|_| None);
    ask(&plain, creative()).await;
    let prompts = plain.prompts();
    let judged = prompts.iter().find(|shown| shown.contains("\"judgements\"")).unwrap();
    assert!(section(judged, "# Ideas").contains("[rests on 1]"), "{judged}");
    assert!(
        section(judged, "# Evidence").contains("The brake discs are wet at night."),
        "{judged}"
    );
}

/// An agent gets no ideas of further agents: a creative question of its own is read.
#[tokio::test]
async fn creative_questions_of_agents_are_read() {
    let chat = model(|shown| {
        shown
            .contains("{\"questions\":")
            .then(|| json!({"questions": ["How could we make the brake discs safer?"]}))
    });
    let answered = ask(&chat, creative()).await;
    let trace = trace_of(&answered);
    assert!(trace.contains("class: bridging"), "{trace}");
    assert!(trace.contains("an agent asks, so the documents are read"), "{trace}");
    assert_eq!(trace.matches("class: creative").count(), 1, "{trace}");
}

/// The critics of the first round prefer the idea on cost; the idea on safety is then revised after their objection.
fn revising(revisions: fn(&str) -> Value) -> Arc<ScriptedChat> {
    model(move |shown| {
        let who = who(shown)?;
        if shown.contains("{\"revisions\":") {
            return Some(revisions(who));
        }
        let is_revised = shown.contains("spare power of the heating");
        (shown.contains("\"judgements\"")).then(|| match (who, is_revised) {
            ("cost", true) => json!({"judgements": [
                {"idea": 1, "fit": 5, "feasibility": "5", "novelty": 2, "against": ""}
            ]}),
            ("cost", false) => json!({"judgements": [
                {"idea": 1, "fit": 4, "feasibility": 1, "novelty": 5, "against": "It needs power."}
            ]}),
            _ => json!({"judgements": [
                {"idea": 1, "fit": 4, "feasibility": 4, "novelty": 1, "against": "It saves little."}
            ]}),
        })
    })
}

fn change(who: &str) -> Value {
    match who {
        "safety" => json!({"revisions": [{
            "idea": 1, "action": "change", "title": "warm discs",
            "text": "Warm the discs with the spare power of the heating.",
            "evidence": [{"passage": 1, "quote": "The cabin heating has spare power."}]
        }]}),
        _ => json!({"revisions": [{"idea": 1, "action": "keep"}]}),
    }
}

/// A further round revises the ideas after the objections and judges them again, so that the ranking changes.
#[tokio::test]
async fn a_second_round_of_critique_changes_the_ranking() {
    let once = ask(&revising(change), creative()).await;
    assert_eq!(titles(&once), ["cost idea", "safety idea"]);
    let chat = revising(change);
    let twice = ask(&chat, Params { critiques: 2, ..creative() }).await;
    assert_eq!(titles(&twice), ["warm discs", "cost idea"]);
    let [warm, cost] = ideas(&twice) else { panic!("{:?}", ideas(&twice)) };
    assert_eq!(warm.scores, Some(IdeaScores { fit: 5.0, feasibility: 5.0, novelty: 2.0 }));
    assert_eq!(
        (warm.dissent.len(), cost.dissent.as_slice()),
        (0, &["safety: It saves little.".to_owned()][..])
    );
    insta::assert_snapshot!(trace_of(&twice), @r"
    pike (own parameters): How could we keep the crane from stopping at night?
    class: creative by Asker: the caller set the class
    plan 1 (the caller set the class): choose perspectives; let one agent per perspective search and think, all at once; let the agents judge each other's ideas; merge the ideas, with their evidence and their gaps
    note: Perspectives: cost · safety.
    asks at 1: How could we keep the crane from stopping at night? cost the cost of the crane
    gathers: Night stops | repairs | Hoist Varn | Halden H4 | Corvane C2
    thinks 1: cost: cost idea
    asks at 1: How could we keep the crane from stopping at night? safety the safety of the crane
    gathers: Night stops | repairs | Hoist Varn | Halden H4 | Corvane C2
    thinks 1: safety: safety idea
    note: Critique 1: cost idea (fit 4, feasibility 4, novelty 1) > safety idea (fit 4, feasibility 1, novelty 5).
    note: The agent “safety” answers objections: it changes safety idea.
    note: Critique 2: warm discs (fit 5, feasibility 5, novelty 2) > cost idea (fit 4, feasibility 4, novelty 1).
    answer: See the ideas.
    cites night.md: The cabin heating has spare power.
    cites night.md: The brake discs are wet at night.
    calls: 7 reason | 3 grade
    ");
    // The idea on cost is as it was, so its critic is not asked again.
    let judged = chat.requests().iter().filter(|request| request.role == Role::Grade).count();
    assert_eq!(judged, 3);
    // The agent revises beside the objection and its own passages.
    let prompts = chat.prompts();
    let revised = prompts
        .iter()
        .find(|shown| shown.contains("{\"revisions\":") && who(shown) == Some("safety"));
    let shown = section(revised.unwrap(), "# Your ideas");
    assert!(
        shown.contains("[fit 4, feasibility 1, novelty 5]\n   - against it: It needs power."),
        "{shown}"
    );
}

/// The coordinator sees all three scores, and the critics' objections.
#[tokio::test]
async fn the_coordinator_sees_three_scores_and_objections() {
    let chat = revising(change);
    ask(&chat, creative()).await;
    let prompts = chat.prompts();
    let shown = prompts.iter().find(|shown| shown.contains("\"from\": [1, 4]")).unwrap();
    let judged = "[judged fit 4; feasibility 1; novelty 5]\n   - against it: It needs power.";
    assert!(section(shown, "# Ideas").contains(judged), "{shown}");
}

/// An agent may drop an idea or defend it; the critic sees the defence.
#[tokio::test]
async fn ideas_are_dropped_and_defended() {
    let chat = revising(|who| match who {
        "safety" => json!({"revisions": [{"idea": 1, "action": "drop"}]}),
        _ => {
            json!({"revisions": [{"idea": 1, "action": "defend", "defence": "It saves a shift."}]})
        }
    });
    let answered = ask(&chat, Params { critiques: 2, ..creative() }).await;
    assert_eq!(titles(&answered), ["cost idea"]);
    let prompts = chat.prompts();
    let judged = prompts.iter().rev().find(|shown| shown.contains("\"judgements\"")).unwrap();
    assert!(judged.contains("[its author replies: It saves a shift.]"), "{judged}");
    // The last ideas are kept, even if all agents drop theirs.
    let chat = revising(|_| json!({"revisions": [{"idea": 1, "action": "drop"}]}));
    let answered = ask(&chat, Params { critiques: 2, ..creative() }).await;
    assert_eq!(ideas(&answered).len(), 2);
}

/// A further round without a revision would give the same judgements, so it is left out.
#[tokio::test]
async fn rounds_end_where_no_idea_is_revised() {
    let chat = revising(|_| json!({"revisions": []}));
    let answered = ask(&chat, Params { critiques: 3, ..creative() }).await;
    let skipped =
        |event: &&Event| **event == Event::Noted { note: Note::NothingRevised { round: 2 }.into() };
    assert_eq!(answered.events.iter().filter(skipped).count(), 1);
    let judged = chat.requests().iter().filter(|request| request.role == Role::Grade).count();
    assert_eq!(judged, 2);
}

/// Divides a number of calls among agents.
struct Calls {
    left: usize,
    made: Arc<AtomicUsize>,
}

/// A model with a limit of calls, which all models of its portion share.
struct Limited {
    inner: Arc<dyn ChatModel>,
    left: Arc<AtomicUsize>,
    made: Arc<AtomicUsize>,
}

impl Shares for Calls {
    fn part(&self, parts: usize) -> Portion {
        let left = Arc::new(AtomicUsize::new(self.left / parts));
        let made = Arc::clone(&self.made);
        Box::new(move |inner| {
            Arc::new(Limited { inner, left: Arc::clone(&left), made: Arc::clone(&made) })
        })
    }
}

#[async_trait]
impl ChatModel for Limited {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let spent =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if spent.is_err() {
            return Err(ModelError::OverBudget { cap: "few".to_owned(), spent: "all".to_owned() });
        }
        self.made.fetch_add(1, Ordering::SeqCst);
        self.inner.complete(request).await
    }
}

/// The calls of an agent's questions come out of half of its share, so that it can still think and judge.
#[tokio::test]
async fn questions_are_paid_out_of_half_of_an_agents_share() {
    let ends = async |left: usize| {
        let chat = asking();
        let (_shelf, mut ports) = with_agents(&chat).await;
        let made = Arc::default();
        ports.models.shares = Some(Arc::new(Calls { left, made: Arc::clone(&made) }));
        let params = creative();
        let answered =
            solve(&ports, &Question::new("q", NIGHT), Method::Pike(params)).await.unwrap();
        let noted = |fits: fn(&Note) -> bool| {
            let fits = |event: &&Event| matches!(event, Event::Noted { note: Statement::Fact(note) } if fits(note));
            answered.events.iter().filter(fits).count()
        };
        let skipped = noted(|note| matches!(note, Note::QuestionsSkipped { .. }));
        let unanswered = noted(|note| matches!(note, Note::NotAnswered { .. }));
        let failed = noted(|note| matches!(note, Note::AgentFailed { .. }));
        // The coordinator is paid out of the rest.
        assert!(chat.requests().len() <= left, "{left}");
        format!(
            "{left} calls: {} ideas, {skipped} ask nothing, {unanswered} unanswered, {failed} failed",
            ideas(&answered).len()
        )
    };
    let mut shown = Vec::new();
    for left in [30, 12, 6, 3] {
        shown.push(ends(left).await);
    }
    insta::assert_snapshot!(shown.join("\n"), @r"
    30 calls: 2 ideas, 0 ask nothing, 0 unanswered, 0 failed
    12 calls: 2 ideas, 0 ask nothing, 1 unanswered, 0 failed
    6 calls: 2 ideas, 0 ask nothing, 1 unanswered, 2 failed
    3 calls: 2 ideas, 2 ask nothing, 0 unanswered, 2 failed
    ");
}

/// A run with questions and two rounds is repeated event by event, and forks at its class.
#[tokio::test]
async fn runs_of_agents_are_repeated_and_forked() {
    let chat = asking();
    let (_shelf, ports) = with_agents(&chat).await;
    let question = Question::new("q", NIGHT);
    let method = Method::Pike(Params { critiques: 2, ..creative() });
    let first = answer(&ports, &question, method, RunParams::default(), pending()).await;
    let whole = Retrace::whole(&first.record, &first.events);
    let params = RunParams { retrace: Some(whole), ..RunParams::default() };
    let again = answer(&ports, &question, method, params, pending()).await;
    assert_eq!(again.result.unwrap(), first.result.unwrap());
    assert_eq!(again.events, first.events);
    let is_class = |event: &&pikerag_knowledge::RunEvent| {
        event.decision && matches!(event.event, Event::Classified { .. })
    };
    let seq = first.events.iter().find(is_class).unwrap().seq;
    let change = Change::Text("summarizing".to_owned());
    let point = ForkPoint { run: first.record.id.clone(), seq, change };
    let fork = Retrace::up_to(&first.record, &first.events, point);
    let params = RunParams { retrace: Some(fork), ..RunParams::default() };
    let forked = answer(&ports, &question, method, params, pending()).await;
    assert!(!matches!(forked.result, Err(SolveError::Diverged { .. })), "{:?}", forked.result);
}
