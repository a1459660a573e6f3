//! Splits a question into a tree and solves it from the leaves to the root; each node takes the
//! surest answer (`ProbTree`: Cao et al., 2023; KAR³ §A.2).

mod tree;

use futures::future::BoxFuture;
use pikerag_knowledge::{Answer, Context, Criterion, Event, JudgedBy, Note, Question, Role};
use pikerag_prompt::{Prompt, passages, quiet_headings};
use pikerag_reason::{short_answer, transcript};
use tracing::instrument;

use self::tree::{Node, Tree, filled_in};
use pikerag_methods::certainty::{Sure, ask_surely, need_certainty};
use pikerag_methods::conclude::{conclude, conclude_as};
use pikerag_methods::retrieval::{RetrievalParams, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::verdict::is_unknown;
use pikerag_methods::{Ports, Run, SolveError};

const TREE: Prompt = Prompt::new(Role::Decompose, include_str!("prompts/probtree_tree.md"), 1024)
    .with_earlier("baselines/probtree_tree", &[include_str!("prompts/earlier/probtree_tree.1.md")]);
const CLOSED_BOOK: Prompt =
    Prompt::new(Role::Answer, include_str!("prompts/probtree_closed.md"), 1024);
const OPEN_BOOK: Prompt = CLOSED_BOOK
    .with_template(include_str!("prompts/probtree_open.md"))
    .with_earlier("baselines/probtree_open", &[include_str!("prompts/earlier/probtree_open.1.md")]);
const CHILDREN: Prompt = CLOSED_BOOK.with_template(include_str!("prompts/probtree_children.md"));

/// The size of a tree, and the retrieval of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Levels below the question; deeper ones are left out.
    pub depth: usize,
    /// Nodes in all, the question included; if the children of a node do not all fit, they are left
    /// out.
    pub nodes: usize,
    /// The retrieval of a node.
    pub retrieval: RetrievalParams,
}

impl Default for Params {
    /// 4 chunks, score ≥ 0.2 (KAR³ §A.3). The bounds are ours: the paper's trees are smaller.
    fn default() -> Self {
        Self { depth: tree::DEPTH, nodes: 8, retrieval: RetrievalParams::step() }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "probtree",
            "a question tree; each node answered from memory, from passages or from its children, whichever is surest",
            "Cao et al. 2023; KAR³ §A.2",
            |_| {},
        )],
        parameters: &[],
        roles: &[Role::Decompose, Role::Answer, Role::Grade],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 13.0,
            most_calls: 3 * params.nodes as u64 * 2 + 2,
            chunks: 9.6,
            most_chunks: (params.retrieval.chunks * params.nodes) as u64,
            most_chunk_tokens: None,
            rounds: 4,
            fixed: 900,
            reply: 50,
            basis: "KAR³ Table 10: 25225 + 650 tokens; up to three answers for each of at most 8 nodes, each graded at most once",
        },
    };
}

/// Answers `question` from a tree of simpler ones: for each node a closed-book and an open-book
/// call, and one more over the answers of its children if it has any.
///
/// Differs from the paper: the tree is read as JSON, whose token probabilities say little, so the
/// confidence of the children alone measures the decomposition; an explanation and its answer are
/// weighed together.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "probtree", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Decompose)?;
    need_certainty(ports)?;
    let asked = quiet_headings(&question.text);
    let (depth, nodes) = (params.depth.to_string(), params.nodes.to_string());
    let inputs =
        [("depth", depth.as_str()), ("nodes", nodes.as_str()), ("question", asked.as_str())];
    // A tree that cannot be read has no branches: the question is solved without them.
    let tree = run.ask::<Tree>(ports, &TREE, &inputs).await?.unwrap_or_default();
    let nodes = tree.bounded(&question.text, params.depth, params.nodes);
    for (number, node) in nodes.iter().enumerate() {
        let (after, text) = (node.children.clone(), node.question.clone());
        run.push(Event::Node { node: number, after, text });
    }
    let mut walk = Walk {
        ports,
        nodes: &nodes,
        params,
        run,
        root: question.query(),
        lookups: 0,
        context: Context::default(),
    };
    let solved = walk.solve_node(0, question.text.clone()).await?;
    let Walk { run, context, .. } = walk;
    match solved {
        Some(solved) => conclude_as(ports, context, solved.answer, solved.explanation, run).await,
        None => conclude(ports, question, context, run).await,
    }
}

/// The source of an answer; in the order of preference among equally sure ones.
#[derive(Clone, Copy, Debug)]
enum Source {
    OpenBook,
    Children,
    ClosedBook,
}

impl Source {
    fn as_str(self) -> &'static str {
        match self {
            Self::OpenBook => "open book",
            Self::Children => "children",
            Self::ClosedBook => "closed book",
        }
    }
}

/// One of up to three answers to a node.
struct Proposed {
    source: Source,
    answer: String,
    explanation: String,
    /// `log p`, at most 0.
    log: f64,
    by: JudgedBy,
}

impl Proposed {
    fn new(source: Source, reply: &Sure) -> Self {
        let explanation = reply.text.trim().to_owned();
        Self {
            source,
            answer: short_answer(&reply.text),
            explanation,
            log: reply.log(),
            by: reply.by,
        }
    }
}

struct Solved {
    question: String,
    answer: String,
    explanation: String,
    log: f64,
}

/// The walk through the tree, from the leaves to the root.
struct Walk<'a> {
    ports: &'a Ports,
    nodes: &'a [Node],
    params: Params,
    run: &'a mut Run,
    /// The query of the root: the question without an instruction on how to answer.
    root: &'a str,
    /// The number of nodes looked up so far.
    lookups: usize,
    /// All chunks that were read.
    context: Context,
}

impl Walk<'_> {
    /// Solves a node after its children; `None` if no source knows an answer.
    fn solve_node(
        &mut self,
        number: usize,
        question: String,
    ) -> BoxFuture<'_, Result<Option<Solved>, SolveError>> {
        Box::pin(async move {
            let Some(node) = self.nodes.get(number) else { return Ok(None) };
            let depth = node.depth;
            let question = self.run.asked(depth, question)?;
            let mut below: Vec<Option<Solved>> = Vec::new();
            for child in &node.children {
                let Some(next) = self.nodes.get(*child) else { continue };
                let answers: Vec<Option<&str>> =
                    below.iter().map(|solved| Some(solved.as_ref()?.answer.as_str())).collect();
                let filled = filled_in(&next.question, &answers);
                below.push(self.solve_node(*child, filled).await?);
            }
            let below: Vec<Solved> = below.into_iter().flatten().collect();
            let mut proposed = Vec::new();
            proposed.extend(self.open_book(number, &question).await?);
            proposed.extend(self.aggregate(&question, &below).await?);
            proposed.extend(self.closed_book(&question).await?);
            let Some(best) = self.most_confident(proposed) else {
                self.run.push(Event::Noted { note: Note::NotAnswered { question }.into() });
                return Ok(None);
            };
            let Proposed { answer, explanation, log, .. } = best;
            let answer = self.run.resolved(depth, &question, answer)?;
            Ok(Some(Solved { question, answer, explanation, log }))
        })
    }

    /// The answer from the passages for the question; `None` without passages.
    async fn open_book(
        &mut self,
        node: usize,
        question: &str,
    ) -> Result<Option<Proposed>, SolveError> {
        self.lookups += 1;
        let hop = self.lookups;
        let query = if node == 0 { self.root } else { question };
        let chunks = look_up(self.ports, self.run, hop, query, self.params.retrieval).await?;
        if chunks.is_empty() {
            return Ok(None);
        }
        let context = passages(&chunks);
        self.context.extend(hop, chunks);
        let asked = quiet_headings(question);
        let inputs = [("context", context.as_str()), ("question", asked.as_str())];
        let reply = ask_surely(self.ports, self.run, &OPEN_BOOK, &inputs).await?;
        Ok(reply.map(|reply| Proposed::new(Source::OpenBook, &reply)))
    }

    /// The answer that follows from the children's answers. Its confidence is the mean over its own
    /// `log p` and theirs, so it is no surer than they are.
    async fn aggregate(
        &mut self,
        question: &str,
        below: &[Solved],
    ) -> Result<Option<Proposed>, SolveError> {
        if below.is_empty() {
            return Ok(None);
        }
        let pairs: Vec<(String, String)> =
            below.iter().map(|child| (child.question.clone(), child.answer.clone())).collect();
        let (asked, follow_ups) = (quiet_headings(question), transcript(&pairs));
        let inputs = [("follow_ups", follow_ups.as_str()), ("question", asked.as_str())];
        let reply = ask_surely(self.ports, self.run, &CHILDREN, &inputs).await?;
        let Some(reply) = reply else { return Ok(None) };
        let own = Proposed::new(Source::Children, &reply);
        let sum = own.log + below.iter().map(|child| child.log).sum::<f64>();
        Ok(Some(Proposed { log: sum / (below.len() + 1) as f64, ..own }))
    }

    /// The answer from the model's knowledge.
    async fn closed_book(&mut self, question: &str) -> Result<Option<Proposed>, SolveError> {
        let asked = quiet_headings(question);
        let inputs = [("question", asked.as_str())];
        let reply = ask_surely(self.ports, self.run, &CLOSED_BOOK, &inputs).await?;
        Ok(reply.map(|reply| Proposed::new(Source::ClosedBook, &reply)))
    }

    /// The surest answer, the earlier of two equally sure ones; "unknown" is no answer, however
    /// sure.
    fn most_confident(&mut self, proposed: Vec<Proposed>) -> Option<Proposed> {
        let mut best: Option<usize> = None;
        for (place, candidate) in proposed.iter().enumerate() {
            let surest = best.and_then(|best| proposed.get(best));
            let is_surer = surest.is_none_or(|surest| surest.log < candidate.log);
            if !is_unknown(&candidate.answer) && is_surer {
                best = Some(place);
            }
        }
        for (place, candidate) in proposed.iter().enumerate() {
            self.run.push(Event::Judged {
                criterion: Criterion::Confident,
                of: format!("{}: {}", candidate.source.as_str(), candidate.answer),
                holds: best == Some(place),
                // A confidence of zero has no logarithm.
                score: candidate.log.is_finite().then_some(candidate.log),
                by: candidate.by,
            });
        }
        proposed.into_iter().nth(best?)
    }
}
