//! `reading`: what was read of a document, and what people mend in it.

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

/// What was read of a document.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Reading {
    /// The document.
    pub source: Source,
    /// Its text, in which the spans of its passages count; with the corrections that were made when it was last indexed.
    pub text: String,
    /// The corrections of its file, in the order in which they are made, those that wait for indexing too.
    pub corrections: Vec<Correction>,
}

/// A passage that was read wrongly.
#[derive(Clone, Debug)]
pub struct CorrectRequest {
    /// The document.
    pub source: SourceId,
    /// As it was read; it stands in the document once.
    pub old: String,
    /// As it should have been read; empty for what is not there.
    pub new: String,
    /// Who says so; whoever is set as author, if none.
    pub by: Option<String>,
}

/// Corrections of a file as they are now; they hold once it is indexed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrectionsResponse {
    /// The file, where it lies.
    pub file: PathBuf,
    /// In the order in which they are made.
    pub corrections: Vec<Correction>,
}

/// What was read of a document.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be read.
pub async fn reading(session: &Session, id: SourceId) -> Result<Reading> {
    let base = session.base().await?;
    let (source, _) = source(session, id).await?;
    let text = base.text_of(id).await?.unwrap_or_default();
    let corrections = corrections_of(&base, &file_path(&source.uri)).await?;
    Ok(Reading { source, text, corrections })
}

/// Mends a passage of a document, for as long as its file is in the base: whenever the file is read, the correction is made
/// behind those that were made before it. The file is to be indexed then.
///
/// # Errors
/// [`EngineError::NotFound`]; [`EngineError::Misfit`]: the passage is not there once; [`EngineError::File`]: the file cannot be
/// read now.
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
    Ok(CorrectionsResponse { file: names.place(&path), corrections })
}

/// Takes back the `number`-th correction of a document's file, from 1.
///
/// # Errors
/// [`EngineError::NotFound`]; the base cannot be written.
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

/// Has files read again the next time they are indexed, though they are as they were: a program that helps to read them came, or
/// a newer version reads more of them. How many of them the base has.
///
/// # Errors
/// The base cannot be written.
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
