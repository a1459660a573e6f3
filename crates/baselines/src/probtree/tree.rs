//! Reads a tree of simpler questions from the model's reply, and cuts it to bounds.

use std::collections::VecDeque;

use pikerag_knowledge::Schema;
use pikerag_prompt::{Reply, Unreadable, closed, object, one_line, shape, text};
use serde_json::{Value, json};

/// The number of levels below the question that the prompt asks for.
pub(super) const DEPTH: usize = 3;

/// A question and the places of its children in the list of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) question: String,
    /// 0 for the root.
    pub(super) depth: usize,
    pub(super) children: Vec<usize>,
}

/// A tree as the model wrote it. The default has no branches.
#[derive(Default)]
pub(super) struct Tree(Value);

impl Tree {
    /// The nodes level by level, the root first. The root is the question itself, even if the model
    /// reworded it. Children are taken all or none, because they refer to one another.
    pub(super) fn bounded(&self, question: &str, depth: usize, most: usize) -> Vec<Node> {
        let root = Node { question: question.to_owned(), depth: 0, children: Vec::new() };
        let mut nodes = vec![root];
        let mut pending = VecDeque::from([(0, 0, &self.0)]);
        while let Some((number, level, tree)) = pending.pop_front() {
            let below = children(tree);
            if level == depth || most < nodes.len() + below.len() {
                continue;
            }
            for (question, child) in below {
                let place = nodes.len();
                pending.push_back((place, level + 1, child));
                nodes.push(Node { question, depth: level + 1, children: Vec::new() });
                if let Some(parent) = nodes.get_mut(number) {
                    parent.children.push(place);
                }
            }
        }
        nodes
    }
}

fn children(tree: &Value) -> Vec<(String, &Value)> {
    let Some(Value::Array(items)) = tree.get("children") else { return Vec::new() };
    let mut below = Vec::new();
    for item in items {
        let question = match item {
            Value::String(question) => one_line(question),
            item => text(item, "question").map(|question| one_line(&question)).unwrap_or_default(),
        };
        if !question.is_empty() {
            below.push((question, item));
        }
    }
    below
}

/// A question with the answers of its earlier siblings in place of `#1`, `#2`; placeholders without
/// an answer stay.
pub(super) fn filled_in(question: &str, answers: &[Option<&str>]) -> String {
    let mut pieces = question.split('#');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.chars().take_while(char::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match place.and_then(|place| answers.get(place).copied().flatten()) {
            Some(answer) => filled.push_str(answer),
            None => filled.extend(["#", number]),
        }
        filled.push_str(rest);
    }
    filled
}

impl Reply for Tree {
    fn schema() -> Option<Schema> {
        Some(shape("tree", json!({"tree": nested(DEPTH)})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        match object(reply, &["tree"])?.get("tree") {
            Some(tree @ Value::Object(_)) => Ok(Self(tree.clone())),
            _ => Err(Unreadable::key("tree", "an object with `question` and `children`")),
        }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_tree: Tree }

/// Written out level by level: few endpoints enforce a recursive schema.
fn nested(levels: usize) -> Value {
    let mut shape = closed(json!({"question": {"type": "string"}}));
    for _ in 0..levels {
        shape = closed(json!({
            "question": {"type": "string"},
            "children": {"type": "array", "items": shape}
        }));
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line per node, indented by its depth.
    fn shown(reply: &str, depth: usize, most: usize) -> String {
        let nodes = Tree::read(reply).unwrap().bounded("root", depth, most);
        let line = |node: &Node| {
            format!("{}{} {:?}", "-".repeat(node.depth), node.question, node.children)
        };
        nodes.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_tree_is_cut_to_its_bounds() {
        let deep = r#"{"tree": {"question": "x", "children": [
            {"question": "a", "children": [{"question": "c", "children": ["e"]}, {"no": 1}]},
            {"question": "b"}, " "]}}"#;
        assert_eq!(shown(deep, 3, 8), "root [1, 2]; -a [3]; -b []; --c [4]; ---e []");
        assert_eq!(shown(deep, 1, 8), "root [1, 2]; -a []; -b []");
        assert_eq!(shown(deep, 3, 4), "root [1, 2]; -a [3]; -b []; --c []");
        assert_eq!(shown(deep, 3, 2), "root []");
        assert_eq!(shown(r#"{"tree": {}}"#, 3, 8), "root []");
        assert!(Tree::read(r#"{"tree": ["a"]}"#).is_err() && Tree::read("a, b").is_err());
    }

    #[test]
    fn answers_of_siblings_are_filled_in() {
        let answers = [Some("Oslo"), None];
        assert_eq!(filled_in("Is #1 in #2 or #10?", &answers), "Is Oslo in #2 or #10?");
        assert_eq!(filled_in("#1#1, C# and #0", &answers), "OsloOslo, C# and #0");
        assert_eq!(filled_in("", &answers), "");
    }
}
