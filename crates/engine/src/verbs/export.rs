//! `export`: the whole graph as JSON lines.

use std::io::Write;

use pikerag_store::Base;

use crate::engine::Session;
use crate::error::Result;

/// A base that is open for its export.
pub struct Export {
    base: Base,
}

/// Opens the base for its export, and of it what the caller may see: before anybody makes a file for it.
///
/// # Errors
/// There is no base.
pub async fn export(session: &Session) -> Result<Export> {
    Ok(Export { base: session.visible_base().await? })
}

impl Export {
    /// Writes one JSON object per node and edge; all that there is, in one snapshot.
    ///
    /// # Errors
    /// The base cannot be read, or `writer` fails.
    pub fn write(&self, writer: &mut dyn Write) -> Result<()> {
        self.base.export(|line| writeln!(writer, "{line}"))?;
        Ok(writer.flush()?)
    }
}
