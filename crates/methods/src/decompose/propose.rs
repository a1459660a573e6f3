//! Proposes what to look up next: `q̂ᵗ ← f_p(q, Cᵗ⁻¹)` (KAR³ §3.4, eq. 4).

use pikerag_knowledge::{ChatModel, Context, Question, Role, Schema};
use pikerag_language::content_words;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, at_most, object, passages, quiet_headings, shape,
    text, texts,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::run::Run;
use crate::verdict::THINKING;

const PROMPT: Prompt = Prompt::new(Role::Propose, include_str!("prompts/propose.md"), 1024)
    .with_earlier("methods/propose", &[include_str!("prompts/earlier/propose.1.md")]);

/// How many proposals a round may bring (KAR³ Table 3, "Query Proposer").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Proposer {
    /// The paper's: as many as help.
    Many,
    /// The ablation: one.
    One,
    /// One, by a model that was trained for it: [`propose_next`](super::propose_next) (PIKE-RAG §5.3.3).
    Trained,
}

/// The reply of a proposer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    /// The model's own words.
    pub thinking: String,
    /// Sub-questions, each once, in order. Empty: nothing is missing.
    pub questions: Vec<String>,
}

/// Asks a model what is missing; `examples` in the form of [`shown_demonstrations`](super::shown_demonstrations) may be
/// empty. `None` where its reply stayed unreadable.
///
/// # Errors
/// The call failed.
pub async fn propose(
    model: &dyn ChatModel,
    question: &Question,
    context: &Context,
    proposer: Proposer,
    examples: &str,
    run: &mut Run,
) -> Result<Option<Proposals>, AskError> {
    // For earlier texts of the prompt, which replays send.
    let how_many = match proposer {
        Proposer::Many | Proposer::Trained => {
            "Think in different ways, and raise as many different ones as may help: the documents may tell what you \
             need in other words, so ask for it in several, and from the side of each thing that the question names."
        }
        Proposer::One => "Raise exactly one: the one to look up first.",
    };
    let known = shown_context(context);
    let asked = quiet_headings(&question.text);
    let inputs = [
        ("how_many", how_many),
        ("one", if proposer == Proposer::One { "yes" } else { "" }),
        ("examples", examples),
        ("context", known.as_str()),
        ("question", asked.as_str()),
    ];
    let reply = ask::<Proposals>(model, &PROMPT, &inputs, &mut run.account).await;
    let mut proposals = run.readable(Role::Propose, reply)?;
    if let (Some(proposals), Proposer::One) = (&mut proposals, proposer) {
        proposals.questions.truncate(1);
    }
    Ok(proposals)
}

/// The context as prompts of the loop show it.
pub fn shown_context(context: &Context) -> String {
    match passages(context.chunks.iter().map(|held| &held.chunk)) {
        empty if empty.is_empty() => "(nothing yet)".to_owned(),
        shown => shown,
    }
}

/// The proposal without a model: the words of the question that no chosen chunk holds yet, or the question
/// itself if there are none or no chunk is chosen.
pub fn propose_words(question: &Question, context: &Context) -> Proposals {
    let mut missing = content_words(question.query());
    for held in &context.chunks {
        let known = content_words(&format!("{} {}", held.chunk.full_title(), held.chunk.text));
        missing.retain(|word| !known.contains(word));
    }
    let proposal = match context.chunks.is_empty() || missing.is_empty() {
        true => question.query().to_owned(),
        false => missing.join(" "),
    };
    Proposals { thinking: String::new(), questions: vec![proposal] }
}

/// Characters of a sub-question, and the number of sub-questions, at most.
const QUESTION: usize = 300;
const MOST: usize = 8;

impl Reply for Proposals {
    fn schema() -> Option<Schema> {
        let questions = json!({"type": "array", "items": at_most(QUESTION), "maxItems": MOST});
        let keys = json!({"thinking": at_most(THINKING), "sub_questions": questions});
        Some(shape("sub_questions", keys))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["sub_questions"])?;
        let mut questions = texts(&object, "sub_questions")?;
        let mut seen = std::collections::HashSet::new();
        questions.retain(|question| seen.insert(question.to_lowercase()));
        Ok(Self { thinking: text(&object, "thinking").unwrap_or_default(), questions })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_proposals: Proposals }
