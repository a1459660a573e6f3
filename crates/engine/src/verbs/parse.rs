//! Shows the result of reading a file (`parse`).

use std::path::{Path, PathBuf};

use pikerag_indexing::{FileError, FileReader};
use pikerag_parse::Parsed;

use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::raw_names::{path_of, written};

/// The file to read.
#[derive(Clone, Debug)]
pub struct ParseRequest {
    /// The file to read; nothing is stored.
    pub path: PathBuf,
}

/// Reads a file as indexing does, and stores nothing.
///
/// # Errors
/// [`EngineError::NotParsed`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{ParseRequest, parse};
///
/// let parsed = parse(session, &ParseRequest { path: "scan.pdf".into() }).await?;
/// for document in &parsed.documents {
///     println!("{}: {} bytes of text", document.title, document.text.len());
/// }
/// for problem in &parsed.problems {
///     println!("{}: {}", problem.place, problem.reason);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn parse(session: &Session, request: &ParseRequest) -> Result<Parsed> {
    let path = request.path.clone();
    let name = match path.to_str() {
        Some(name) => Some(name.to_owned()),
        None => written(&path).filter(|name| path_of(Path::new(""), name) == path),
    };
    let Some(name) = name else {
        return Err(EngineError::NotParsed { path, source: FileError::NotUtf8 });
    };
    let reader = session.reader();
    let reading = async {
        let read = reader.parse(&name).await;
        read.map(|read| read.parsed).map_err(|source| EngineError::NotParsed { path, source })
    };
    session.unless_cancelled(reading).await
}
