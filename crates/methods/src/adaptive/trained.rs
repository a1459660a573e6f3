//! Lets a trained proposer name what to look up between reading rounds (PIKE-RAG §5.3.3). It sees its earlier
//! sub-questions with their answers, as in its training data, so that one more call answers each from its passages.

use pikerag_knowledge::{Question, Role};

use super::findings::Findings;
use crate::decompose::{Answered, Next, propose_next};
use crate::ports::{Ports, SolveError};
use crate::retrieval::{answer_step, sub_question};
use crate::run::Run;

/// The sub-questions of a trained proposer.
#[derive(Default)]
pub(super) struct Trained {
    answered: Vec<Answered>,
    /// The last sub-question with the numbers of the passages found for it.
    open: Option<(String, Vec<usize>)>,
}

impl Trained {
    /// The next sub-question; `None` if the proposer needs no further one, or its reply stayed unreadable.
    pub(super) async fn next(
        &mut self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        findings: &Findings,
    ) -> Result<Option<String>, SolveError> {
        if let Some((asked, numbers)) = self.open.take() {
            let passages = findings.context(&numbers);
            let reading = answer_step(ports, run, &sub_question(&asked), &passages, "").await?;
            let answer = run.resolved(1, &asked, reading.unwrap_or_default().answer)?;
            self.answered.push(Answered { question: asked, answer });
        }
        let model = ports.models.need(Role::Propose)?;
        let next = propose_next(model, question, &self.answered, run).await?;
        Ok(match next {
            Some(Next::Ask(next)) => Some(next),
            Some(Next::Done) | None => None,
        })
    }

    /// Keeps the passages that a sub-question found.
    pub(super) fn found(&mut self, asked: String, numbers: &[usize]) {
        self.open = Some((asked, numbers.to_vec()));
    }
}
