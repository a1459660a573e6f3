//! Draws a page of a document, so that readers can check a citation (`page`).

use pikerag_knowledge::uri::file_path;
use pikerag_knowledge::{Filter, SourceId, Which};
use pikerag_parse::PagePicture;

use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::verbs::read::source;

/// The least and the most pixels of a picture's width.
pub const WIDTHS: (u32, u32) = (100, 4000);

/// More chunks than any document has.
const ALL: usize = u32::MAX as usize;

/// A page of a document, from 1, drawn from the bytes that were indexed; `width` is in pixels,
/// limited to [`WIDTHS`]. A caller who sees only a part of the document gets no page, because it
/// would show the rest.
///
/// # Errors
/// [`EngineError::NotFound`], [`EngineError::OnlyPart`]; [`EngineError::File`] if there is no such
/// page or it cannot be drawn (only PDF has pages that can).
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::SourceId;
///
/// let id = SourceId::of("handbook/sensor.pdf");
/// let picture = pikerag_engine::page(session, id, 3, 1200).await?;
/// std::fs::write("page-3.png", &picture.png)?;
/// println!("page 3 of {}", picture.pages);
/// # Ok(())
/// # }
/// ```
pub async fn page(session: &Session, id: SourceId, page: u32, width: u32) -> Result<PagePicture> {
    let base = session.base_in_part().await?;
    let (source, _) = source(session, id).await?;
    if !session.sees_all() && !sees_whole(session, &base, id).await? {
        return Err(EngineError::OnlyPart);
    }
    // It waits before the bytes are in memory, because many callers may ask at once.
    let path = file_path(&source.uri);
    let failed = |source| EngineError::File { file: path.clone(), source };
    let place = session.reader().place().await.map_err(failed)?;
    let Some(file) = base.files(Which::Of(&[path.as_str()])).await?.pop() else {
        return Err(EngineError::NotFound { what: Missing::File, name: path.clone() });
    };
    let Some(bytes) = base.original(&file.hash).await? else {
        return Err(EngineError::NotFound { what: Missing::Original, name: path.clone() });
    };
    let width = width.clamp(WIDTHS.0, WIDTHS.1);
    session.reader().draw(&place, &path, bytes, (page, width)).await.map_err(failed)
}

/// Whether the caller may see every chunk of a document.
async fn sees_whole(session: &Session, base: &Base, id: SourceId) -> Result<bool> {
    let count = async |visible: &Filter| -> Result<usize> {
        let seen = base.snapshot(visible, &Filter::default()).await?;
        Ok(seen.first_chunks(id, ALL).await?.len())
    };
    let (seen, all) = (count(session.visible()).await?, count(&Filter::default()).await?);
    Ok(seen == all)
}
