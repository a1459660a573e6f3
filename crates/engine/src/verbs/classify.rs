//! Determines the class of questions (`classify`): of one question with reasons, or of many
//! labelled ones to measure how often the class is right.

use std::path::{Path, PathBuf};

use pikerag_knowledge::{ClassifiedBy, Filter, Level, Question, Reason, Statement, TaskClass};
use pikerag_methods::pike::{self, Classifier};
use serde::{Deserialize, Serialize};

use crate::engine::Session;
use crate::error::{EngineError, NoWords, QuestionFile, Result};
use crate::notice::Notice;
use crate::verbs::ask::has_word;

/// The questions to classify, and the method.
#[derive(Clone, Debug, Default)]
pub struct ClassifyRequest {
    /// A question; empty if a file has the questions.
    pub question: String,
    /// A file of questions, one JSON object per line: `question`, and `class` if they are labelled.
    pub questions: Option<PathBuf>,
    /// The classifier.
    pub classifier: Classifier,
    /// The part of the base that the classifier may see.
    pub filter: Filter,
}

/// The classes, in the order of the questions.
#[derive(Debug, Serialize)]
pub struct ClassifyResponse {
    /// One for each question.
    pub questions: Vec<ClassifiedQuestion>,
    /// Notices about the result.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

/// A question with its class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassifiedQuestion {
    /// The question as given.
    pub question: String,
    /// Its class.
    pub class: TaskClass,
    /// The level of the class.
    pub level: Level,
    /// The classifier that decided.
    pub by: ClassifiedBy,
    /// The reasons.
    pub reasons: Vec<Statement<Reason>>,
    /// The number of model calls.
    pub calls: usize,
    /// The class in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<TaskClass>,
    /// Whether the file marks it as held out: it was not used to make the rules.
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

/// Determines the class of questions without answering them.
///
/// # Errors
/// The base does not exist, the file cannot be read, or a model call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{ClassifyRequest, classify};
///
/// let request = ClassifyRequest {
///     question: "Which sensor drifts more, the PT100 or the K2?".to_owned(),
///     ..Default::default()
/// };
/// for question in classify(session, &request).await?.questions {
///     println!("{} ({}), with {} calls", question.class, question.level, question.calls);
/// }
/// # Ok(())
/// # }
/// ```
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
            return Err(EngineError::NoWords(NoWords::Question));
        }
        let asked = Question::new("asked", question.trim());
        let classifying = Box::pin(pike::classed(&ports, &asked, request.classifier));
        let classified = session.unless_cancelled(async { Ok(classifying.await?) }).await?;
        questions.push(ClassifiedQuestion {
            question,
            class: classified.class,
            level: classified.class.level(),
            by: classified.by,
            reasons: classified.reasons,
            calls: classified.calls,
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
