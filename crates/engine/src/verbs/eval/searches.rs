//! Measures how much of the gold evidence each search finds (`eval --searches`), without answers or
//! a chat model.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use futures::stream::{self, StreamExt};
use pikerag_eval::datasets::Item;
use pikerag_eval::methods::named;
use pikerag_eval::recall::{DEPTH, Line, LookedUp, lines, table};
use pikerag_knowledge::{Filter, Which};
use pikerag_methods::Ports;
use pikerag_narrate::Language;
use pikerag_retrieve::{Search, SearchParams, search};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use toml::Table;

use super::plan::{Set, plan};
use super::{EvalRequest, keep, make_folder};
use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Needed, Result};
use crate::notice::Notice;
use crate::verbs::eval::corpus::base_of;
use crate::verbs::eval::ports_for_measuring;
use crate::verbs::progress::Progress;

/// A search with the weights in its name.
struct Named {
    label: String,
    by: Search,
    params: SearchParams,
    /// Whether its hits are reranked.
    is_reranked: bool,
}

/// The suffix of a search whose hits are reranked.
const RERANKED: &str = "+rerank";

/// The results of the searches.
#[derive(Clone, Debug)]
pub struct SearchesResponse {
    /// A line for each data set and search.
    pub lines: Vec<Line>,
    /// The file with a row for every question.
    pub rows: PathBuf,
}

/// Compares searches by the share of the gold evidence that is among the first chunks.
///
/// # Errors
/// Nothing can be compared: a search is unknown, or a data set names no evidence.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{EvalRequest, Result, Session};
/// # async fn f(session: &Session, request: &EvalRequest<'_>) -> Result<()> {
/// use pikerag_engine::eval_searches;
/// use pikerag_engine::narrate::Language;
/// use pikerag_engine::parts::recall_table;
///
/// let searches = vec!["auto".to_owned(), "hybrid".to_owned(), "hops".to_owned()];
/// let request = EvalRequest { searches, ..request.clone() };
/// let response = eval_searches(session, &request).await?;
/// println!("{}", recall_table(&response.lines, Language::English));
/// # Ok(())
/// # }
/// ```
pub async fn eval_searches(
    session: &Session,
    request: &EvalRequest<'_>,
) -> Result<SearchesResponse> {
    Box::pin(session.unless_cancelled(compare_searches(session, request))).await
}

async fn compare_searches(
    session: &Session,
    request: &EvalRequest<'_>,
) -> Result<SearchesResponse> {
    let plan = plan(request)?;
    let mut wanted = Vec::new();
    for label in &request.searches {
        wanted.push(read(label, session.settings().searches())?);
    }
    make_folder(&plan.out)?;
    let mut all = Vec::new();
    for set in &plan.sets {
        let (data_set, of) = (set.name.clone(), set.items.len());
        let gold = set.items.iter().filter(|item| !item.supporting.is_empty()).count();
        if gold == 0 {
            return Err(EngineError::NoEvidence { data_set });
        }
        let report = |notice| (request.progress)(Progress::Notice(notice));
        if gold < of {
            let questions = of - gold;
            report(Notice::NoEvidence { data_set: data_set.clone(), questions, of });
        }
        let (base, _) = base_of(session, request, &plan, set, &[]).await?;
        let ports = ports_for_measuring(session, &base, request.progress).await?;
        if ports.models.reranker.is_none() && wanted.iter().any(|search| search.is_reranked) {
            return Err(EngineError::Needs(Needed::Reranker));
        }
        let questions = count_without_evidence(&ports, &set.items).await?;
        if 0 < questions {
            report(Notice::EvidenceNotIndexed { data_set, questions, of: gold });
        }
        for search in &wanted {
            all.extend(look_up(request, set, &base, &ports, search).await?);
        }
    }
    let lines = lines(&all);
    keep(&plan.out.join("searches.md"), table(&lines, Language::English).as_bytes())?;
    let rows: Result<Vec<String>, _> = all.iter().map(serde_json::to_string).collect();
    let path = plan.out.join("searches.jsonl");
    keep(&path, rows?.join("\n").as_bytes())?;
    Ok(SearchesResponse { lines, rows: path })
}

/// The number of questions whose gold evidence is entirely missing from the base.
async fn count_without_evidence(ports: &Ports, items: &[Item]) -> Result<usize> {
    let sources = ports.base.sources(Which::All).await?;
    let held: HashSet<&str> = sources
        .iter()
        .flat_map(|source| {
            [source.uri.as_str(), after_last(&source.uri, '/'), after_last(&source.uri, '#')]
        })
        .collect();
    let is_missing = |item: &&Item| {
        let mut gold = item.supporting.iter();
        !item.supporting.is_empty() && gold.all(|gold| !held.contains(gold.as_str()))
    };
    Ok(items.iter().filter(is_missing).count())
}

fn after_last(uri: &str, sign: char) -> &str {
    uri.rsplit(sign).next().unwrap_or(uri)
}

async fn look_up(
    request: &EvalRequest<'_>,
    set: &Set,
    base: &Base,
    ports: &Ports,
    search: &Named,
) -> Result<Vec<LookedUp>> {
    let items = set.items.iter().filter(|item| !item.supporting.is_empty());
    let calls: Vec<_> = items.map(|item| one(base, ports, set, search, item)).collect();
    let total = calls.len();
    let name = format!("{} {}", search.label, set.name);
    let mut found = Vec::with_capacity(total);
    let mut results = stream::iter(calls).buffered(request.concurrency.max(1));
    while let Some(result) = results.next().await {
        found.extend(result?);
        (request.progress)(Progress::Stage { name: name.clone(), done: found.len(), total });
    }
    drop(results);
    (request.progress)(Progress::Ended);
    Ok(found)
}

async fn one(
    base: &Base,
    ports: &Ports,
    set: &Set,
    named: &Named,
    item: &Item,
) -> Result<Option<LookedUp>> {
    let began = Instant::now();
    let ports = &Ports {
        base: base.snapshot(&Filter::default(), &Filter::default()).await?,
        ..ports.clone()
    };
    let find = |k| search(ports.finder(), named.by, item.query(), k, named.params);
    let hits = match named.is_reranked {
        true => ports.best(item.query(), DEPTH, find).await?,
        false => find(DEPTH).await?,
    };
    let seconds = began.elapsed().as_secs_f64();
    let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = ports.base.chunks(&ids).await?;
    let uris: Vec<String> = chunks.into_iter().map(|chunk| chunk.uri).collect();
    Ok(LookedUp::of(item, &set.name, &named.label, &uris, seconds))
}

/// Reads a search with weights in its name: its own by their names, those of hops and layers in
/// other searches as `hops.NAME`. The suffix `+rerank` has its hits reranked.
fn read(label: &str, params: SearchParams) -> Result<Named> {
    let is_reranked = label.ends_with(RERANKED);
    let named = named(label.strip_suffix(RERANKED).unwrap_or(label))?;
    let by: Search = named.method.parse()?;
    let [mut auto, mut hops, mut layers] = <[Table; 3]>::default();
    for (key, value) in named.overrides {
        match key.split_once('.') {
            Some(("hops", key)) => hops.insert(key.to_owned(), value),
            Some(("layers", key)) => layers.insert(key.to_owned(), value),
            _ if by == Search::Auto => auto.insert(key, value),
            _ => layers.insert(key, value),
        };
    }
    let wrong = |source| EngineError::BadParameter { label: label.to_owned(), source };
    Ok(Named {
        by,
        params: SearchParams {
            auto: with(&params.auto, auto).map_err(wrong)?,
            hops: with(&params.hops, hops).map_err(wrong)?,
            layers: with(&params.layers, layers).map_err(wrong)?,
        },
        label: if is_reranked { format!("{}{RERANKED}", named.label) } else { named.label },
        is_reranked,
    })
}

/// The parameters, with the values in `set` changed.
fn with<T: Serialize + DeserializeOwned>(params: &T, set: Table) -> Result<T, toml::de::Error> {
    let mut table = Table::try_from(params).map_err(toml::de::Error::custom)?;
    table.extend(set);
    table.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_weights_from_the_name_of_a_search() {
        let read = |label: &str| read(label, SearchParams::default());
        let named = read("layers:spread=one-step:lambda=0.25:hops.shared=1").unwrap();
        assert_eq!((named.by, named.params.layers.lambda), (Search::Layers, 0.25));
        assert_eq!(named.params.layers.spread, pikerag_retrieve::Spread::OneStep);
        assert!((named.params.hops.shared - 1.0).abs() < f32::EPSILON);
        let reranked = read("layers:lambda=0.25+rerank").unwrap();
        assert_eq!(reranked.label, "layers:lambda=0.25+rerank");
        assert!(reranked.is_reranked && !named.is_reranked);
        assert!(read("layers:lamda=0.2").is_err() && read("nothing").is_err());
    }
}
