//! Answers a question without a language model: quotes the sentence or row of the evidence that
//! fits best, then others that add something. A quote goes on to the sentence that answers. A grade
//! says how well the best one fits.

mod asked;
mod characters;
mod evidence;
mod fitting;
mod units;
mod unknown;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use pikerag_knowledge::{Chunk, ChunkId, Context, Grade, Question, Span};
use pikerag_language::names::{Name, names_in};
use pikerag_language::{is_chinese, stem, terms, with_columns};

use crate::Claim;
use crate::columns::columns_of;
use crate::coverage::Coverage;
use crate::read::Reading;

pub use self::evidence::evidence;
pub use self::fitting::{context_tokens, fit};

use self::asked::{Kind, holds_new_value, kind_of};
use self::characters::Characters;
use self::units::{Unit, units};
use self::unknown::unknown_words;

/// Facts about a question beyond its context.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The rarity of each term of the question in the base, from 0 to 1; 1 if no chunk has the
    /// term. The terms of `pikerag_language::query_terms`, in their order: sums of floats depend on
    /// it.
    pub rarity: Vec<(String, f32)>,
    /// The sentences of the base that are closest to the question in meaning, by chunk.
    pub close: HashMap<ChunkId, Vec<CloseSentence>>,
    /// The terms that occur in no chunk of the base.
    pub absent: HashSet<String>,
}

/// A sentence that is close to a question in meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CloseSentence {
    /// Its words, with single spaces.
    pub text: String,
    /// How close it is, from 0, as unrelated sentences are, to 1. Some embedders give all sentences
    /// of a base about the same similarity, so that a question may have no sentence above 0.
    pub closeness: f32,
    /// How close it is for the choice of quotes: its closeness, or its place among the closest ones of
    /// this question, from 0 for the last to 1 for the first, if none has a closeness that tells.
    pub standing: f32,
}

/// The quotes, and how well they fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quoted {
    /// The quotes, the best first; empty only without passages.
    pub reading: Reading,
    /// The sentence or row of each quote that fits, in the order of the quotes.
    pub best: Vec<(ChunkId, String)>,
    /// How well the best quote fits, from 0 to 1.7 if meaning and characters count too.
    pub fit: f32,
    /// The share of the question's terms, weighed by their rarity, that the best quote holds.
    pub covered: f32,
    /// The words of the question that no passage of the base has, if its subject is among them.
    pub unknown: Vec<String>,
}

impl Quoted {
    /// How sure it is that the quotes hold the answer.
    pub fn grade(&self) -> Grade {
        let least = if self.unknown.is_empty() { POSSIBLY } else { POSSIBLY_OF_UNKNOWN };
        if self.reading.claims.is_empty() || self.fit < least {
            Grade::NotFound
        } else if self.unknown.is_empty() && FOUND_WORDS <= self.covered && FOUND <= self.fit {
            Grade::Found
        } else {
            Grade::Possibly
        }
    }
}

/// From this fit and this share of the terms on an answer counts as found, and from this fit on as
/// possible, a greater one where the documents do not have the question's subject. Chosen on the
/// development part of `examples/quotes`, `vellmarsh` and `linyuan`
/// (docs/bench/results/retrieval.md).
const FOUND: f32 = 0.7;
const FOUND_WORDS: f32 = 0.55;
const POSSIBLY: f32 = 0.1;
const POSSIBLY_OF_UNKNOWN: f32 = 0.3;

/// Weight of meaning beside words, if there is an embedder.
const CLOSE: f32 = 0.5;
/// Weight of single Chinese characters beside words: everyday words share some with formal ones
/// (烘茶叶的机器, 烘干机).
const CHARACTERS: f32 = 0.15;
/// A value of the asked kind adds this much; a missing one takes it away.
const VALUE: f32 = 0.1;
/// The bonus by the rank of a chunk (`Rank::of`), for the first quote and for further ones, which
/// links found.
const FIRST: Rank = Rank { most: 0.4, fades: 2.0 };
const LATER: Rank = Rank { most: 0.15, fades: 4.0 };
/// The share that a term keeps if an earlier quote holds it, and the bonus of a name that leads on
/// from one.
const DONE: f32 = 0.4;
const BRIDGES: f32 = 0.5;
/// A further quote is worth at least this share of the best.
const FURTHER: f32 = 0.6;
/// A following sentence joins a quote if it has terms of the question that the quote lacks, and
/// these weigh at least this share of all.
const ADDS: f32 = 0.2;
/// Characters that following sentences add to a quote, at most.
const LONGEST: usize = 300;

/// Below this fit hardly an informative word of the question occurs in a quote: it is no statement
/// about a thing that is compared or judged.
pub const FLOOR: f32 = 0.08;

/// Quotes at most `most` sentences or rows of the context, at most one per chunk, the best first.
/// Where nothing fits, these are the nearest passages.
pub fn quote(question: &Question, context: &Context, known: &Known, most: usize) -> Quoted {
    let chunks: Vec<&Chunk> = context.chunks.iter().map(|held| &held.chunk).collect();
    let units = units(&chunks);
    let scorer = Scorer::new(question, known, &chunks);
    let mut quoted: Vec<&Unit<'_>> = Vec::new();
    let (mut first, mut fit, mut covered) = (0.0, 0.0, 0.0);
    while quoted.len() < most {
        let leads = scorer.leads(&quoted);
        let texts: Vec<String> = quoted.iter().map(|held| plain(held.text)).collect();
        let open = units.iter().filter(|unit| {
            let is_quoted = quoted.iter().any(|held| held.place == unit.place);
            // A sentence that several passages repeat is quoted once.
            !is_quoted && (texts.is_empty() || !texts.contains(&plain(unit.text)))
        });
        let mut best: Option<(f32, &Unit<'_>)> = None;
        for unit in open {
            let worth = scorer.worth(unit, &quoted, &leads);
            // The first of equals: documents open with their subject.
            if best.is_none_or(|(held, _)| held < worth) {
                best = Some((worth, unit));
            }
        }
        let Some((worth, unit)) = best else { break };
        if quoted.is_empty() {
            // Further quotes are compared with the worth that the best would have as one of them.
            first = worth - FIRST.of(unit.place) + LATER.of(unit.place);
            fit = scorer.fit(unit);
            covered = scorer.covered(unit);
        } else if worth < FURTHER * first {
            break;
        }
        quoted.push(unit);
    }
    let (mut claims, mut best, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut texts = HashSet::new();
    for unit in quoted {
        let span = scorer.extended(unit);
        let quote = unit.chunk.text.get(span.clone()).unwrap_or(unit.text).to_owned();
        if !texts.insert(plain(&quote)) {
            continue;
        }
        let begin = unit.chunk.span.start;
        let place = Span { start: begin + span.start, end: begin + span.end };
        lines.push(shown(&quote, &columns_of(unit.chunk, place)));
        best.push((unit.chunk.id, unit.text.to_owned()));
        claims.push(Claim { chunk: unit.chunk.id, quote });
    }
    let reading = Reading { answer: lines.join("\n"), claims, ..Reading::default() };
    Quoted { reading, best, fit, covered, unknown: unknown_words(question, context, known) }
}

/// A text without case and line breaks.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The bonus by the rank of a chunk, from 0: `most` at rank 0, half as much at rank `fades`.
#[derive(Clone, Copy)]
struct Rank {
    most: f32,
    fades: f32,
}

impl Rank {
    fn of(self, rank: usize) -> f32 {
        self.most / (1.0 + rank as f32 / self.fades)
    }
}

struct Scorer<'a> {
    question: &'a str,
    /// The proper names in the question.
    names: BTreeSet<Name>,
    /// The kind of value that it asks for.
    kind: Option<Kind>,
    known: &'a Known,
    /// Its terms, weighed by their rarity.
    coverage: Coverage,
    characters: Characters,
}

impl<'a> Scorer<'a> {
    fn new(question: &'a Question, known: &'a Known, chunks: &[&Chunk]) -> Self {
        let coverage = Coverage::new(known.rarity.clone());
        let question = question.text.as_str();
        let terms = known.rarity.iter().map(|(term, _)| term.as_str());
        let characters = Characters::new(terms, chunks);
        let (names, kind) = (names_in(question), kind_of(question));
        Self { question, names, kind, known, coverage, characters }
    }

    /// The share of the question's terms, weighed by their rarity, that a unit has.
    fn covered(&self, unit: &Unit<'_>) -> f32 {
        self.coverage.of(&unit.terms)
    }

    /// How well a unit fits by words, characters and meaning alone; half as well if the question
    /// names a person or thing of which the base knows no word.
    fn fit(&self, unit: &Unit<'_>) -> f32 {
        let characters = CHARACTERS * self.characters.share(unit.text, unit.chunk);
        let fit = self.covered(unit) + CLOSE * self.closeness(unit) + characters;
        let is_unknown =
            |name: &Name| name.iter().all(|word| self.known.absent.contains(&stem(word)));
        let names_unknown =
            !self.question.chars().any(is_chinese) && self.names.iter().any(is_unknown);
        if names_unknown { fit / 2.0 } else { fit }
    }

    /// How well a unit fits after earlier quotes, whose names lead on from the question.
    fn worth(&self, unit: &Unit<'_>, quoted: &[&Unit<'_>], leads: &BTreeSet<Name>) -> f32 {
        let mut worth = self.coverage.share(|term, rarity| {
            let is_done = quoted.iter().any(|held| held.terms.own.contains(term));
            rarity * unit.terms.presence(term) * if is_done { DONE } else { 1.0 }
        });
        worth += CLOSE * self.standing(unit);
        worth += CHARACTERS * self.characters.share(unit.text, unit.chunk);
        worth += if quoted.is_empty() { FIRST } else { LATER }.of(unit.place);
        if let Some(kind) = self.kind {
            worth += if holds_new_value(unit.text, kind, self.question) { VALUE } else { -VALUE };
        }
        worth + BRIDGES * leads_on(unit, leads)
    }

    /// The span of a unit's quote. It goes on to a following sentence that has further terms of the
    /// question, or the date or figure that the question asks for and the quote lacks.
    fn extended(&self, unit: &Unit<'_>) -> Range<usize> {
        let text = |span: Range<usize>| unit.chunk.text.get(span).unwrap_or_default();
        let kind = self.kind.filter(|kind| matches!(kind, Kind::Time | Kind::Number));
        let lacks_value =
            |text: &str| kind.is_some_and(|kind| !holds_new_value(text, kind, self.question));
        let Range { start, mut end } = unit.span.clone();
        let mut held: HashSet<String> = terms(text(start..end)).into_iter().collect();
        let mut is_open = lacks_value(text(start..end));
        for next in &unit.following {
            if LONGEST < text(unit.span.end..next.end).chars().count() {
                break;
            }
            let sentence = text(next.clone());
            let own: HashSet<String> = terms(sentence).into_iter().collect();
            let is_further = |term: &str| own.contains(term) && !held.contains(term);
            let adds =
                self.coverage.share(|term, rarity| if is_further(term) { rarity } else { 0.0 });
            if ADDS <= adds || (is_open && !lacks_value(sentence)) {
                end = next.end;
                held.extend(own);
                // The sentence may name what is asked for, and the next one give its value.
                is_open = lacks_value(sentence);
            }
        }
        start..end
    }

    fn closeness(&self, unit: &Unit<'_>) -> f32 {
        self.close(unit, |sentence| sentence.closeness)
    }

    fn standing(&self, unit: &Unit<'_>) -> f32 {
        self.close(unit, |sentence| sentence.standing)
    }

    /// The largest value of the close sentences that a unit is, holds, or is a part of.
    fn close(&self, unit: &Unit<'_>, value: impl Fn(&CloseSentence) -> f32) -> f32 {
        let Some(close) = self.known.close.get(&unit.chunk.id) else { return 0.0 };
        let text = unit.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let same = close.iter().filter(|sentence| {
            let held = sentence.text.as_str();
            held == text || held.contains(&text) || text.contains(held)
        });
        same.map(value).fold(0.0, f32::max)
    }

    /// The names of earlier quotes that the question does not hold.
    fn leads(&self, quoted: &[&Unit<'_>]) -> BTreeSet<Name> {
        let all = quoted.iter().flat_map(|held| names_in(held.text));
        all.filter(|name| !self.names.contains(name)).collect()
    }
}

/// The share of these names that a unit is about.
fn leads_on(unit: &Unit<'_>, names: &BTreeSet<Name>) -> f32 {
    if names.is_empty() {
        return 0.0;
    }
    let own = names_in(unit.text);
    let title = names_in(&unit.chunk.full_title());
    let shared = names.iter().filter(|name| own.contains(*name) || title.contains(*name)).count();
    (shared as f32 / names.len() as f32).sqrt()
}

/// A quote as an answer shows it: one line, without the marks of lists and tables around it. A row
/// names its columns.
fn shown(text: &str, columns: &[String]) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = with_columns(columns, &line);
    line.trim_matches(['|', '*', '-', '•', ' ']).replace("**", "")
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::chunk;
    use pikerag_knowledge::{Chunk, SourceId};
    use pikerag_language::query_terms;
    use proptest::prelude::*;

    use super::*;

    fn ask(question: &str, texts: &[(&str, &str)]) -> Quoted {
        let mut context = Context::default();
        for (id, (title, text)) in texts.iter().enumerate() {
            let chunk = Chunk { uri: (*title).to_owned(), ..chunk(id as u64, title, text) };
            context.add(id + 1, chunk);
        }
        let rarity = query_terms(question).into_iter().map(|term| (term, 1.0)).collect();
        let known = Known { rarity, ..Known::default() };
        let question = Question::new("q", question);
        quote(&question, &context, &known, 4)
    }

    #[test]
    fn exactly_the_sentences_of_a_chain_are_quoted() {
        let texts = [
            (
                "KX-40",
                "The KX-40 is a crane. It lifts forty tons. The KX-40 was designed by Ilse Brandt.",
            ),
            ("Ilse Brandt", "Ilse Brandt likes tea. Ilse Brandt was born in Varnsund."),
            ("Weather", "Rain is wet. Snow is cold."),
        ];
        let quoted = ask("Where was the person born who designed the KX-40?", &texts);
        assert_eq!(
            quoted.reading.answer,
            "The KX-40 was designed by Ilse Brandt.\nIlse Brandt was born in Varnsund."
        );
    }

    #[test]
    fn a_quote_goes_on_to_the_sentence_that_answers() {
        for (question, quoted, rest) in [
            (
                "How much does the maintenance contract with Norrick cost?",
                "The maintenance contract with Norrick covers both plants. The yearly fee is £48,600.",
                " Faults are reported to the duty engineer.",
            ),
            (
                "What may a hotel cost in London?",
                "A hotel may cost up to £115 a night with breakfast. In London the limit is £150.",
                " Ask Finance before booking.",
            ),
            (
                "电梯维保协议什么时候签？",
                "会议讨论了电梯维保协议的续签。王芳说报价已经收到。最晚要在六月底之前签订。",
                "会议到此结束。",
            ),
            (
                "Who designed the KX-40?",
                "The KX-40 was designed by Ilse Brandt.",
                " It lifts forty tons.",
            ),
        ] {
            let text = format!("{quoted}{rest}");
            assert_eq!(
                ask(question, &[("Notes", text.as_str())]).reading.answer,
                quoted,
                "{question}"
            );
        }
    }

    proptest! {
        /// A quote keeps its sentence, and gets no longer than allowed.
        #[test]
        fn quotes_are_parts_of_their_chunks(
            text in "([a-c]{1,3}|fee|[0-9]{1,2}|协议|六月| |, |\\. |。|\n){0,160}",
            question in "(What is the |How much |多少|什么时候){0,1}([a-c]{1,3} |fee |协议){0,5}",
        ) {
            let quoted = ask(&question, &[("T", text.as_str())]);
            for claim in &quoted.reading.claims {
                prop_assert!(text.contains(&claim.quote), "{:?}", claim.quote);
            }
            let chunk = chunk(1, "T", &text);
            let rarity = query_terms(&question).into_iter().map(|term| (term, 1.0)).collect();
            let known = Known { rarity, ..Known::default() };
            let question = Question::new("q", question);
            let scorer = Scorer::new(&question, &known, &[&chunk]);
            for unit in units(&[&chunk]) {
                let span = scorer.extended(&unit);
                prop_assert!(span.start == unit.span.start && unit.span.end <= span.end);
                let added = &text[unit.span.end..span.end];
                prop_assert!(added.chars().count() <= LONGEST, "{added:?}");
            }
        }
    }

    /// Clauses of contracts read alike: the party is named elsewhere in the chunk, or in another
    /// chunk of the document.
    #[test]
    fn terms_around_a_sentence_count_less() {
        let of =
            |id, source, text| Chunk { source: SourceId(source), ..chunk(id, "Contracts", text) };
        let chunks = [
            of(1, 1, "The seller is Lingdao. It sells pumps. The warranty is six months."),
            of(2, 1, "Goods are on their way."),
            of(3, 2, "Goods come late."),
        ];
        let units = units(&chunks.iter().collect::<Vec<_>>());
        let held =
            |term: &str| units.iter().map(|unit| unit.terms.presence(term)).collect::<Vec<_>>();
        assert_eq!(held("lingdao"), [1.0, 0.3, 0.3, 0.2, 0.0]);
        assert_eq!(held("contract"), [0.6; 5]);
    }

    /// All sentences fit equally in meaning. The repeated one has capitals or a line break.
    #[test]
    fn a_repeated_sentence_is_quoted_once() {
        let (notice, other) =
            ("Visitors must wear a helmet.", "Visitors who wear no helmet must leave.");
        for repeated in ["VISITORS MUST WEAR A HELMET.", "Visitors must\nwear a helmet."] {
            let (mut context, mut known) = (Context::default(), Known::default());
            for (id, text) in [notice, other, repeated].into_iter().enumerate() {
                let chunk = chunk(id as u64, "T", text);
                let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let close = CloseSentence { text: sentence, closeness: 1.0, standing: 1.0 };
                known.close.insert(chunk.id, vec![close]);
                context.add(1, chunk);
            }
            let question = Question::new("q", "What must visitors wear?");
            let terms = query_terms(&question.text);
            known.rarity = terms.into_iter().map(|term| (term, 1.0)).collect();
            let quoted = quote(&question, &context, &known, 4);
            assert_eq!(quoted.reading.answer, format!("{notice}\n{other}"));
        }
    }

    #[test]
    fn nearest_passages_follow_where_nothing_fits() {
        let texts = [("Weather", "Rain is wet. Snow is cold."), ("Tea", "Tea is warm.")];
        let quoted = ask("When did Ewan Staveley join the sales team?", &texts);
        assert_eq!((quoted.grade(), quoted.reading.claims.is_empty()), (Grade::NotFound, false));
        let nothing = ask("Where?", &[]);
        assert_eq!((nothing.grade(), nothing.reading), (Grade::NotFound, Reading::default()));
    }

    #[test]
    fn grades_follow_the_words_that_a_quote_holds() {
        let texts = [("Fees", "The yearly fee of the contract is £48,600.")];
        for (question, grade) in [
            ("What is the yearly fee of the contract?", Grade::Found),
            ("What yearly fee does the gardener ask from us?", Grade::Possibly),
            ("Does the gardener plant red tulips?", Grade::NotFound),
        ] {
            assert_eq!(ask(question, &texts).grade(), grade, "{question}");
        }
    }

    /// The question shares no word with the sentence, only the character of the machine's name.
    #[test]
    fn everyday_words_share_characters_with_formal_ones() {
        let texts = [("台账", "热水壶位于门厅。烘干机由恒灶制造。年会定于周末。")];
        let quoted = ask("那个烘叶子的玩意谁造的？", &texts);
        assert!(quoted.reading.answer.starts_with("烘干机"), "{}", quoted.reading.answer);
    }

    #[test]
    fn a_quoted_row_names_its_columns() {
        let text = "Pump | Overhaul\nP-105 | 2024-09-30\nP-106 | 2025-08-12";
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            lines.push(Span { start, end: start + line.len() });
            start += line.len() + 1;
        }
        let cells = |line: &str| line.split(" | ").map(str::to_owned).collect::<Vec<_>>();
        let rows = text.split('\n').skip(1).map(cells).collect();
        let header = vec!["Pump".to_owned(), "Overhaul".to_owned()];
        let table = Some(pikerag_knowledge::Table { header, rows, lines, key: 0 });
        let kind = pikerag_knowledge::ChunkKind::Table;
        let context = Context::of(1, [Chunk { table, kind, ..chunk(1, "Register", text) }]);
        let question = Question::new("q", "When was the overhaul of P-105?");
        let terms = query_terms(&question.text).into_iter();
        let known = Known { rarity: terms.map(|term| (term, 1.0)).collect(), ..Known::default() };
        let quoted = quote(&question, &context, &known, 4);
        assert_eq!(quoted.reading.answer, "Pump: P-105 | Overhaul: 2024-09-30");
        assert_eq!(quoted.best, [(chunk(1, "", "").id, "P-105 | 2024-09-30".to_owned())]);
    }
}
