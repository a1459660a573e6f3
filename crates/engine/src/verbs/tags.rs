//! Lists tags, and stores people's changes of them (`tags`).

use std::path::PathBuf;

use pikerag_eval::datasets;
use pikerag_extract::tag_key;
use pikerag_indexing::{Learned, Sample, learn, pair_with_keys};
use pikerag_knowledge::{
    KeyedClass, NameKey, Origin, Role, TagClass, TagClassId, TagCount, TagEdit, TagExample,
    TagPair, TagQuery, Which,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::progress::{OnProgress, Progress};
use crate::engine::{Cost, Session};
use crate::error::{EngineError, Missing, Needed, NoWords, Result};
use crate::verbs::progress::report_progress;

/// All classes of tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassesResponse {
    /// The classes, in the order of the base.
    pub classes: Vec<TagClassLine>,
    /// The number of synonyms: pairs of a user's word and the documents' word.
    pub pairs: usize,
}

/// A class with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassLine {
    /// The class.
    pub class: TagClass,
    /// The number of its tags.
    pub tags: usize,
    /// The number of times that a chunk has one of its tags.
    pub borne: usize,
}

/// The tags of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassResponse {
    /// The class.
    pub class: TagClass,
    /// The tags, most frequent first.
    pub tags: Vec<TagCount>,
}

/// A class that a person declares.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TagClassRequest {
    /// The name, which no other class may have.
    #[serde(skip)]
    pub name: String,
    /// The description of its tags, in a sentence.
    pub covers: String,
    /// Some of its tags.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// The source of pairs to learn.
#[derive(Clone)]
pub struct LearnRequest<'a> {
    /// Questions with their answers, in a format that evaluations read.
    pub file: PathBuf,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// The learned pairs and their cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnResponse {
    /// Samples, pairs and failures.
    pub learned: Learned,
    /// The cost.
    pub spent: Cost,
}

/// The classes of tags, with counts.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for line in pikerag_engine::tag_classes(session).await?.classes {
///     println!("{}: {} tags, found {} times", line.class.name, line.tags, line.borne);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn tag_classes(session: &Session) -> Result<TagClassesResponse> {
    let base = session.base().await?;
    let held = base.tag_classes().await?.classes;
    let ids: Vec<TagClassId> = held.iter().map(|class| class.id).collect();
    let tags = base.tags(TagQuery::InClasses(&ids), usize::MAX).await?;
    let line = |(class, tags): (TagClass, Vec<TagCount>)| {
        let borne = tags.iter().map(|count| count.chunks).sum();
        TagClassLine { class, tags: tags.len(), borne }
    };
    let classes = held.into_iter().zip(tags).map(line).collect();
    Ok(TagClassesResponse { classes, pairs: base.tag_pairs(Which::All).await?.len() })
}

/// A class with its `k` most frequent tags.
///
/// # Errors
/// [`EngineError::NotFound`]; there is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let response = pikerag_engine::tag_class(session, "symptom", 10).await?;
/// for count in &response.tags {
///     println!("{} in {} chunks", count.tag.text, count.chunks);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn tag_class(session: &Session, class: &str, k: usize) -> Result<TagClassResponse> {
    let (base, key) = (session.base().await?, key_of(class)?);
    let classes = base.tag_classes().await?.classes;
    let held = classes.into_iter().find(|held| tag_key(&held.name) == Some(key));
    let class = held.ok_or_else(|| no_class(class))?;
    let tags = base.tags(TagQuery::InClasses(&[class.id]), k).await?.pop().unwrap_or_default();
    Ok(TagClassResponse { class, tags })
}

/// All pairs of a user's word and the documents' word.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for pair in pikerag_engine::tag_pairs(session).await? {
///     println!("{} → {}", pair.colloquial, pair.professional);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn tag_pairs(session: &Session) -> Result<Vec<TagPair>> {
    Ok(session
        .base()
        .await?
        .tag_pairs(Which::All)
        .await?
        .into_iter()
        .map(|(_, pair)| pair)
        .collect())
}

/// Declares a class, or changes its description. The base may still be empty.
///
/// # Errors
/// [`EngineError::NoWords`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{TagClassRequest, add_tag_class};
///
/// let request = TagClassRequest {
///     name: "symptom".to_owned(),
///     covers: "Signs of a fault that a driver notices.".to_owned(),
///     examples: vec!["brake judder".to_owned()],
/// };
/// add_tag_class(session, &request).await?;
/// # Ok(())
/// # }
/// ```
pub async fn add_tag_class(session: &Session, request: &TagClassRequest) -> Result<()> {
    let key = key_of(&request.name)?;
    let examples = request.examples.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let examples = examples.map(|text| TagExample { text: text.to_owned(), chunk: None });
    let (name, covers) = (request.name.trim(), request.covers.trim());
    let class = TagClass::new(name, covers, examples.collect(), Origin::Declared);
    Ok(session
        .base_or_create()
        .await?
        .edit_tags(TagEdit::AddClasses(vec![KeyedClass { key, class }]))
        .await
        .map(drop)?)
}

/// Gives a class another name; its tags stay.
///
/// # Errors
/// [`EngineError::TagClassExists`], [`EngineError::NotFound`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// pikerag_engine::rename_tag_class(session, "symptom", "sign of a fault").await?;
/// # Ok(())
/// # }
/// ```
pub async fn rename_tag_class(session: &Session, class: &str, name: &str) -> Result<()> {
    let base = session.base().await?;
    let (old, new) = (key_of(class)?, key_of(name)?);
    let classes = base.tag_classes().await?.classes;
    if old != new && classes.iter().any(|held| tag_key(&held.name) == Some(new)) {
        return Err(EngineError::TagClassExists { name: name.to_owned() });
    }
    let rename = TagEdit::RenameClass { from: old, key: new, name: name.trim().to_owned() };
    match base.edit_tags(rename).await? {
        true => Ok(()),
        false => Err(no_class(class)),
    }
}

/// Deletes a class with its tags, for good.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// pikerag_engine::drop_tag_class(session, "symptom").await?;
/// # Ok(())
/// # }
/// ```
pub async fn drop_tag_class(session: &Session, class: &str) -> Result<()> {
    match session.base().await?.edit_tags(TagEdit::DropClass(key_of(class)?)).await? {
        true => Ok(()),
        false => Err(no_class(class)),
    }
}

/// Declares that the documents use the word `professional` for `colloquial`. The base may still be
/// empty.
///
/// # Errors
/// [`EngineError::NoWords`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let (colloquial, professional) = ("shaking brakes", "brake judder");
/// pikerag_engine::add_tag_pair(session, colloquial, professional, "symptom").await?;
/// # Ok(())
/// # }
/// ```
pub async fn add_tag_pair(
    session: &Session,
    colloquial: &str,
    professional: &str,
    class: &str,
) -> Result<()> {
    let (colloquial, professional) = (colloquial.trim(), professional.trim());
    let pair = pair_with_keys(colloquial, professional, class.trim(), Origin::Declared, None);
    let no_words = || match tag_key(colloquial) {
        None => colloquial.to_owned(),
        Some(_) => professional.to_owned(),
    };
    let pair = pair.ok_or_else(|| EngineError::NoWords(NoWords::Name(no_words())))?;
    Ok(session.base_or_create().await?.edit_tags(TagEdit::AddPairs(vec![pair])).await.map(drop)?)
}

/// Deletes a pair.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// pikerag_engine::drop_tag_pair(session, "shaking brakes", "brake judder").await?;
/// # Ok(())
/// # }
/// ```
pub async fn drop_tag_pair(session: &Session, colloquial: &str, professional: &str) -> Result<()> {
    let dropped = session
        .base()
        .await?
        .edit_tags(TagEdit::DropPair {
            colloquial: key_of(colloquial)?,
            professional: key_of(professional)?,
        })
        .await?;
    if dropped {
        Ok(())
    } else {
        {
            let name = format!("{colloquial} → {professional}");
            Err(EngineError::NotFound { what: Missing::TagPair, name })
        }
    }
}

/// Learns pairs from questions with their answers.
///
/// # Errors
/// There is no chat model, no class, or no such file; the base cannot be written. Failed calls and
/// a spent budget are in the response.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{LearnRequest, learn_tag_pairs};
///
/// let request = LearnRequest { file: "questions.jsonl".into(), progress: &|_| {} };
/// let response = learn_tag_pairs(session, &request).await?;
/// println!("{} samples support {} pairs", response.learned.samples, response.learned.pairs);
/// # Ok(())
/// # }
/// ```
pub async fn learn_tag_pairs(
    session: &Session,
    request: &LearnRequest<'_>,
) -> Result<LearnResponse> {
    let base = session.base().await?;
    if !session.has_chat(Role::Tag) {
        return Err(EngineError::Needs(Needed::ChatForPairs));
    }
    if base.tag_classes().await?.classes.is_empty() {
        return Err(EngineError::Needs(Needed::TagClasses));
    }
    let items = datasets::read(&request.file, None)?.items.into_iter();
    let samples: Vec<Sample> = items
        .map(|item| Sample {
            question: item.question,
            answers: item.answers,
            supporting: item.supporting,
        })
        .collect();
    let tools = session.tools(&base).await?;
    let watch = |step| report_progress(session, request.progress, step);
    let learning = Box::pin(learn(&tools, samples, session.settings().ingest.in_flight, &watch));
    let learned = session.unless_cancelled(async { Ok(learning.await?) }).await?;
    (request.progress)(Progress::Ended);
    Ok(LearnResponse { learned, spent: session.cost() })
}

fn key_of(name: &str) -> Result<NameKey> {
    tag_key(name).ok_or_else(|| EngineError::NoWords(NoWords::Name(name.to_owned())))
}

fn no_class(class: &str) -> EngineError {
    EngineError::NotFound { what: Missing::TagClass, name: class.to_owned() }
}
