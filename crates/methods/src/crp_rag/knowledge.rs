//! Retrieves passages for each step and aggregates them into its knowledge (CRP-RAG §3.3).

use std::collections::BTreeMap;

use pikerag_knowledge::{Event, Question, Role};
use pikerag_prompt::{Prompt, Prose, passages, quiet_headings};

use super::construct::{interference, noisy_nodes, seed_of};
use super::graph::Graph;
use super::{Knowledge, Noise, Params};
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, look_up};
use crate::run::Run;

const INTEGRATE: Prompt =
    Prompt::new(Role::Summarize, include_str!("../prompts/crp_integrate.md"), 1024)
        .with_earlier(
            "methods/crp_integrate",
            &[include_str!("../prompts/earlier/crp_integrate.1.md")],
        )
        .at(super::TEMPERATURE);

/// `K = KRA(V, q)`, eq. 2: one piece of knowledge for each node, by number.
pub(super) async fn retrieve_and_aggregate(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    graph: &Graph,
    params: Params,
) -> Result<Vec<Knowledge>, SolveError> {
    let mut all = Vec::with_capacity(graph.len());
    for node in 0..graph.len() {
        let found =
            look_up(ports, run, node + 1, graph.text(node), RetrievalParams::top(params.k)).await?; // eq. 7
        all.push(Knowledge { text: passages(&found), chunks: found });
    }
    if params.aggregates {
        aggregate(ports, run, question, graph, &mut all).await?; // eq. 8
    }
    if let Noise::Knowledge(percent) = params.noise {
        let noisy_nodes = noisy_nodes(graph, percent, seed_of(question));
        let texts = interference(ports, run, noisy_nodes.len()).await?;
        let texts: BTreeMap<usize, String> = noisy_nodes.into_iter().zip(texts).collect();
        for (node, text) in texts {
            if let Some(known) = all.get_mut(node) {
                known.text = quiet_headings(&text);
            }
        }
    }
    Ok(all)
}

/// `k_i = LLM(prompt_integration, d_i, v_i)`. Where the reply stays empty, the passages remain.
async fn aggregate(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    graph: &Graph,
    all: &mut [Knowledge],
) -> Result<(), SolveError> {
    let asked = quiet_headings(&question.text);
    let steps: Vec<String> =
        (0..graph.len()).map(|node| quiet_headings(graph.text(node))).collect();
    let found: Vec<String> = all.iter().map(|known| known.text.clone()).collect();
    let mut inputs = Vec::with_capacity(all.len());
    for (step, passages) in steps.iter().zip(&found) {
        let input = vec![
            ("question", asked.as_str()),
            ("step", step.as_str()),
            ("passages", passages.as_str()),
        ];
        inputs.push((input, 0));
    }
    let replies = run.ask_each::<Prose>(ports, &INTEGRATE, &inputs).await?;
    for (node, (known, reply)) in all.iter_mut().zip(replies).enumerate() {
        if let Some(Prose(summary)) = reply {
            run.push(Event::Thought { step: node + 1, text: summary.clone() });
            known.text = quiet_headings(&summary);
        }
    }
    Ok(())
}
