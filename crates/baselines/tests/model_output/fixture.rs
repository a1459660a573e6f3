//! Provides files with tables and figures, and a model that repeats its input, so that its output
//! can be traced by its words.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_doubles::{HashEmbedder, ScriptedChat};
use pikerag_indexing::{FileError, FileReader, Params, ReadFile, Report, Tools, ingest};
use pikerag_knowledge::{BlockKind, ChatModel, ChatModels, ChatRequest, Embedder, Image, Message};
use pikerag_models::{Budget, Cap, Meter, Mode, Prices, Recorded};
use proptest::prelude::*;

use crate::common::{Files, Shelf};
use crate::model_output::repeating;

/// Files in which a paragraph `[Figure …]` represents a picture.
#[derive(Clone)]
pub(crate) struct Pictured(pub(crate) Files);

#[async_trait]
impl FileReader for Pictured {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.0.hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let mut read = self.0.parse(path).await?;
        for document in &mut read.parsed.documents {
            for block in &mut document.blocks {
                let text = block.span.of(&document.text).unwrap();
                if text.starts_with("[Figure") {
                    block.kind = BlockKind::Figure { image: Some(document.images.len()) };
                    let bytes = format!("picture of {text}").into_bytes();
                    document.images.push(Image { media_type: "image/png".to_owned(), bytes });
                }
            }
        }
        Ok(read)
    }
}

pub(crate) async fn index_with(
    shelf: &Shelf,
    files: &Files,
    chat: Option<Arc<dyn ChatModel>>,
    params: &Params,
) -> Report {
    let embedder: Arc<dyn Embedder> = Arc::new(HashEmbedder::new(16));
    let tools = tools(shelf, files, chat, Some(embedder));
    let paths: Vec<String> = files.0.keys().cloned().collect();
    ingest(&tools, &paths, params, &|_| {}).await.unwrap()
}

pub(crate) fn tools(
    shelf: &Shelf,
    files: &Files,
    chat: Option<Arc<dyn ChatModel>>,
    embedder: Option<Arc<dyn Embedder>>,
) -> Tools {
    Tools {
        base: shelf.base.clone(),
        reader: Arc::new(Pictured(files.clone())),
        models: ChatModels { default: chat, ..ChatModels::default() },
        embedder,
    }
}

/// The model behind the base's own ledger, as in the product.
pub(crate) fn recorded(shelf: &Shelf, chat: &'static ScriptedChat) -> Arc<dyn ChatModel> {
    Arc::new(Recorded::new(chat, shelf.base.clone(), Mode::Record))
}

pub(crate) fn capped(shelf: &Shelf, chat: &'static ScriptedChat, calls: u64) -> Arc<dyn ChatModel> {
    let cap = Cap { calls: Some(calls), ..Cap::default() };
    let budget = Budget::new(chat, Arc::new(Meter::new(Prices::new(), cap)));
    Arc::new(Recorded::new(budget, shelf.base.clone(), Mode::Record))
}

pub(crate) fn prompt(request: &ChatRequest) -> &str {
    let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
    text
}

/// The model that repeats its input.
pub(crate) fn repeating() -> &'static ScriptedChat {
    Box::leak(Box::new(ScriptedChat::by(|request| Ok(reply(request)))))
}

pub(crate) fn reply(request: &ChatRequest) -> String {
    repeating::reply(prompt(request))
}

/// Up to four files, named `{prefix}0.md` and so on, each with a word of its own in all its parts.
pub(crate) fn corpus(prefix: &'static str) -> impl Strategy<Value = Files> {
    let part = prop_oneof![
        4 => (1_usize..9).prop_map(|sentences| {
            let sentence = |n: usize| format!("Sentence {n} tells of the Crane at @ in some words.");
            (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
        }),
        1 => Just("# Heading @".to_owned()),
        1 => Just("## 第@章".to_owned()),
        1 => Just("起重机由「青砚厂@」制造。它可吊四十吨。维修由「港务局」负责，每年两次。".to_owned()),
        1 => Just("| Crane | load of @ |\n|---|---|\n| KX-40 | forty |\n| KX-50 | fifty |".to_owned()),
        1 => Just("[Figure of @]".to_owned()),
    ];
    prop::collection::vec(prop::collection::vec(part, 1..6), 1..4).prop_map(move |pages| {
        let page = |(n, parts): (usize, Vec<String>)| {
            let word = format!("{prefix}{n}word");
            // No two parts are equal: two equal concurrent calls might both be made here.
            let parts = parts.iter().enumerate();
            let parts: Vec<String> =
                parts.map(|(n, part)| part.replace('@', &format!("{word}{n}"))).collect();
            let text = format!("Begins with {word}.\n\n{}\n", parts.join("\n\n"));
            (format!("{prefix}{n}.md"), text)
        };
        Files(pages.into_iter().enumerate().map(page).collect())
    })
}
