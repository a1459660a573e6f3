//! Describes the tools: their arguments and their results, always in the same order.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const ASK: &str = "ask";
pub(super) const SEARCH: &str = "search";
pub(super) const FETCH: &str = "fetch";
pub(super) const GET_CHUNK: &str = "get_chunk";
pub(super) const LIST_SOURCES: &str = "list_sources";
pub(super) const GRAPH_NEIGHBOURS: &str = "graph_neighbours";

/// All tools.
pub(super) fn all() -> Vec<Tool> {
    let base =
        json!({"type": "string", "description": "Name of the base; the default base, if absent."});
    let filter = json!({
        "type": "array", "items": {"type": "string"},
        "description": "Conditions that all must hold, such as folder=law or date>=2020-01-31.",
    });
    let words = |text: &str| json!({"type": "string", "description": text});
    vec![
        tool(
            ASK,
            "Answer a question from the documents: factual, multi-hop, comparing, counting, summarizing, predicting or creative. \
             Returns the answer, its rationale, and citations that were checked against the documents.",
            &json!({
                "question": words("The question, understandable by itself."),
                "method": words("A method by name; the one that fits the question, if absent."),
                "filter": filter, "base": base,
            }),
            &["question"],
            &json!({
                "answer": words("The answer."), "rationale": words("The reasons for the answer."),
                "refused": {"type": "boolean", "description": "Whether the documents do not contain the answer."},
                "missing": {"type": "array", "items": {"type": "string"}},
                "citations": {"type": "array", "items": {"type": "object"}},
                "run": words("Identifier of the run, which keeps the reasoning."), "method": {"type": "string"},
                "calls": {"type": "integer"}, "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
            }),
            &["answer", "citations", "run"],
        ),
        tool(
            SEARCH,
            "Find passages of the documents to read, best first.",
            &json!({
                "query": words("The words to search for."),
                "k": {"type": "integer", "minimum": 1, "maximum": 200, "description": "Number of passages; 8, if absent."},
                "filter": filter, "base": base,
            }),
            &["query"],
            &json!({
                "hits": {"type": "array", "items": passage(), "description": "The passages."},
                "results": {"type": "array", "items": listed(), "description": "The same passages, for `fetch`."},
            }),
            &["hits", "results"],
        ),
        tool(
            FETCH,
            "Return the text of a document around a passage that `search` found; the whole document if it is short.",
            &json!({"id": words("Identifier of a result of `search`."), "base": base}),
            &["id"],
            &json!({
                "id": {"type": "string"}, "title": {"type": "string"}, "text": {"type": "string"}, "url": {"type": "string"},
                "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
            }),
            &["id", "title", "text", "url"],
        ),
        tool(
            GET_CHUNK,
            "Return one whole passage by its identifier.",
            &json!({"chunk": words("Identifier from a search or a citation."), "base": base}),
            &["chunk"],
            &passage_fields(),
            &["chunk", "text"],
        ),
        tool(
            LIST_SOURCES,
            "List the documents, a hundred at a time.",
            &json!({"after": words("The URI after which the list continues."), "filter": filter, "base": base}),
            &[],
            &json!({
                "sources": {"type": "array", "items": {"type": "object"}},
                "left": {"type": "integer", "description": "Number of further documents."},
            }),
            &["sources", "left"],
        ),
        tool(
            GRAPH_NEIGHBOURS,
            "Show the surroundings of a node of the knowledge graph: a document, a passage, an entity.",
            &json!({
                "of": words("An identifier, a document's path or title, or the name of an entity."),
                "depth": {"type": "integer", "minimum": 1, "maximum": 3, "description": "Distance in edges; 1, if absent."},
                "base": base,
            }),
            &["of"],
            &json!({
                "of": {"type": "string"}, "nodes": {"type": "array", "items": {"type": "object"}},
                "edges": {"type": "array", "items": {"type": "object"}}, "left_out": {"type": "integer"},
            }),
            &["nodes", "edges"],
        ),
    ]
}

fn passage_fields() -> Value {
    json!({
        "chunk": {"type": "string"}, "title": {"type": "string"}, "uri": {"type": "string"},
        "page": {"type": ["integer", "null"]}, "text": {"type": "string"}, "url": {"type": "string"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    })
}

/// A result as `ChatGPT` reads it.
fn listed() -> Value {
    let text = json!({"type": "string"});
    let fields = json!({"id": text, "title": text, "url": text});
    json!({"type": "object", "properties": fields, "required": ["id", "title", "url"]})
}

fn passage() -> Value {
    json!({"type": "object", "properties": passage_fields(), "required": ["chunk", "text"]})
}

fn tool(
    name: &'static str,
    description: &'static str,
    takes: &Value,
    needs: &[&str],
    gives: &Value,
    always: &[&str],
) -> Tool {
    let schema = |properties: &Value, required: &[&str]| -> JsonObject {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        schema.as_object().cloned().unwrap_or_default()
    };
    let mut input = schema(takes, needs);
    input.insert("additionalProperties".to_owned(), json!(false));
    let reads = ToolAnnotations::new().read_only(true).destructive(false).open_world(false);
    Tool::new(name, description, Arc::new(input))
        .with_raw_output_schema(Arc::new(schema(gives, always)))
        .with_annotations(reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_list_is_stable_and_describes_results() {
        let as_json = |tools: Vec<Tool>| serde_json::to_string(&tools).unwrap();
        assert_eq!(as_json(all()), as_json(all()));
        for tool in all() {
            assert!(tool.output_schema.is_some(), "{}", tool.name);
            assert_eq!(tool.annotations.unwrap().read_only_hint, Some(true));
        }
    }
}
