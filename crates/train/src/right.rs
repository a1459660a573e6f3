//! Decides whether an answer is right.

use pikerag_eval::datasets::Item;
use pikerag_eval::judge::judge;
use pikerag_eval::metrics::{Scores, contains, score};
use pikerag_knowledge::{Account, Role, Spent};
use pikerag_methods::{Ports, SolveError};

use crate::params::Right;

/// The scores of an answer, and whether it counts as right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) scores: Scores,
    pub(crate) is_right: bool,
    /// The verdict of a judging model, if one was asked.
    pub(crate) judged: Option<bool>,
}

/// Scores an answer against the labels of its question. A judge's calls are added to `spent`.
pub(crate) async fn verdict(
    ports: &Ports,
    item: &Item,
    answer: &str,
    right: Right,
    spent: &mut Spent,
) -> Result<Verdict, SolveError> {
    let mut verdict = Verdict { scores: score(answer, &item.answers), ..Verdict::default() };
    verdict.is_right = match right {
        Right::Em => 1.0 <= verdict.scores.em,
        Right::Contains => 0.0 < contains(answer, &item.answers),
        Right::Judge => {
            let (model, mut account) = (ports.models.need(Role::Judge)?, Account::default());
            let judged = judge(model, &item.question, &item.answers, answer, &mut account).await;
            spent.merge(&account.cost().spent);
            let is_right = judged?;
            verdict.judged = Some(is_right);
            is_right
        }
    };
    Ok(verdict)
}
