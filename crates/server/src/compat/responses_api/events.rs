//! Words a response as a stream: the steps and drafts as a summary of reasoning while they happen,
//! then the checked answer as the text. The events are numbered from 0.

use serde_json::{Map, Value, json};

use super::content::{Content, Reply, part, reasoning_item, summary};
use super::reply::Head;
use crate::problem::Problem;

/// The events of one response.
pub(super) struct Events {
    head: Head,
    /// The name of the run.
    run: String,
    /// The number of the next event.
    number: u64,
    /// The summary as sent; its item has begun unless it is empty.
    steps: String,
}

impl Events {
    pub(super) fn new(head: Head, run: String) -> Self {
        Self { head, run, number: 0, steps: String::new() }
    }

    /// The first events.
    pub(super) fn begin(&mut self) -> Vec<Value> {
        let response = self.head.underway(&self.run);
        let created = self.event("response.created", &json!({"response": response}));
        vec![created, self.event("response.in_progress", &json!({"response": response}))]
    }

    /// More words of the summary; no event without words.
    pub(super) fn step(&mut self, words: &str) -> Vec<Value> {
        if words.is_empty() {
            return Vec::new();
        }
        let mut events = Vec::new();
        if self.steps.is_empty() {
            let item = reasoning_item(&self.run, "in_progress", &[]);
            let added = json!({"output_index": 0, "item": item});
            events.push(self.event("response.output_item.added", &added));
            let added = json!({"part": summary("")});
            events.push(self.of_summary("response.reasoning_summary_part.added", &added));
        }
        self.steps.push_str(words);
        let delta = json!({"delta": words});
        events.push(self.of_summary("response.reasoning_summary_text.delta", &delta));
        events
    }

    /// The last events of a response that has an answer; `ended` counts the seconds since 1970.
    pub(super) fn answer(&mut self, reply: &Reply, ended: u64) -> Vec<Value> {
        let mut events = self.end_of_steps();
        let index = u64::from(!self.steps.is_empty());
        let added = json!({"output_index": index, "item": reply.beginning(&self.run)});
        events.push(self.event("response.output_item.added", &added));
        let place = json!({"item_id": reply.id(&self.run), "output_index": index});
        for (kind, fields) in content_events(&reply.content) {
            events.push(self.event(kind, &joined(&place, &fields)));
        }
        let done = json!({"output_index": index, "item": reply.item(&self.run)});
        events.push(self.event("response.output_item.done", &done));
        let response = self.head.ended(&self.run, &self.steps, reply, ended);
        let kind = format!("response.{}", reply.status());
        events.push(self.event(&kind, &json!({"response": response})));
        events
    }

    /// The last events of a response that failed.
    pub(super) fn fail(&mut self, problem: &Problem) -> Vec<Value> {
        let mut events = self.end_of_steps();
        let response = self.head.failed(&self.run, &self.steps, problem);
        events.push(self.event("response.failed", &json!({"response": response})));
        events
    }

    fn end_of_steps(&mut self) -> Vec<Value> {
        if self.steps.is_empty() {
            return Vec::new();
        }
        let whole = summary(&self.steps);
        let text = json!({"text": self.steps});
        let part = json!({"part": whole});
        let item = reasoning_item(&self.run, "completed", &[whole]);
        vec![
            self.of_summary("response.reasoning_summary_text.done", &text),
            self.of_summary("response.reasoning_summary_part.done", &part),
            self.event("response.output_item.done", &json!({"output_index": 0, "item": item})),
        ]
    }

    /// An event of the summary, which is the first item and has one part.
    fn of_summary(&mut self, kind: &str, fields: &Value) -> Value {
        let place =
            json!({"item_id": format!("rs_{}", self.run), "output_index": 0, "summary_index": 0});
        self.event(kind, &joined(&place, fields))
    }

    fn event(&mut self, kind: &str, fields: &Value) -> Value {
        let head = json!({"type": kind, "sequence_number": self.number});
        self.number += 1;
        joined(&head, fields)
    }
}

/// The events of an answer within its item. A message has one part; a call has none.
fn content_events(content: &Content) -> Vec<(&'static str, Value)> {
    let added = |empty: &Content| json!({"content_index": 0, "part": part(empty)});
    let done = json!({"content_index": 0, "part": part(content)});
    match content {
        Content::Text { text, annotations } => {
            let empty = Content::Text { text: String::new(), annotations: Vec::new() };
            let mut events = vec![("response.content_part.added", added(&empty))];
            if !text.is_empty() {
                let delta = json!({"content_index": 0, "delta": text, "logprobs": []});
                events.push(("response.output_text.delta", delta));
            }
            for (number, annotation) in annotations.iter().enumerate() {
                let added = json!({
                    "content_index": 0, "annotation_index": number, "annotation": annotation,
                });
                events.push(("response.output_text.annotation.added", added));
            }
            let whole = json!({"content_index": 0, "text": text, "logprobs": []});
            events.push(("response.output_text.done", whole));
            events.push(("response.content_part.done", done));
            events
        }
        Content::Refusal(refusal) => vec![
            ("response.content_part.added", added(&Content::Refusal(String::new()))),
            ("response.refusal.delta", json!({"content_index": 0, "delta": refusal})),
            ("response.refusal.done", json!({"content_index": 0, "refusal": refusal})),
            ("response.content_part.done", done),
        ],
        Content::Call { name, arguments } => vec![
            ("response.function_call_arguments.delta", json!({"delta": arguments})),
            (
                "response.function_call_arguments.done",
                json!({"name": name, "arguments": arguments}),
            ),
        ],
    }
}

/// The fields of both objects, in order.
fn joined(first: &Value, second: &Value) -> Value {
    let fields = [first, second].into_iter().filter_map(Value::as_object).flatten();
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(fields.collect::<Map<String, Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::responses_api::request::CreateResponse;
    use crate::problem::Fault;

    fn events() -> Events {
        let body = json!({"model": "pikerag", "input": "q", "stream": true});
        Events::new(Head::new(&CreateResponse::read(body).unwrap(), 7), "abc".to_owned())
    }

    /// The kinds of events, which must be numbered from 0.
    fn kinds(events: &[Value]) -> Vec<&str> {
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["sequence_number"], json!(number), "{event}");
        }
        events.iter().map(|event| event["type"].as_str().unwrap()).collect()
    }

    #[test]
    fn a_stream_sends_the_steps_then_the_answer() {
        let mut stream = events();
        let mut all = stream.begin();
        all.extend(stream.step("It searches.\n"));
        all.extend(stream.step(""));
        all.extend(stream.step("Draft, not checked yet: Os"));
        let link = json!({"type": "url_citation", "start_index": 5, "end_index": 8});
        let text = Content::Text { text: "Oslo [1]".to_owned(), annotations: vec![link.clone()] };
        let reply = Reply { content: text, ..Reply::plain(String::new()) };
        all.extend(stream.answer(&reply, 9));
        let wanted = [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.annotation.added",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(kinds(&all), wanted);
        let steps = "It searches.\nDraft, not checked yet: Os";
        assert_eq!(all[6]["text"], steps);
        assert_eq!(all[8]["item"]["summary"], json!([summary(steps)]));
        let delta = json!({
            "type": "response.output_text.delta", "sequence_number": 11, "item_id": "msg_abc",
            "output_index": 1, "content_index": 0, "delta": "Oslo [1]", "logprobs": [],
        });
        assert_eq!(all[11], delta);
        assert_eq!(all[12]["annotation"], link);
        // The items that were sent are those of the whole response.
        let whole = &all[16]["response"]["output"];
        assert_eq!((&whole[0], &whole[1]), (&all[8]["item"], &all[15]["item"]));
    }

    #[test]
    fn a_stream_without_steps_begins_with_the_answer() {
        let mut stream = events();
        let mut all = stream.begin();
        all.extend(stream.answer(&Reply::plain(String::new()), 9));
        let wanted = [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(kinds(&all), wanted);
        assert_eq!(all[2]["output_index"], 0);
    }

    #[test]
    fn objects_refusals_and_calls_have_events_of_their_own() {
        let call = Content::Call { name: "City".to_owned(), arguments: "{}".to_owned() };
        for (content, wanted, item) in [
            (
                Content::Refusal("Not found.".to_owned()),
                vec![
                    "response.content_part.added",
                    "response.refusal.delta",
                    "response.refusal.done",
                    "response.content_part.done",
                ],
                json!({
                    "id": "msg_abc", "type": "message", "role": "assistant", "status": "completed",
                    "content": [{"type": "refusal", "refusal": "Not found."}],
                }),
            ),
            (
                call,
                vec![
                    "response.function_call_arguments.delta",
                    "response.function_call_arguments.done",
                ],
                json!({
                    "id": "fc_abc", "type": "function_call", "call_id": "call_abc", "name": "City",
                    "arguments": "{}", "status": "completed",
                }),
            ),
        ] {
            let reply = Reply { content, ..Reply::plain(String::new()) };
            let all = events().answer(&reply, 9);
            let kinds = kinds(&all);
            let (first, last) = ("response.output_item.added", "response.output_item.done");
            assert_eq!(kinds, [&[first][..], &wanted, &[last, "response.completed"]].concat());
            assert_eq!(all[all.len() - 2]["item"], item);
            assert_eq!(all[1]["item_id"], item["id"]);
        }
    }

    #[test]
    fn a_failure_ends_the_stream() {
        let mut stream = events();
        let mut all = stream.begin();
        all.extend(stream.step("It searches.\n"));
        let problem = Problem::new(502, "model-failed", Fault::Model).saying("m is busy");
        all.extend(stream.fail(&problem));
        assert_eq!(kinds(&all).last(), Some(&"response.failed"));
        let response = &all.last().unwrap()["response"];
        assert_eq!((&response["status"], &response["id"]), (&json!("failed"), &json!("resp_abc")));
    }
}
