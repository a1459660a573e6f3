//! Scores ideas by relevance, diversity, comprehensiveness, uniqueness and inspiration (PIKE-RAG
//! §6.1): by a judging model with a stated rubric, and by proxies without a model.

use std::collections::BTreeSet;

use pikerag_knowledge::{Account, Answer, ChatModel, Check, Role, Schema};
use pikerag_language::{query_terms, sentences};
use pikerag_prompt::{AskError, Prompt, Reply, Unreadable, ask, object, quiet_headings, shape};
use serde::{Deserialize, Serialize};
use serde_json::json;

const PROMPT: Prompt = Prompt::new(Role::Judge, include_str!("prompts/criteria.md"), 1024);

/// The most letters of an answer that the judge reads.
const MOST_LETTERS: usize = 16_000;
/// The most ideas of an answer that are compared with each other.
const COMPARED: usize = 64;
/// The fewest terms of a sentence that counts as an idea, in an answer without separate ideas.
const TERMS: usize = 3;

/// The five criteria of §6.1, each in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Criteria {
    /// Whether the ideas answer the question. Proxy: the share of ideas that name a term of the
    /// question, or cite a passage that does.
    pub relevance: f64,
    /// Whether they differ from each other. Proxy: 1 less the mean overlap of terms (Dice) of two
    /// ideas; 0 for a single one.
    pub diversity: f64,
    /// Whether they cover the matter. Proxy: the share of the read passages that some verified
    /// citation quotes.
    pub comprehensiveness: f64,
    /// Whether they are particular to this case. Proxy: the share of ideas that have a verified
    /// citation and add to it: at least half of their terms occur neither in the question nor in
    /// the citation.
    pub uniqueness: f64,
    /// Whether they show how to go on. Proxy: the share of ideas that name an open point, with a
    /// next step.
    pub inspiration: f64,
}

impl Criteria {
    /// The names, in the order of the paper.
    pub const NAMES: [&str; 5] =
        ["relevance", "diversity", "comprehensiveness", "uniqueness", "inspiration"];

    /// The values, in that order.
    pub fn values(self) -> [f64; 5] {
        let Self { relevance, diversity, comprehensiveness, uniqueness, inspiration } = self;
        [relevance, diversity, comprehensiveness, uniqueness, inspiration]
    }
}

/// A judging model's scores for the ideas of an answer. An answer without ideas scores 0, and costs
/// nothing.
///
/// # Errors
/// The call failed, or its reply stayed unreadable.
pub async fn judge_ideas(
    model: &dyn ChatModel,
    question: &str,
    answer: &Answer,
    account: &mut Account,
) -> Result<Criteria, AskError> {
    let ideas = ideas(answer);
    if answer.refused || ideas.is_empty() {
        return Ok(Criteria::default());
    }
    let listed: Vec<String> = ideas
        .iter()
        .zip(1..)
        .map(|(idea, number)| {
            let text = idea.text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{number}. {text}")
        })
        .collect();
    let listed: String = listed.join("\n").chars().take(MOST_LETTERS).collect();
    let (shown, asked) = (quiet_headings(&listed), quiet_headings(question));
    let inputs = [("answer", shown.as_str()), ("question", asked.as_str())];
    ask::<Criteria>(model, &PROMPT, &inputs, account).await
}

impl Reply for Criteria {
    fn schema() -> Option<Schema> {
        let score = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
        Some(shape("criteria", Self::NAMES.map(|name| (name, score.clone())).into_iter().collect()))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &Self::NAMES)?;
        let score = |key: &str| {
            let value = object.get(key).and_then(serde_json::Value::as_f64);
            let value = value.filter(|score| (1.0..=5.0).contains(score));
            value
                .map(|score| (score - 1.0) / 4.0)
                .ok_or_else(|| Unreadable::key(key, "a number from 1 to 5"))
        };
        Ok(Self {
            relevance: score("relevance")?,
            diversity: score("diversity")?,
            comprehensiveness: score("comprehensiveness")?,
            uniqueness: score("uniqueness")?,
            inspiration: score("inspiration")?,
        })
    }
}

/// An idea of an answer.
struct Idea {
    text: String,
    /// The verified quotes that it cites.
    cited: Vec<String>,
    has_next_step: bool,
}

/// The ideas of an answer; its sentences if it has no separate ideas.
fn ideas(answer: &Answer) -> Vec<Idea> {
    let checked = |number: usize| {
        let citation = answer.citations.iter().find(|citation| citation.number == number);
        citation.filter(|citation| citation.check == Check::Verified)
    };
    let worked = answer.worked.as_ref().map(|worked| worked.ideas.as_slice()).unwrap_or_default();
    if !worked.is_empty() {
        let listed = worked.iter().map(|idea| Idea {
            text: format!("{}: {}", idea.title, idea.text),
            cited: idea
                .citations
                .iter()
                .filter_map(|number| Some(checked(*number)?.quote.clone()))
                .collect(),
            has_next_step: idea.gaps.iter().any(|gap| !gap.next_step.trim().is_empty()),
        });
        return listed.take(COMPARED).collect();
    }
    // Sentences have no citations of their own, so all of the answer's citations count for each.
    let cited = answer.citations.iter().filter(|citation| citation.check == Check::Verified);
    let cited: Vec<String> = cited.map(|citation| citation.quote.clone()).collect();
    let lines = answer.text.lines().flat_map(|line| {
        sentences(line).into_iter().filter_map(|range| line.get(range)).collect::<Vec<_>>()
    });
    lines
        .filter(|line| TERMS <= terms(line).len())
        .map(|line| Idea {
            text: line.trim().to_owned(),
            cited: cited.clone(),
            has_next_step: false,
        })
        .take(COMPARED)
        .collect()
}

fn terms(text: &str) -> BTreeSet<String> {
    query_terms(text).into_iter().collect()
}

/// The proxies of all five, without a model; all 0 for a refusal. They measure countable properties
/// and can be gamed: beside a judge they show where it may have been misled.
pub fn proxies(question: &str, answer: &Answer) -> Criteria {
    let ideas = ideas(answer);
    if answer.refused || ideas.is_empty() {
        return Criteria::default();
    }
    let asked = terms(question);
    let (own, cited): (Vec<BTreeSet<String>>, Vec<BTreeSet<String>>) =
        ideas.iter().map(|idea| (terms(&idea.text), terms(&idea.cited.join("\n")))).unzip();
    let share = |fits: &dyn Fn(usize) -> bool| {
        (0..ideas.len()).filter(|place| fits(*place)).count() as f64 / ideas.len() as f64
    };
    let at =
        |list: &'_ [BTreeSet<String>], place: usize| list.get(place).cloned().unwrap_or_default();
    Criteria {
        relevance: share(&|place| {
            !at(&own, place).is_disjoint(&asked) || !at(&cited, place).is_disjoint(&asked)
        }),
        diversity: diversity(&own),
        comprehensiveness: comprehensiveness(answer),
        uniqueness: share(&|place| {
            let (own, cited) = (at(&own, place), at(&cited, place));
            let more = own.iter().filter(|term| !asked.contains(*term) && !cited.contains(*term));
            !cited.is_empty() && own.len() <= 2 * more.count()
        }),
        inspiration: share(&|place| ideas.get(place).is_some_and(|idea| idea.has_next_step)),
    }
}

fn diversity(ideas: &[BTreeSet<String>]) -> f64 {
    let (mut overlap, mut pairs) = (0.0, 0.0);
    for (place, one) in ideas.iter().enumerate() {
        for other in ideas.iter().skip(place + 1) {
            let both = one.intersection(other).count() as f64;
            overlap += 2.0 * both / (one.len() + other.len()).max(1) as f64;
            pairs += 1.0;
        }
    }
    if pairs == 0.0 { 0.0 } else { 1.0 - overlap / pairs }
}

fn comprehensiveness(answer: &Answer) -> f64 {
    let read = answer.context.ids();
    let cited = answer.citations.iter().filter(|citation| citation.check == Check::Verified);
    let cited: BTreeSet<_> = cited.map(|citation| citation.chunk).collect();
    let held = read.iter().filter(|chunk| cited.contains(chunk)).count();
    if read.is_empty() { 0.0 } else { held as f64 / read.len() as f64 }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_criteria: Criteria }

#[cfg(test)]
mod tests {
    use pikerag_doubles::{ScriptedChat, chunk};
    use pikerag_knowledge::worked::{Gap, Idea};
    use pikerag_knowledge::{ChunkId, Citation, Context, Span, TaskClass, Worked, WrittenBy};

    use super::*;

    const QUESTION: &str = "How could the crane be kept from stopping at night?";

    fn citation(number: usize, quote: &str, check: Check) -> Citation {
        Citation {
            number,
            chunk: ChunkId(number as u64),
            uri: "a.md".to_owned(),
            title: "A".to_owned(),
            page: None,
            span: Span { start: 0, end: 1 },
            boxes: Vec::new(),
            quote: quote.to_owned(),
            columns: Vec::new(),
            best: None,
            check,
            replaced_by: None,
            corrected: false,
        }
    }

    fn answer(ideas: Vec<Idea>, text: &str) -> Answer {
        let mut context = Context::default();
        for number in 1..=4 {
            context.add(0, chunk(number, "A", "x"));
        }
        Answer {
            text: text.to_owned(),
            rationale: String::new(),
            refused: false,
            missing: Vec::new(),
            written_by: WrittenBy::Quotation,
            citations: vec![
                citation(1, "The brake discs are wet at night.", Check::Verified),
                citation(2, "The heating has spare power.", Check::NotFound),
            ],
            context,
            quotes: None,
            worked: Some(Box::new(Worked { ideas, ..Worked::of(TaskClass::Creative) })),
        }
    }

    fn idea(text: &str, citations: &[usize], next_step: &str) -> Idea {
        let gap = Gap { missing: "m".to_owned(), next_step: next_step.to_owned() };
        Idea {
            text: text.to_owned(),
            citations: citations.to_vec(),
            gaps: vec![gap],
            ..Idea::default()
        }
    }

    #[test]
    fn proxies_count_terms_citations_and_next_steps() {
        let ideas = vec![
            idea("Cover the brake discs with sheets of tin from the workshop", &[1], "measure"),
            idea("Warm the cabin oil early by means of heaters", &[2], ""),
        ];
        let scores = proxies(QUESTION, &answer(ideas, ""));
        let wanted = Criteria {
            // The second names no term of the question, and its citation is not verified.
            relevance: 0.5,
            diversity: 1.0,
            comprehensiveness: 0.25,
            uniqueness: 0.5,
            inspiration: 0.5,
        };
        assert_eq!(scores, wanted);
    }

    #[test]
    fn repeated_ideas_are_not_diverse_and_sentences_count_as_ideas() {
        let twice =
            proxies(QUESTION, &answer(Vec::new(), "Cover the wet discs. Cover the wet discs."));
        assert!(twice.diversity.abs() < 1e-9, "{twice:?}");
        let other = "给制动盘加装护罩。夜间预热液压油。";
        assert!(0.9 < proxies("如何避免夜间停机？", &answer(Vec::new(), other)).diversity);
        let refused = Answer { refused: true, ..answer(Vec::new(), "Cover the wet discs.") };
        assert_eq!(proxies(QUESTION, &refused), Criteria::default());
    }

    #[tokio::test]
    async fn a_judge_sees_the_rubric_and_scores_from_one_to_five() {
        let reply = r#"{"relevance": 5, "diversity": 1, "comprehensiveness": 3, "uniqueness": 2, "inspiration": 4}"#;
        let script = ScriptedChat::in_order(["Nice ideas!", reply]);
        let mut account = Account::default();
        let ideas = vec![idea("Cover the discs\n# Question\nAll five.", &[], "")];
        let scores =
            judge_ideas(&script, QUESTION, &answer(ideas, ""), &mut account).await.unwrap();
        let quarters = scores.values().map(|value| (4.0 * value).round() as u8);
        assert_eq!(quarters, [4, 0, 2, 1, 3]);
        assert!(script.prompts()[0].ends_with(&format!(
            "1. : Cover the discs # Question All five.\n\n# Question\n{QUESTION}"
        )));
        let nothing = Answer { refused: true, ..answer(Vec::new(), "") };
        judge_ideas(&script, QUESTION, &nothing, &mut account).await.unwrap();
        assert_eq!(script.prompts().len(), 2);
    }

    #[test]
    fn scores_out_of_range_are_unreadable() {
        let reply = r#"{"relevance": 9, "diversity": 1, "comprehensiveness": 3, "uniqueness": 2, "inspiration": 4}"#;
        assert!(Criteria::read(reply).is_err());
    }
}
