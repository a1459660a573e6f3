//! What does the graph look like as lines? Nodes, then edges, each in a fixed order, so that two bases with the same
//! content export the same bytes; and those of a few nodes, found by their identifiers without reading the rest.

mod edges;
mod line;
mod nodes;

use pikerag_knowledge::StoreError;

pub use self::line::ExportLine;
use super::base::Base;
use crate::error::Context;

impl Base {
    /// Hands the whole graph to `line`, node by node and edge by edge; in a snapshot what is seen of it. The ledger is
    /// not part of it.
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

    /// As [`Base::export`], for the edges alone: told without reading any text.
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

    /// As [`Base::export`], for the nodes that people call by a name: documents (without their text), sections,
    /// entities, communities, tags.
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

    /// The lines of these nodes, documents without their text; those that are not there or not seen are left out. Takes
    /// as long as there are nodes, however large the base is.
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn nodes_by_id(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        self.view("reading nodes", |view| nodes::by_id(view.connection, ids))
    }

    /// The edges that lead from or to these nodes; one between two of them comes twice. Takes as long as there are edges.
    ///
    /// # Errors
    /// The base cannot be read.
    pub fn edges_of(&self, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
        self.view("reading edges", |view| edges::of(view.connection, ids))
    }
}
