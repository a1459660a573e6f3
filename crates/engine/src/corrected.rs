//! How is a file read that people have mended the reading of? As any other, and then their corrections are made.

use async_trait::async_trait;
use pikerag_indexing::{FileError, FileReader, ReadFile};
use pikerag_knowledge::{Correction, Problem, error_chain};
use pikerag_store::Base;

use crate::sandbox::SandboxedReader;

/// Reads files, and makes the corrections that the base keeps.
pub(crate) struct CorrectedReader {
    pub(crate) inner: SandboxedReader,
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
            make(&mut read, &correction);
        }
        Ok(read)
    }
}

/// Makes a correction; one that fits no longer is a problem of the file, which is read without it.
fn make(read: &mut ReadFile, correction: &Correction) {
    let mut documents = read.parsed.documents.iter_mut();
    let document = documents.find(|document| document.fragment == correction.fragment);
    let made = match document {
        Some(document) => document.correct(correction).map_err(|misfit| misfit.to_string()),
        None => Err("this document is not in the file".to_owned()),
    };
    if let Err(reason) = made {
        let (old, by) = (&correction.old, &correction.by);
        let reason = format!("the correction of “{old}” by {by} is not made: {reason}");
        read.parsed.problems.push(Problem { place: correction.fragment.clone(), reason });
    }
}
