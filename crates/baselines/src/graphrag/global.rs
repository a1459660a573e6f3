//! Answers from all documents together: GraphRAG's global search over community reports.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    Answer, Chunk, ChunkId, Community, Context, Criterion, EntityId, Event, JudgedBy, LinkKind,
    Question, Role, Schema, Structure, Via, Which,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    Prompt, Reply, Unreadable, ask, object, one_line, quiet_headings, shape, text,
};
use pikerag_retrieve::{Hit, hybrid};
use serde_json::json;
use tracing::instrument;

use super::{consulted, fill, plainly, within};
use pikerag_methods::candidates::chunk_candidates;
use pikerag_methods::conclude::conclude_with;
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Variant, WithoutModel};
use pikerag_methods::{Ports, Run, SolveError};

/// The scope and the budgets of the global search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// The level of the communities that are read; higher communities without parts there are read
    /// too.
    pub level: u8,
    /// Tokens of reports in one call.
    pub batch: u64,
    /// Tokens of partial answers from which the final answer is written.
    pub budget: u64,
    /// Tokens of chunks that it may cite.
    pub evidence: u64,
    /// Calls that run at a time.
    pub at_once: usize,
}

impl Default for Global {
    /// Level 2 and 8000 tokens, as in GraphRAG.
    fn default() -> Self {
        Self { level: 2, batch: 8000, budget: 8000, evidence: 2000, at_once: 8 }
    }
}

impl MethodParams for Global {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "graphrag-global",
            "a partial answer from each batch of community reports, the helpful ones combined",
            "GraphRAG",
            |_| {},
        )],
        parameters: &[],
        roles: &[Role::Answer],
        without_model: WithoutModel::Fails,
        needs: Some(Structure::Graph),
        cost: |_| Cost {
            calls: 17.0,
            most_calls: 65,
            chunks: 16.0,
            most_chunks: 48,
            most_chunk_tokens: None,
            rounds: 16,
            fixed: 900,
            reply: 250,
            basis: "a call per batch of reports, here at most 64 of them, and one to join them; indexing is not counted here",
        },
    };
}

const MAP: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/map.md"), 1024)
    .with_earlier("baselines/map", &[include_str!("../prompts/earlier/map.1.md")]);

/// Answers `question` from the reports on all communities of a level: a call for each batch of
/// reports, and one that combines the helpful partial answers.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "graphrag_global", skip_all, fields(question = %question.id))]
pub async fn global(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Global,
) -> Result<Answer, SolveError> {
    let batches =
        batches(at_level(ports.base.communities(Which::All).await?, params.level), params.batch);
    if batches.is_empty() {
        return plainly(ports, question, Structure::Graph, run).await;
    }
    let model = ports.models.need(Role::Answer)?;
    let asked = quiet_headings(question.query());
    let mut calls = Vec::with_capacity(batches.len());
    for batch in &batches {
        let texts = batch.iter().filter_map(|community| Some(community.report.as_ref()?.text()));
        let reports = quiet_headings(&texts.collect::<Vec<_>>().join("\n\n"));
        let asked = asked.as_str();
        let mut account = run.account.part();
        calls.push(async move {
            let inputs = [("reports", reports.as_str()), ("question", asked)];
            (ask::<Partial>(model, &MAP, &inputs, &mut account).await, account)
        });
    }
    let calls = stream::iter(calls).buffered(params.at_once.max(1));
    let replies: Vec<_> = calls.collect().await;
    let mut partial: Vec<(Partial, &[Community])> = Vec::new();
    for ((step, batch), (reply, account)) in batches.iter().enumerate().zip(replies) {
        run.account.merge(account);
        let Some(draft) = run.one_of_many(Role::Answer, reply)? else { continue };
        let nodes = batch.iter().map(|community| consulted(community, rating(community)));
        run.push(Event::Consulted { nodes: nodes.collect() });
        let answer = run.thought(step + 1, draft.answer)?;
        let draft = Partial { answer, ..draft };
        run.push(Event::Judged {
            criterion: Criterion::Useful,
            of: format!("partial answer {}", step + 1),
            holds: 0.0 < draft.score,
            score: Some(draft.score),
            by: JudgedBy::SelfAssessment,
        });
        if 0.0 < draft.score {
            partial.push((draft, batch));
        }
    }
    // Stable: of equals the batch with the better rating comes first.
    partial.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
    if partial.is_empty() {
        return plainly(ports, question, Structure::Graph, run).await;
    }
    let mut lines =
        vec!["What reports on parts of the documents say, the most helpful first:".to_owned()];
    let drafts = partial
        .iter()
        .map(|(draft, _)| format!("- (helpfulness {}) {}", draft.score, one_line(&draft.answer)));
    fill(&mut lines, drafts, params.budget);
    let members = partial.iter().flat_map(|(_, batch)| *batch).flat_map(|one| one.members.clone());
    let members: BTreeSet<EntityId> = members.collect();
    let mut context = Context::default();
    let chunks = evidence(ports, question.query(), &members, params.evidence).await?;
    let hits: Vec<Hit> = chunks.iter().map(|(hit, _)| hit.clone()).collect();
    let candidates = chunk_candidates(ports, &hits, Via::Graph, question.query()).await?;
    run.push(Event::Gathered { candidates });
    for (_, chunk) in chunks {
        context.add(1, chunk);
    }
    conclude_with(ports, question, context, &lines.join("\n"), run).await
}

fn rating(community: &Community) -> f64 {
    community.report.as_ref().map_or(0.0, |report| report.rating)
}

/// The communities of a level, and higher ones without parts. Only communities with a report.
fn at_level(mut communities: Vec<Community>, level: u8) -> Vec<Community> {
    let split: BTreeSet<_> = communities.iter().filter_map(|community| community.parent).collect();
    communities.retain(|community| {
        let lowest = community.level < level && !split.contains(&community.id);
        community.report.is_some() && (community.level == level || lowest)
    });
    communities.sort_by(|a, b| rating(b).total_cmp(&rating(a)).then(a.id.cmp(&b.id)));
    communities
}

/// Reports in batches that fit into one call each.
fn batches(communities: Vec<Community>, tokens: u64) -> Vec<Vec<Community>> {
    let mut batches: Vec<Vec<Community>> = Vec::new();
    let mut left = 0;
    for community in communities {
        let size = community.report.as_ref().map_or(0, |report| estimate_tokens(&report.text()));
        match batches.last_mut() {
            Some(batch) if size <= left => batch.push(community),
            _ => {
                left = tokens;
                batches.push(vec![community]);
            }
        }
        left = left.saturating_sub(size);
    }
    batches
}

/// The chunks that fit the question best among those that mention one of these entities.
async fn evidence(
    ports: &Ports,
    question: &str,
    members: &BTreeSet<EntityId>,
    budget: u64,
) -> Result<Vec<(Hit, Chunk)>, SolveError> {
    const LOOKED_AT: usize = 50;
    let hits = hybrid(ports.finder(), question, LOOKED_AT).await?;
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
    let held = ports.base.links_of(&ids, LinkKind::Entities).await?;
    let mut ranked = Vec::new();
    for (hit, links) in hits.iter().zip(held) {
        if links.entities.iter().any(|entity| members.contains(entity)) {
            ranked.push((hit.chunk, hit.score));
        }
    }
    within(ports, ranked, "hybrid", budget).await
}

/// A partial answer, and how helpful it is, from 0 to 100.
struct Partial {
    answer: String,
    score: f64,
}

impl Reply for Partial {
    fn schema() -> Option<Schema> {
        Some(shape(
            "partial_answer",
            json!({"answer": {"type": "string"}, "score": {"type": "integer"}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["score", "answer"])?;
        let score = text(&object, "score")?;
        let digits: String =
            score.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let score = digits
            .parse::<f64>()
            .map_err(|_| Unreadable::key("score", "an integer from 0 to 100"))?;
        let answer = text(&object, "answer").unwrap_or_default();
        let score = if answer.is_empty() { 0.0 } else { score.clamp(0.0, 100.0) };
        Ok(Self { answer, score })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_partial: Partial }

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CommunityId, Report};

    use super::*;

    fn community(id: u64, level: u8, parent: Option<u64>, rating: f64) -> Community {
        let report = Some(Report { summary: "word ".repeat(40), rating, ..Report::default() });
        let parent = parent.map(CommunityId);
        Community { id: CommunityId(id), level, parent, members: Vec::new(), report }
    }

    #[test]
    fn a_level_includes_undivided_communities_above_it() {
        let all = vec![
            community(1, 0, None, 5.0),
            community(2, 0, None, 7.0),
            community(3, 1, Some(1), 5.0),
            community(4, 1, Some(1), 6.0),
            Community { report: None, ..community(5, 1, Some(1), 6.0) },
        ];
        let ids = |level| -> Vec<u64> {
            at_level(all.clone(), level).iter().map(|community| community.id.0).collect()
        };
        assert_eq!(ids(0), [2, 1]);
        assert_eq!(ids(1), [2, 4, 3]);
        assert_eq!(ids(9), [2, 4, 3]);
        let sizes = |tokens| -> Vec<usize> {
            batches(at_level(all.clone(), 1), tokens).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(1000), [3]);
        assert_eq!(sizes(110), [2, 1]);
        assert_eq!(sizes(1), [1, 1, 1]);
    }

    #[test]
    fn scores_are_read_in_many_forms() {
        let score = |reply| Partial::read(reply).map(|partial| partial.score);
        assert_eq!(score(r#"{"answer": "x", "score": "85/100"}"#), Ok(85.0));
        assert_eq!(score(r#"{"answer": "x", "score": 185}"#), Ok(100.0));
        assert_eq!(score(r#"{"answer": "", "score": 85}"#), Ok(0.0));
        assert!(score(r#"{"answer": "x"}"#).is_err());
        assert!(score(r#"{"answer": "x", "score": "high"}"#).is_err());
    }
}
