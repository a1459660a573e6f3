//! `unpack`: the files of an archive that came over the wire, each as if it had come alone.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::sandbox::TakesFiles;
use crate::uploads::{UploadId, Uploads};

/// What an archive held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct UnpackResponse {
    /// Where its files lie now, in the order of the archive.
    #[serde(skip)]
    pub places: Vec<PathBuf>,
    /// As they are called, in the same order.
    pub files: Vec<String>,
    /// What was left out, and why.
    pub left_out: Vec<LeftOut>,
}

/// A file of an archive that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// As the archive calls it; empty for all of it.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Puts the files of the ZIP archive at `archive` among the uploads, below a folder of the name that the archive was sent
/// under. It is opened in a process with limits; names that no file could have are left out and told.
///
/// # Errors
/// [`EngineError::File`]: it is no archive, is encrypted, or holds too much. Then nothing, or a part of its files, is there.
pub async fn unpack(session: &Session, archive: &Path, name: &str) -> Result<UnpackResponse> {
    let failed = |source| EngineError::File { file: name.to_owned(), source };
    let place = session.reader().place().await.map_err(failed)?;
    let bytes = tokio::fs::read(archive).await.map_err(|error| {
        failed(pikerag_indexing::FileError::Unreadable { reason: error.to_string() })
    })?;
    let mut taking = Taking {
        uploads: Uploads::beside(session.folder()),
        below: below(name).to_owned(),
        most: session.settings().parser_limits.file_bytes,
        response: UnpackResponse::default(),
    };
    let problems =
        session.reader().unpack(&place, name, bytes, &mut taking).await.map_err(failed)?;
    let left_out = problems.into_iter();
    taking.response.left_out =
        left_out.map(|problem| LeftOut { file: problem.place, reason: problem.reason }).collect();
    Ok(taking.response)
}

/// The folder that the files of an archive are put into: `law` for `law.zip`.
fn below(name: &str) -> &str {
    let cut = name.len().saturating_sub(4);
    match name.get(cut..) {
        Some(end) if end.eq_ignore_ascii_case(".zip") && 0 < cut => name.get(..cut).unwrap_or(name),
        _ => name,
    }
}

struct Taking {
    uploads: Uploads,
    below: String,
    most: u64,
    response: UnpackResponse,
}

#[async_trait]
impl TakesFiles for Taking {
    async fn take(&mut self, name: &str, bytes: Vec<u8>) -> std::result::Result<(), String> {
        let name = format!("{}/{name}", self.below);
        let taking = async {
            let mut part = self.uploads.begin(&name, &UploadId::random()?, 0, self.most)?;
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
    fn files_lie_below_the_name_of_their_archive() {
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
