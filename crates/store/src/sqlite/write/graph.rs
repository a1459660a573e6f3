//! How does indexing write the entity graph and the tree? The [`GraphWriter`] port.

use async_trait::async_trait;
use pikerag_knowledge::{
    Community, CommunityReport, ExtractBy, Extraction, Generation, GraphWriter, InChunk,
    LongDescription, Outline, ShortDescription, StoreError, Summary, SummaryId,
};

use crate::sqlite::{Base, distil, generation, graph, tree};

#[async_trait]
impl GraphWriter for Base {
    async fn put_extractions(
        &self,
        by: ExtractBy,
        found: Vec<InChunk<Extraction>>,
    ) -> Result<(), StoreError> {
        self.writing("storing entities", move |tx| {
            for found in &found {
                distil::put_extraction(tx, by, found)?;
            }
            Ok(())
        })
        .await
    }

    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError> {
        self.looking("reading descriptions", move |connection| {
            graph::long_descriptions(connection, bytes)
        })
        .await
    }

    async fn put_descriptions(&self, made: Vec<ShortDescription>) -> Result<(), StoreError> {
        self.writing("storing descriptions", move |tx| distil::put_descriptions(tx, &made)).await
    }

    async fn outline(&self) -> Result<Outline, StoreError> {
        self.looking("reading the entity graph", graph::outline).await
    }

    async fn put_communities(
        &self,
        of: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError> {
        self.writing("storing communities", move |tx| {
            let current = generation(tx)? == of;
            if current {
                distil::put_communities(tx, &communities)?;
            }
            Ok(current)
        })
        .await
    }

    async fn put_reports(&self, reports: Vec<CommunityReport>) -> Result<(), StoreError> {
        self.writing("storing reports", move |tx| distil::put_reports(tx, &reports)).await
    }

    async fn put_summaries(&self, summaries: Vec<Summary>) -> Result<(), StoreError> {
        self.writing("storing summaries", move |tx| {
            summaries.iter().try_for_each(|summary| tree::put(tx, summary))
        })
        .await
    }

    async fn keep_summaries(&self, level: u8, ids: &[SummaryId]) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.writing("dropping old summaries", move |tx| tree::keep(tx, level, &ids)).await
    }
}
