//! Reads files and applies the corrections that people have made to their text.

use async_trait::async_trait;
use pikerag_indexing::{FileError, FileReader, ReadFile};
use pikerag_knowledge::{Correction, Problem, ProblemFact, error_chain};

use crate::base::Base;
use crate::sandbox::SandboxedReader;

/// A reader of files that applies the corrections stored in the base.
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
            apply(&mut read, &correction);
        }
        Ok(read)
    }
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
