//! Defines the result of a tool: structured content, the same as text, and links to passages.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

use crate::problem::Problem;

/// The result of a tool.
pub(super) struct ToolResult {
    content: Value,
    links: Vec<(String, String)>,
}

impl ToolResult {
    /// A result that is one block of text.
    pub(super) fn new(content: Value) -> Self {
        Self { content, links: Vec::new() }
    }

    /// A result with a link to each passage that has one: its address and its title. Neighbours
    /// with the same link are listed once.
    pub(super) fn linked(content: Value, links: Vec<(Option<String>, String)>) -> Self {
        let links = links.into_iter().filter_map(|(url, title)| Some((url?, title)));
        let mut links: Vec<(String, String)> = links.collect();
        links.dedup();
        Self { content, links }
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::structured(self.content);
        result.content.extend(self.links.into_iter().map(|(url, name)| {
            let is_page = url.starts_with("http");
            let link = Resource::new(url, name);
            ContentBlock::resource_link(match is_page {
                true => link.with_mime_type("text/html"),
                false => link,
            })
        }));
        result
    }
}

/// An error of the tool, which the assistant can read and correct; not one of the protocol.
pub(super) fn of_problem(problem: &Problem) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(json!(problem).to_string())])
}
