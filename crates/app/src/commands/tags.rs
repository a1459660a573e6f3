//! `tags`: which tags are known, and what a person says of them.

use std::path::Path;

use pikerag_engine::knowledge::Origin;
use pikerag_engine::{LearnRequest, Session, TagClassRequest, TagClassesResponse};
use serde_json::json;

use crate::advice::go_on;
use crate::cli::{Tags, TagsVerb};
use crate::exit;
use crate::output::{Bar, note, say, say_json};
use crate::render::{count, paid, short};
use crate::words;

pub(crate) async fn tags(session: &Session, json: bool, arguments: &Tags) -> anyhow::Result<u8> {
    let line = match &arguments.verb {
        None => return list(json, &pikerag_engine::tag_classes(session).await?),
        Some(TagsVerb::Show { class, k }) => return show(session, json, class, k.get()).await,
        Some(TagsVerb::Pairs) => return pairs(session, json).await,
        Some(TagsVerb::Learn { file }) => return learn(session, json, file).await,
        Some(TagsVerb::AddClass { name, covers, examples }) => {
            let request = TagClassRequest {
                name: name.clone(),
                covers: covers.clone(),
                examples: examples.clone(),
            };
            pikerag_engine::add_tag_class(session, &request).await?;
            format!(
                "class {name} is declared; its tags are found by `pikerag index --with tags PATH…`"
            )
        }
        Some(TagsVerb::Rename { class, name }) => {
            pikerag_engine::rename_tag_class(session, class, name).await?;
            format!("class {class} is now {name}")
        }
        Some(TagsVerb::Drop { class, professional: None }) => {
            pikerag_engine::drop_tag_class(session, class).await?;
            format!("class {class} is dropped, with its tags")
        }
        Some(TagsVerb::Drop { class: colloquial, professional: Some(professional) }) => {
            pikerag_engine::drop_tag_pair(session, colloquial, professional).await?;
            format!("the pair {colloquial} → {professional} is dropped")
        }
        Some(TagsVerb::Pair { colloquial, professional, class }) => {
            pikerag_engine::add_tag_pair(session, colloquial, professional, class).await?;
            format!("{colloquial} → {professional} is declared")
        }
    };
    if json {
        return say_json(&json!({ "done": line }));
    }
    say(&line);
    Ok(0)
}

fn list(json: bool, response: &TagClassesResponse) -> anyhow::Result<u8> {
    if json {
        return say_json(response);
    }
    for line in &response.classes {
        let origin = line.class.origin.as_str();
        say(&format!(
            "{} ({origin}): {}, mentioned {}; {}",
            short(&line.class.name, 60),
            count(line.tags, "tag"),
            words::times(line.borne),
            short(&line.class.covers, 100)
        ));
    }
    if response.classes.is_empty() {
        note(
            "there are no tag classes; `pikerag index --with tags PATH…` finds them, `pikerag tags add-class` declares them",
        );
    }
    say(&format!("{}; see `pikerag tags pairs`", count(response.pairs, "pair")));
    Ok(0)
}

async fn show(session: &Session, json: bool, class: &str, k: usize) -> anyhow::Result<u8> {
    let response = pikerag_engine::tag_class(session, class, k).await?;
    if json {
        return say_json(&response);
    }
    for tag in response.tags {
        say(&format!("{}  {}", short(&tag.tag.text, 80), count(tag.chunks, "chunk")));
    }
    Ok(0)
}

async fn pairs(session: &Session, json: bool) -> anyhow::Result<u8> {
    let pairs = pikerag_engine::tag_pairs(session).await?;
    if json {
        return say_json(&pairs);
    }
    for pair in &pairs {
        let class =
            if pair.class.is_empty() { String::new() } else { format!(" [{}]", pair.class) };
        say(&format!(
            "{} → {}{class} ({}, {})",
            short(&pair.colloquial, 60),
            short(&pair.professional, 60),
            if pair.origin == Origin::Declared { "declared" } else { "learned" },
            count(pair.samples, "sample")
        ));
    }
    if pairs.is_empty() {
        note(
            "there are no pairs; `pikerag tags learn FILE` learns them, `pikerag tags pair` declares one",
        );
    }
    Ok(0)
}

async fn learn(session: &Session, json: bool, file: &Path) -> anyhow::Result<u8> {
    let bar = Bar::new(json);
    let watch = |progress| bar.watch(progress);
    let response = pikerag_engine::learn_tag_pairs(
        session,
        &LearnRequest { file: file.to_owned(), progress: &watch },
    )
    .await?;
    let learned = &response.learned;
    if json {
        say_json(&response)?;
    } else {
        say(&format!(
            "{} looked at: {}; {} answered by no chunk of the base, {} unreadable",
            count(learned.samples, "sample"),
            count(learned.pairs, "pair"),
            learned.unanswered,
            learned.unreadable
        ));
        for (question, reason) in &learned.failed {
            note(&format!("failed: {}: {reason}", short(question, 80)));
        }
        if let Some(line) = paid(&response.spent) {
            say(&line);
        }
        if let Some(reason) = &learned.stopped {
            note(&format!("stopped: {reason}"));
            note(go_on(learned.over_budget));
        }
    }
    Ok(match learned.stopped.is_none() && learned.failures == 0 {
        true => 0,
        false if learned.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}
