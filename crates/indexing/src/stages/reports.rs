//! Reports on each community: a model writes the reports, parts before wholes; without a model, sentences are
//! used (GraphRAG §3.1.5).

use std::collections::HashMap;
use std::ops::ControlFlow;

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    Community, CommunityId, CommunityReport, KnowledgeBase, ModelTexts, Report as Written, Role,
    Stage as Mark, StoreError, Usage, Which,
};

use super::report::{quoted, write};
use crate::bill::Bill;
use crate::call_batch::{Named, Place, finish};
use crate::outcome::Report;
use crate::pending::PAGE;
use crate::stage::{Job, Ran, Row, Stage};

/// Community reports per chunk, and tokens of their prompts and replies, estimated because the graph is not
/// known yet.
const REPORTS_PER_CHUNK: f64 = 0.4;
const REPORT: Usage = Usage { prompt_tokens: 1500, completion_tokens: 400 };

/// Reports that a model writes, level by level from the deepest, because reports on large communities use
/// the reports on their parts.
pub(crate) struct Reports;

/// A community with its parts.
type Whole = (Community, Vec<Community>);

#[async_trait]
impl Stage for Reports {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let (Some(model), base) = (job.model(row), job.base()) else {
            return Ok(ControlFlow::Continue(()));
        };
        let all = base.communities(Which::All).await?;
        let levels = all.iter().map(|community| community.level).max().unwrap_or(0);
        let total = all.iter().filter(|community| is_unwritten(community)).count();
        for level in (0..=levels).rev() {
            let wholes = unwritten(base, level).await?.into_iter().map(Ok);
            let ask = |(community, parts): Whole| async move {
                let written = write(base, model, &community, &parts).await;
                ((community, parts), written)
            };
            let name = |(community, _): &Whole| Named {
                label: format!("community {}", community.id),
                place: Place::Marked(vec![(Mark::report(), community.id.into())]),
            };
            let pieces = stream::iter(wholes).boxed();
            let (calling, mut results) = job.calls(row, total).begin(pieces, ask, name).await?;
            let storing = async {
                while let Some(answers) = results.next(report).await? {
                    let mut reports = Vec::with_capacity(answers.len());
                    for ((community, _), written) in answers {
                        let written = match written {
                            Some(written) => written?,
                            None => {
                                report.unextracted += 1;
                                let quoted = quoted(base, &community).await?;
                                // Names the model, so that the report is not requested again.
                                Written { model: Some(model.name().to_owned()), ..quoted }
                            }
                        };
                        report.reports += 1;
                        reports.push(CommunityReport { community: community.id, report: written });
                    }
                    base.put_texts(ModelTexts::Reports(reports)).await?;
                }
                Ok(())
            };
            finish(calling, storing).await?;
            if report.stopped.is_some() {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn count_rest(&self, bill: &mut Bill) {
        let reports = (bill.graph_chunks as f64 * REPORTS_PER_CHUNK).ceil() as u64;
        let prompt_tokens = reports * REPORT.prompt_tokens;
        let completion_tokens = reports * REPORT.completion_tokens;
        let usage = Usage { prompt_tokens, completion_tokens };
        bill.calls(Role::Summarize, reports as usize, usage);
    }
}

/// Whether no model has reported on a community.
fn is_unwritten(community: &Community) -> bool {
    community.report.as_ref().is_none_or(|report| report.model.is_none())
}

/// The communities of a level without a report by a model, whose parts all have reports.
async fn unwritten(base: &dyn KnowledgeBase, level: u8) -> Result<Vec<Whole>, StoreError> {
    let all = base.communities(Which::All).await?;
    let mut parts: HashMap<CommunityId, Vec<Community>> = HashMap::new();
    for community in &all {
        if let Some(parent) = community.parent {
            parts.entry(parent).or_default().push(community.clone());
        }
    }
    let mut wholes = Vec::new();
    for community in all.into_iter().filter(is_unwritten).filter(|found| found.level == level) {
        let parts = parts.remove(&community.id).unwrap_or_default();
        // Reports on only some of the parts would give another report.
        if parts.iter().all(|part| part.report.is_some()) {
            wholes.push((community, parts));
        }
    }
    Ok(wholes)
}

/// Sentences used in place of reports.
pub(crate) struct Quotations;

#[async_trait]
impl Stage for Quotations {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let mut missing = job.base().communities(Which::All).await?;
        missing.retain(|community| community.report.is_none());
        let mut done = 0;
        for page in missing.chunks(PAGE) {
            let mut reports = Vec::with_capacity(page.len());
            for community in page {
                let report = quoted(job.base(), community).await?;
                reports.push(CommunityReport { community: community.id, report });
            }
            job.base().put_texts(ModelTexts::Reports(reports)).await?;
            report.reports += page.len();
            done += page.len();
            job.report_progress(row, done, missing.len());
        }
        Ok(ControlFlow::Continue(()))
    }
}
