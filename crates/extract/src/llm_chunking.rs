//! Lets a model decide where chunks end (PIKE-RAG §5.2.1, Fig. 5).
//!
//! It goes through the text from front to back. The model first summarises the beginning. For each
//! next window it gets the summary so far and returns the end of the chunk and its summary; text
//! before that end is dropped.
//!
//! The model names the number of a sentence or line, so spans stay exact. Structure cuts tables,
//! figures and hidden text without a call: their rows stay whole.

mod guide;

use pikerag_knowledge::{ChatModel, ChunkKind, Chunking, Document, DocumentGraph, Usage};
use pikerag_prompt::{AskError, one_line, quiet_headings};

use self::guide::{Guide, KeepsReplies};
use crate::chunk::{assembled, document_graph, heading_paths, outline, source_of};
use crate::split::{ChunkParams, Draft, Piece, close, finest_pieces, pack};

/// Version of the prompts and rules here; part of a file's recipe.
pub const ENHANCED_VERSION: u32 = 1;

/// Size limits of chunks that a model ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnhanceParams {
    /// The fewest tokens of a chunk, estimated; a smaller section is one chunk.
    pub min_tokens: u64,
    /// The most tokens of a chunk, at least `min_tokens`.
    pub max_tokens: u64,
}

/// A document cut by a model, or by structure where the model gave no end.
#[derive(Clone, Debug, PartialEq)]
pub struct Enhanced {
    /// Each chunk that the model ended has a summary.
    pub graph: DocumentGraph,
    /// The number of unreadable replies and refused requests; there the structure decided, and a
    /// summary is missing.
    pub unreadable: usize,
}

/// Cuts a document from the file `path`: one call for its beginning, and one for each chunk of
/// text. A document that its file declares one chunk is not cut.
///
/// # Errors
/// Those of the model; then no part of the document is cut. An unreadable reply is no error.
pub async fn enhanced_graph(
    model: &dyn ChatModel,
    path: &str,
    document: Document,
    params: EnhanceParams,
) -> Result<Enhanced, AskError> {
    let mut guide = Guide::Model { model: &KeepsReplies(model), undecided: 0 };
    let graph = walk_document(&mut guide, path, document, params).await?;
    let unreadable = match guide {
        Guide::Model { undecided, .. } => undecided,
        Guide::Forecast { .. } => 0,
    };
    Ok(Enhanced { graph, unreadable })
}

/// Estimates the calls, tokens and chunks of [`enhanced_graph`], assuming that the model ends each
/// chunk in the middle of its range, at a paragraph's end if there is one.
///
/// # Errors
/// None, unless the built-in template is broken.
pub async fn enhanced_forecast(
    path: &str,
    document: Document,
    params: EnhanceParams,
) -> Result<(DocumentGraph, usize, Usage), AskError> {
    let mut guide = Guide::Forecast { calls: 0, usage: Usage::default() };
    let graph = walk_document(&mut guide, path, document, params).await?;
    match guide {
        Guide::Forecast { calls, usage } => Ok((graph, calls, usage)),
        Guide::Model { .. } => Ok((graph, 0, Usage::default())),
    }
}

async fn walk_document(
    guide: &mut Guide<'_>,
    path: &str,
    document: Document,
    params: EnhanceParams,
) -> Result<DocumentGraph, AskError> {
    let by_structure = ChunkParams { max_tokens: params.max_tokens, overlap_tokens: 0 };
    if document.chunking == Chunking::Given {
        return Ok(document_graph(path, document, by_structure));
    }
    let source = source_of(path, &document);
    let fine = |block: &_| finest_pieces(&document.text, block, params.max_tokens);
    let outline = outline(&document, source.id, fine);
    let paths = heading_paths(&outline.sections);
    let mut walk = Walk { text: &document.text, params, before: None, drafts: Vec::new() };
    for run in outline.runs {
        let below = run.section.and_then(|place| paths.get(place)).map(|path| path.join(" › "));
        let title = format!("{} {}", document.title, below.unwrap_or_default());
        let title = quiet_headings(&one_line(&title));
        for mut group in group_by_prose(run.pieces) {
            match group.first() {
                Some(first) if is_prose(first) => {
                    walk.cut_prose(guide, &title, run.section, group).await?;
                }
                _ => walk.drafts.extend(pack(&mut group, run.section, by_structure)),
            }
        }
    }
    let mut drafts = walk.drafts;
    drafts.extend(outline.tail);
    Ok(assembled(path, document, source, outline.sections, drafts))
}

fn is_prose(piece: &Piece) -> bool {
    matches!(piece.kind, ChunkKind::Text | ChunkKind::Code) && !piece.hidden
}

/// Groups neighbouring pieces: prose, which the model cuts, and other pieces, which structure cuts.
fn group_by_prose(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut all: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last)
                if last.last().is_some_and(|last| match (is_prose(last), is_prose(&piece)) {
                    (true, true) => last.kind == piece.kind,
                    (one, other) => one == other,
                }) =>
            {
                last.push(piece);
            }
            _ => all.push(vec![piece]),
        }
    }
    all
}

/// The progress through a document.
struct Walk<'a> {
    text: &'a str,
    params: EnhanceParams,
    /// The forward summary; `None` before the beginning is read.
    before: Option<String>,
    drafts: Vec<Draft>,
}

impl Walk<'_> {
    async fn cut_prose(
        &mut self,
        guide: &mut Guide<'_>,
        title: &str,
        section: Option<usize>,
        pieces: Vec<Piece>,
    ) -> Result<(), AskError> {
        let mut left: u64 = pieces.iter().map(|piece| piece.tokens).sum();
        let mut rest = pieces.into_iter();
        while !rest.as_slice().is_empty() {
            let window = Window::of(rest.as_slice(), left, self.params);
            let shown: Vec<String> = window.pieces.iter().map(|piece| self.shown(piece)).collect();
            let mut first_summary = None;
            let before = match &self.before {
                Some(before) => before.clone(),
                None => {
                    let summary = guide.forward(title, &shown).await?;
                    first_summary.clone_from(&summary);
                    summary.unwrap_or_default()
                }
            };
            // If the summary already covers the whole chunk, saves the second call.
            let whole = window.first == window.last && window.last == window.pieces.len();
            let (end, summary) = match first_summary {
                Some(summary) if whole => (window.last, Some(summary)),
                _ => guide.end(title, &before, &shown, &window).await?,
            };
            // A rest smaller than a chunk joins this chunk if it fits.
            let end = window.with_small_rest(end, left, self.params);
            let held: Vec<Piece> = rest.by_ref().take(end).collect();
            left = left.saturating_sub(held.iter().map(|piece| piece.tokens).sum());
            self.before = Some(summary.clone().unwrap_or(before));
            self.drafts.extend(close(held, section).map(|draft| Draft { summary, ..draft }));
        }
        Ok(())
    }

    fn shown(&self, piece: &Piece) -> String {
        let body = piece.span.of(self.text).unwrap_or_default();
        match piece.kind {
            ChunkKind::Code => quiet_headings(body),
            _ => quiet_headings(&one_line(body)),
        }
    }
}

/// The pieces that the model sees. The chunk may end after piece `first` to piece `last`, counted
/// from 1.
struct Window<'a> {
    pieces: &'a [Piece],
    first: usize,
    last: usize,
}

impl<'a> Window<'a> {
    /// `left` is the number of tokens of all of `rest`, which is not empty.
    fn of(rest: &'a [Piece], left: u64, params: EnhanceParams) -> Self {
        let (mut tokens, mut fitting, mut first) = (0, 0, 0);
        for (place, piece) in rest.iter().enumerate() {
            tokens += piece.tokens;
            if 0 < fitting && params.max_tokens < tokens {
                tokens -= piece.tokens;
                break;
            }
            fitting = place + 1;
            if first == 0 && params.min_tokens <= tokens {
                first = fitting;
            }
        }
        let pieces = rest.get(..fitting).unwrap_or(rest);
        let (mut first, mut last) = (if first == 0 { fitting } else { first }, fitting);
        if fitting == rest.len() {
            // All the rest fits: the chunk may end early only if enough is left for another chunk.
            let head: u64 = pieces.iter().take(first).map(|piece| piece.tokens).sum();
            if left.saturating_sub(head) < params.min_tokens {
                first = last;
            }
        } else {
            let mut after = left - tokens;
            while first < last && after < params.min_tokens {
                after += pieces.get(last - 1).map_or(0, |piece| piece.tokens);
                last -= 1;
            }
        }
        Self { pieces, first, last }
    }

    /// The end of the chunk after a small rest has joined it.
    fn with_small_rest(&self, end: usize, left: u64, params: EnhanceParams) -> usize {
        let shown: u64 = self.pieces.iter().map(|piece| piece.tokens).sum();
        let head: u64 = self.pieces.iter().take(end).map(|piece| piece.tokens).sum();
        let small = left.saturating_sub(head) < params.min_tokens;
        if left <= shown && small { self.pieces.len() } else { end }
    }

    /// The end that the structure gives: the paragraph's end nearest to the middle of the range,
    /// else the nearest piece.
    fn by_structure(&self) -> usize {
        let middle = usize::midpoint(self.first, self.last);
        let ends_paragraph = |end: &usize| {
            *end == self.pieces.len() || self.pieces.get(*end).is_some_and(|next| !next.continues)
        };
        let ends = (self.first..=self.last).filter(ends_paragraph);
        ends.min_by_key(|end| end.abs_diff(middle)).unwrap_or(middle)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use async_trait::async_trait;
    use pikerag_doubles::{ScriptedChat, prompt};
    use pikerag_knowledge::{CallRef, ChatReply, ChatRequest, ModelError};
    use proptest::prelude::*;

    use super::*;
    use crate::sketch::document;

    /// Ends each chunk as `reply` says, range by range.
    fn script(reply: fn(from: usize, to: usize, turn: usize) -> String) -> ScriptedChat {
        ScriptedChat::by_turn(move |turn, request| {
            let text = prompt(request).unwrap();
            let range = text.split_once("{\"end\": an integer from ").map(|(_, rest)| rest);
            Ok(match range.and_then(|rest| rest.split_once(',')) {
                Some((range, _)) => {
                    let (from, to) = range.split_once(" to ").unwrap();
                    reply(from.parse().unwrap(), to.parse().unwrap(), turn)
                }
                None => "The beginning.".to_owned(),
            })
        })
    }

    fn last(_: usize, to: usize, turn: usize) -> String {
        format!("{{\"end\": {to}, \"summary\": \"Summary {turn}.\"}}")
    }

    fn first(from: usize, _: usize, turn: usize) -> String {
        format!("{{\"end\": {from}, \"summary\": \"Summary {turn}.\"}}")
    }

    const PARAMS: EnhanceParams = EnhanceParams { min_tokens: 8, max_tokens: 20 };

    async fn cut(script: &ScriptedChat, source: &str) -> Enhanced {
        enhanced_graph(script, "a.md", document("Act", source), PARAMS).await.unwrap()
    }

    fn show(enhanced: &Enhanced) -> String {
        let mut shown = String::new();
        for chunk in &enhanced.graph.chunks {
            let kind = chunk.kind.as_str();
            writeln!(
                shown,
                "{kind} {:?} {:?}",
                chunk.text,
                chunk.summary.as_deref().unwrap_or("-")
            )
            .unwrap();
        }
        shown
    }

    const LAW: &str = "# Article 1\nThe first sentence is here. The second one is here. A third one is here. The fourth one is here. Then a fifth is here. And a sixth is here.\n| crane one\n| crane two\n| crane three\n# Article 2\nShort.\n";

    #[tokio::test]
    async fn ends_where_the_model_says_and_takes_the_summary_forward() {
        let script = script(first);
        let cut = cut(&script, LAW).await;
        insta::assert_snapshot!(show(&cut), @r##"
        text "# Article 1\nThe first sentence is here. The second one is here." "Summary 1."
        text "A third one is here. The fourth one is here." "Summary 2."
        text "Then a fifth is here. And a sixth is here." "Summary 3."
        table "| crane one\n| crane two\n| crane three" "-"
        text "# Article 2\nShort." "Summary 4."
        "##);
        let prompts = script.prompts();
        insta::assert_snapshot!(prompts[1], @r#"
        # Task
        A document is cut into chunks from front to back. Below stand a summary of what came before, and the next pieces of the text, numbered. The next chunk begins with piece 1.
        Say after which piece it should end, from 2 to 3: where a thought, a rule or a step is complete, so that the chunk deals with one matter, keeps conditions with what they apply to, and can be understood without its neighbours.
        Then summarise the chunk, from piece 1 to its end, in one to three sentences that can be read on their own: names, figures and conditions in full; where the text says "it" or "the company", take from the summary of what came before who is meant. Add nothing that neither says. Write in the language of the text.

        # Output format
        A JSON object and nothing else:
        {"end": an integer from 2 to 3, "summary": "..."}

        # Document
        Act Article 1

        # What came before
        The beginning.

        # Pieces
        [1]  # Article 1 The first sentence is here.
        [2] The second one is here.
        [3] A third one is here.
        "#);
        // Each prompt shows the summary of the previous chunk, and no text before it.
        assert!(prompts[2].contains("# What came before\nSummary 1."), "{}", prompts[2]);
        assert!(!prompts[2].contains("first sentence"), "{}", prompts[2]);
        assert_eq!(cut.unreadable, 0);
    }

    #[tokio::test]
    async fn a_document_of_one_chunk_is_one_call() {
        let script = script(last);
        let cut = cut(&script, "起重机由青砚厂制造。").await;
        assert_eq!(show(&cut), "text \"起重机由青砚厂制造。\" \"The beginning.\"\n");
        assert_eq!(script.prompts().len(), 1);
    }

    #[tokio::test]
    async fn an_end_out_of_range_is_asked_for_again_and_then_the_structure_decides() {
        let script = script(|_, to, turn| match turn {
            1 => format!("{{\"end\": {}, \"summary\": \"Too far.\"}}", to + 1),
            2 => "after the third".to_owned(),
            _ => last(0, to, turn),
        });
        let cut = cut(&script, LAW).await;
        assert_eq!(cut.unreadable, 1);
        let prompts = script.prompts();
        assert!(prompts[2].contains("could not be used: `end` must be an integer from"));
        assert_eq!(cut.graph.chunks[0].summary, None);
        assert!(cut.graph.chunks[1].summary.is_some());
    }

    /// A filter refuses one window, another reply is unreadable: structure decides both,
    /// permanently.
    #[tokio::test]
    async fn structure_decides_permanently_after_refused_or_unreadable_replies() {
        /// Fails if it is asked to discard replies.
        struct NeverDiscards(ScriptedChat);

        #[async_trait]
        impl ChatModel for NeverDiscards {
            fn name(&self) -> &str {
                self.0.name()
            }

            async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
                self.0.complete(request).await
            }

            async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
                panic!("{calls:?} would be paid for twice, and all that builds on them");
            }
        }

        let model = NeverDiscards(ScriptedChat::by_turn(|turn, request| match turn {
            0 => Ok("The beginning.".to_owned()),
            1 => Err(ModelError::Refused { model: "m".to_owned(), source: "by a filter".into() }),
            2 | 3 => Ok("after the third".to_owned()),
            _ => {
                let to = prompt(request).unwrap().split_once(" to ").unwrap().1;
                let to = to.split(',').next().unwrap();
                Ok(last(0, to.parse().unwrap_or(1), turn))
            }
        }));
        let cut = enhanced_graph(&model, "a.md", document("Act", LAW), PARAMS).await.unwrap();
        assert_eq!(cut.unreadable, 2);
        let summed_up: Vec<bool> =
            cut.graph.chunks.iter().map(|chunk| chunk.summary.is_some()).collect();
        assert_eq!(summed_up[..2], [false, false]);
    }

    #[tokio::test]
    async fn the_forecast_counts_the_calls() {
        let script = script(last);
        cut(&script, LAW).await;
        let (_, calls, usage) =
            enhanced_forecast("a.md", document("Act", LAW), PARAMS).await.unwrap();
        assert_eq!(calls, script.prompts().len());
        assert!(0 < usage.prompt_tokens && 0 < usage.completion_tokens);
    }

    proptest! {
        /// For any reply of the model: every word is in a chunk; chunks equal their spans and do
        /// not overlap. They keep rows whole and have at most the allowed tokens, except for a
        /// longer sentence.
        #[test]
        fn nothing_is_lost(source in "(#{0,2} ?([a-z]{1,9} ){0,9}[a-z中文]{0,9}[。.] ?([a-z]{1,9} ){0,9}\n|\\| [a-z ]{1,20}\n){0,12}", which in 0_usize..3) {
            let script = script([first, last, |_, _, _| "?".to_owned()][which]);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let graph = runtime.block_on(cut(&script, &source)).graph;
            let blocks = document("Act", &source).blocks;
            let (mut covered, mut reached) = (vec![false; source.len()], 0);
            for chunk in &graph.chunks {
                prop_assert_eq!(chunk.span.of(&source), Some(chunk.text.as_str()));
                prop_assert!(reached <= chunk.span.start);
                reached = chunk.span.end;
                covered[chunk.span.start..chunk.span.end].fill(true);
                let rows = chunk.table.iter().flat_map(|table| &table.lines);
                for row in rows {
                    prop_assert!(chunk.span.start <= row.start && row.end <= chunk.span.end);
                }
            }
            for block in blocks {
                let bytes = source.as_bytes().iter().zip(&covered);
                let inside = bytes.take(block.span.end).skip(block.span.start);
                let lost = inside.filter(|(byte, covered)| !**covered && !byte.is_ascii_whitespace()).count();
                prop_assert_eq!(lost, 0, "of {:?}", source);
            }
        }
    }
}
