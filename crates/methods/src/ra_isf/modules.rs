//! The three modules of RA-ISF: self-knowledge, passage relevance, question decomposition (§3.1). Training data for
//! models of their own have the same prompts and the same replies (§3.2, Appendix A).

use pikerag_knowledge::{Chunk, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, YesNo, at_most, numbered, object, one_line,
    quiet_headings, shape,
};
use serde_json::{Value, json};

use crate::decompose::SubQuestions;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::verdict::{THINKING, bare};

const KNOW: Prompt = Prompt::new(Role::Know, include_str!("../prompts/ra_isf_know.md"), 1024)
    .with_earlier("methods/ra_isf_know", &[include_str!("../prompts/earlier/ra_isf_know.1.md")]);
const RELEVANT: Prompt =
    Prompt::new(Role::Relevant, include_str!("../prompts/ra_isf_relevant.md"), 1024).with_earlier(
        "methods/ra_isf_relevant",
        &[include_str!("../prompts/earlier/ra_isf_relevant.1.md")],
    );
const SUFFICIENT: Prompt =
    RELEVANT.with_template(include_str!("../prompts/ra_isf_sufficient.md")).with_earlier(
        "methods/ra_isf_sufficient",
        &[include_str!("../prompts/earlier/ra_isf_sufficient.1.md")],
    );
const DECOMPOSE: Prompt =
    Prompt::new(Role::Decompose, include_str!("../prompts/ra_isf_decompose.md"), 1024)
        .with_earlier(
            "methods/ra_isf_decompose",
            &[include_str!("../prompts/earlier/ra_isf_decompose.1.md")],
        );

/// The text of a passage, as `M_rel` receives it.
pub fn passage_text(chunk: &Chunk) -> String {
    format!("Title: {}. Content: {}", chunk.full_title(), one_line(&chunk.reading_text()))
}

/// The prompt of `M_know` for a question.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn know_prompt(question: &str) -> Result<String, AskError> {
    KNOW.render(&[("question", &quiet_headings(question))])
}

/// The prompt of `M_rel` for a question and one passage in the form of [`passage_text`].
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn relevant_prompt(question: &str, passage: &str) -> Result<String, AskError> {
    let (question, passages) = (quiet_headings(question), numbered([passage]));
    RELEVANT.render(&[("question", &question), ("passages", &passages)])
}

/// The prompt of `M_decom` for a question.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn decompose_prompt(question: &str) -> Result<String, AskError> {
    DECOMPOSE.render(&[("question", &quiet_headings(question))])
}

/// The reply of `M_know` as a model writes it.
pub fn know_reply(knows: bool) -> String {
    if knows { "Yes" } else { "No" }.to_owned()
}

/// The reply of `M_rel` about one passage as a model writes it. Its reason stays empty, because labels have none.
pub fn relevant_reply(is_relevant: bool) -> String {
    let numbers = if is_relevant { "[1]" } else { "[]" };
    format!("{{\"thinking\": \"\", \"paragraph_idx\": {numbers}}}")
}

/// The reply of `M_decom` as a model writes it.
pub fn decompose_reply(parts: &[String]) -> String {
    json!({ "sub_questions": parts }).to_string()
}

/// Whether the model knows the answer: `M_know(q) = know`. `None` where its reply stayed unreadable.
///
/// # Errors
/// There is no model of the role `know`, or the call failed.
pub async fn knows(
    ports: &Ports,
    run: &mut Run,
    question: &str,
) -> Result<Option<bool>, SolveError> {
    let asked = quiet_headings(question);
    let reply = run.ask::<YesNo>(ports, &KNOW, &[("question", &asked)]).await?;
    Ok(reply.map(|reply| reply.0))
}

/// Whether each passage in the form of [`passage_text`] is relevant, one call each; `None` where a reply stayed
/// unreadable.
///
/// # Errors
/// There is no model of the role `relevant`, or a call failed.
pub async fn relevant_each(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    passages: &[String],
) -> Result<Vec<Option<bool>>, SolveError> {
    let replies = numbers::<true>(ports, run, question, &RELEVANT, passages.chunks(1)).await?;
    Ok(replies.into_iter().map(|reply| reply.map(|numbers| numbers.0.contains(&1))).collect())
}

/// Which passages are relevant if all of them suffice together, in one call (the examples of Appendix E). A reply that
/// stayed unreadable accepts none.
pub(super) async fn relevant_together(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    passages: &[String],
) -> Result<Vec<bool>, SolveError> {
    if passages.is_empty() {
        return Ok(Vec::new());
    }
    let groups = [passages].into_iter();
    let replies = numbers::<false>(ports, run, question, &SUFFICIENT, groups).await?;
    let numbers = replies.into_iter().flatten().next().map(|reply| reply.0).unwrap_or_default();
    Ok((1..=passages.len()).map(|number| numbers.contains(&number)).collect())
}

async fn numbers<'a, const OF_ONE: bool>(
    ports: &Ports,
    run: &mut Run,
    question: &str,
    prompt: &Prompt,
    groups: impl Iterator<Item = &'a [String]>,
) -> Result<Vec<Option<Numbers<OF_ONE>>>, SolveError> {
    let asked = quiet_headings(question);
    let lists: Vec<String> =
        groups.map(|group| numbered(group.iter().map(String::as_str))).collect();
    let inputs: Vec<_> = lists
        .iter()
        .map(|list| (vec![("question", asked.as_str()), ("passages", list.as_str())], 0))
        .collect();
    run.ask_each::<Numbers<OF_ONE>>(ports, prompt, &inputs).await
}

/// The sub-questions of a question: `Q_sub ← M_decom(q)`, without those that repeat it but for case,
/// punctuation and articles. `None` where the reply stayed unreadable.
///
/// # Errors
/// There is no model of the role `decompose`, or the call failed.
pub async fn parts(
    ports: &Ports,
    run: &mut Run,
    question: &str,
) -> Result<Option<Vec<String>>, SolveError> {
    let asked = quiet_headings(question);
    let reply = run.ask::<SubQuestions>(ports, &DECOMPOSE, &[("question", &asked)]).await?;
    let whole = bare(question);
    let divides = |part: &String| bare(part) != whole;
    Ok(reply.map(|reply| reply.0.into_iter().filter(divides).collect()))
}

/// Numbers from a list, from 1; none where nothing in it fits. If the list is of one passage
/// (`OF_ONE`), the model may write one number: a small model counts on without end.
struct Numbers<const OF_ONE: bool>(Vec<usize>);

impl<const OF_ONE: bool> Reply for Numbers<OF_ONE> {
    fn schema() -> Option<Schema> {
        let number = json!({"type": "integer"});
        let numbers = match OF_ONE {
            true => json!({"type": "array", "items": number, "maxItems": 1}),
            false => json!({"type": "array", "items": number}),
        };
        let thinking = at_most(THINKING);
        Some(shape("relevant", json!({"thinking": thinking, "paragraph_idx": numbers})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["paragraph_idx"])?;
        let number = |value: &Value| match value {
            Value::Number(number) => number.as_u64().and_then(|n| usize::try_from(n).ok()),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let bad = || Unreadable::key("paragraph_idx", "a list of numbers");
        match object.get("paragraph_idx") {
            Some(Value::Null | Value::Bool(false)) => Ok(Self(Vec::new())),
            Some(Value::Array(items)) => {
                let numbers: Option<Vec<usize>> = items.iter().map(number).collect();
                numbers.map(Self).ok_or_else(bad)
            }
            Some(one) => number(one).map(|one| Self(vec![one])).ok_or_else(bad),
            None => Err(bad()),
        }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_numbers: Numbers<true> }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_in_many_shapes() {
        let read = |reply: &str| Numbers::<false>::read(reply).map(|numbers| numbers.0);
        assert_eq!(read(r#"{"paragraph_idx": [1, "3"]}"#), Ok(vec![1, 3]));
        assert_eq!(read(r#"{"paragraph_idx": 2}"#), Ok(vec![2]));
        assert_eq!(read(r#"{"paragraph_idx": null}"#), Ok(vec![]));
        assert!(read(r#"{"paragraph_idx": "all"}"#).is_err());
    }

    #[test]
    fn a_reply_about_one_passage_has_one_number() {
        let of_several = Numbers::<false>::schema().unwrap().schema;
        assert!(of_several["properties"]["paragraph_idx"]["maxItems"].is_null());
        let schema = Numbers::<true>::schema().unwrap().schema;
        assert_eq!(schema["properties"]["paragraph_idx"]["maxItems"], 1);
        assert_eq!(schema["properties"]["thinking"]["maxLength"], THINKING);
    }

    #[test]
    fn replies_are_read_as_they_are_written() {
        for holds in [true, false] {
            assert_eq!(YesNo::read(&know_reply(holds)), Ok(YesNo(holds)));
            let numbers = Numbers::<true>::read(&relevant_reply(holds)).unwrap().0;
            assert_eq!(numbers.contains(&1), holds);
        }
        let parts = vec!["Who built \"it\"?".to_owned(), "Where?".to_owned()];
        assert_eq!(SubQuestions::read(&decompose_reply(&parts)).unwrap().0, parts);
    }
}
