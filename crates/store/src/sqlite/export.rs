//! Exports the graph as lines: nodes, then edges, each in a fixed order. Two bases with the same
//! content export the same bytes. Single nodes and their edges are found by identifier without
//! reading the rest.

mod edges;
mod line;
mod nodes;

use pikerag_knowledge::StoreError;

pub use self::line::ExportLine;
pub use self::nodes::tagged;
use super::base::Base;
use crate::error::Context;

impl Base {
    /// Passes the whole graph to `line`, node by node and edge by edge; in a snapshot, its visible
    /// part. The ledger is not exported.
    ///
    /// # Errors
    /// The base cannot be read, or `line` fails (a full disk, a closed pipe).
    pub fn export(
        &self,
        mut line: impl FnMut(ExportLine) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.view("exporting", |view| {
            let mut emit = |value: ExportLine| line(value).context("writing the export");
            nodes::all(view.connection, &mut emit)?;
            edges::all(view.connection, &mut emit)
        })
    }

    /// As [`Base::export`], for the edges alone, without reading any text.
    ///
    /// # Errors
    /// As [`Base::export`].
    pub fn export_edges(
        &self,
        mut line: impl FnMut(ExportLine) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.view("exporting", |view| {
            edges::all(view.connection, &mut |value| line(value).context("writing the export"))
        })
    }

    /// As [`Base::export`], for the nodes that have names: documents (without their text),
    /// sections, entities, communities, tags.
    ///
    /// # Errors
    /// As [`Base::export`].
    pub fn export_named(
        &self,
        mut line: impl FnMut(ExportLine) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.view("exporting", |view| {
            nodes::named(view.connection, &mut |value| line(value).context("writing the export"))
        })
    }

    /// The lines of these nodes, documents without their text. Missing and hidden nodes are left
    /// out. The time depends on the number of nodes, not on the size of the base.
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn nodes_by_id(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        self.view("reading nodes", |view| nodes::by_id(view.connection, ids))
    }

    /// The edges from and to these nodes; an edge between two of them occurs twice. The time
    /// depends on the number of edges.
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn edges_of(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        self.view("reading edges", |view| edges::of(view.connection, ids))
    }
}
