//! Does an answer stem from what was retrieved, and how sure is a model that writes from it? Factual
//! consistency and perplexity (CRP-RAG §5.3, Tables 3 and 4).

use pikerag_knowledge::{
    Account, Answer, ChatModel, ChatRequest, Message, ModelError, Role, mean_probability,
};
use pikerag_prompt::{AskError, Prompt, YesNo, ask, passages, quiet_headings};

const CONSISTENT: Prompt = Prompt::new(Role::Judge, include_str!("prompts/consistent.md"), 1024);
const WRITTEN: Prompt = Prompt::new(Role::Judge, include_str!("prompts/written.md"), 256);

/// Whether what an answer says, rationale included, originates from the passages it was written from.
/// An answer from no passages does not, and costs nothing; a refusal is not asked about (`None`).
///
/// # Errors
/// The call failed, or its reply stayed unreadable.
pub async fn is_consistent(
    model: &dyn ChatModel,
    question: &str,
    answer: &Answer,
    account: &mut Account,
) -> Result<Option<bool>, AskError> {
    if answer.refused {
        return Ok(None);
    }
    if answer.context.chunks.is_empty() {
        return Ok(Some(false));
    }
    let shown = passages(answer.context.chunks.iter().map(|held| &held.chunk));
    let asked = quiet_headings(question);
    let said = quiet_headings(&format!("{}\n{}", answer.text, answer.rationale));
    let inputs =
        [("passages", shown.as_str()), ("question", asked.as_str()), ("answer", said.trim())];
    let YesNo(stems) = ask(model, &CONSISTENT, &inputs, account).await?;
    Ok(Some(stems))
}

/// The perplexity, from 1, of what a model writes when it answers from the context that a method ended
/// with: `exp(-mean log p)` over the tokens of its reply. `None` for a refusal, and for an empty reply.
///
/// # Errors
/// The call failed; [`ModelError::NoLogprobs`] where the endpoint has none.
pub async fn perplexity(
    model: &dyn ChatModel,
    question: &str,
    answer: &Answer,
    account: &mut Account,
) -> Result<Option<f64>, AskError> {
    if answer.refused {
        return Ok(None);
    }
    let shown = match passages(answer.context.chunks.iter().map(|held| &held.chunk)) {
        empty if empty.is_empty() => "(none)".to_owned(),
        shown => shown,
    };
    let asked = quiet_headings(question);
    let text = WRITTEN.render(&[("passages", shown.as_str()), ("question", asked.as_str())])?;
    let request = ChatRequest {
        role: WRITTEN.role,
        messages: vec![Message::User { text, images: Vec::new() }],
        temperature: WRITTEN.temperature,
        max_tokens: WRITTEN.max_tokens,
        schema: None,
        sample: 0,
        logprobs: true,
    };
    let failed = |source: ModelError| AskError::Model { role: WRITTEN.role, source };
    let reply = model.complete(&request).await.map_err(failed)?;
    account.book(WRITTEN.role, &reply);
    Ok(mean_probability(&reply.logprobs).map(f64::recip))
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{ScriptedChat, ScriptedScorer};
    use pikerag_knowledge::{Context, WrittenBy};

    use super::*;

    fn answer(refused: bool) -> Answer {
        Answer {
            text: "Oslo".to_owned(),
            rationale: String::new(),
            refused,
            written_by: WrittenBy::Quotation,
            citations: Vec::new(),
            context: Context::default(),
        }
    }

    #[tokio::test]
    async fn what_needs_no_judge_costs_nothing() {
        let nobody = ScriptedChat::in_order([""; 0]);
        let mut account = Account::default();
        let from_nothing = is_consistent(&nobody, "Where?", &answer(false), &mut account).await;
        assert_eq!(from_nothing.unwrap(), Some(false));
        let refused = is_consistent(&nobody, "Where?", &answer(true), &mut account).await;
        assert_eq!(
            (refused.unwrap(), account.cost().spent.calls(), nobody.requests().len()),
            (None, 0, 0)
        );
    }

    #[tokio::test]
    async fn the_geometric_mean_of_what_was_written() {
        let writer = ScriptedScorer::by_role([(Role::Judge, [("xx", [0.25_f32, 1.0])])]);
        let mut account = Account::default();
        let sure = perplexity(&writer, "Where?", &answer(false), &mut account).await.unwrap();
        assert!((sure.unwrap() - 2.0).abs() < 1e-6);
        assert_eq!(account.cost().spent.calls(), 1);
        assert_eq!(perplexity(&writer, "?", &answer(true), &mut account).await.unwrap(), None);
        assert!(writer.requests().iter().all(|asked| asked.temperature == 0.0));
    }
}
