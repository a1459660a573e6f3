//! Checks whether an answer comes from the retrieved passages: factual consistency (CRP-RAG §5.3,
//! Table 4).

use pikerag_knowledge::{Account, Answer, ChatModel, Role};
use pikerag_prompt::{AskError, Prompt, YesNo, ask, passages, quiet_headings};

const CONSISTENT: Prompt = Prompt::new(Role::Judge, include_str!("prompts/consistent.md"), 1024);

/// Whether an answer, rationale included, originates from the passages it was written from. An
/// answer without passages does not, and costs nothing; a refusal is not judged (`None`).
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
    let statement = quiet_headings(&format!("{}\n{}", answer.text, answer.rationale));
    let inputs =
        [("passages", shown.as_str()), ("question", asked.as_str()), ("answer", statement.trim())];
    let YesNo(stems) = ask(model, &CONSISTENT, &inputs, account).await?;
    Ok(Some(stems))
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::ScriptedChat;
    use pikerag_knowledge::{Context, WrittenBy};

    use super::*;

    fn answer(refused: bool) -> Answer {
        Answer {
            text: "Oslo".to_owned(),
            rationale: String::new(),
            refused,
            missing: Vec::new(),
            written_by: WrittenBy::Quotation,
            citations: Vec::new(),
            context: Context::default(),
            quotes: None,
            worked: None,
        }
    }

    #[tokio::test]
    async fn answers_that_need_no_judge_cost_nothing() {
        let unused = ScriptedChat::in_order([""; 0]);
        let mut account = Account::default();
        let from_nothing = is_consistent(&unused, "Where?", &answer(false), &mut account).await;
        assert_eq!(from_nothing.unwrap(), Some(false));
        let refused = is_consistent(&unused, "Where?", &answer(true), &mut account).await;
        assert_eq!(
            (refused.unwrap(), account.cost().spent.calls(), unused.requests().len()),
            (None, 0, 0)
        );
    }
}
