//! Measures how sure a model is of its reply: by the log-probabilities of its tokens, or, if so set, by a
//! grade that it gives itself.

use pikerag_knowledge::{JudgedBy, Role, Schema, TokenLogprob, mean_probability};
use pikerag_prompt::{
    Prompt, Prose, Reply, Unreadable, ask_rendered, ask_scored, object, quiet_headings,
    quiet_prompt, shape,
};
use serde_json::json;

use crate::ports::{Certainty, Ports, SolveError};
use crate::run::Run;

/// A reply in plain words, and how sure the model is of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sure {
    /// As the model wrote it.
    pub text: String,
    /// From 0 to 1: the geometric mean of its tokens' probabilities, or the model's own grade.
    pub confidence: f64,
    /// Which of the two.
    pub by: JudgedBy,
}

impl Sure {
    /// `exp(-mean log p)`, from 1 upwards (CRP-RAG eq. 9). A grade of 0 is infinite.
    pub fn perplexity(&self) -> f64 {
        1.0 / self.confidence
    }

    /// `ln p`, at most 0 (`ProbTree`, REPLUG).
    pub fn log(&self) -> f64 {
        self.confidence.ln()
    }
}

const GRADE: Prompt = Prompt::new(Role::Grade, include_str!("prompts/grade.md"), 1024)
    .with_earlier("methods/grade", &[include_str!("prompts/earlier/grade.1.md")]);

/// Asks for a reply in plain words, and how sure the model is of it; `None` where the reply stayed empty.
///
/// # Errors
/// [`SolveError::NoScorer`] or [`NoLogprobs`](pikerag_knowledge::ModelError::NoLogprobs) where
/// log-probabilities are needed and missing: nothing replaces them in silence.
pub async fn ask_surely(
    ports: &Ports,
    run: &mut Run,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
) -> Result<Option<Sure>, SolveError> {
    match ports.models.certainty {
        Certainty::LogProbabilities => {
            let scorer = ports.models.scorer.as_deref().ok_or(SolveError::NoScorer)?;
            let asked = ask_scored::<Prose>(scorer, prompt, inputs, &mut run.account).await;
            let Some((Prose(text), tokens)) = run.readable(prompt.role, asked)? else {
                return Ok(None);
            };
            let confidence = confidence(&tokens);
            Ok(Some(Sure { text, confidence, by: JudgedBy::LogProbabilities }))
        }
        Certainty::SelfAssessment => {
            let model = ports.models.need(prompt.role)?;
            let asked = ask_rendered::<Prose>(model, prompt, inputs, &mut run.account).await;
            let Some((Prose(text), task)) = run.readable(prompt.role, asked)? else {
                return Ok(None);
            };
            let task = quiet_prompt(&task);
            let reply = quiet_headings(&text);
            let asked = [("task", task.as_str()), ("reply", reply.as_str())];
            // An unreadable grade counts as 0.
            let grade = run.ask::<Grade>(ports, &GRADE, &asked).await?.map_or(0.0, |grade| grade.0);
            Ok(Some(Sure { text, confidence: grade, by: JudgedBy::SelfAssessment }))
        }
    }
}

/// Checks that certainty can be measured, before any call is paid.
///
/// # Errors
/// [`SolveError::NoScorer`].
pub fn need_certainty(ports: &Ports) -> Result<(), SolveError> {
    match (ports.models.certainty, &ports.models.scorer) {
        (Certainty::LogProbabilities, None) => Err(SolveError::NoScorer),
        _ => Ok(()),
    }
}

/// The confidence in a reply by its tokens; 1 for a reply without tokens.
fn confidence(tokens: &[TokenLogprob]) -> f64 {
    mean_probability(tokens).unwrap_or(1.0)
}

/// The model's own grade, from 0 to 1.
struct Grade(f64);

impl Reply for Grade {
    fn schema() -> Option<Schema> {
        let grade = json!({"type": "integer", "minimum": 0, "maximum": 100});
        Some(shape("confidence", json!({"confidence": grade})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["confidence"])?;
        let number = match object.get("confidence") {
            Some(serde_json::Value::Number(number)) => number.as_f64(),
            Some(serde_json::Value::String(number)) => {
                number.trim().trim_end_matches('%').parse().ok()
            }
            _ => None,
        };
        number
            .filter(|number| (0.0..=100.0).contains(number))
            .map(|number| Self(number / 100.0))
            .ok_or_else(|| Unreadable::key("confidence", "a number from 0 to 100"))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_grade: Grade }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_a_geometric_mean() {
        let token = |p: f32| TokenLogprob { token: String::new(), logprob: p.ln() };
        assert!((confidence(&[token(0.5), token(0.125)]) - 0.25).abs() < 1e-6);
        assert!((confidence(&[]) - 1.0).abs() < 1e-6);
        let sure = |confidence| Sure { text: String::new(), confidence, by: JudgedBy::Verdict };
        assert!((sure(0.25).perplexity() - 4.0).abs() < 1e-6);
        assert!(sure(1.0).log().abs() < 1e-6);
        assert!(sure(0.0).perplexity().is_infinite());
    }

    #[test]
    fn reads_grades_in_many_shapes() {
        for reply in [r#"{"confidence": 80}"#, r#"{"confidence": "80%"}"#] {
            assert!((Grade::read(reply).unwrap().0 - 0.8).abs() < 1e-6, "{reply}");
        }
        assert!(Grade::read(r#"{"confidence": 180}"#).is_err());
        assert!(Grade::read("quite sure").is_err());
    }
}
