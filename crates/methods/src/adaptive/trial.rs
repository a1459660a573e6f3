//! Tests with five short calls on built-in passages whether a model can collect facts and answer at once.

use pikerag_knowledge::{Account, AnswerForm, ChatModel, Question};
use pikerag_language::fold::tokens;
use pikerag_prompt::{AskError, ask};
use pikerag_reason::how_to_answer;

use super::round::{PROMPT, RoundReply};
use crate::verdict::bare;

/// The least number of right rounds: of five, one may be wrong.
const PASSES: usize = 4;
/// Words of an answer, at most: a longer one is a sentence.
const SHORT: usize = 8;

/// The result of testing a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Rounds that were right: readable, with the right verdict, and the right answer where the passages hold one.
    pub right: usize,
    /// All rounds.
    pub of: usize,
}

impl Trial {
    /// Whether the model collects facts and answers at once well enough for its rounds to answer.
    pub fn reads_at_once(self) -> bool {
        PASSES <= self.right
    }
}

/// Passages, a question, and its answer if they hold it.
struct Case {
    passages: &'static str,
    question: &'static str,
    answer: Option<&'static str>,
}

const CASES: [Case; 5] = [
    Case {
        passages: "[1] Marrow Lane Observatory\nThe Marrow Lane Observatory was founded by Edda Quill. It has two domes.\n\n\
                   [2] Edda Quill\nEdda Quill, a glass maker, was born in Pellworth. She left it at nineteen.\n\n\
                   [3] Pellworth\nPellworth is a town of 8200 inhabitants on the river Sarn.",
        question: "In which town was the founder of the Marrow Lane Observatory born?",
        answer: Some("Pellworth"),
    },
    Case {
        passages: "[1] Hollin Bridge\nThe Hollin Bridge was designed by Tobias Renn and opened in 1931.\n\n\
                   [2] Ferries of the Sarn\nUntil 1931 a ferry crossed the Sarn at Hollin.\n\n\
                   [3] Renn's Guide to Mosses\nThis guide to mosses went through nine editions.",
        question: "In which town was the designer of the Hollin Bridge born?",
        answer: None,
    },
    Case {
        passages: "[1] Steamer Anselm\nThe steamer Anselm was launched in 1904 and broken up in 1951.\n\n\
                   [2] Steamer Corrie\nThe steamer Corrie was launched in 1897. Her captain was Ivo Marsh.\n\n\
                   [3] Ivo Marsh\nIvo Marsh wrote a book about tides.",
        question: "Which steamer was launched first, the Anselm or the Corrie?",
        answer: Some("Corrie"),
    },
    Case {
        passages: "[1] 采购制度\n单笔采购超过五万元的，由财务总监批准；五万元及以下的，由部门经理批准。\n\n\
                   [2] 人员名单\n财务总监：顾言舟。人事经理：何以宁。\n\n[3] 办公时间\n周一至周五，九点至十八点。",
        question: "一笔八万元的采购由谁批准？请写出姓名。",
        answer: Some("顾言舟"),
    },
    Case {
        passages: "[1] 云栖泵站\n云栖泵站建于1988年，由东岭水务公司运营。\n\n[2] 泵站检修\n泵站每年检修一次，通常在三月。\n\n\
                   [3] 水质月报\n月报由化验室编写。",
        question: "运营云栖泵站的公司的总部在哪个城市？",
        answer: None,
    },
];

/// Tests a model with five calls, each asked at most twice. A reply that stays unreadable counts as wrong.
///
/// # Errors
/// The model cannot be reached, or refuses. Where a record alone answers calls, it does not hold the test.
pub async fn try_out(model: &dyn ChatModel) -> Result<Trial, AskError> {
    let mut right = 0;
    for Case { passages, question, answer } in &CASES {
        let asked = Question { form: AnswerForm::Short, ..Question::new("", *question) };
        let form = how_to_answer(&asked);
        let inputs = [
            ("form", form.as_ref()),
            ("answers", "yes"),
            ("last", ""),
            ("lookups", "3"),
            ("context", passages),
            ("facts", ""),
            ("tried", ""),
            ("others", ""),
            ("question", question),
        ];
        match ask::<RoundReply>(model, &PROMPT, &inputs, &mut Account::default()).await {
            Ok(reply) => right += usize::from(is_right(&reply, *answer)),
            Err(AskError::Unreadable { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Trial { right, of: CASES.len() })
}

fn is_right(reply: &RoundReply, answer: Option<&str>) -> bool {
    let Some(answer) = answer else { return !reply.sufficient && !reply.missing.is_empty() };
    let bare_answer = bare(&reply.answer);
    let is_short = tokens(&reply.answer).len() <= SHORT;
    reply.sufficient && !reply.facts.is_empty() && is_short && bare_answer.contains(&bare(answer))
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::ScriptedChat;

    use super::*;

    fn reply_of(sufficient: bool, missing: &[&str], answer: &str) -> String {
        serde_json::json!({
            "thinking": "", "facts": [{"passage": 1, "fact": "x"}], "sufficient": sufficient, "missing": missing,
            "answer": answer
        })
        .to_string()
    }

    async fn trial_of(replies: [String; 5]) -> Trial {
        try_out(&ScriptedChat::in_order(replies)).await.unwrap()
    }

    #[tokio::test]
    async fn right_replies_pass_and_sentences_do_not() {
        let missing = || reply_of(false, &["Where was Tobias Renn born?"], "");
        let right = |answer| reply_of(true, &[], answer);
        let all = trial_of([
            right("Pellworth"),
            missing(),
            right("the Corrie"),
            right("顾言舟"),
            missing(),
        ])
        .await;
        assert_eq!((all.right, all.of, all.reads_at_once()), (5, 5, true));
        // Sentences instead of answers, and answers where facts are missing.
        let sentence = "The founder of the Marrow Lane Observatory was born in Pellworth.";
        let weak = trial_of([
            right(sentence),
            right("Hollin"),
            right("Corrie"),
            right("..."),
            right("东岭"),
        ])
        .await;
        assert_eq!((weak.right, weak.reads_at_once()), (1, false));
    }

    /// The third reply is empty twice: it is asked for again, and then counts as wrong.
    #[tokio::test]
    async fn unreadable_replies_count_as_wrong() {
        let missing = reply_of(false, &["Who?"], "");
        let right = |answer| reply_of(true, &[], answer);
        let replies = [
            right("Pellworth"),
            missing.clone(),
            String::new(),
            String::new(),
            right("顾言舟"),
            missing,
        ];
        let trial = try_out(&ScriptedChat::in_order(replies)).await.unwrap();
        assert_eq!((trial.right, trial.reads_at_once()), (4, true));
    }
}
