//! Reads files and applies the corrections that people have made to their text; finds the corrections
//! of passages.

use std::collections::BTreeSet;

use async_trait::async_trait;
use pikerag_indexing::{FileError, FileReader, ReadFile};
use pikerag_knowledge::uri::{document_uri, file_path};
use pikerag_knowledge::{
    Chunk, ChunkId, Citation, Correction, Problem, ProblemFact, StoreError, Which, error_chain,
};

use crate::base::Base;
use crate::upload_reader::UploadReader;

/// A reader of files that applies the corrections stored in the base.
pub(crate) struct CorrectedReader {
    pub(crate) inner: UploadReader,
    pub(crate) base: Base,
}

#[async_trait]
impl FileReader for CorrectedReader {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.inner.hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let mut read = self.inner.parse(path).await?;
        let unreadable = |error| FileError::Unreadable { reason: error_chain(&error) };
        let corrections = self.base.corrections(path, &read.hash).await.map_err(unreadable)?;
        for correction in corrections {
            apply(&mut read, &correction);
        }
        Ok(read)
    }
}

/// The corrections of a file of the base, in order.
pub(crate) async fn corrections_of(base: &Base, path: &str) -> Result<Vec<Correction>, StoreError> {
    base.corrections(path, &hash_of(base, path).await?).await
}

/// The hash of a file of the base; empty if it has none.
pub(crate) async fn hash_of(base: &Base, path: &str) -> Result<String, StoreError> {
    let file = base.files(Which::Of(&[path])).await?.pop();
    Ok(file.map(|file| file.hash).unwrap_or_default())
}

/// Whether a correction of the file at `path` made words of the chunk.
pub(crate) fn is_in(correction: &Correction, path: &str, chunk: &Chunk) -> bool {
    document_uri(path, &correction.fragment) == chunk.uri
        && !correction.new.is_empty()
        && chunk.text.contains(&correction.new)
}

/// Marks the citations of chunks whose words people corrected. Returns whether there are any.
pub(crate) async fn mark_corrected(
    base: &Base,
    citations: &mut [Citation],
) -> Result<bool, StoreError> {
    if citations.is_empty() {
        return Ok(false);
    }
    let cited: BTreeSet<ChunkId> = citations.iter().map(|citation| citation.chunk).collect();
    let cited: Vec<ChunkId> = cited.into_iter().collect();
    let chunks = base.chunks(&cited).await?;
    let files: BTreeSet<String> = chunks.iter().map(|chunk| file_path(&chunk.uri)).collect();
    let mut corrected = BTreeSet::new();
    for path in &files {
        let corrections = base.read_corrections(path, &hash_of(base, path).await?).await?;
        let is_made_by = |chunk: &Chunk| corrections.iter().any(|one| is_in(one, path, chunk));
        corrected.extend(chunks.iter().filter(|chunk| is_made_by(chunk)).map(|chunk| chunk.id));
    }
    for citation in citations {
        citation.corrected = corrected.contains(&citation.chunk);
    }
    Ok(!corrected.is_empty())
}

/// Applies a correction. If it no longer fits, the file is read without it and lists a problem.
fn apply(read: &mut ReadFile, correction: &Correction) {
    let mut documents = read.parsed.documents.iter_mut();
    let document = documents.find(|document| document.fragment == correction.fragment);
    let made = match document {
        Some(document) => document.correct(correction).map_err(|misfit| misfit.to_string()),
        None => Err("this document is not in the file".to_owned()),
    };
    if let Err(reason) = made {
        let (old, by) = (correction.old.clone(), correction.by.clone());
        let fact = ProblemFact::NotCorrected { old, by, reason };
        read.parsed.problems.push(Problem::new(&correction.fragment, fact));
    }
}
