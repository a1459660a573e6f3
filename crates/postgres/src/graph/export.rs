//! Exports the graph as lines: nodes, then edges, each in a fixed order. Two bases with the same
//! content export the same bytes, in any store. Single nodes and their edges are found by identifier
//! without reading the rest.

mod edges;
mod nodes;

use pikerag_knowledge::StoreError;
use pikerag_store::{ExportLine, Line};

use crate::base::Base;
use crate::error::Context;
use crate::fault::{Fault, Sql};

/// Takes the lines of nodes or edges, one by one.
type Emit<'a> = &'a mut (dyn FnMut(ExportLine) -> Sql<()> + Send);

impl Base {
    /// Passes the whole graph to `line`, node by node and edge by edge; in a snapshot, its visible
    /// part. The ledger is not exported. Blocks its thread, which must not be one of the runtime's.
    ///
    /// # Errors
    /// The base cannot be read, or `line` fails (a full disk, a closed pipe).
    pub fn export(&self, line: Line<'_>) -> Result<(), StoreError> {
        let reading = self.reading("exporting", move |tx| async move {
            let mut emit = |value: ExportLine| passed(line(value));
            nodes::all(&tx, &mut emit).await?;
            edges::all(&tx, &mut emit).await
        });
        self.inner.runtime.block_on(reading)
    }

    /// As [`Base::export`], for the edges alone, without reading any text.
    ///
    /// # Errors
    /// As [`Base::export`].
    pub fn export_edges(&self, line: Line<'_>) -> Result<(), StoreError> {
        let reading = self.reading("exporting", move |tx| async move {
            edges::all(&tx, &mut |value: ExportLine| passed(line(value))).await
        });
        self.inner.runtime.block_on(reading)
    }

    /// As [`Base::export`], for the nodes that have names: documents (without their text),
    /// sections, entities, communities, tags.
    ///
    /// # Errors
    /// As [`Base::export`].
    pub fn export_named(&self, line: Line<'_>) -> Result<(), StoreError> {
        let reading = self.reading("exporting", move |tx| async move {
            nodes::named(&tx, &mut |value: ExportLine| passed(line(value))).await
        });
        self.inner.runtime.block_on(reading)
    }

    /// The lines of these nodes, documents without their text. Missing and hidden nodes are left
    /// out. The time depends on the number of nodes, not on the size of the base. Blocks like
    /// [`Base::export`].
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn nodes_by_id(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        let reading =
            self.reading("reading nodes", move |tx| async move { nodes::by_id(&tx, ids).await });
        self.inner.runtime.block_on(reading)
    }

    /// The edges from and to these nodes; an edge between two of them occurs twice. The time
    /// depends on the number of edges. Blocks like [`Base::export`].
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn edges_of(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        let reading =
            self.reading("reading edges", move |tx| async move { edges::of(&tx, ids).await });
        self.inner.runtime.block_on(reading)
    }
}

/// A failure of the reader of the lines, in words.
fn passed(result: std::io::Result<()>) -> Sql<()> {
    result.context("writing the export").map_err(Fault::Store)
}
