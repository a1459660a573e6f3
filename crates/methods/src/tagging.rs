//! Puts a question into the documents' words: finds its tags, maps them, and uses them to rewrite the
//! question, as keywords, or both (PIKE-RAG §5.2.2, Fig. 7, at query time).

mod near;

use std::collections::{BTreeMap, HashSet};

use pikerag_extract::{question_tags, tag_key};
use pikerag_knowledge::{
    Candidate, ChunkId, Event, MappedTag, NameKey, Note, Question, Role, TagClass, TagPair,
    TagQuery, Via, pairs_from,
};
use pikerag_prompt::{Prompt, Prose, one_line, quiet_headings};
use pikerag_retrieve::{RANK_OFFSET, declared, phrases, tagged, with_words};

use self::near::Known;
use crate::candidates::chunk_candidates;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;
use crate::tag_use::TagUse;

const REWRITE: Prompt = Prompt::new(Role::Rewrite, include_str!("prompts/tag_rewrite.md"), 1024)
    .with_earlier("methods/tag_rewrite", &[include_str!("prompts/earlier/tag_rewrite.1.md")]);

/// Words of the documents that one tag is mapped to, at most.
const MAPPED: usize = 3;

/// Traces the declared synonyms of the question's words: every search looks for them, too.
pub async fn trace_declared(
    ports: &Ports,
    run: &mut Run,
    question: &str,
) -> Result<(), SolveError> {
    let tags = declared(ports.finder(), question).await?;
    let query = with_words(question, &tags).into_owned();
    // Without new words there is nothing to trace.
    if query != question {
        run.push(Event::Tagged { tags, query, keywords: Vec::new() });
    }
    Ok(())
}

/// The question in the documents' words, for methods that do not use tags themselves. At most one call finds
/// tags and one rewrites.
pub async fn in_documents_words(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    tags: TagUse,
) -> Result<Question, SolveError> {
    let Some(Worded { query, keywords }) = worded(ports, run, question.query(), tags).await? else {
        return Ok(question.clone());
    };
    let (tag, class) = (String::new(), String::new());
    let lookup = with_words(&query, &[MappedTag { tag, class, to: keywords }]).into_owned();
    Ok(Question { lookup: Some(lookup), ..question.clone() })
}

/// Finds candidates with the help of a question's tags, best first, each chunk once; without tags, or where
/// their use is off, by the question itself. At most one call finds tags and one rewrites.
pub async fn retrieve_tagged(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    params: RetrievalParams,
) -> Result<Vec<Candidate>, SolveError> {
    if params.tags == TagUse::Off {
        trace_declared(ports, run, question).await?;
        return retrieve(ports, question, params).await;
    }
    let Some(Worded { query, keywords }) = worded(ports, run, question, params.tags).await? else {
        return retrieve(ports, question, params).await;
    };
    let found = retrieve(ports, &query, params).await?;
    if keywords.is_empty() {
        return Ok(found);
    }
    let keys: Vec<NameKey> = keywords.iter().filter_map(|word| tag_key(word)).collect();
    let hits = tagged(ports.finder(), &keys, &keywords, params.chunks).await?;
    let by_tags = chunk_candidates(ports, &hits, Via::Tags, &keywords.join("; ")).await?;
    Ok(fused(found, by_tags, params.chunks + params.atoms))
}

/// A question in the documents' words, and more of these words to search for.
struct Worded {
    query: String,
    keywords: Vec<String>,
}

/// Finds a question's tags, puts the question into the documents' words, and traces both. `None` where it has no tags.
async fn worded(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    use_of_tags: TagUse,
) -> Result<Option<Worded>, SolveError> {
    let known = Known::of(ports).await?;
    let tags = map(ports, find(ports, run, question, &known).await?).await?;
    if tags.is_empty() {
        run.push(Event::Noted { note: Note::NoTags.into() });
        return Ok(None);
    }
    let query = match use_of_tags.rewrites() {
        true => rewritten(ports, run, question, &tags).await?,
        false => question.to_owned(),
    };
    let keywords = match use_of_tags.adds_keywords() {
        true => each_once(tags.iter().flat_map(|tag| tag.to.iter().cloned())),
        false => Vec::new(),
    };
    run.push(Event::Tagged { tags, query: query.clone(), keywords: keywords.clone() });
    Ok(Some(Worded { query, keywords }))
}

/// A tag of a question.
struct Found {
    /// In the words of the question or of the model.
    text: String,
    /// The name of its class; may be empty.
    class: String,
    /// Its key in the base; `None` where the base knows nothing like it.
    key: Option<NameKey>,
}

/// The question's tags, each once: those that the base knows by name, then those that a model finds by class.
async fn find(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    known: &Known,
) -> Result<Vec<Found>, SolveError> {
    let mut found = by_name(ports, question, known).await?;
    let classes = ports.base.tag_classes().await?.classes;
    if let Some(model) = ports.models.of(Role::Tag)
        && !classes.is_empty()
    {
        let asked = question_tags(model, question, &classes, &mut run.account).await;
        for tag in run.readable(Role::Tag, asked)?.unwrap_or_default() {
            let class = classes.iter().find(|known| known.id == tag.class);
            let class = class.map_or_else(String::new, |class| class.name.clone());
            let key = known.nearest(&tag.text, &class).map_or(tag.key, |word| word.key);
            let is_held =
                |held: &Found| held.key == Some(key) || tag_key(&held.text) == Some(tag.key);
            if !found.iter().any(is_held) {
                found.push(Found { text: tag.text, class, key: Some(key) });
            }
        }
    }
    Ok(found)
}

/// Words of the question that are, or nearly are, those of a pair or of a chunk's tag: the longest at each
/// place, with the names of their classes.
async fn by_name(ports: &Ports, question: &str, known: &Known) -> Result<Vec<Found>, SolveError> {
    let phrases = phrases(question);
    let keys: Vec<NameKey> = phrases.iter().map(|phrase| phrase.key).collect();
    let pairs = pairs_from(ports.base.as_ref(), &keys).await?;
    let tags = ports.base.tags(TagQuery::Named(&keys), usize::MAX).await?;
    let classes = ports.base.tag_classes().await?.classes;
    let (mut found, mut reached) = (Vec::new(), 0);
    for ((phrase, pairs), tags) in phrases.into_iter().zip(pairs).zip(tags) {
        if phrase.start < reached {
            continue;
        }
        let of_tag = || name_of(&classes, tags.first()?.tag.class);
        let class = pairs.first().map(|pair: &TagPair| pair.class.clone()).or_else(of_tag);
        let (class, key) = match known.with_stems_of(phrase.text) {
            _ if !pairs.is_empty() || !tags.is_empty() => (class.unwrap_or_default(), phrase.key),
            Some(word) => (word.class.clone(), word.key),
            None => continue,
        };
        reached = phrase.end;
        found.push(Found { text: phrase.text.to_owned(), class, key: Some(key) });
    }
    Ok(found)
}

fn name_of(classes: &[TagClass], id: pikerag_knowledge::TagClassId) -> Option<String> {
    classes.iter().find(|class| class.id == id).map(|class| class.name.clone())
}

/// Maps each tag to the documents' words: those that it is paired with, else itself, where chunks have it.
async fn map(ports: &Ports, found: Vec<Found>) -> Result<Vec<MappedTag>, SolveError> {
    let keys: Vec<NameKey> = found.iter().map(|tag| tag.key.unwrap_or(NameKey(0))).collect();
    let pairs = pairs_from(ports.base.as_ref(), &keys).await?;
    let known = ports.base.tags(TagQuery::Named(&keys), usize::MAX).await?;
    let mut tags = Vec::with_capacity(found.len());
    for ((found, pairs), known) in found.into_iter().zip(pairs).zip(known) {
        let mut to: Vec<String> = pairs.into_iter().map(|pair| pair.professional).collect();
        to.truncate(MAPPED);
        if to.is_empty() {
            to.extend(known.into_iter().take(1).map(|count| count.tag.text));
        }
        tags.push(MappedTag { tag: found.text, class: found.class, to });
    }
    Ok(tags)
}

/// The question in the documents' words: as a model rewrites it, else with these words appended.
async fn rewritten(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    tags: &[MappedTag],
) -> Result<String, SolveError> {
    let mut pairs = Vec::new();
    let mut words = Vec::new();
    for MappedTag { tag, to, .. } in tags {
        for word in to.iter().filter(|word| tag_key(word) != tag_key(tag)) {
            pairs.push(format!("- {} → {}", one_line(tag), one_line(word)));
            words.push(word.clone());
        }
    }
    if pairs.is_empty() {
        return Ok(question.to_owned());
    }
    if ports.models.of(Role::Rewrite).is_some() {
        let (pairs, asked) = (pairs.join("\n"), quiet_headings(question));
        let inputs = [("pairs", pairs.as_str()), ("question", asked.as_str())];
        if let Some(Prose(rewritten)) = run.ask::<Prose>(ports, &REWRITE, &inputs).await? {
            return Ok(one_line(&rewritten));
        }
    }
    Ok(format!("{question} ({})", each_once(words.into_iter()).join("; ")))
}

/// Words with different tag keys, in the order of their first occurrence.
fn each_once(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.filter(|word| seen.insert(tag_key(word))).collect()
}

/// Fuses both lists by reciprocal rank, each chunk once, ties by identifier.
fn fused(found: Vec<Candidate>, by_tags: Vec<Candidate>, k: usize) -> Vec<Candidate> {
    let mut all: BTreeMap<ChunkId, (f32, Candidate)> = BTreeMap::new();
    for list in [found, by_tags] {
        for (place, candidate) in list.into_iter().enumerate() {
            let score = 1.0 / (RANK_OFFSET + (place + 1) as f32);
            match all.get_mut(&candidate.chunk) {
                Some((held, first)) => {
                    *held += score;
                    for (part, value) in candidate.parts {
                        first.parts.entry(part).or_insert(value);
                    }
                }
                None => drop(all.insert(candidate.chunk, (score, candidate))),
            }
        }
    }
    let mut all: Vec<(f32, Candidate)> = all.into_values().collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.chunk.cmp(&b.1.chunk)));
    all.truncate(k);
    all.into_iter().map(|(score, candidate)| Candidate { score, ..candidate }).collect()
}
