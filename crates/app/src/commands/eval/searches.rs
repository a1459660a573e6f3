//! `eval --searches`: which search finds most of the gold evidence? No answers, no chat model.

use std::collections::HashSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context, ensure};
use futures::stream::{self, StreamExt};
use pikerag_coordinate::Ports;
use pikerag_eval::datasets::Item;
use pikerag_eval::methods::named;
use pikerag_eval::recall::{DEPTH, LookedUp, lines, table};
use pikerag_retrieve::{Search, SearchParams, search};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use super::plan::{Plan, Set};
use super::the_base;
use crate::cli::Eval;
use crate::output::{Bar, note, say, say_json};
use crate::wiring::Wiring;

/// A search with the weights in its name.
struct Named {
    label: String,
    by: Search,
    params: SearchParams,
}

pub(super) async fn searches(wiring: &Wiring, arguments: &Eval, plan: &Plan) -> anyhow::Result<u8> {
    let mut wanted = Vec::new();
    for label in &arguments.searches {
        wanted.push(read(label, wiring.searches())?);
    }
    fs::create_dir_all(&plan.out).with_context(|| format!("{} is not made", plan.out.display()))?;
    let mut all = Vec::new();
    for set in &plan.sets {
        let gold = set.items.iter().filter(|item| !item.supporting.is_empty()).count();
        ensure!(0 < gold, "`{}` names no gold evidence: there is nothing to find", set.name);
        if gold < set.items.len() {
            note(&format!(
                "{}: {} of {} questions name no gold evidence and are passed over",
                set.name,
                set.items.len() - gold,
                set.items.len()
            ));
        }
        let (base, _) = the_base(wiring, arguments, plan, set).await?;
        let ports = wiring.ports(&base).await?;
        let lacking = lacking(&ports, &set.items).await?;
        if 0 < lacking {
            note(&format!(
                "{}: the base holds no gold evidence of {lacking} of {gold} questions; they count as not found",
                set.name
            ));
        }
        for search in &wanted {
            all.extend(look_up(wiring, arguments, set, &ports, search).await?);
        }
    }
    let lines = lines(&all);
    let text = table(&lines);
    fs::write(plan.out.join("searches.md"), &text)?;
    let rows: Result<Vec<String>, _> = all.iter().map(serde_json::to_string).collect();
    fs::write(plan.out.join("searches.jsonl"), rows?.join("\n"))?;
    if wiring.json {
        say_json(&lines)?;
    } else {
        say(text.trim_end());
        note(&format!("every question is in {}", plan.out.join("searches.jsonl").display()));
    }
    Ok(0)
}

/// Questions of whose gold evidence the base holds nothing.
async fn lacking(ports: &Ports, items: &[Item]) -> anyhow::Result<usize> {
    let sources = ports.base.sources().await?;
    let held: HashSet<&str> = sources
        .iter()
        .flat_map(|source| {
            [source.uri.as_str(), after_last(&source.uri, '/'), after_last(&source.uri, '#')]
        })
        .collect();
    let is_lacking = |item: &&Item| {
        let mut gold = item.supporting.iter();
        !item.supporting.is_empty() && gold.all(|gold| !held.contains(gold.as_str()))
    };
    Ok(items.iter().filter(is_lacking).count())
}

fn after_last(uri: &str, sign: char) -> &str {
    uri.rsplit(sign).next().unwrap_or(uri)
}

async fn look_up(
    wiring: &Wiring,
    arguments: &Eval,
    set: &Set,
    ports: &Ports,
    search: &Named,
) -> anyhow::Result<Vec<LookedUp>> {
    let items = set.items.iter().filter(|item| !item.supporting.is_empty());
    let calls: Vec<_> = items.map(|item| one(ports, set, search, item)).collect();
    let total = calls.len();
    let bar = Bar::new(wiring.json);
    let mut found = Vec::with_capacity(total);
    let mut results = stream::iter(calls).buffered(arguments.concurrency.max(1));
    while let Some(result) = results.next().await {
        found.extend(result?);
        bar.at(&format!("{} {}", search.label, set.name), found.len(), total);
    }
    drop(results);
    bar.end();
    Ok(found)
}

async fn one(
    ports: &Ports,
    set: &Set,
    named: &Named,
    item: &Item,
) -> anyhow::Result<Option<LookedUp>> {
    let began = Instant::now();
    let hits = search(ports.finder(), named.by, item.query(), DEPTH, named.params).await?;
    let seconds = began.elapsed().as_secs_f64();
    let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = ports.base.chunks(&ids).await?;
    let uris: Vec<String> = chunks.into_iter().map(|chunk| chunk.uri).collect();
    Ok(LookedUp::of(item, &set.name, &named.label, &uris, seconds))
}

/// A search by name, with weights: those of layers by their names, those of hops as `hops.NAME`.
fn read(label: &str, params: SearchParams) -> anyhow::Result<Named> {
    let named = named(label)?;
    let (mut layers, mut hops) = (Table::new(), Table::new());
    for (key, value) in named.overrides {
        match key.strip_prefix("hops.") {
            Some(key) => hops.insert(key.to_owned(), value),
            None => layers.insert(key, value),
        };
    }
    let wrong = || format!("`{label}` has a weight that is not known");
    Ok(Named {
        by: named.method.parse()?,
        params: SearchParams {
            hops: with(&params.hops, hops).with_context(wrong)?,
            layers: with(&params.layers, layers).with_context(wrong)?,
        },
        label: named.label,
    })
}

/// Parameters with some of them set otherwise.
fn with<T: Serialize + DeserializeOwned>(params: &T, set: Table) -> anyhow::Result<T> {
    let mut table = Table::try_from(params)?;
    table.extend(set);
    Ok(table.try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stand_in_the_name() {
        let read = |label: &str| read(label, SearchParams::default());
        let named = read("layers:spread=one-step:lambda=0.25:hops.shared=1").unwrap();
        assert_eq!((named.by, named.params.layers.lambda), (Search::Layers, 0.25));
        assert_eq!(named.params.layers.spread, pikerag_retrieve::Spread::OneStep);
        assert!((named.params.hops.shared - 1.0).abs() < f32::EPSILON);
        assert!(read("layers:lamda=0.2").is_err() && read("nothing").is_err());
    }
}
