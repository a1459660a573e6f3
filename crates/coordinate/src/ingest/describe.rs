//! What do tables show, what can be seen on figures, what are documents about? One call each; what a
//! model says is stored as what it says, and found by (PIKE-RAG §5.1.2).

use futures::future::ready;
use futures::stream::{self, StreamExt, TryStreamExt};
use pikerag_knowledge::{
    Account, Chunk, ChunkId, ChunkKind, Image, KnowledgeBase, Role, Source, Stage, StoreError,
};
use pikerag_prompt::{AskError, Prompt, Prose, ask, ask_about, one_line, quiet_headings};

use super::call_batch::{CallBatch, run_calls};
use super::stages::{PAGE, all_pending_of};
use super::{Params, Report, Summarized, Tools, Watch};

const TABLE: Prompt = Prompt {
    role: Role::Summarize,
    template: include_str!("prompts/table.md"),
    temperature: 0.0,
    max_tokens: 512,
};
const FIGURE: Prompt = Prompt {
    role: Role::Describe,
    template: include_str!("prompts/figure.md"),
    temperature: 0.0,
    max_tokens: 1024,
};
const SOURCE: Prompt = Prompt {
    role: Role::Summarize,
    template: include_str!("prompts/source.md"),
    temperature: 0.0,
    max_tokens: 512,
};

/// Characters of the text before and behind a table or figure that a model is shown.
const AROUND: usize = 300;
/// Chunks of a document that its summary is made from, and characters of all of them.
pub(crate) const FIRST: usize = 24;
const CONTENT: usize = 6000;

/// Sums up tables, describes figures and sums up documents, each where it is wanted and missing.
pub(super) async fn describe(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    if params.summarize.contains(&Summarized::Tables) {
        describe_tables(tools, params, watch, report).await?;
    }
    if params.describe && report.stopped.is_none() {
        describe_figures(tools, params, watch, report).await?;
    }
    if params.summarize.contains(&Summarized::Sources) && report.stopped.is_none() {
        describe_sources(tools, params, watch, report).await?;
    }
    Ok(())
}

async fn describe_tables(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Summarize) else { return Ok(()) };
    let stage = Stage::describe(ChunkKind::Table);
    let pending = all_pending_of(tools, &stage, ChunkKind::Table).await?;
    let at_once = params.in_flight;
    let batch = CallBatch { name: "summarizing tables", total: pending.len(), at_once, watch };
    let base = tools.base.as_ref();
    let items = stream::iter(pending.chunks(PAGE))
        .then(|page| shown(base, page))
        .map_ok(|page| stream::iter(page.into_iter().map(Ok)))
        .try_flatten();
    let ask = |shown: Shown| async move {
        let [title, around, table] = shown.inputs(&shown.chunk.reading_text());
        let inputs =
            [("title", title.as_str()), ("around", around.as_str()), ("table", table.as_str())];
        let result = ask::<Prose>(model, &TABLE, &inputs, &mut Account::default()).await;
        (shown, result)
    };
    let label = |shown: &Shown| shown.chunk.uri.clone();
    let keep = async |came: Came, report: &mut Report| keep(tools, &stage, came, report).await;
    run_calls(batch, items, ask, label, report, keep).await
}

async fn describe_figures(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Describe) else { return Ok(()) };
    let stage = Stage::describe(ChunkKind::Figure);
    let pending = all_pending_of(tools, &stage, ChunkKind::Figure).await?;
    let at_once = params.in_flight;
    let batch = CallBatch { name: "describing figures", total: pending.len(), at_once, watch };
    // Pictures are large: hardly more of them are held than are asked about.
    let items = stream::iter(pending.chunks(at_once.max(1)))
        .then(|page| pictured(tools, &stage, page))
        .map_ok(|page| stream::iter(page.into_iter().map(Ok)))
        .try_flatten();
    let ask = |shown: Shown| async move {
        let [title, around, caption] = shown.inputs(&shown.chunk.text);
        let inputs =
            [("title", title.as_str()), ("around", around.as_str()), ("caption", caption.as_str())];
        let images: Vec<String> = shown.image.iter().map(Image::data_url).collect();
        let mut account = Account::default();
        let result = ask_about::<Prose>(model, &FIGURE, &inputs, &images, &mut account).await;
        (shown, result)
    };
    let label = |shown: &Shown| shown.chunk.uri.clone();
    let keep = async |came: Came, report: &mut Report| keep(tools, &stage, came, report).await;
    run_calls(batch, items, ask, label, report, keep).await
}

/// These figures with their pictures. Those without one that a model could see wait no longer.
async fn pictured(
    tools: &Tools,
    stage: &Stage,
    page: &[ChunkId],
) -> Result<Vec<Shown>, StoreError> {
    let images = tools.base.figures(page).await?;
    let (mut with, mut without) = (Vec::with_capacity(page.len()), Vec::new());
    for (shown, image) in shown(tools.base.as_ref(), page).await?.into_iter().zip(images) {
        match image.filter(is_seen) {
            Some(image) => with.push(Shown { image: Some(image), ..shown }),
            None => without.push((shown.chunk.id, None)),
        }
    }
    if !without.is_empty() {
        tools.base.put_chunk_summaries(stage, without).await?;
    }
    Ok(with)
}

async fn describe_sources(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Summarize) else { return Ok(()) };
    let mut missing = tools.base.sources().await?;
    missing.retain(|source| source.summary.is_none());
    let at_once = params.in_flight;
    let batch = CallBatch { name: "summarizing documents", total: missing.len(), at_once, watch };
    let base = tools.base.as_ref();
    let items = stream::iter(missing)
        .then(async |source| {
            let content = content_of(&base.first_chunks(source.id, FIRST).await?);
            Ok::<_, StoreError>((source, content))
        })
        .try_filter(|(_, content)| ready(!content.is_empty()));
    let ask = |(source, content): (Source, String)| async move {
        let title = quiet_headings(&one_line(&source.title));
        let inputs = [("title", title.as_str()), ("content", content.as_str())];
        let result = ask::<Prose>(model, &SOURCE, &inputs, &mut Account::default()).await;
        ((source, content), result)
    };
    let label = |(source, _): &(Source, String)| source.uri.clone();
    run_calls(batch, items, ask, label, report, async |came, report| {
        let mut made = Vec::with_capacity(came.len());
        for ((source, _), said) in came {
            report.described += 1;
            report.undecided += usize::from(said.is_none());
            // Nothing said is said too: it is not asked for again.
            let summary = said.map_or_else(String::new, |Prose(said)| one_line(&said));
            made.push((source.id, source.hash, summary));
        }
        tools.base.put_source_summaries(made).await
    })
    .await
}

/// Chunks with what was said of them.
type Came = Vec<(Shown, Option<Prose>)>;

/// A chunk and what stands around it.
struct Shown {
    chunk: Chunk,
    before: String,
    after: String,
    image: Option<Image>,
}

impl Shown {
    /// Title, surroundings, and the chunk's own words.
    fn inputs(&self, own: &str) -> [String; 3] {
        let around = [self.before.as_str(), "…", self.after.as_str()].join("\n");
        [
            quiet_headings(&one_line(&self.chunk.full_title())),
            quiet_headings(&around),
            quiet_headings(own.trim()),
        ]
    }
}

/// These chunks, in order, with what stands around them.
async fn shown(base: &dyn KnowledgeBase, ids: &[ChunkId]) -> Result<Vec<Shown>, StoreError> {
    let mut chunks: Vec<(usize, Chunk)> = base.chunks(ids).await?.into_iter().enumerate().collect();
    // By document: each text is read once.
    chunks.sort_by_key(|(place, chunk)| (chunk.source, *place));
    let mut text = (None, String::new());
    let mut all = Vec::with_capacity(chunks.len());
    for (place, chunk) in chunks {
        if text.0 != Some(chunk.source) {
            text = (Some(chunk.source), visible_text(base, chunk.source).await?);
        }
        let (before, after) = around(&text.1, &chunk);
        all.push((place, Shown { chunk, before, after, image: None }));
    }
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, shown)| shown).collect())
}

/// A document's text with white space in place of what no reader sees: a prompt shows what stands around
/// a table, and hidden words must not tell a model what to say of it.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn visible_text(
    base: &dyn KnowledgeBase,
    source: pikerag_knowledge::SourceId,
) -> Result<String, StoreError> {
    let ids = base.chunks_in_sources(&[source], usize::MAX).await?.pop().unwrap_or_default();
    Ok(only(&base.source_text(source).await?, &base.chunks(&ids).await?))
}

/// A text with white space in place of all that is in none of these chunks; hidden ones do not count.
pub(crate) fn only(text: &str, chunks: &[Chunk]) -> String {
    let mut seen = String::with_capacity(text.len());
    for chunk in chunks.iter().filter(|chunk| !chunk.hidden) {
        // Chunks may overlap.
        let start = chunk.span.start.max(seen.len());
        let Some(part) = text.get(start..chunk.span.end) else { continue };
        seen.extend(std::iter::repeat_n(' ', start - seen.len()));
        seen.push_str(part);
    }
    seen.extend(std::iter::repeat_n(' ', text.len().saturating_sub(seen.len())));
    seen
}

/// What stands before and behind a chunk.
fn around(text: &str, chunk: &Chunk) -> (String, String) {
    let before = text.get(..chunk.span.start).unwrap_or_default();
    let from = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text.get(chunk.span.end..).unwrap_or_default();
    let to = after.char_indices().nth(AROUND).map_or(after.len(), |(at, _)| at);
    let one = |text: Option<&str>| one_line(text.unwrap_or_default());
    (one(before.get(from..)), one(after.get(..to)))
}

/// Formats that vision models take.
pub(crate) fn is_seen(image: &Image) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&image.media_type.as_str())
}

async fn keep(
    tools: &Tools,
    stage: &Stage,
    came: Came,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut made = Vec::with_capacity(came.len());
    for (shown, said) in came {
        report.described += 1;
        report.undecided += usize::from(said.is_none());
        made.push((shown.chunk.id, said.map(|Prose(said)| one_line(&said))));
    }
    tools.base.put_chunk_summaries(stage, made).await
}

/// The beginning of a document: of each chunk of text its summary, where there is one; else the words of
/// the chunk. What is said of tables and figures may be said later or never, and is left out.
fn content_of(chunks: &[Chunk]) -> String {
    let mut content = String::new();
    let mut left = CONTENT;
    for chunk in chunks {
        let said = match chunk.kind {
            ChunkKind::Table | ChunkKind::Figure => chunk.text.as_str(),
            _ => chunk.summary.as_deref().unwrap_or(&chunk.text),
        };
        let said: String = said.trim().chars().take(left).collect();
        left = left.saturating_sub(said.chars().count());
        content.push_str(&quiet_headings(&said));
        content.push('\n');
        if left == 0 {
            break;
        }
    }
    content.trim().to_owned()
}

/// The prompt that a table would be summed up by, for estimates.
///
/// # Errors
/// Never, unless our template is broken.
pub(crate) fn table_prompt(text: &str, chunk: &Chunk) -> Result<String, AskError> {
    let [title, around, table] = alone(text, chunk).inputs(&chunk.reading_text());
    TABLE.render(&[("title", &title), ("around", &around), ("table", &table)])
}

/// The words of the prompt that a figure would be described by, for estimates.
///
/// # Errors
/// Never, unless our template is broken.
pub(crate) fn figure_prompt(text: &str, chunk: &Chunk) -> Result<String, AskError> {
    let [title, around, caption] = alone(text, chunk).inputs(&chunk.text);
    FIGURE.render(&[("title", &title), ("around", &around), ("caption", &caption)])
}

/// The prompt that a document would be summed up by, for estimates.
///
/// # Errors
/// Never, unless our template is broken.
pub(crate) fn source_prompt(title: &str, chunks: &[Chunk]) -> Result<String, AskError> {
    let first: Vec<Chunk> =
        chunks.iter().filter(|chunk| !chunk.hidden).take(FIRST).cloned().collect();
    let title = quiet_headings(&one_line(title));
    SOURCE.render(&[("title", &title), ("content", &content_of(&first))])
}

fn alone(text: &str, chunk: &Chunk) -> Shown {
    let (before, after) = around(text, chunk);
    Shown { chunk: chunk.clone(), before, after, image: None }
}
