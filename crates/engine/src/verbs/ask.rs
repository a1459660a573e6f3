//! `ask`: what the base is for.

use pikerag_coordinate::{Method, Ports, solve};
use pikerag_knowledge::{Answer, Question};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::notice::Notice;

/// A question, and how to answer it.
#[derive(Clone, Debug)]
pub struct AskRequest {
    /// The question.
    pub question: String,
    /// The method's name.
    pub method: String,
}

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub struct AskResponse {
    /// The question.
    pub question: String,
    /// The method's name.
    pub method: String,
    /// The answer with its citations, its reasoning and what it took.
    pub answer: Answer,
    /// What to know besides.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

impl Engine {
    /// Answers a question.
    ///
    /// # Errors
    /// There is no such method or no base, or the method lacks something. A question is answered whole or not at
    /// all.
    ///
    /// # Cancel safety
    /// Reads only; dropping the future gives up at most the call in flight.
    pub async fn ask(&self, request: &AskRequest) -> Result<AskResponse> {
        let method = self.method(&request.method)?;
        let base = self.base()?;
        let (ports, notices) = self.ports(&base).await?;
        let text = request.question.trim();
        if text.is_empty() {
            return Err(EngineError::EmptyQuestion);
        }
        let question = Question { id: "asked".to_owned(), text: text.to_owned() };
        let answer = answer(&ports, &question, method).await?;
        Ok(AskResponse { question: question.text, method: request.method.clone(), answer, notices })
    }
}

async fn answer(ports: &Ports, question: &Question, method: Method) -> Result<Answer> {
    Ok(solve(ports, question, method).await?)
}
