//! Turns hits into ordered passages for every method, and traces how many are left out and why (PIKE-RAG §4.2).

use crate::context::{Organized, Rules, organize};
use pikerag_knowledge::{Candidate, Chunk, Event};

use crate::candidates::fetch;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// The candidates that are read, with their passages in the same order.
pub async fn gathered(
    ports: &Ports,
    run: &mut Run,
    candidates: Vec<Candidate>,
    rules: Rules,
) -> Result<(Vec<Candidate>, Vec<Chunk>), SolveError> {
    let chunks = fetch(ports, &candidates).await?;
    let kept = in_order(run, chunks, rules).kept;
    let is_kept = |candidate: &Candidate| kept.iter().any(|chunk| chunk.id == candidate.chunk);
    Ok((candidates.into_iter().filter(is_kept).collect(), kept))
}

/// Orders passages, given best first, for reading; the trace shows how many are left out.
pub fn in_order(run: &mut Run, given: Vec<Chunk>, rules: Rules) -> Organized {
    let count = given.len();
    let organized = organize(given, rules);
    trace_left_out(run, count, &organized);
    organized
}

/// Traces how many of `given` passages are left out and why, if there are any.
pub fn trace_left_out(run: &mut Run, given: usize, organized: &Organized) {
    if !organized.left_out.is_empty() {
        let (kept, left_out) = (organized.kept.len(), organized.reasons());
        run.push(Event::Organized { given, kept, left_out });
    }
}
