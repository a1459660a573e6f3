//! Shows the text that was read of a document, and stores people's corrections of it (`reading`).

use std::path::PathBuf;

use pikerag_indexing::FileReader;
use pikerag_knowledge::uri::{document_uri, file_path};
use pikerag_knowledge::{Chunk, ChunkId, Correction, Document, Misfit, Source, SourceId};
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::keeping::now;
use crate::base::Base;
use crate::corrected::{CorrectedReader, corrections_of, hash_of, is_in};
use crate::engine::{Session, blocking};
use crate::error::{EngineError, Missing, Result};
use crate::names::Names;
use crate::verbs::read::{chunk, source};

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

/// Another text of a chunk.
#[derive(Clone, Debug)]
pub struct EditChunkRequest {
    /// The chunk.
    pub chunk: ChunkId,
    /// Its whole new text.
    pub text: String,
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
    let mut read = ReadNow::of(session, &base, &source).await?;
    let correction = Correction {
        old: request.old.trim().to_owned(),
        new: request.new.trim().to_owned(),
        ..read.sample(session, request.by.as_deref())
    };
    read.document.correct(&correction)?;
    read.add(&base, vec![correction]).await
}

/// Edits a chunk by corrections of its document: the smallest ones that make its new text. Its file
/// must then be indexed; the edited chunk has another identifier.
///
/// # Errors
/// [`EngineError::NotFound`]; [`EngineError::Misfit`] if the file was changed since it was indexed,
/// if the edit crosses paragraphs, or if the edited words are several times in the document;
/// [`EngineError::File`] if the file cannot be read now.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::ChunkId};
/// # async fn f(session: &Session, id: ChunkId) -> Result<()> {
/// use pikerag_engine::{EditChunkRequest, edit_chunk};
///
/// let text = pikerag_engine::chunk(session, id).await?.text.replace("4O0", "400");
/// let response = edit_chunk(session, &EditChunkRequest { chunk: id, text, by: None }).await?;
/// println!("index {} to apply it", response.file.display());
/// # Ok(())
/// # }
/// ```
pub async fn edit_chunk(
    session: &Session,
    request: &EditChunkRequest,
) -> Result<CorrectionsResponse> {
    let base = session.base().await?;
    let chunk = chunk(session, request.chunk).await?;
    let (source, _) = source(session, chunk.source).await?;
    let read = ReadNow::of(session, &base, &source).await?;
    let now_there = read.document.text.get(chunk.span.start..chunk.span.end);
    if now_there != Some(chunk.text.as_str()) {
        return Err(Misfit::NotThere.into());
    }
    let sample = read.sample(session, request.by.as_deref());
    let new = request.text.clone();
    // Each changed word is counted in the whole document.
    let (read, corrections) = blocking(move || {
        let corrections = read.document.edits(chunk.span, &new, &sample);
        (read, corrections)
    })
    .await?;
    read.add(&base, corrections?).await
}

/// The corrections of a chunk's document whose new text the chunk contains; none for a caller who
/// sees a part of the base.
///
/// # Errors
/// The base cannot be read.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, knowledge::ChunkId};
/// # async fn f(session: &Session, id: ChunkId) -> Result<()> {
/// let chunk = pikerag_engine::chunk(session, id).await?;
/// for correction in pikerag_engine::corrections_in(session, &chunk).await? {
///     println!("{} corrected {:?}", correction.by, correction.old);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn corrections_in(session: &Session, chunk: &Chunk) -> Result<Vec<Correction>> {
    if !session.sees_all() {
        return Ok(Vec::new());
    }
    let (base, path) = (session.base().await?, file_path(&chunk.uri));
    let mut corrections = corrections_of(&base, &path).await?;
    corrections.retain(|correction| is_in(correction, &path, chunk));
    Ok(corrections)
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
    let hash = hash_of(&base, &path).await?;
    let corrections = match number.checked_sub(1) {
        Some(place) => base.remove_correction(&path, &hash, place).await?,
        None => None,
    };
    let corrections = corrections
        .ok_or(EngineError::NotFound { what: Missing::Correction, name: number.to_string() })?;
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

/// A document as it is read now, with the corrections of its file.
struct ReadNow {
    names: Names,
    path: String,
    hash: String,
    document: Document,
}

impl ReadNow {
    async fn of(session: &Session, base: &Base, source: &Source) -> Result<Self> {
        let names = session.names(base).await?;
        let path = file_path(&source.uri);
        let reader = CorrectedReader { inner: session.reader_of(&names), base: base.clone() };
        let failed = |error| EngineError::File { file: path.clone(), source: error };
        let read = reader.parse(&path).await.map_err(failed)?;
        let mut documents = read.parsed.documents.into_iter();
        let is_it = |document: &Document| document_uri(&path, &document.fragment) == source.uri;
        let document = documents.find(is_it).ok_or_else(|| EngineError::NotFound {
            what: Missing::Node,
            name: source.uri.clone(),
        })?;
        Ok(Self { names, path, hash: read.hash, document })
    }

    /// A correction without its texts, by this author or the one of the settings.
    fn sample(&self, session: &Session, by: Option<&str>) -> Correction {
        let by = by.map(str::to_owned).or_else(|| session.settings().author.clone());
        Correction {
            fragment: self.document.fragment.clone(),
            old: String::new(),
            new: String::new(),
            by: by.unwrap_or_default(),
            at: now(),
        }
    }

    /// Stores further corrections of the file.
    async fn add(self, base: &Base, new: Vec<Correction>) -> Result<CorrectionsResponse> {
        let corrections = base.add_corrections(&self.path, &self.hash, new).await?;
        Ok(CorrectionsResponse { file: self.names.shown_place(&self.path), corrections })
    }
}
