//! Shows the text that was read of a document, and stores people's corrections of it (`reading`).

use std::path::PathBuf;

use pikerag_indexing::FileReader;
use pikerag_knowledge::uri::{document_uri, file_path};
use pikerag_knowledge::{CorpusWriter, Correction, Source, SourceId, Which};
use pikerag_store::Base;
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::keeping::now;
use crate::corrected::CorrectedReader;
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::verbs::read::source;

/// The text that was read of a document.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Reading {
    /// The document.
    pub source: Source,
    /// Its text, which the spans of its passages refer to, with the corrections applied when it was
    /// last indexed.
    pub text: String,
    /// The corrections of its file, in the order in which they are applied, including those that
    /// wait for indexing.
    pub corrections: Vec<Correction>,
}

/// A correction of a passage that was read wrongly.
#[derive(Clone, Debug)]
pub struct CorrectRequest {
    /// The document.
    pub source: SourceId,
    /// The text as it was read; it must occur exactly once in the document.
    pub old: String,
    /// The right text; empty to delete the passage.
    pub new: String,
    /// The author; by default the author in the settings.
    pub by: Option<String>,
}

/// The current corrections of a file; they take effect when it is indexed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrectionsResponse {
    /// The path of the file.
    pub file: PathBuf,
    /// The corrections, in the order in which they are applied.
    pub corrections: Vec<Correction>,
}

/// The text that was read of a document.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be read.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::SourceId};
/// # async fn f(session: &Session, id: SourceId) -> Result<()> {
/// let reading = pikerag_engine::reading(session, id).await?;
/// println!("{}\n{} corrections", reading.text, reading.corrections.len());
/// # Ok(())
/// # }
/// ```
pub async fn reading(session: &Session, id: SourceId) -> Result<Reading> {
    let base = session.base().await?;
    let (source, _) = source(session, id).await?;
    let text = base.text_of(id).await?.unwrap_or_default();
    let corrections = corrections_of(&base, &file_path(&source.uri)).await?;
    Ok(Reading { source, text, corrections })
}

/// Corrects a passage of a document, as long as its file is in the base. Whenever the file is read,
/// the correction is applied after the earlier ones. The file must then be indexed.
///
/// # Errors
/// [`EngineError::NotFound`]; [`EngineError::Misfit`] if the passage does not occur exactly once;
/// [`EngineError::File`] if the file cannot be read now.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::SourceId};
/// # async fn f(session: &Session, id: SourceId) -> Result<()> {
/// use pikerag_engine::{CorrectRequest, correct};
///
/// let request = CorrectRequest {
///     source: id,
///     old: "4O0 °C".to_owned(),
///     new: "400 °C".to_owned(),
///     by: Some("Chen".to_owned()),
/// };
/// let response = correct(session, &request).await?;
/// println!("index {} to apply it", response.file.display());
/// # Ok(())
/// # }
/// ```
pub async fn correct(session: &Session, request: &CorrectRequest) -> Result<CorrectionsResponse> {
    let base = session.base().await?;
    let (source, _) = source(session, request.source).await?;
    let names = session.names(&base).await?;
    let path = file_path(&source.uri);
    let reader = CorrectedReader { inner: session.reader_at(names.root()), base: base.clone() };
    let failed = |error| EngineError::File { file: path.clone(), source: error };
    let read = reader.parse(&path).await.map_err(failed)?;
    let mut documents = read.parsed.documents.into_iter();
    let is_it = |uri: &str| uri == source.uri;
    let document = documents.find(|document| is_it(&document_uri(&path, &document.fragment)));
    let mut document = document
        .ok_or_else(|| EngineError::NotFound { what: Missing::Node, name: source.uri.clone() })?;
    let correction = Correction {
        fragment: document.fragment.clone(),
        old: request.old.trim().to_owned(),
        new: request.new.trim().to_owned(),
        by: request.by.clone().or_else(|| session.settings().author.clone()).unwrap_or_default(),
        at: now(),
    };
    document.correct(&correction)?;
    let mut corrections = base.corrections(&path, &read.hash).await?;
    corrections.push(correction);
    base.put_corrections(&path, &read.hash, corrections.clone()).await?;
    Ok(CorrectionsResponse { file: names.shown_place(&path), corrections })
}

/// Removes the `number`-th correction of a document's file, from 1.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::SourceId};
/// # async fn f(session: &Session, id: SourceId) -> Result<()> {
/// let response = pikerag_engine::take_back_correction(session, id, 1).await?;
/// println!("{} corrections remain", response.corrections.len());
/// # Ok(())
/// # }
/// ```
pub async fn take_back_correction(
    session: &Session,
    id: SourceId,
    number: usize,
) -> Result<CorrectionsResponse> {
    let base = session.base().await?;
    let (source, _) = source(session, id).await?;
    let path = file_path(&source.uri);
    let mut corrections = corrections_of(&base, &path).await?;
    let at = number.checked_sub(1).filter(|at| *at < corrections.len());
    let at =
        at.ok_or(EngineError::NotFound { what: Missing::Correction, name: number.to_string() })?;
    corrections.remove(at);
    let hash = base
        .files(Which::Of(&[path.as_str()]))
        .await?
        .pop()
        .map(|file| file.hash)
        .unwrap_or_default();
    base.put_corrections(&path, &hash, corrections.clone()).await?;
    Ok(CorrectionsResponse { file: session.names(&base).await?.place(&path), corrections })
}

/// Makes the next indexing read these files again although they are unchanged, for example because
/// a program that helps to read them was installed. Returns the number of them in the base.
///
/// # Errors
/// The base cannot be written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let paths = [std::path::PathBuf::from("scans")];
/// let files = pikerag_engine::read_again(session, &paths).await?;
/// println!("the next indexing reads {files} files again");
/// # Ok(())
/// # }
/// ```
pub async fn read_again(session: &Session, paths: &[PathBuf]) -> Result<usize> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let files: Vec<String> = names.under(paths).into_iter().map(|file| file.path.clone()).collect();
    Ok(base.read_again(&files).await?)
}

async fn corrections_of(base: &Base, path: &str) -> Result<Vec<Correction>> {
    let hash =
        base.files(Which::Of(&[path])).await?.pop().map(|file| file.hash).unwrap_or_default();
    Ok(base.corrections(path, &hash).await?)
}
