//! Shortens the passages of a context to a limit of tokens: the sentences and rows that fit the
//! question best stay, with their heading or the header of their table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pikerag_knowledge::{Chunk, ChunkKind, Context, ContextChunk, Question};
use pikerag_language::estimate_tokens;

use super::units::{Unit, body_start, units};
use super::{Known, Scorer};

/// Tokens of a passage's number, its brackets and the blank line after it.
const MARKS: u64 = 4;
/// Tokens of the break before a kept part.
const BREAK: u64 = 2;
/// The least limit, unless the first passage has fewer: an answer needs some text.
const LEAST: u64 = 200;
/// The end of a line whose continuation is left out.
const GAP: &str = " …\n";
/// The best sentences, whose names lead on to others.
const LEADING: usize = 3;

/// The tokens of a context as prompts show it, estimated.
pub fn context_tokens(context: &Context) -> u64 {
    context.chunks.iter().map(|held| shown_tokens(&held.chunk)).sum()
}

/// The context with no more than its best sentences and rows; `None` if all of it fits into
/// `tokens`, which are at least 200 or the length of the first passage.
///
/// The passages keep their order, and each keeps its place in the source, so that a quote of a kept
/// part is found in the passage of the whole context. A passage without a kept part is left out.
pub fn fit(question: &Question, context: &Context, known: &Known, tokens: u64) -> Option<Context> {
    let first = context.chunks.first()?;
    let tokens = tokens.max(shown_tokens(&first.chunk).min(LEAST));
    if context_tokens(context) <= tokens {
        return None;
    }
    let chunks: Vec<&Chunk> = context.chunks.iter().map(|held| &held.chunk).collect();
    let units = units(&chunks);
    let mut left = tokens;
    let mut kept: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
    for unit in best_first(&units, question, known) {
        let earlier = kept.get(&unit.place);
        let is_held = |part: &Range<usize>| {
            earlier.is_some_and(|earlier| {
                earlier.iter().any(|other| other.start <= part.start && part.end <= other.end)
            })
        };
        let parts: Vec<Range<usize>> =
            parts_of(unit).into_iter().filter(|part| !is_held(part)).collect();
        let head = if earlier.is_none() { head_tokens(unit.chunk) } else { 0 };
        let cost = head + parts.iter().map(|part| part_tokens(unit.chunk, part)).sum::<u64>();
        if cost <= left {
            left -= cost;
            kept.entry(unit.place).or_default().extend(parts);
        }
    }
    if kept.is_empty() {
        return Some(Context { chunks: vec![first.clone()] });
    }
    let mut shortened = Context::default();
    for (place, held) in context.chunks.iter().enumerate() {
        if let Some(parts) = kept.remove(&place) {
            let chunk = with_parts(&held.chunk, parts);
            shortened.chunks.push(ContextChunk { chunk, hop: held.hop });
        }
    }
    Some(shortened)
}

/// Tokens of a passage as prompts show it.
fn shown_tokens(chunk: &Chunk) -> u64 {
    head_tokens(chunk) + estimate_tokens(&chunk.text) + 3 * BREAK
}

/// Tokens that a passage has beside its text: its number and title, the header of its table if the
/// text does not hold it, and the description of a figure.
fn head_tokens(chunk: &Chunk) -> u64 {
    let header = match chunk.reading_text() {
        std::borrow::Cow::Borrowed(_) => 0,
        std::borrow::Cow::Owned(_) => {
            let table = chunk.table.iter();
            table.map(|table| estimate_tokens(&table.header.join(" | "))).sum()
        }
    };
    let seen = chunk.summary.as_deref().filter(|_| chunk.kind == ChunkKind::Figure);
    MARKS + estimate_tokens(&chunk.full_title()) + header + seen.map_or(0, estimate_tokens)
}

fn part_tokens(chunk: &Chunk, part: &Range<usize>) -> u64 {
    BREAK + chunk.text.get(part.clone()).map_or(0, estimate_tokens)
}

/// The units in the order of their worth, ties in the order of the context. Sentences about the
/// names that the best ones give rank higher: they may hold the next fact.
fn best_first<'u, 'c>(
    units: &'u [Unit<'c>],
    question: &Question,
    known: &Known,
) -> Vec<&'u Unit<'c>> {
    let mut chunks: Vec<&Chunk> = units.iter().map(|unit| unit.chunk).collect();
    chunks.dedup_by_key(|chunk| chunk.id);
    let scorer = Scorer::new(question, known, &chunks);
    let first = sorted(units, |unit| scorer.worth(unit, &[], &BTreeSet::new()));
    let best: Vec<&Unit<'_>> = first.into_iter().take(LEADING).collect();
    let leads = scorer.leads(&best);
    sorted(units, |unit| scorer.worth(unit, &[], &leads))
}

fn sorted<'u, 'c>(units: &'u [Unit<'c>], worth: impl Fn(&Unit<'c>) -> f32) -> Vec<&'u Unit<'c>> {
    let mut scored: Vec<(f32, &Unit<'c>)> = units.iter().map(|unit| (worth(unit), unit)).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().map(|(_, unit)| unit).collect()
}

/// The parts of the chunk's text that show a unit: the heading above it unless the chunk's title
/// has it, the header of its table, and the unit with the neighbours that it needs.
fn parts_of(unit: &Unit<'_>) -> Vec<Range<usize>> {
    let (body, text) = (body_start(unit.chunk), unit.chunk.text.as_str());
    let header = (0 < body).then_some(0..body);
    let is_new = |heading: &Range<usize>| {
        let words = text.get(heading.clone()).unwrap_or_default().trim_matches(['#', ' ', '\t']);
        !unit.chunk.headings.iter().any(|above| above == words)
    };
    let heading = heading_above(text, unit.span.start).filter(is_new);
    header.into_iter().chain(heading).chain([unit.span.clone()]).collect()
}

/// The last line before `end` that is a heading.
fn heading_above(text: &str, end: usize) -> Option<Range<usize>> {
    let (mut at, mut found) = (0, None);
    for line in text.get(..end)?.split_inclusive('\n') {
        if line.trim_start().starts_with('#') {
            found = Some(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    found
}

/// The chunk with these parts of its text, in their order. A mark shows each gap in prose.
fn with_parts(chunk: &Chunk, mut parts: Vec<Range<usize>>) -> Chunk {
    parts.sort_by_key(|part| (part.start, part.end));
    let has_lines = matches!(chunk.kind, ChunkKind::Table | ChunkKind::Code);
    let (mut text, mut end) = (String::new(), 0);
    for part in parts {
        let start = part.start.max(end);
        let Some(own) = chunk.text.get(start..part.end).filter(|own| !own.is_empty()) else {
            continue;
        };
        let between = chunk.text.get(end..start).unwrap_or_default();
        if !text.is_empty() {
            text.push_str(match between.trim().is_empty() {
                true => between,
                false if has_lines => "\n",
                false => GAP,
            });
        }
        text.push_str(own);
        end = part.end;
    }
    Chunk { text, ..chunk.clone() }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_knowledge::{Span, Table};
    use pikerag_language::query_terms;
    use proptest::prelude::*;

    use super::*;
    use crate::cite::find;

    fn shortened(question: &str, chunks: Vec<Chunk>, tokens: u64) -> Option<Context> {
        let rarity = query_terms(question).into_iter().map(|term| (term, 1.0)).collect();
        let known = Known { rarity, ..Known::default() };
        fit(&Question::new("q", question), &Context::of(1, chunks), &known, tokens)
    }

    fn texts(context: &Context) -> Vec<&str> {
        context.chunks.iter().map(|held| held.chunk.text.as_str()).collect()
    }

    fn prose() -> Vec<Chunk> {
        let crane = "# Build\nThe KX-40 is a crane. It is painted green and grey on all sides. \
            The KX-40 was designed by Ilse Brandt.\n\n# Care\nGrease the chains every week.";
        let person = "Ilse Brandt likes tea with milk and cake. Ilse Brandt was born in Varnsund.";
        let weather = "Rain is wet on most days of the year. Snow is cold in the north.";
        vec![chunk(1, "KX-40", crane), chunk(2, "Ilse Brandt", person), chunk(3, "Rain", weather)]
    }

    #[test]
    fn best_sentences_stay_with_their_heading() {
        let question = "Where was the person born who designed the KX-40?";
        assert_eq!(shortened(question, prose(), 1000), None);
        let short = shortened(question, prose(), 56).unwrap();
        let texts = texts(&short);
        assert!(texts[0].starts_with("# Build"), "{texts:?}");
        assert!(texts[0].contains("The KX-40 was designed by Ilse Brandt."), "{texts:?}");
        assert!(!texts[0].contains("painted"), "{texts:?}");
        assert!(!texts.concat().contains("Rain"), "{texts:?}");
        assert!(texts[1].ends_with("Ilse Brandt was born in Varnsund."), "{texts:?}");
    }

    #[test]
    fn rows_stay_with_their_header() {
        let text = "| Pump | Town |\n| --- | --- |\n| P-1 | Bern |\n| P-2 | Lund |\n| P-3 | Graz |";
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if !line.starts_with("| ---") {
                lines.push(Span { start: at, end: at + line.trim_end().len() });
            }
            at += line.len();
        }
        let header = vec!["Pump".to_owned(), "Town".to_owned()];
        let rows = ["P-1 Bern", "P-2 Lund", "P-3 Graz"];
        let rows = rows.map(|row| row.split(' ').map(str::to_owned).collect()).to_vec();
        let pumps = Chunk {
            kind: ChunkKind::Table,
            table: Some(Table { header, rows, lines, key: 0 }),
            span: Span { start: 0, end: text.len() },
            ..chunk(2, "Pumps", text)
        };
        let notes = chunk(1, "Notes", "Pumps are blue. The town is far. It rains.");
        let short = shortened("In which town is P-2?", vec![notes, pumps], 34).unwrap();
        let table = short.chunks.iter().find(|held| held.chunk.id.0 == 2).unwrap();
        let text = &table.chunk.text;
        assert!(text.starts_with("| Pump | Town |\n| --- | --- |\n"), "{text}");
        assert!(text.contains("| P-2 | Lund |"), "{text}");
        assert!(!text.contains("P-3"), "{text}");
    }

    #[test]
    fn one_passage_is_read_whatever_the_limit() {
        let short = shortened("Where is it?", prose(), 0).unwrap();
        assert!(!short.chunks.is_empty());
    }

    proptest! {
        /// Each kept part is in its passage, and at least one passage stays.
        #[test]
        fn kept_parts_are_parts_of_their_chunks(
            texts in prop::collection::vec("([a-c]{1,3}|fee|协议| |, |\\. |。|\n|# a\n){0,60}", 1..5),
            question in "(What is the |多少){0,1}([a-c]{1,3} |fee |协议){0,4}",
            tokens in 0..80_u64,
        ) {
            let chunks: Vec<Chunk> =
                texts.iter().enumerate().map(|(id, text)| chunk(id as u64, "T", text)).collect();
            let whole = Context::of(1, chunks.clone());
            if let Some(short) = shortened(&question, chunks, tokens) {
                prop_assert!(!short.chunks.is_empty());
                for held in &short.chunks {
                    let source = whole.chunks.iter().find(|whole| whole.chunk.id == held.chunk.id);
                    let source = &source.unwrap().chunk;
                    for part in held.chunk.text.split(GAP).filter(|part| !part.trim().is_empty()) {
                        prop_assert!(find(source, part).is_some(), "{part:?} in {:?}", source.text);
                    }
                }
            }
        }
    }
}
