//! Which tools are there, what does each take, and what does it give? Always in the same order.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const ASK: &str = "ask";
pub(super) const SEARCH: &str = "search";
pub(super) const GET_CHUNK: &str = "get_chunk";
pub(super) const LIST_SOURCES: &str = "list_sources";
pub(super) const GRAPH_NEIGHBOURS: &str = "graph_neighbours";

/// All of them.
pub(super) fn all() -> Vec<Tool> {
    let base =
        json!({"type": "string", "description": "Name of the base; the usual one, if none."});
    let filter = json!({
        "type": "array", "items": {"type": "string"},
        "description": "Conditions that all must hold, such as folder=law or date>=2020-01-31.",
    });
    let words = |says: &str| json!({"type": "string", "description": says});
    vec![
        tool(
            ASK,
            "Answer a question from the documents: factual, multi-hop, comparing, counting, summarizing, predicting or creative. \
             Gives the answer, how it came about, and citations that were checked against the documents.",
            &json!({
                "question": words("The question, understandable by itself."),
                "method": words("A method by name; the one that fits the question, if none."),
                "filter": filter, "base": base,
            }),
            &["question"],
            &json!({
                "answer": words("The answer."), "rationale": words("How it came about."),
                "refused": {"type": "boolean", "description": "Whether the documents do not tell."},
                "missing": {"type": "array", "items": {"type": "string"}},
                "citations": {"type": "array", "items": {"type": "object"}},
                "run": words("Names the run, whose reasoning is kept."), "method": {"type": "string"},
                "calls": {"type": "integer"}, "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
            }),
            &["answer", "citations", "run"],
        ),
        tool(
            SEARCH,
            "Find passages of the documents, best first, to read them oneself.",
            &json!({
                "query": words("What to look for."),
                "k": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many; 8, if none."},
                "filter": filter, "base": base,
            }),
            &["query"],
            &json!({"hits": {"type": "array", "items": passage()}}),
            &["hits"],
        ),
        tool(
            GET_CHUNK,
            "Give one passage whole, by its identifier.",
            &json!({"chunk": words("As search and citations name it."), "base": base}),
            &["chunk"],
            &passage_fields(),
            &["chunk", "text"],
        ),
        tool(
            LIST_SOURCES,
            "List the documents, a hundred at a time.",
            &json!({"after": words("The URI behind which to go on."), "filter": filter, "base": base}),
            &[],
            &json!({
                "sources": {"type": "array", "items": {"type": "object"}},
                "left": {"type": "integer", "description": "How many more there are."},
            }),
            &["sources", "left"],
        ),
        tool(
            GRAPH_NEIGHBOURS,
            "Show what stands around a node of the knowledge graph: a document, a passage, an entity.",
            &json!({
                "of": words("An identifier, a document's path or title, the name of an entity."),
                "depth": {"type": "integer", "minimum": 1, "maximum": 3, "description": "Edges away; 1, if none."},
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
    })
}

fn passage() -> Value {
    json!({"type": "object", "properties": passage_fields(), "required": ["chunk", "text"]})
}

fn tool(
    name: &'static str,
    says: &'static str,
    takes: &Value,
    needs: &[&str],
    gives: &Value,
    always: &[&str],
) -> Tool {
    let schema = |properties: &Value, required: &[&str]| -> Arc<JsonObject> {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        Arc::new(schema.as_object().cloned().unwrap_or_default())
    };
    let reads = ToolAnnotations::new().read_only(true).destructive(false).open_world(false);
    Tool::new(name, says, schema(takes, needs))
        .with_raw_output_schema(schema(gives, always))
        .with_annotations(reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_the_same_each_time_and_say_what_they_give() {
        let told = |tools: Vec<Tool>| serde_json::to_string(&tools).unwrap();
        assert_eq!(told(all()), told(all()));
        for tool in all() {
            assert!(tool.output_schema.is_some(), "{}", tool.name);
            assert_eq!(tool.annotations.unwrap().read_only_hint, Some(true));
        }
    }
}
