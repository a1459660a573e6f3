//! Unpacks an uploaded archive into uploads, one for each file (`unpack`).

use std::path::PathBuf;

use async_trait::async_trait;
use pikerag_knowledge::{Problem, ProblemFact, error_chain};
use pikerag_narrate::InWords;
use serde::Serialize;
use utoipa::ToSchema;

use super::CreateBase;
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::sandbox::TakesFiles;
use crate::uploads::{Part, UploadId, Uploads};

/// The files of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct UnpackResponse {
    /// The places of its files, in the order of the archive.
    #[serde(skip)]
    pub places: Vec<PathBuf>,
    /// The names of its files, in the same order.
    pub files: Vec<String>,
    /// The omitted files, with reasons.
    pub left_out: Vec<LeftOut>,
}

/// An omitted file of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// Its name in the archive; empty for the whole archive.
    pub file: String,
    /// The reason.
    pub reason: String,
    /// A short name of the reason, stable across versions.
    #[schema(required)]
    pub code: Option<&'static str>,
    /// The reason in Chinese.
    #[schema(required)]
    pub reason_zh: Option<String>,
}

impl From<Problem> for LeftOut {
    fn from(problem: Problem) -> Self {
        let Problem { place, reason, fact, .. } = problem;
        let reason_zh = fact.as_ref().map(|fact| fact.words().chinese);
        Self { file: place, reason, code: fact.as_ref().map(ProblemFact::code), reason_zh }
    }
}

/// Unpacks the ZIP archive that arrived as `archive` into the uploads, below a folder with the archive's upload
/// name. A process with limits opens it. Files with impossible names are omitted and listed.
///
/// # Errors
/// [`EngineError::File`] if it is not an archive, is encrypted or contains too much. Some of its
/// files may then exist.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session, uploads::Part};
/// # async fn f(session: &Session, archive: &Part) -> Result<()> {
/// // `Part::complete` has returned.
/// let response = pikerag_engine::unpack(session, archive, "law.zip").await?;
/// println!("{} files", response.files.len());
/// for omitted in &response.left_out {
///     println!("{}: {}", omitted.file, omitted.reason);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn unpack(session: &Session, archive: &Part, name: &str) -> Result<UnpackResponse> {
    let failed = |source| EngineError::File { file: name.to_owned(), source };
    let place = session.reader().place().await.map_err(failed)?;
    let bytes = archive.read().await.map_err(|error| {
        failed(pikerag_indexing::FileError::Unreadable { reason: error_chain(&error) })
    })?;
    let mut unpacking = Unpacking {
        uploads: session.uploads(CreateBase::Yes).await?,
        below: below(name).to_owned(),
        most: session.settings().parser_limits.file_bytes,
        response: UnpackResponse::default(),
    };
    let problems =
        session.reader().unpack(&place, name, bytes, &mut unpacking).await.map_err(failed)?;
    unpacking.response.left_out = problems.into_iter().map(LeftOut::from).collect();
    Ok(unpacking.response)
}

/// The folder for the files of an archive: `law` for `law.zip`.
fn below(name: &str) -> &str {
    let cut = name.len().saturating_sub(4);
    match name.get(cut..) {
        Some(end) if end.eq_ignore_ascii_case(".zip") && 0 < cut => name.get(..cut).unwrap_or(name),
        _ => name,
    }
}

struct Unpacking {
    uploads: Uploads,
    below: String,
    most: u64,
    response: UnpackResponse,
}

#[async_trait]
impl TakesFiles for Unpacking {
    async fn take(&mut self, name: &str, bytes: Vec<u8>) -> std::result::Result<(), String> {
        let name = format!("{}/{name}", self.below);
        let taking = async {
            let mut part = self.uploads.begin(&name, &UploadId::random()?, 0, self.most).await?;
            part.take(&bytes).await?;
            part.finish(Some(bytes.len() as u64)).await
        };
        let place = taking.await.map_err(|error| error.to_string())?;
        self.response.places.push(place);
        self.response.files.push(name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn unpacked_files_are_below_the_name_of_their_archive() {
        for (name, expected) in [
            ("law.zip", "law"),
            ("a/Law.ZIP", "a/Law"),
            (".zip", ".zip"),
            ("law.cbz", "law.cbz"),
            ("法律.zip", "法律"),
        ] {
            assert_eq!(below(name), expected);
        }
    }
}
