//! Cuts text into pieces that stay whole and packs them into chunks in order.

use std::sync::Arc;

use pikerag_knowledge::{Area, Block, BlockKind, ChunkKind, Span, Table};
use pikerag_language::{estimate_tokens, sentences};

/// The size of chunks, in tokens of `estimate_tokens`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkParams {
    /// The most tokens of a chunk, estimated. The default, 240, fits the window of small embedders.
    pub max_tokens: u64,
    /// The number of tokens, in whole sentences, that a chunk repeats where a text was cut for its
    /// size.
    pub overlap_tokens: u64,
}

impl Default for ChunkParams {
    fn default() -> Self {
        Self { max_tokens: 240, overlap_tokens: 0 }
    }
}

/// The smallest unit of a chunk: a paragraph that fits, else a sentence, a row or a line.
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) kind: ChunkKind,
    page: Option<u32>,
    area: Option<Area>,
    pub(crate) hidden: bool,
    /// For a figure: its index among the document's images.
    image: Option<usize>,
    pub(crate) tokens: u64,
    /// For a table row: the whole table, and the row's index (`None`: its header).
    row: Option<(Arc<Table>, Option<usize>)>,
    /// Whether the previous piece belongs to the same paragraph.
    pub(crate) continues: bool,
}

/// The pieces of a block, in order: a paragraph that fits stays whole.
pub(crate) fn pieces(text: &str, block: &Block, max_tokens: u64) -> Vec<Piece> {
    cut(text, block, max_tokens, max_tokens)
}

/// The pieces of a block at which a chunk may end: sentences, lines, rows.
pub(crate) fn finest_pieces(text: &str, block: &Block, max_tokens: u64) -> Vec<Piece> {
    cut(text, block, max_tokens, 0)
}

/// Cuts a block where it must be cut; also a paragraph or a listing of more than `whole_tokens`
/// tokens.
fn cut(text: &str, block: &Block, max_tokens: u64, whole_tokens: u64) -> Vec<Piece> {
    let piece = |span: Span, kind, continues| Piece {
        span,
        kind,
        page: block.page,
        area: block.area,
        hidden: block.hidden,
        image: None,
        tokens: estimate_tokens(span.of(text).unwrap_or_default()),
        row: None,
        continues,
    };
    match &block.kind {
        BlockKind::Table(table) if table.lines.len() > 1 => {
            let header = usize::from(!table.header.is_empty());
            let table = Arc::new(table.clone());
            let mut rows = Vec::with_capacity(table.lines.len());
            for (line, span) in table.lines.iter().enumerate() {
                let mut row = piece(*span, ChunkKind::Table, false);
                row.row = Some((Arc::clone(&table), line.checked_sub(header)));
                rows.push(row);
            }
            rows
        }
        BlockKind::Table(_) => vec![piece(block.span, ChunkKind::Table, false)],
        BlockKind::Figure { image } => {
            vec![Piece { image: *image, ..piece(block.span, ChunkKind::Figure, false) }]
        }
        BlockKind::Caption => vec![piece(block.span, ChunkKind::Caption, false)],
        BlockKind::Code => lines(text, block.span, max_tokens, whole_tokens)
            .into_iter()
            .enumerate()
            .map(|(place, span)| piece(span, ChunkKind::Code, place > 0))
            .collect(),
        _ => {
            let whole = piece(block.span, ChunkKind::Text, false);
            if whole.tokens <= whole_tokens {
                return vec![whole];
            }
            let body = block.span.of(text).unwrap_or_default();
            let mut cut = Vec::new();
            for range in sentences(body) {
                let start = block.span.start + range.start;
                for span in hard_cut(text, Span { start, end: start + range.len() }, max_tokens) {
                    cut.push(piece(span, ChunkKind::Text, !cut.is_empty()));
                }
            }
            cut
        }
    }
}

/// A chunk before it has an identity.
pub(crate) struct Draft {
    pub(crate) span: Span,
    pub(crate) kind: ChunkKind,
    pub(crate) page: Option<u32>,
    pub(crate) area: Option<Area>,
    pub(crate) hidden: bool,
    /// Index among the document's images, from 0; figures only.
    pub(crate) image: Option<usize>,
    pub(crate) table: Option<Table>,
    /// Index in the list of sections.
    pub(crate) section: Option<usize>,
    /// The summary from the model that ended the chunk.
    pub(crate) summary: Option<String>,
}

impl Draft {
    /// Text on a page, without other values.
    pub(crate) fn bare(span: Span, page: Option<u32>) -> Self {
        Self {
            span,
            kind: ChunkKind::Text,
            page,
            area: None,
            hidden: false,
            image: None,
            table: None,
            section: None,
            summary: None,
        }
    }
}

/// Packs the pieces of one section into chunks, in order, and empties the run.
pub(crate) fn pack(
    run: &mut Vec<Piece>,
    section: Option<usize>,
    params: ChunkParams,
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut held: Vec<Piece> = Vec::new();
    let mut tokens = 0;
    for piece in run.drain(..) {
        let other_table = is_of_other_table(&held, &piece);
        let other_kind = other_table || held.last().is_some_and(|last| !together(last, &piece));
        if !held.is_empty() && (other_kind || params.max_tokens < tokens + piece.tokens) {
            let overlap =
                if piece.continues && !other_kind { overlap(&held, params) } else { Vec::new() };
            // The title of the next table goes with it.
            let n_titles = match other_table {
                true => held.iter().rev().take_while(|it| it.kind == ChunkKind::Caption).count(),
                false => 0,
            };
            let titles = held.split_off(held.len().saturating_sub(n_titles));
            drafts.extend(close(std::mem::take(&mut held), section));
            let overlap = if titles.is_empty() { overlap } else { titles };
            tokens = overlap.iter().map(|piece| piece.tokens).sum();
            held = overlap;
        }
        tokens += piece.tokens;
        held.push(piece);
    }
    drafts.extend(close(held, section));
    drafts
}

/// Whether two neighbours may share a chunk. A caption joins the figure or table beside it.
fn together(last: &Piece, next: &Piece) -> bool {
    use ChunkKind::{Caption, Figure, Table};
    let kinds = match (last.kind, next.kind) {
        (Figure, Figure) => false,
        (Caption, Figure | Table) | (Figure | Table, Caption) => true,
        (one, other) => one == other,
    };
    kinds && last.hidden == next.hidden
}

/// Is this a row of another table than the last row before it? A chunk has one header.
fn is_of_other_table(held: &[Piece], next: &Piece) -> bool {
    let Some((table, _)) = &next.row else { return false };
    let last = held.iter().rev().find_map(|piece| piece.row.as_ref());
    last.is_some_and(|(held, _)| !Arc::ptr_eq(held, table))
}

/// The last sentences of a full chunk that the next one repeats.
fn overlap(held: &[Piece], params: ChunkParams) -> Vec<Piece> {
    let (mut taken, mut tokens) = (Vec::new(), 0);
    for piece in held.iter().skip(1).rev() {
        tokens += piece.tokens;
        if params.overlap_tokens < tokens || !piece.continues {
            break;
        }
        taken.push(Piece { row: None, ..*piece });
    }
    taken.reverse();
    taken
}

pub(crate) fn close(held: Vec<Piece>, section: Option<usize>) -> Option<Draft> {
    let (first, last) = (held.first()?, held.last()?);
    let (span, page) = (Span { start: first.span.start, end: last.span.end }, first.page);
    let hidden = first.hidden;
    let kind = held.iter().map(|piece| piece.kind).find(|kind| *kind != ChunkKind::Caption);
    let image = held.iter().find_map(|piece| piece.image);
    let on_page = held.iter().filter(|piece| piece.page == page).filter_map(|piece| piece.area);
    let area = on_page.reduce(Area::around);
    let mut table: Option<Table> = None;
    for piece in held {
        let Some((whole, row)) = piece.row else { continue };
        let part = table.get_or_insert_with(|| Table {
            header: whole.header.clone(),
            rows: Vec::new(),
            lines: Vec::new(),
            key: whole.key,
        });
        if let Some(cells) = row.and_then(|row| whole.rows.get(row)) {
            part.rows.push(cells.clone());
        }
        part.lines.push(piece.span);
    }
    let kind = kind.unwrap_or(ChunkKind::Caption);
    let summary = None;
    Some(Draft { span, kind, page, area, hidden, image, table, section, summary })
}

/// Lines of a block, packed as far as they fit, so that program text is cut only between lines.
fn lines(text: &str, block: Span, max_tokens: u64, whole_tokens: u64) -> Vec<Span> {
    let body = block.of(text).unwrap_or_default();
    if estimate_tokens(body) <= whole_tokens {
        return vec![block];
    }
    let (mut spans, mut at) = (Vec::new(), block.start);
    for line in body.split_inclusive('\n') {
        let end = at + line.trim_end().len();
        if at < end {
            spans.extend(hard_cut(text, Span { start: at, end }, max_tokens));
        }
        at += line.len();
    }
    spans
}

/// Cuts text without structure (a sentence of a thousand words), at white space where possible.
/// Each step reads only what one piece can hold, so the time is proportional to the length of the
/// text.
fn hard_cut(text: &str, span: Span, max_tokens: u64) -> Vec<Span> {
    let (mut spans, mut start) = (Vec::new(), span.start);
    loop {
        let rest = text.get(start..span.end).unwrap_or_default();
        if rest.is_empty() {
            return spans;
        }
        let reach = reach(rest, max_tokens);
        let cut = match rest.get(..reach).unwrap_or_default().rfind(char::is_whitespace) {
            Some(space) if reach < rest.len() && reach / 2 < space => space,
            _ => reach,
        };
        let end = start + rest.get(..cut).map_or(cut, |piece| piece.trim_end().len());
        if start < end {
            spans.push(Span { start, end });
        }
        let tail = text.get(start + cut..span.end).unwrap_or_default();
        start = span.end - tail.trim_start().len();
    }
}

/// The longest beginning of a text that fits, in bytes; at least one character.
fn reach(text: &str, max_tokens: u64) -> usize {
    // Every eight characters are estimated at one token or more.
    let most = usize::try_from(max_tokens.saturating_mul(8)).unwrap_or(usize::MAX).max(1);
    let mut ends: Vec<usize> = text.char_indices().skip(1).map(|(at, _)| at).take(most).collect();
    if ends.len() < most {
        ends.push(text.len());
    }
    let fits =
        |end: &usize| text.get(..*end).is_some_and(|head| estimate_tokens(head) <= max_tokens);
    let fitting = ends.partition_point(fits);
    ends.get(fitting.saturating_sub(1)).copied().unwrap_or(text.len())
}
