//! Words a response as a stream: the steps and drafts as a summary of reasoning while they happen,
//! then the checked answer as the text. The events are numbered from 0.

use pikerag_engine::knowledge::Spent;
use serde_json::{Map, Value, json};

use super::reply::{Head, Reply, message_item, reasoning_item, summary, text_part};
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
            let item = reasoning_item(&self.run, "in_progress", Vec::new());
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
    pub(super) fn answer(&mut self, reply: &Reply, spent: &Spent, ended: u64) -> Vec<Value> {
        let mut events = self.end_of_steps();
        let index = u64::from(!self.steps.is_empty());
        let item = message_item(&self.run, "in_progress", Vec::new());
        let added = json!({"output_index": index, "item": item});
        events.push(self.event("response.output_item.added", &added));
        let added = json!({"part": text_part("", &[])});
        events.push(self.of_text("response.content_part.added", index, &added));
        if !reply.text.is_empty() {
            let delta = json!({"delta": reply.text, "logprobs": []});
            events.push(self.of_text("response.output_text.delta", index, &delta));
        }
        for (number, annotation) in reply.annotations.iter().enumerate() {
            let added = json!({"annotation_index": number, "annotation": annotation});
            events.push(self.of_text("response.output_text.annotation.added", index, &added));
        }
        let done = json!({"text": reply.text, "logprobs": []});
        events.push(self.of_text("response.output_text.done", index, &done));
        let done = json!({"part": reply.part()});
        events.push(self.of_text("response.content_part.done", index, &done));
        let done = json!({"output_index": index, "item": reply.item(&self.run)});
        events.push(self.event("response.output_item.done", &done));
        let response = self.head.ended(&self.run, (self.steps.as_str(), reply), spent, ended);
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
        let item = reasoning_item(&self.run, "completed", vec![whole]);
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

    /// An event of the text, which is the only part of its message.
    fn of_text(&mut self, kind: &str, index: u64, fields: &Value) -> Value {
        let place = json!({"item_id": format!("msg_{}", self.run), "output_index": index, "content_index": 0});
        self.event(kind, &joined(&place, fields))
    }

    fn event(&mut self, kind: &str, fields: &Value) -> Value {
        let head = json!({"type": kind, "sequence_number": self.number});
        self.number += 1;
        joined(&head, fields)
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
        let mut reply = Reply::plain("Oslo [1]".to_owned());
        reply.annotations.push(json!({"type": "url_citation", "start_index": 5, "end_index": 8}));
        all.extend(stream.answer(&reply, &Spent::default(), 9));
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
        assert_eq!(all[12]["annotation"], reply.annotations[0]);
        // The items that were sent are those of the whole response.
        let whole = &all[16]["response"]["output"];
        assert_eq!((&whole[0], &whole[1]), (&all[8]["item"], &all[15]["item"]));
    }

    #[test]
    fn a_stream_without_steps_begins_with_the_answer() {
        let mut stream = events();
        let mut all = stream.begin();
        all.extend(stream.answer(&Reply::plain(String::new()), &Spent::default(), 9));
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
