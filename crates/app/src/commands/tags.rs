//! `tags`: which tags are known, and what a person says of them.

use anyhow::{Context, ensure};
use pikerag_coordinate::ingest::{Sample, keyed_pair, learn};
use pikerag_extract::tag_key;
use pikerag_knowledge::{NameKey, Origin, Role, TagClass, TagExample, TagReader, TagWriter};
use pikerag_store::Base;
use serde_json::json;

use crate::cli::{Tags, TagsVerb};
use crate::exit;
use crate::output::{Bar, note, say, say_json};
use crate::render::{count, short};
use crate::wiring::Wiring;
use crate::words;

pub(crate) async fn tags(wiring: &Wiring, arguments: &Tags) -> anyhow::Result<u8> {
    // Classes may be declared before the first document is there.
    let base = match &arguments.verb {
        Some(TagsVerb::AddClass { .. } | TagsVerb::Pair { .. }) => wiring.base_or_create()?,
        _ => wiring.base()?,
    };
    match &arguments.verb {
        None => list(wiring, &base).await,
        Some(TagsVerb::Show { class, k }) => show(wiring, &base, class, *k).await,
        Some(TagsVerb::Pairs) => pairs(wiring, &base).await,
        Some(TagsVerb::AddClass { name, covers, examples }) => {
            let key = key_of(name)?;
            let examples = examples.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
            let examples = examples.map(|text| TagExample { text: text.to_owned(), chunk: None });
            let class =
                TagClass::new(name.trim(), covers.trim(), examples.collect(), Origin::Declared);
            base.put_tag_classes(vec![(key, class)]).await?;
            done(
                wiring,
                &format!(
                    "class {name} is declared; its tags are found by `pikerag index --with tags PATH…`"
                ),
            )
        }
        Some(TagsVerb::Rename { class, name }) => {
            let key = key_of(name)?;
            let classes = base.tag_classes().await?;
            let taken = key_of(class)? != key
                && classes.iter().any(|held| tag_key(&held.name) == Some(key));
            ensure!(!taken, "there is a class `{name}` already; drop it first");
            ensure!(
                base.rename_tag_class(key_of(class)?, key, name.trim()).await?,
                "there is no class `{class}`; `pikerag tags` lists them"
            );
            done(wiring, &format!("class {class} is now {name}"))
        }
        Some(TagsVerb::Drop { class, professional: None }) => {
            ensure!(
                base.drop_tag_class(key_of(class)?).await?,
                "there is no class `{class}`; `pikerag tags` lists them"
            );
            done(wiring, &format!("class {class} is dropped, with its tags"))
        }
        Some(TagsVerb::Drop { class: colloquial, professional: Some(professional) }) => {
            ensure!(
                base.drop_tag_pair(key_of(colloquial)?, key_of(professional)?).await?,
                "there is no such pair; `pikerag tags pairs` lists them"
            );
            done(wiring, &format!("the pair {colloquial} → {professional} is dropped"))
        }
        Some(TagsVerb::Pair { colloquial, professional, class }) => {
            let pair = keyed_pair(
                colloquial.trim(),
                professional.trim(),
                class.trim(),
                Origin::Declared,
                None,
            );
            let pair = pair.context("both sides of a pair need a word")?;
            base.put_tag_pairs(vec![pair]).await?;
            done(wiring, &format!("{colloquial} → {professional} is declared"))
        }
        Some(TagsVerb::Learn { file }) => learn_from(wiring, &base, file).await,
    }
}

fn key_of(name: &str) -> anyhow::Result<NameKey> {
    tag_key(name).with_context(|| format!("`{name}` holds no word"))
}

fn done(wiring: &Wiring, line: &str) -> anyhow::Result<u8> {
    if wiring.json {
        say_json(&json!({ "done": line }))?;
    } else {
        say(line);
    }
    Ok(0)
}

async fn list(wiring: &Wiring, base: &Base) -> anyhow::Result<u8> {
    let mut rows = Vec::new();
    for class in base.tag_classes().await? {
        let tags = base.tags_in(class.id, usize::MAX).await?;
        rows.push((class, tags.len(), tags.iter().map(|count| count.chunks).sum::<usize>()));
    }
    if wiring.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(class, tags, borne)| json!({ "class": class, "tags": tags, "borne": borne }))
            .collect();
        say_json(&json!({ "classes": rows, "pairs": base.tag_pairs().await?.len() }))?;
        return Ok(0);
    }
    for (class, tags, borne) in &rows {
        let origin = class.origin.as_str();
        say(&format!(
            "{} ({origin}): {}, mentioned {}; {}",
            short(&class.name, 60),
            count(*tags, "tag"),
            words::times(*borne),
            short(&class.covers, 100)
        ));
    }
    if rows.is_empty() {
        note(
            "there are no tag classes; `pikerag index --with tags PATH…` finds them, `pikerag tags add-class` declares them",
        );
    }
    say(&format!("{}; see `pikerag tags pairs`", count(base.tag_pairs().await?.len(), "pair")));
    Ok(0)
}

async fn show(wiring: &Wiring, base: &Base, class: &str, k: usize) -> anyhow::Result<u8> {
    let key = key_of(class)?;
    let classes = base.tag_classes().await?;
    let held = classes.iter().find(|held| tag_key(&held.name) == Some(key));
    let held =
        held.with_context(|| format!("there is no class `{class}`; `pikerag tags` lists them"))?;
    let tags = base.tags_in(held.id, k).await?;
    if wiring.json {
        say_json(&json!({ "class": held, "tags": tags }))?;
        return Ok(0);
    }
    for tag in tags {
        say(&format!("{}  {}", short(&tag.tag.text, 80), count(tag.chunks, "chunk")));
    }
    Ok(0)
}

async fn pairs(wiring: &Wiring, base: &Base) -> anyhow::Result<u8> {
    let pairs = base.tag_pairs().await?;
    if wiring.json {
        say_json(&pairs)?;
        return Ok(0);
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

async fn learn_from(wiring: &Wiring, base: &Base, file: &std::path::Path) -> anyhow::Result<u8> {
    ensure!(wiring.has_chat(Role::Tag), "learning pairs needs a chat model; see `pikerag doctor`");
    ensure!(
        !base.tag_classes().await?.is_empty(),
        "there are no tag classes yet; run `pikerag index --with tags PATH…` first"
    );
    let items = pikerag_eval::datasets::read(file, None)?.items;
    let samples: Vec<Sample> = items
        .into_iter()
        .map(|item| Sample {
            question: item.question,
            answers: item.answers,
            supporting: item.supporting,
        })
        .collect();
    let tools = wiring.tools(base)?;
    let bar = Bar::new(wiring.json);
    let in_flight = wiring.ingest_params().in_flight;
    let learned = learn(&tools, samples, in_flight, &|progress| bar.watch(&progress)).await?;
    bar.end();
    if wiring.json {
        say_json(&json!({ "learned": learned, "spent": wiring.spent_json() }))?;
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
        if let Some(line) = wiring.spent_line() {
            say(&line);
        }
        if let Some(reason) = &learned.stopped {
            note(&format!("stopped: {reason}"));
            note("run the same command again to go on; what is done is not paid twice");
        }
    }
    Ok(match learned.stopped.is_none() && learned.failures == 0 {
        true => 0,
        false if learned.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}
