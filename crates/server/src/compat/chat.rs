//! Reads a conversation as chat programs send it: base, method, question, or background task.

use std::fmt::Write;

use pikerag_engine::knowledge::{Answer, Check, Citation, Grade};
use pikerag_engine::narrate::{InWords, Language, quoted_text};
use pikerag_engine::parts::{Speaker, Turn};
use pikerag_engine::settings::DEFAULT_BASE;
use pikerag_engine::{AskRequest, Session};
use serde::Deserialize;
use serde_json::Value;

use super::background::{background, without_wrapping};
use crate::admission::Place;
use crate::app::{App, Caller};
use crate::problem::{Fault, Problem};

/// The names of models: `pikerag`, `pikerag/METHOD`, followed by `@BASE`.
pub(crate) const MODEL: &str = "pikerag";
/// The longest name of a model, in bytes: replies repeat it in each event of a stream.
const LONGEST_NAME: usize = 256;
/// The largest number of citations that are shown with an answer.
const CITED: usize = 20;

/// A turn of a conversation.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Message {
    /// `system`, `user`, `assistant`, `tool`.
    pub(crate) role: String,
    /// Text, or a list of parts of which some are text.
    #[serde(default)]
    pub(crate) content: Value,
}

impl Message {
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }
}

/// Splits a model's name into method and base.
pub(crate) fn named(model: &str) -> (String, String) {
    let model = model.trim();
    // Ollama's clients append a tag to names.
    let model = model.strip_suffix(":latest").unwrap_or(model);
    let (method, base) = match model.rsplit_once('@') {
        Some((method, base)) => (method, base),
        None => (model, DEFAULT_BASE),
    };
    let method = method.strip_prefix(MODEL).unwrap_or(method);
    (method.trim_start_matches('/').to_owned(), base.to_owned())
}

/// The names of all models: for each base the default method and all others.
pub(crate) fn models(app: &App, caller: &Caller) -> Vec<String> {
    let mut names = Vec::new();
    for (base, _) in app.bases_of(caller) {
        let at = if base == DEFAULT_BASE { String::new() } else { format!("@{base}") };
        names.push(format!("{MODEL}{at}"));
        names.extend(
            pikerag_engine::methods().iter().map(|method| format!("{MODEL}/{}{at}", method.name)),
        );
    }
    names
}

/// The method and the base that a model's name stands for, opened for a caller.
pub(crate) struct Served {
    /// Empty for the default method.
    pub(crate) method: String,
    pub(crate) base: String,
    pub(crate) session: Session,
}

/// Finds the method and the base of a model. Any other name is refused, so that no caller takes an
/// answer for that of another model.
pub(crate) fn served(app: &App, caller: &Caller, model: &str) -> Result<Served, Problem> {
    let (method, base) = named(model);
    let is_known = method.is_empty()
        || pikerag_engine::methods().iter().any(|known| known.name == method.as_str());
    let is_short = model.len() <= LONGEST_NAME;
    match app.base(caller, &base) {
        Ok(session) if is_known && is_short => Ok(Served { method, base, session }),
        _ => Err(Problem::new(404, "no-such-model", Fault::Caller)
            .saying(format!("there is no model `{}`", shortened(model, LONGEST_NAME)))
            .hint("GET /v1/models lists all models")
            .about("model")),
    }
}

/// At most `most` characters of a text, then an ellipsis if it is longer.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Refuses a conversation that is too long, before anything else is done with it.
pub(crate) fn check_length(app: &App, messages: &[Message]) -> Result<(), Problem> {
    app.conversation_within(messages.iter().map(|message| message.text().len()).sum())
}

/// The request of a conversation.
pub(crate) enum Asked {
    /// A question for a method.
    Question(AskRequest, Place),
    /// A background task of a chat program, with its reply. No method runs for it.
    Background(String),
}

/// The last message as a request; see [`asked_with`].
pub(crate) async fn asked(
    app: &App,
    place: (&Caller, &Session),
    method: String,
    messages: &[Message],
) -> Result<Asked, Problem> {
    let wanted = AskRequest { method, ..AskRequest::default() };
    asked_with(app, place, wanted, messages).await
}

/// The last message as a request with the method, filter, class and level of `wanted`, and the
/// right to run it. A message that refers back is rewritten to stand alone.
pub(crate) async fn asked_with(
    app: &App,
    (caller, session): (&Caller, &Session),
    wanted: AskRequest,
    messages: &[Message],
) -> Result<Asked, Problem> {
    check_length(app, messages)?;
    let is_spoken = |message: &&Message| message.role == "user" || message.role == "assistant";
    let spoken: Vec<&Message> = messages.iter().filter(is_spoken).collect();
    let Some((last, before)) = spoken.split_last() else {
        return Err(Problem::bad_request("`messages` holds no message of the role `user`"));
    };
    if last.role != "user" {
        return Err(Problem::bad_request("the last of `messages` is not of the role `user`"));
    }
    let text = last.text();
    let system = messages.iter().find(|message| message.role == "system").map(Message::text);
    if let Some(reply) = background(&system.unwrap_or_default(), &text) {
        return Ok(Asked::Background(reply));
    }
    let text = without_wrapping(&text);
    app.within(&[text], &wanted.filter.conditions)?;
    let place = app.admitted(caller).await?;
    let turn = |message: &&Message| {
        let by = if message.role == "user" { Speaker::Person } else { Speaker::Assistant };
        Turn { by, text: message.text() }
    };
    let (question, earlier) = (text.to_owned(), before.iter().map(turn).collect());
    let request = AskRequest { question, earlier, ..wanted };
    Ok(Asked::Question(pikerag_engine::standalone(session, request).await?, place))
}

/// An answer as a chat shows it: the text with the numbers of its citations, then the rationale;
/// and the position of each citation's number in it, in characters. Quotes are a list under their
/// grade, after the things that no document mentions.
pub(crate) fn shown(answer: &Answer) -> (String, Vec<(Citation, usize, usize)>) {
    if let Some(quotes) = &answer.quotes
        && !answer.citations.is_empty()
    {
        return shown_quotes(answer, quotes.grade);
    }
    let mut text = match answer.text.trim() {
        // An empty bubble looks broken.
        "" => "—".to_owned(),
        text => text.to_owned(),
    };
    let mut places = Vec::new();
    let verified = answer.citations.iter().filter(|citation| citation.check == Check::Verified);
    let mut length = text.chars().count();
    for (at, citation) in verified.take(CITED).enumerate() {
        let mark = format!("{}[{}]", if at == 0 { " " } else { "" }, at + 1);
        let begins = length + usize::from(at == 0);
        length += mark.chars().count();
        text.push_str(&mark);
        places.push((citation.clone(), begins, length));
    }
    let rationale = answer.rationale.trim();
    if !rationale.is_empty() {
        text.push_str("\n\n");
        text.push_str(rationale);
    }
    // The text of a refusal names the missing information.
    if !answer.missing.is_empty() && answer.missing != [answer.text.as_str()] {
        let language = language_of(answer);
        text.push_str("\n\n");
        text.push_str(language.either("Not in the documents: ", "文档中没有："));
        text.push_str(&answer.missing.join(language.either("; ", "；")));
    }
    (text, places)
}

fn language_of(answer: &Answer) -> Language {
    let rationale = answer.rationale.trim();
    Language::of(if rationale.is_empty() { answer.text.as_str() } else { rationale })
}

fn shown_quotes(answer: &Answer, grade: Grade) -> (String, Vec<(Citation, usize, usize)>) {
    let language = language_of(answer);
    let mut text = match answer.rationale.trim() {
        "" => String::new(),
        first => format!("{first}\n\n"),
    };
    text.push_str(&grade.in_words(language));
    text.push_str(language.either(":", "："));
    let mut places = Vec::new();
    let verified = answer.citations.iter().filter(|citation| citation.check == Check::Verified);
    for (at, citation) in verified.take(CITED).enumerate() {
        let _ = write!(text, "\n\n{}: {} ", citation.title, quoted_text(citation));
        let begins = text.chars().count();
        let _ = write!(text, "[{}]", at + 1);
        places.push((citation.clone(), begins, text.chars().count()));
    }
    (text, places)
}

#[cfg(test)]
mod tests {
    use pikerag_engine::knowledge::{ChunkId, Context, Quotes, Span, WrittenBy};

    use super::*;

    #[test]
    fn quotes_are_a_list_under_their_grade_and_gaps_have_the_answers_language() {
        let quote = "| P-101 | bilge |";
        let citation = Citation {
            number: 1,
            chunk: ChunkId(1),
            uri: "pumps.md".to_owned(),
            title: "Pumps".to_owned(),
            page: None,
            span: Span { start: 0, end: quote.len() },
            boxes: Vec::new(),
            quote: quote.to_owned(),
            columns: vec!["Pump".to_owned(), "Use".to_owned()],
            best: None,
            check: Check::Verified,
            replaced_by: None,
            corrected: false,
        };
        let answer = Answer {
            text: "Pump: P-101 | Use: bilge".to_owned(),
            rationale: "No document mentions “P-107”.".to_owned(),
            refused: true,
            missing: Vec::new(),
            written_by: WrittenBy::Quotation,
            citations: vec![citation],
            context: Context::default(),
            quotes: Some(Quotes { grade: Grade::NotFound, absent: vec!["P-107".to_owned()] }),
            worked: None,
        };
        let (text, places) = shown(&answer);
        assert_eq!(
            text,
            "No document mentions “P-107”.\n\nNot found; nearest passages:\n\nPumps: Pump: P-101 | Use: bilge [1]"
        );
        let (_, begins, ends) = &places[0];
        let mark: String = text.chars().skip(*begins).take(ends - begins).collect();
        assert_eq!(mark, "[1]");
        let missing = vec!["起重机的年份".to_owned(), "制造商".to_owned()];
        let text = "四十吨。".to_owned();
        let (quotes, rationale, citations) = (None, String::new(), Vec::new());
        let partial = Answer { text, missing, quotes, rationale, citations, ..answer };
        assert_eq!(shown(&partial).0, "四十吨。\n\n文档中没有：起重机的年份；制造商");
    }

    #[test]
    fn a_long_text_is_shortened_between_characters() {
        assert_eq!(shortened("青岛港", 3), "青岛港");
        assert_eq!(shortened("青岛港", 2), "青岛…");
    }

    #[test]
    fn models_name_methods_and_bases() {
        let of = |name: &str| named(name);
        let pair = |method: &str, base: &str| (method.to_owned(), base.to_owned());
        assert_eq!(of("pikerag"), pair("", "default"));
        assert_eq!(of("pikerag/kar3"), pair("kar3", "default"));
        assert_eq!(of("pikerag/kar3@law:latest"), pair("kar3", "law"));
        assert_eq!(of("pikerag@law"), pair("", "law"));
        assert_eq!(of("gpt-4o"), pair("gpt-4o", "default"));
    }
}
