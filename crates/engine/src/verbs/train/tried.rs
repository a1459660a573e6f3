//! Tries the model of `propose` on a question, in the form of the training data.

use pikerag_knowledge::{Question, Role};
use pikerag_methods::decompose::{Answered, Next, propose_next};
use pikerag_methods::{MethodLabel, Run, RunParams, SolveError};
use serde::Serialize;

use crate::engine::Session;
use crate::error::Result;

/// The steps of a trained proposer on one question.
#[derive(Clone, Debug, Serialize)]
pub struct TriedProposer {
    /// The model.
    pub model: String,
    /// The first sub-question; `None` if the model needs none, or its reply did not have the form.
    pub sub_question: Option<String>,
    /// Whether the replies had the form of the training data.
    pub is_readable: bool,
    /// Whether the model ended after an answer to its sub-question; `None` if it was not asked.
    pub ends: Option<bool>,
}

/// Asks the model of `propose` for the first sub-question, and once more with an answer: two calls at most.
///
/// # Errors
/// There is no model, or a call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let tried = pikerag_engine::train_use(session, "Who owns the yard that built the Heron?").await?;
/// println!("{}: {:?}", tried.model, tried.sub_question);
/// # Ok(())
/// # }
/// ```
pub async fn train_use(session: &Session, question: &str) -> Result<TriedProposer> {
    let Some(model) = session.bare_chat(Role::Propose)? else {
        return Err(SolveError::NoModel { role: Role::Propose }.into());
    };
    let question = Question::new("tried", question);
    let mut run = Run::begin(MethodLabel::named("train-use"), &question, RunParams::default());
    let tried = async {
        let first = propose_next(model.as_ref(), &question, &[], &mut run).await?;
        let mut tried = TriedProposer {
            model: model.name().to_owned(),
            sub_question: None,
            is_readable: first.is_some(),
            ends: None,
        };
        if let Some(Next::Ask(sub_question)) = first {
            let pair =
                Answered { question: sub_question.clone(), answer: "Brandt & Sons".to_owned() };
            tried.sub_question = Some(sub_question);
            let second = propose_next(model.as_ref(), &question, &[pair], &mut run).await?;
            tried.is_readable = second.is_some();
            tried.ends = second.map(|second| second == Next::Done);
        }
        Ok(tried)
    };
    session.unless_cancelled(async { Ok(Box::pin(tried).await.map_err(SolveError::Ask)?) }).await
}
