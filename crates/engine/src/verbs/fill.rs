//! Fills a JSON Schema from a checked answer (`response_format` of other programs).

use pikerag_knowledge::{Account, Answer, Role, Spent};
use pikerag_methods::{FillSchema, FillSource, Filled, SolveError};

use crate::engine::Session;
use crate::error::Result;

/// A schema to fill from an answer.
#[derive(Clone, Debug)]
pub struct FillRequest {
    /// The schema.
    pub schema: FillSchema,
    /// The question, as it was asked.
    pub question: String,
    /// The reason why a client refused earlier values, if it did.
    pub complaint: Option<String>,
}

/// A schema that was filled, or the reason why it was not.
#[derive(Clone, Debug, PartialEq)]
pub struct FillResponse {
    /// The outcome.
    pub filled: Filled,
    /// The model's calls and tokens; none if rules filled the schema.
    pub spent: Spent,
}

/// Whether the schema can be filled: by rules, or by a chat model that is set.
pub fn can_fill(session: &Session, schema: &FillSchema) -> bool {
    !schema.needs_model() || session.has_chat(Role::Answer)
}

/// Fills a schema from a checked answer. Each value comes from the answer, its reasons or its verified quotes. Rules
/// fill simple schemas; for others, the model of the role `answer` makes one call, two if the first reply does not fit.
/// The calls are recorded and paid like any other.
///
/// # Errors
/// The base does not exist, or the model's call failed. An answer that does not give the values is no error.
///
/// # Cancel safety
/// Dropping the future aborts the call.
///
/// # Examples
/// ```no_run
/// # async fn f(
/// #     session: &pikerag_engine::Session, answer: &pikerag_engine::knowledge::Answer,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use pikerag_engine::parts::{FillSchema, Filled};
/// use pikerag_engine::{FillRequest, fill};
///
/// let schema = r#"{"type": "object", "properties": {"tons": {"type": "number"}}}"#;
/// let schema = FillSchema::new("crane", schema.parse()?).map_err(|_| "no schema")?;
/// let question = "What does the crane lift?".to_owned();
/// let request = FillRequest { schema, question, complaint: None };
/// if let Filled::Value(value) = fill(session, &request, answer).await?.filled {
///     println!("{value}"); // {"tons":40}
/// }
/// # Ok(())
/// # }
/// ```
pub async fn fill(
    session: &Session,
    request: &FillRequest,
    answer: &Answer,
) -> Result<FillResponse> {
    let model = match session.has_chat(Role::Answer) {
        true => session.recorded_chat(&session.base_for_a_question().await?, Role::Answer)?,
        false => None,
    };
    let FillRequest { schema, question, complaint } = request;
    let (question, complaint) = (question.as_str(), complaint.as_deref());
    let source = FillSource { question, answer, complaint };
    let mut account = Account::default();
    let filling = pikerag_methods::fill(model.as_deref(), schema, &source, &mut account);
    let filled = session
        .unless_cancelled(async { Ok(Box::pin(filling).await.map_err(SolveError::Ask)?) })
        .await?;
    Ok(FillResponse { filled, spent: account.cost().spent })
}
