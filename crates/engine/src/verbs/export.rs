//! Exports the whole graph as JSON lines (`export`).

use std::io::Write;

use crate::base::Base;
use crate::engine::Session;
use crate::error::Result;

/// A base that is open for export.
pub struct Export {
    base: Base,
}

/// Opens the part of the base that the caller may see, for export. Errors thus occur before an
/// output file exists.
///
/// # Errors
/// There is no base.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use std::fs::File;
/// use std::io::BufWriter;
///
/// let place = session.engine().export().await?;
/// let export = pikerag_engine::export(session).await?;
/// let mut file = BufWriter::new(File::create("graph.jsonl")?);
/// place.run(move || export.write(&mut file)).await??;
/// # Ok(())
/// # }
/// ```
pub async fn export(session: &Session) -> Result<Export> {
    Ok(Export { base: session.visible_base().await? })
}

impl Export {
    /// Writes one JSON object per node and edge, all from one snapshot.
    ///
    /// # Errors
    /// The base cannot be read, or `writer` fails.
    pub fn write(&self, writer: &mut (dyn Write + Send)) -> Result<()> {
        self.base.export(&mut |line| writeln!(writer, "{line}"))?;
        Ok(writer.flush()?)
    }
}
