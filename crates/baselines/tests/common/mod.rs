//! Holds files in memory and indexes them into a real base in a temporary folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use std::future::pending;

use pikerag_baselines::{Method, answer};
use pikerag_indexing::{FileError, FileReader, Params, ReadFile, Report, Tools, ingest};
use pikerag_knowledge::{Answer, ChatModel, ChatModels, Embedder, Event, Filter, Question, Spent};
use pikerag_methods::{Ports, RunParams, SolveError};
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_store::Base;
use serde_json::Value;
use tempfile::TempDir;

/// Files by path; the product's own code parses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files(pub(crate) BTreeMap<String, String>);

impl<'a> FromIterator<(&'a str, &'a str)> for Files {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(files: I) -> Self {
        let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
        Self(files.into_iter().map(owned).collect())
    }
}

impl Files {
    fn bytes(&self, path: &str) -> Result<&[u8], FileError> {
        let text = self.0.get(path).map(String::as_bytes);
        text.ok_or_else(|| FileError::Unreadable { reason: format!("`{path}` is not there") })
    }
}

#[async_trait]
impl FileReader for Files {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        Ok(blake3::hash(self.bytes(path)?).to_hex().to_string())
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let parsed = parse(path, self.bytes(path)?, &Limits::default(), &NoTools)?;
        Ok(ReadFile { hash: self.hash(path).await?, parsed })
    }
}

/// A base with its folder.
pub(crate) struct Shelf {
    pub(crate) base: Arc<Base>,
    /// Deleted with the shelf.
    _folder: TempDir,
}

impl Shelf {
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { base: Arc::new(Base::open_or_create(folder.path()).unwrap()), _folder: folder }
    }

    /// Indexes all of `files`.
    pub(crate) async fn index(
        &self,
        files: &Files,
        chat: Option<Arc<dyn ChatModel>>,
        embedder: Option<Arc<dyn Embedder>>,
        params: &Params,
    ) -> Report {
        let tools = Tools {
            base: self.base.clone(),
            reader: Arc::new(files.clone()),
            models: ChatModels { default: chat, ..ChatModels::default() },
            embedder,
        };
        let paths: Vec<String> = files.0.keys().cloned().collect();
        ingest(&tools, &paths, params, &|_| {}).await.unwrap()
    }

    /// Checks that a node read by its identifier equals its line in the export, also through a
    /// filter; returns the number of nodes.
    pub(crate) async fn reads_nodes_as_exported(&self, filter: &Filter) -> usize {
        let seen = self.base.seen_through(&Filter::default(), filter).await.unwrap();
        let mut lines = Vec::new();
        seen.export(|line| {
            lines.push(line);
            Ok(())
        })
        .unwrap();
        let hidden_texts = self.hidden_texts(&lines);
        let leaked = |text: &String| lines.iter().find(|line| line.to_string().contains(text));
        assert_eq!(hidden_texts.iter().find_map(leaked), None, "{hidden_texts:?}");
        let id = |line: &Value, key: &str| {
            line[key].as_str().map(|id| u64::from_str_radix(id, 16).unwrap())
        };
        let (edges, nodes): (Vec<Value>, Vec<Value>) =
            lines.into_iter().partition(|line| line.get("edge").is_some());
        let ids: BTreeSet<u64> = nodes.iter().map(|node| id(node, "id").unwrap()).collect();
        let ends = |edge: &Value| [id(edge, "from").unwrap(), id(edge, "to").unwrap()];
        assert!(edges.iter().all(|edge| ends(edge).iter().all(|end| ids.contains(end))));
        for mut node in nodes {
            let node_id = id(&node, "id").unwrap();
            if node["node"] == "source" {
                node.as_object_mut().unwrap().remove("text");
            }
            assert_eq!(seen.nodes_by_id(&[node_id]).unwrap(), [node]);
            let sorted = |edges: Vec<Value>| {
                let lines: BTreeSet<String> = edges.iter().map(Value::to_string).collect();
                lines
            };
            let own = edges.iter().filter(|edge| ends(edge).contains(&node_id)).cloned().collect();
            assert_eq!(sorted(seen.edges_of(&[node_id]).unwrap()), sorted(own));
        }
        assert_eq!(seen.nodes_by_id(&[1]).unwrap(), [Value::Null; 0]);
        ids.len()
    }

    /// Texts of chunks that are not among these lines, in the form of JSON.
    fn hidden_texts(&self, lines: &[Value]) -> Vec<String> {
        let seen: Vec<&Value> =
            lines.iter().filter(|line| line["node"] == "chunk").map(|line| &line["id"]).collect();
        let all = self.export();
        let all = all.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let chunks = all.filter(|line| line["node"] == "chunk");
        let hidden_texts = chunks.filter(|chunk| !seen.contains(&&chunk["id"]));
        let hidden_texts =
            hidden_texts.filter_map(|chunk| chunk["text"].as_str().map(str::to_owned));
        hidden_texts
            .map(|text| Value::from(text).to_string().trim_matches('"').to_owned())
            .collect()
    }

    /// How many nodes it has.
    pub(crate) fn nodes(&self) -> usize {
        self.export().iter().filter(|line| line.starts_with(r#"{"node""#)).count()
    }

    /// All lines of its export.
    pub(crate) fn export(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let keep = |line: Value| {
            lines.push(line.to_string());
            Ok(())
        };
        self.base.export(keep).unwrap();
        lines
    }
}

/// Runs the async part of a property test.
pub(crate) fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// An answer with the run that led to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) answer: Answer,
    pub(crate) events: Vec<Event>,
    pub(crate) spent: Spent,
}

impl std::ops::Deref for Answered {
    type Target = Answer;

    fn deref(&self) -> &Answer {
        &self.answer
    }
}

/// Asks without a listener for events.
pub(crate) async fn solve(
    ports: &Ports,
    question: &Question,
    method: Method,
) -> Result<Answered, SolveError> {
    solve_within(ports, question, method, None).await
}

/// The same with a model that may read this number of tokens at a time.
pub(crate) async fn solve_within(
    ports: &Ports,
    question: &Question,
    method: Method,
    reads_at_most: Option<u32>,
) -> Result<Answered, SolveError> {
    let params = RunParams { reads_at_most, ..RunParams::default() };
    let run = answer(ports, question, method, params, pending()).await;
    let events = run.trace().cloned().collect();
    run.result.map(|answer| Answered { answer, events, spent: run.record.cost.spent })
}
