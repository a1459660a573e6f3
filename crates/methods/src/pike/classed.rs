//! Classifies a question without an answer.

use std::collections::BTreeMap;

use pikerag_knowledge::{ClassifiedBy, Question, Reason, Statement, TaskClass};

use super::classify::{Classifier, Evidence, Verdict, classify};
use crate::feedback::Recall;
use crate::ports::{Ports, SolveError};
use crate::run::{MethodLabel, Run, RunParams};

/// The class of a question that is not answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Classed {
    /// The class.
    pub class: TaskClass,
    /// Who classified the question.
    pub by: ClassifiedBy,
    /// Why.
    pub reasons: Vec<Statement<Reason>>,
    /// Calls that it took.
    pub calls: usize,
}

/// Classifies a question and does not answer it.
///
/// # Errors
/// See [`SolveError`].
pub async fn classed(
    ports: &Ports,
    question: &Question,
    classifier: Classifier,
) -> Result<Classed, SolveError> {
    let label = MethodLabel {
        name: "pike".to_owned(),
        shown: "pike".to_owned(),
        parameters: BTreeMap::new(),
        weights: serde_json::Value::Null,
    };
    let mut run = Run::begin(label, question, RunParams::default());
    let evidence = Evidence::gather(ports, question).await?;
    let recall = Recall::of(ports, question, &evidence.found).await?;
    let Verdict { class, by, reasons } =
        classify(ports, &mut run, question, &evidence, classifier, &recall).await?;
    Ok(Classed { class, by, reasons, calls: run.account.cost().spent.calls() })
}
