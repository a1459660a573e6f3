//! `tags`: which tags are known, and what a person says of them.

use std::path::PathBuf;

use pikerag_eval::datasets;
use pikerag_extract::tag_key;
use pikerag_indexing::{Learned, Sample, keyed_pair, learn};
use pikerag_knowledge::{
    KeyedClass, NameKey, Origin, Role, TagClass, TagClassId, TagCount, TagEdit, TagExample,
    TagPair, TagQuery, TagReader, TagWriter, Which,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::progress::{OnProgress, Progress};
use crate::engine::{Cost, Session};
use crate::error::{EngineError, Missing, Needed, Result, Wordless};
use crate::verbs::progress::tell;

/// All classes of tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassesResponse {
    /// In the order of the base.
    pub classes: Vec<TagClassLine>,
    /// Pairs of a reader's word and the documents'.
    pub pairs: usize,
}

/// A class, and how much there is of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassLine {
    /// The class.
    pub class: TagClass,
    /// How many tags it has.
    pub tags: usize,
    /// How often a chunk bears one.
    pub borne: usize,
}

/// The tags of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TagClassResponse {
    /// The class.
    pub class: TagClass,
    /// Most frequent first.
    pub tags: Vec<TagCount>,
}

/// A class as a person declares it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TagClassRequest {
    /// Its name, which must not be another class's.
    #[serde(skip)]
    pub name: String,
    /// What belongs to it, in a sentence.
    pub covers: String,
    /// Some of its tags.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// From what to learn pairs.
#[derive(Clone)]
pub struct LearnRequest<'a> {
    /// Questions with their answers, in a format that evaluations read.
    pub file: PathBuf,
    /// Hears how far it has come.
    pub progress: OnProgress<'a>,
}

/// The pairs that were kept, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnResponse {
    /// Samples, pairs and failures.
    pub learned: Learned,
    /// What was paid for them.
    pub spent: Cost,
}

/// The classes of tags, with counts.
///
/// # Errors
/// There is no base, or it cannot be read.
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
pub async fn tag_class(session: &Session, class: &str, k: usize) -> Result<TagClassResponse> {
    let (base, key) = (session.base().await?, key_of(class)?);
    let classes = base.tag_classes().await?.classes;
    let held = classes.into_iter().find(|held| tag_key(&held.name) == Some(key));
    let class = held.ok_or_else(|| no_class(class))?;
    let tags = base.tags(TagQuery::InClasses(&[class.id]), k).await?.pop().unwrap_or_default();
    Ok(TagClassResponse { class, tags })
}

/// All pairs of a reader's word and the documents'.
///
/// # Errors
/// There is no base, or it cannot be read.
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

/// Declares a class, or says anew what belongs to it; also before the first document is there.
///
/// # Errors
/// [`EngineError::Wordless`]; the base cannot be written.
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

/// Drops a class with its tags, for good.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
pub async fn drop_tag_class(session: &Session, class: &str) -> Result<()> {
    match session.base().await?.edit_tags(TagEdit::DropClass(key_of(class)?)).await? {
        true => Ok(()),
        false => Err(no_class(class)),
    }
}

/// Declares that the documents call `colloquial` by the name of `professional`; also before the first document
/// is there.
///
/// # Errors
/// [`EngineError::Wordless`]; the base cannot be written.
pub async fn add_tag_pair(
    session: &Session,
    colloquial: &str,
    professional: &str,
    class: &str,
) -> Result<()> {
    let (colloquial, professional) = (colloquial.trim(), professional.trim());
    let pair = keyed_pair(colloquial, professional, class.trim(), Origin::Declared, None);
    let wordless = || match tag_key(colloquial) {
        None => colloquial.to_owned(),
        Some(_) => professional.to_owned(),
    };
    let pair = pair.ok_or_else(|| EngineError::Wordless(Wordless::Name(wordless())))?;
    Ok(session.base_or_create().await?.edit_tags(TagEdit::AddPairs(vec![pair])).await.map(drop)?)
}

/// Drops a pair.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
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
/// There is no chat model, no class, or no such file; the base cannot be written. That calls failed or the
/// budget is spent is in the response.
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
    let watch = |progress| tell(session, request.progress, progress);
    let learning = Box::pin(learn(&tools, samples, session.settings().ingest.in_flight, &watch));
    let learned = session.unless_cancelled(async { Ok(learning.await?) }).await?;
    (request.progress)(Progress::Ended);
    Ok(LearnResponse { learned, spent: session.cost() })
}

fn key_of(name: &str) -> Result<NameKey> {
    tag_key(name).ok_or_else(|| EngineError::Wordless(Wordless::Name(name.to_owned())))
}

fn no_class(class: &str) -> EngineError {
    EngineError::NotFound { what: Missing::TagClass, name: class.to_owned() }
}
