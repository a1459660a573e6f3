//! `classify`: which kind of question is it, and why? Of one question, or of many that are labelled, to see how often the
//! class is right.

use std::path::{Path, PathBuf};

use pikerag_knowledge::{ClassifiedBy, Filter, Level, Question, Reason, Statement, TaskClass};
use pikerag_methods::pike::{self, Classifier};
use serde::{Deserialize, Serialize};

use crate::engine::Session;
use crate::error::{EngineError, QuestionFile, Result, Wordless};
use crate::notice::Notice;
use crate::verbs::ask::has_word;

/// What to classify, and how.
#[derive(Clone, Debug, Default)]
pub struct ClassifyRequest {
    /// A question; empty where a file has them.
    pub question: String,
    /// A file of questions, one JSON object a line: `question`, and where they are labelled `class`.
    pub questions: Option<PathBuf>,
    /// Who tells the class.
    pub classifier: Classifier,
    /// What of the base may be seen.
    pub filter: Filter,
}

/// The classes, in the order of the questions.
#[derive(Debug, Serialize)]
pub struct ClassifyResponse {
    /// One for each question.
    pub questions: Vec<ClassifiedQuestion>,
    /// What to know besides.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

/// A question with its class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassifiedQuestion {
    /// As it was asked.
    pub question: String,
    /// Its class.
    pub class: TaskClass,
    /// The level that it takes.
    pub level: Level,
    /// Who told it.
    pub by: ClassifiedBy,
    /// Why.
    pub reasons: Vec<Statement<Reason>>,
    /// Calls that it took.
    pub calls: usize,
    /// The class that the file says it is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<TaskClass>,
    /// Whether the file keeps it apart: it was not looked at when rules were made.
    pub apart: bool,
}

/// A line of a file of questions.
#[derive(Deserialize)]
struct Line {
    question: String,
    class: Option<TaskClass>,
    #[serde(default)]
    apart: bool,
}

/// Tells the class of questions, and answers none of them.
///
/// # Errors
/// There is no base, the file cannot be read, or a model call failed.
pub async fn classify(session: &Session, request: &ClassifyRequest) -> Result<ClassifyResponse> {
    let lines = match &request.questions {
        Some(path) => read(path)?,
        None => vec![Line { question: request.question.clone(), class: None, apart: false }],
    };
    let base = session.base_in_part().await?;
    let seen = session.snapshot(&base, &request.filter).await?;
    let (ports, notices) = session.ports(&base, seen).await?;
    let mut questions = Vec::with_capacity(lines.len());
    for Line { question, class: label, apart } in lines {
        if !has_word(&question) {
            return Err(EngineError::Wordless(Wordless::Question));
        }
        let asked = Question::new("asked", question.trim());
        let told = Box::pin(pike::classed(&ports, &asked, request.classifier));
        let told = session.unless_cancelled(async { Ok(told.await?) }).await?;
        questions.push(ClassifiedQuestion {
            question,
            class: told.class,
            level: told.class.level(),
            by: told.by,
            reasons: told.reasons,
            calls: told.calls,
            label,
            apart,
        });
    }
    Ok(ClassifyResponse { questions, notices })
}

fn read(path: &Path) -> Result<Vec<Line>> {
    let text = std::fs::read_to_string(path).map_err(|source| {
        EngineError::QuestionsUnreadable { of: QuestionFile::Asked, path: path.to_owned(), source }
    })?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(line, text)| {
            serde_json::from_str(text).map_err(|source| EngineError::BadQuestion {
                of: QuestionFile::Asked,
                path: path.to_owned(),
                line,
                source,
            })
        })
        .collect()
}
