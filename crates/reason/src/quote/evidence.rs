//! Finds the sentence or row that supports an answer which a model gave without quotes.

use pikerag_knowledge::{Chunk, ChunkId, Context, Question};
use pikerag_language::{query_terms, sentences};

use super::units::{Unit, units};
use crate::Claim;
use crate::cite::folded;
use crate::coverage::Coverage;

/// Weights of the answer's words, and of the passage that the model named, beside the share of the
/// question's words.
const HOLDS: f32 = 2.0;
const NAMED: f32 = 0.5;
/// The least share of the answer's words that a sentence must hold.
const ENOUGH: f32 = 0.5;
/// Answers whose words no sentence has to hold.
const VERDICTS: [&str; 10] =
    ["yes", "no", "none", "neither", "both", "是", "否", "不是", "都不是", "没有"];

/// Sentences of an answer whose support is searched, at most.
const STATEMENTS: usize = 4;

/// For each sentence of an answer, the sentence or row of the context that supports it best: one that has at
/// least half of its words, and words of the question, rather in the passage that the model named. A
/// verdict such as *yes* is supported by the sentence of that passage that fits the question best. Empty if
/// nothing supports the answer.
pub fn evidence(
    question: &Question,
    context: &Context,
    named: Option<ChunkId>,
    answer: &str,
) -> Vec<Claim> {
    let chunks: Vec<&Chunk> = context.chunks.iter().map(|held| &held.chunk).collect();
    let terms = query_terms(question.query()).into_iter().map(|term| (term, 1.0));
    let (coverage, units) = (Coverage::new(terms.collect()), units(&chunks));
    let statements = sentences(answer).into_iter().filter_map(|range| answer.get(range));
    let mut claims: Vec<Claim> = Vec::new();
    for statement in statements.take(STATEMENTS) {
        if let Some(unit) = supporting(&units, &coverage, named, statement) {
            let quote = unit.chunk.text.get(unit.span.clone()).unwrap_or(unit.text).to_owned();
            claims.push(Claim { chunk: unit.chunk.id, quote });
        }
    }
    claims
}

fn supporting<'u, 'c>(
    units: &'u [Unit<'c>],
    coverage: &Coverage,
    named: Option<ChunkId>,
    statement: &str,
) -> Option<&'u Unit<'c>> {
    let wanted = folded(statement);
    let is_verdict = VERDICTS.iter().any(|verdict| folded(verdict) == wanted);
    let mut best: Option<(f32, &Unit<'_>)> = None;
    for unit in units {
        let is_named = Some(unit.chunk.id) == named;
        let held = share(&wanted, unit.text);
        if !(ENOUGH <= held || (is_verdict && is_named)) {
            continue;
        }
        let bonus = if is_named { NAMED } else { 0.0 };
        let worth = HOLDS * held + coverage.of(&unit.terms) + bonus;
        if best.is_none_or(|(most, _)| most < worth) {
            best = Some((worth, unit));
        }
    }
    best.map(|(_, unit)| unit)
}

/// The share of the answer's words that a text holds; 0 without words. Whole words count.
fn share(wanted: &[String], text: &str) -> f32 {
    let held = folded(text);
    let n_held = wanted.iter().filter(|word| held.contains(word)).count();
    n_held as f32 / wanted.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEES: &str =
        "8.1 The fee is due on 8 March. 8.2 Parts are charged at cost plus 8 per cent.";
    const CARE: &str = "The chains are greased every week. The gate is green.";

    fn supported(named: Option<u64>, question: &str, answer: &str) -> Option<(u64, String)> {
        let chunks = [(1, FEES), (2, CARE)];
        let chunks = chunks.map(|(id, text)| pikerag_doubles::chunk(id, "Contract", text)).to_vec();
        let question = Question::new("q", question);
        let found = evidence(&question, &Context::of(1, chunks), named.map(ChunkId), answer);
        assert!(found.len() < 2);
        found.into_iter().next().map(|claim| (claim.chunk.0, claim.quote))
    }

    #[test]
    fn words_of_answer_and_question_support_it() {
        let question = "What is put on top of the cost of parts?";
        let (chunk, quote) = supported(Some(1), question, "8 per cent").unwrap();
        assert!(chunk == 1 && quote.contains("at cost plus 8 per cent."), "{quote}");
        // The model named the wrong passage.
        let (chunk, quote) =
            supported(Some(1), "How often are chains greased?", "every week").unwrap();
        assert_eq!((chunk, quote.as_str()), (2, "The chains are greased every week."));
    }

    /// *Yes* is in no sentence; the one that the question is about supports it.
    #[test]
    fn a_verdict_is_supported_by_the_named_passage() {
        let asked = "Are the chains greased weekly?";
        let (chunk, quote) = supported(Some(2), asked, "Yes.").unwrap();
        assert_eq!((chunk, quote.as_str()), (2, "The chains are greased every week."));
        assert_eq!(supported(None, asked, "Yes"), None);
    }

    #[test]
    fn each_sentence_of_an_answer_has_its_own_support() {
        let chunks =
            [pikerag_doubles::chunk(1, "Contract", FEES), pikerag_doubles::chunk(2, "", CARE)];
        let question = Question::new("q", "What is due, and what is greased?");
        let answer = "The fee is due on 8 March. The chains are greased every week. It may snow.";
        let found = evidence(&question, &Context::of(1, chunks.to_vec()), None, answer);
        let chunks: Vec<u64> = found.iter().map(|claim| claim.chunk.0).collect();
        assert_eq!(chunks, [1, 2]);
    }

    #[test]
    fn nothing_supports_words_that_no_sentence_has() {
        let asked = "How often are the chains greased?";
        assert_eq!(supported(Some(2), asked, "twice each month"), None);
        assert_eq!(supported(Some(2), asked, ""), None);
    }
}
