//! Writes replies as Ollama does: whole, or as a stream of lines of JSON. While a method works, lines
//! report its steps and the draft of the answer as thinking.

use std::convert::Infallible;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use pikerag_engine::AskResponse;
use pikerag_engine::knowledge::Spent;
use pikerag_engine::narrate::Language;
use serde_json::{Map, Value, json};

use super::created_at;
use super::sources::with_sources;
use crate::app::App;
use crate::compat::chat::shown;
use crate::compat::cut::{End, Ends, Shown, before_stop};
use crate::compat::errors::Shape as ErrorShape;
use crate::compat::progress::{Progress, Step};
use crate::compat::structured::Filling;
use crate::problem::Problem;
use crate::streams::broken;

/// The fields that hold the text of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `message`, as `/api/chat` replies.
    Chat,
    /// `response`, as `/api/generate` replies.
    Generate,
}

/// Whether the reply comes as a whole or line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    Lines,
}

/// The form of a reply.
pub(super) struct Form {
    pub(super) shape: Shape,
    pub(super) delivery: Delivery,
    /// The requested model, as the request names it.
    pub(super) model: String,
    /// Whether steps are reported as thinking.
    pub(super) thinks: bool,
    /// The time of the request.
    pub(super) began: Instant,
}

/// An answer as a reply shows it.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    /// The text with its sources below, or an object as JSON.
    text: String,
    /// `stop`, or `length` if the text was cut; `load` or `unload` without a question.
    reason: &'static str,
    /// Tokens of the prompts of the run, and of those that filled an object.
    prompt_tokens: u64,
    /// Tokens of the replies to them.
    reply_tokens: u64,
}

impl Finished {
    /// A text that cost nothing.
    fn free(text: &str, reason: &'static str) -> Self {
        Self { text: text.to_owned(), reason, prompt_tokens: 0, reply_tokens: 0 }
    }

    fn paid(text: String, reason: &'static str, spent: &Spent) -> Self {
        let usage = spent.usage();
        let (prompt_tokens, reply_tokens) = (usage.prompt_tokens, usage.completion_tokens);
        Self { text, reason, prompt_tokens, reply_tokens }
    }
}

impl Form {
    /// The reply to a request without a question: `load`, or `unload`.
    pub(super) fn without_answer(&self, reason: &'static str) -> Response {
        self.whole(&Finished::free("", reason), "")
    }

    /// A reply that needed no method.
    pub(super) fn at_once(&self, text: &str) -> Response {
        let finished = Finished::free(text, "stop");
        match self.delivery {
            Delivery::Whole => self.whole(&finished, ""),
            Delivery::Lines => lines(stream::iter([Ok(self.end(&finished))])),
        }
    }

    /// The reply of a run as a whole.
    pub(super) async fn awaited(&self, mut running: Running) -> Result<Response, Problem> {
        let mut thinking = String::new();
        loop {
            match running.progress.next().await {
                Step::Words(words) if self.thinks => thinking.push_str(&words),
                Step::Began(_) | Step::Words(_) => {}
                Step::Ended(came) => {
                    return Ok(self.whole(&running.finished(came).await?, &thinking));
                }
            }
        }
    }

    /// The reply of a run line by line. Without thinking, each step is an empty part of the answer,
    /// so that clients see that the method works.
    pub(super) fn streamed(self, running: Running) -> Response {
        lines(stream::unfold(Some((self, running)), |state| async move {
            let (form, mut running) = state?;
            let came = loop {
                match running.progress.next().await {
                    Step::Began(_) => {}
                    Step::Words(words) => {
                        let thinking = if form.thinks { words.as_str() } else { "" };
                        let line = Value::Object(form.line("", thinking));
                        return Some((Ok(format!("{line}\n")), Some((form, running))));
                    }
                    Step::Ended(came) => break came,
                }
            };
            let text = match running.finished(came).await {
                Ok(finished) => form.end(&finished),
                // The status is sent, so the last line reports the error.
                Err(problem) => format!("{}\n", ErrorShape::Ollama.error(&problem)),
            };
            Some((Ok(text), None))
        }))
    }

    fn whole(&self, finished: &Finished, thinking: &str) -> Response {
        Json(self.last(self.line(&finished.text, thinking), finished)).into_response()
    }

    /// The last two lines: the answer, then the counts.
    fn end(&self, finished: &Finished) -> String {
        let answer = Value::Object(self.line(&finished.text, ""));
        format!("{answer}\n{}\n", self.last(self.line("", ""), finished))
    }

    /// A part of a reply; no field `thinking` without thoughts.
    fn line(&self, text: &str, thinking: &str) -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("model".to_owned(), json!(self.model));
        line.insert("created_at".to_owned(), json!(created_at()));
        let mut parts = Map::new();
        if self.shape == Shape::Chat {
            parts.insert("role".to_owned(), json!("assistant"));
        }
        let name = if self.shape == Shape::Chat { "content" } else { "response" };
        parts.insert(name.to_owned(), json!(text));
        if !thinking.is_empty() {
            parts.insert("thinking".to_owned(), json!(thinking));
        }
        match self.shape {
            Shape::Chat => {
                line.insert("message".to_owned(), Value::Object(parts));
            }
            Shape::Generate => line.extend(parts),
        }
        line.insert("done".to_owned(), json!(false));
        line
    }

    /// The line as the last one of a reply. Durations are in nanoseconds; all of the time counts as
    /// that of the answer.
    fn last(&self, mut line: Map<String, Value>, finished: &Finished) -> Value {
        let nanoseconds = nanoseconds_since(self.began);
        for (name, value) in [
            ("done", json!(true)),
            ("done_reason", json!(finished.reason)),
            ("total_duration", json!(nanoseconds)),
            ("load_duration", json!(0)),
            ("prompt_eval_count", json!(finished.prompt_tokens)),
            ("prompt_eval_duration", json!(0)),
            ("eval_count", json!(finished.reply_tokens)),
            ("eval_duration", json!(nanoseconds)),
        ] {
            line.insert(name.to_owned(), value);
        }
        Value::Object(line)
    }
}

/// The time since then in nanoseconds.
pub(super) fn nanoseconds_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn lines(lines: impl Stream<Item = Result<String, Infallible>> + Send + 'static) -> Response {
    let mut response = Body::from_stream(lines).into_response();
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// A running run, and how its answer is shown.
pub(super) struct Running {
    pub(super) app: App,
    /// The name of the base.
    pub(super) base: String,
    pub(super) language: Language,
    /// Where the request wants the answer to end.
    pub(super) ends: Ends,
    /// The object in place of a text.
    pub(super) filling: Option<Filling>,
    pub(super) progress: Progress,
}

impl Running {
    /// The answer with its sources, up to the end that the request wants; or the object that is
    /// filled from it, which is not cut. Where the answer gives nothing, and the schema has no null
    /// for that, the answer in words.
    async fn finished(
        &mut self,
        came: Result<Box<AskResponse>, Problem>,
    ) -> Result<Finished, Problem> {
        let came = came?;
        let answer = came.run.answer.as_ref().ok_or_else(broken)?;
        if let Some(filling) = self.filling.take() {
            let filled = filling.filled().await?;
            let text = filled.object().or_else(|| filled.refusal()).unwrap_or_default();
            return Ok(Finished::paid(text.to_owned(), "stop", &came.run.cost.spent));
        }
        let ((text, places), end) = self.ends.shown(shown(answer));
        // The list of sources is a part of the text, which ends before a stop sequence.
        let text = match end {
            End::Stop => text,
            End::Whole | End::Limit => {
                let text = with_sources(&self.app, &self.base, (text, places), self.language);
                let listed: Shown<()> = (text, Vec::new());
                before_stop(&listed, &self.ends.stops).unwrap_or(listed).0
            }
        };
        Ok(Finished::paid(text, end.reason(), &came.run.cost.spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(shape: Shape) -> Form {
        let model = "pikerag".to_owned();
        Form { shape, delivery: Delivery::Lines, model, thinks: true, began: Instant::now() }
    }

    #[test]
    fn each_route_has_its_own_fields_for_the_text() {
        let chat = Value::Object(form(Shape::Chat).line("a", "b"));
        assert_eq!(chat["message"], json!({"role": "assistant", "content": "a", "thinking": "b"}));
        let generate = Value::Object(form(Shape::Generate).line("a", ""));
        assert_eq!((&generate["response"], generate.get("thinking")), (&json!("a"), None));
        assert_eq!(generate["done"], false);
    }

    #[test]
    fn the_last_line_has_counts_and_whole_nanoseconds() {
        let finished =
            Finished { text: "a".to_owned(), reason: "stop", prompt_tokens: 3, reply_tokens: 2 };
        let text = form(Shape::Chat).end(&finished);
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (&lines[0]["message"]["content"], &lines[0]["done"]),
            (&json!("a"), &json!(false))
        );
        let last = &lines[1];
        assert_eq!((&last["done"], &last["done_reason"]), (&json!(true), &json!("stop")));
        assert_eq!((&last["prompt_eval_count"], &last["eval_count"]), (&json!(3), &json!(2)));
        assert!(last["total_duration"].is_u64() && last["load_duration"].is_u64(), "{last}");
        assert!(last["created_at"].as_str().unwrap().ends_with('Z'), "{last}");
    }
}
