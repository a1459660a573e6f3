//! Writes the report on a community from its entities and relations, by degree and within a budget. If they
//! exceed it, the reports on its parts come first (GraphRAG §3.1.5).

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::{
    Account, ChatModel, Community, Entity, EntityId, KnowledgeBase, Relation, Report, Role, Schema,
    StoreError,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, entity_line, object, one_line, quiet_headings,
    relation_line, shape, text, texts,
};
use serde_json::json;

/// The most tokens of entities, relations and reports in the prompt of one report.
const BUDGET: u64 = 8000;
/// The most tokens of sentences used in place of a report, and the names used in place of its title.
const QUOTED: u64 = 300;
const NAMES: usize = 3;
/// Findings of a report, at most.
const FINDINGS: usize = 8;

const PROMPT: Prompt = Prompt::new(Role::Summarize, include_str!("prompts/report.md"), 2048);

/// Writes the report on a community. Costs one call, or two if the first reply cannot be read.
///
/// # Errors
/// The model fails, or, in the inner result, the base cannot be read.
pub(crate) async fn write(
    base: &dyn KnowledgeBase,
    model: &dyn ChatModel,
    community: &Community,
    parts: &[Community],
) -> Result<Result<Report, StoreError>, AskError> {
    let within = match Within::read(base, community).await {
        Ok(within) => within,
        Err(error) => return Ok(Err(error)),
    };
    let shown = within.shown(parts);
    let inputs = [
        ("reports", shown.reports.as_str()),
        ("entities", shown.entities.as_str()),
        ("relations", shown.relations.as_str()),
    ];
    let reply: RawReply = ask(model, &PROMPT, &inputs, &mut Account::default()).await?;
    Ok(Ok(Report { model: Some(model.name().to_owned()), ..reply.0 }))
}

/// The sentences used in place of a report: descriptions of the community's relations, then of its
/// entities.
pub(crate) async fn quoted(
    base: &dyn KnowledgeBase,
    community: &Community,
) -> Result<Report, StoreError> {
    let within = Within::read(base, community).await?;
    let names: Vec<&str> =
        within.entities.iter().take(NAMES).map(|entity| entity.name.as_str()).collect();
    let of_relations = within.relations.iter().map(|relation| relation.description.as_str());
    let of_entities = within.entities.iter().map(|entity| entity.description.as_str());
    let (mut seen, mut sentences, mut left) = (HashSet::new(), Vec::new(), QUOTED);
    for sentence in of_relations.chain(of_entities) {
        let tokens = estimate_tokens(sentence);
        if !sentence.is_empty() && tokens <= left && seen.insert(sentence) {
            left -= tokens;
            sentences.push(sentence);
        }
    }
    Ok(Report { title: names.join(", "), summary: sentences.join(" "), ..Report::default() })
}

/// The content of a community: entities by degree, relations by the degrees of their ends.
struct Within {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
    names: HashMap<EntityId, String>,
}

/// The sections of a prompt.
struct Shown {
    reports: String,
    entities: String,
    relations: String,
}

impl Within {
    async fn read(base: &dyn KnowledgeBase, community: &Community) -> Result<Self, StoreError> {
        let members: HashSet<EntityId> = community.members.iter().copied().collect();
        let mut entities = base.entities(&community.members).await?;
        let mut relations = base.relations_of(&community.members).await?;
        relations.retain(|relation| {
            members.contains(&relation.subject) && members.contains(&relation.object)
        });
        let mut degrees: HashMap<EntityId, usize> = HashMap::new();
        for end in relations.iter().flat_map(|relation| [relation.subject, relation.object]) {
            *degrees.entry(end).or_default() += 1;
        }
        let degree = |id: EntityId| degrees.get(&id).copied().unwrap_or_default();
        entities.sort_by_key(|entity| (std::cmp::Reverse(degree(entity.id)), entity.id));
        // The sort is stable, so heavier relations come first among equals, as the base lists them.
        relations.sort_by_key(|relation| {
            std::cmp::Reverse(degree(relation.subject) + degree(relation.object))
        });
        let names = entities.iter().map(|entity| (entity.id, entity.name.clone())).collect();
        Ok(Self { entities, relations, names })
    }

    fn shown(&self, parts: &[Community]) -> Shown {
        let mut entities: Vec<String> = self.entities.iter().map(entity_line).collect();
        let mut relations: Vec<String> =
            self.relations.iter().map(|relation| self.relation_line(relation)).collect();
        let all = tokens(&entities) + tokens(&relations);
        let mut left = BUDGET;
        let mut reports = Vec::new();
        if BUDGET < all {
            let mut parts: Vec<&Community> = parts.iter().collect();
            parts.sort_by_key(|part| (std::cmp::Reverse(part.members.len()), part.id));
            reports = parts.iter().filter_map(|part| Some(part.report.as_ref()?.text())).collect();
            keep_within(&mut reports, &mut left);
        }
        // Relations get up to two thirds of the budget because they contain more than entities.
        let share = left * 2 / 3;
        let mut for_relations = share;
        keep_within(&mut relations, &mut for_relations);
        let mut for_entities = left - (share - for_relations);
        keep_within(&mut entities, &mut for_entities);
        Shown {
            reports: or_none(&reports, "\n\n"),
            entities: or_none(&entities, "\n"),
            relations: or_none(&relations, "\n"),
        }
    }

    fn relation_line(&self, relation: &Relation) -> String {
        let name = |id| self.names.get(&id).map_or("", String::as_str);
        let (subject, object) = (name(relation.subject), name(relation.object));
        relation_line(subject, object, &relation.description)
    }
}

fn tokens(lines: &[String]) -> u64 {
    lines.iter().map(|line| estimate_tokens(line)).sum()
}

/// Keeps the first lines that fit into the budget, and subtracts their tokens from it.
fn keep_within(lines: &mut Vec<String>, left: &mut u64) {
    let mut kept = 0;
    for line in lines.iter() {
        let tokens = estimate_tokens(line);
        if *left < tokens {
            break;
        }
        *left -= tokens;
        kept += 1;
    }
    lines.truncate(kept);
}

fn or_none(lines: &[String], between: &str) -> String {
    match lines {
        [] => "(none)".to_owned(),
        lines => quiet_headings(&lines.join(between)),
    }
}

struct RawReply(Report);

impl Reply for RawReply {
    fn schema() -> Option<Schema> {
        Some(shape(
            "report",
            json!({
                "title": {"type": "string"},
                "summary": {"type": "string"},
                "rating": {"type": "number"},
                "findings": {"type": "array", "items": {"type": "string"}, "maxItems": FINDINGS}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["summary", "title"])?;
        let summary = text(&object, "summary")?;
        let rating =
            text(&object, "rating").ok().and_then(|rating| rating.trim().parse::<f64>().ok());
        let mut findings = texts(&object, "findings").unwrap_or_default();
        if let Some(serde_json::Value::Array(items)) = object.get("findings") {
            findings = items.iter().filter_map(finding).collect();
        }
        Ok(Self(Report {
            title: text(&object, "title").unwrap_or_else(|_| summary.chars().take(80).collect()),
            summary,
            rating: rating.filter(|rating| rating.is_finite()).unwrap_or(5.0).clamp(0.0, 10.0),
            findings: findings.into_iter().take(FINDINGS).collect(),
            model: None,
        }))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_raw_reply: RawReply }

/// A finding: a sentence, or a summary with its explanation as in GraphRAG.
fn finding(item: &serde_json::Value) -> Option<String> {
    match item {
        serde_json::Value::String(sentence) => Some(one_line(sentence)),
        other => {
            let part = |key| text(other, key).ok().filter(|part| !part.is_empty());
            let parts: Vec<String> =
                [part("summary"), part("explanation")].into_iter().flatten().collect();
            (!parts.is_empty()).then(|| one_line(&parts.join(": ")))
        }
    }
    .filter(|finding| !finding.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_read_in_both_forms() {
        let reply = r#"{"title": "T", "summary": "S", "rating": "11", "findings": ["one", {"summary": "two", "explanation": "why"}, 3, ""]}"#;
        let report = RawReply::read(reply).unwrap().0;
        assert!(report.title == "T" && 9.9 < report.rating);
        assert_eq!(report.findings, ["one", "two: why"]);
        let unrated = RawReply::read(r#"{"summary": "S"}"#).unwrap().0.rating;
        assert!((unrated - 5.0).abs() < 1e-9);
        assert!(RawReply::read(r#"{"title": "T"}"#).is_err());
    }
}
