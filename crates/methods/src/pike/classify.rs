//! Classifies a question by its words and by what the base offers. The same words ask for a count where the
//! records cover the time, for a forecast where they do not, and for reading where there are no records
//! (PIKE-RAG §3.2).

mod days;
mod reply;

use pikerag_knowledge::facts::OfferedRecords;
use pikerag_knowledge::{ChunkId, ClassifiedBy, Question, Reason, Role, Statement, TaskClass};
use pikerag_language::{is_chinese, query_terms};
use pikerag_prompt::{Prompt, one_line, quiet_headings};
use serde::{Deserialize, Serialize};

use self::days::days;
use self::reply::ClassReply;
use super::tables::{Asks, Reader};
use super::things::compared;
use super::words::{self, AboutFuture, about_future};
use crate::candidates::fetch;
use crate::collections::{Collection, declared, from_tables};
use crate::feedback::Recall;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;
use crate::structure::can_structure;
use pikerag_records::inquiry::{Cues, Form, Inquiry, Source, Wish, by_rules};
use pikerag_tables::{looks_ahead, may_ask_for_figure};

const PROMPT: Prompt = Prompt::new(Role::Classify, include_str!("../prompts/classify.md"), 1000)
    .with_earlier("methods/classify", &[include_str!("../prompts/earlier/classify.1.md")])
    .formerly(&[200]);
/// Chunks that are examined.
const LOOKED_AT: usize = 8;
/// The share of a question's terms below which probably no single chunk holds the answer.
const DIRECT: f64 = 0.5;
/// The share below which no chunk is about it.
const NOTHING: f64 = 0.34;
/// Terms from which on a question may name more than one thing, even if its words are no chain.
const LONG: usize = 8;

/// Who classifies a question.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
    strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Classifier {
    /// Rules; a model where they are undecided between classes.
    #[default]
    Auto,
    /// Only rules.
    Rules,
    /// Always a model, where there is one.
    Model,
}

/// What the base offers for a question.
pub(super) struct Evidence {
    pub(super) cues: Cues,
    /// What the question asks about the future, by its words.
    pub(super) future: Option<AboutFuture>,
    pub(super) collections: Vec<Collection>,
    /// The query that rules read in it.
    pub(super) inquiry: Option<Inquiry>,
    /// The first and the last day of the dates that the inquiry is about.
    days: Option<(String, String)>,
    /// Things compared, where two are named.
    pub(super) things: Vec<String>,
    /// Titles of the chunks that fit best.
    titles: Vec<String>,
    /// The number of their documents.
    documents: usize,
    /// Terms of the question.
    terms: usize,
    /// The passages that fit best, the best first.
    pub(super) found: Vec<ChunkId>,
    /// Whether the question is in Chinese and no passage is, or the other way round: shares of words say nothing then.
    is_foreign: bool,
    /// The largest share of the question's terms that one of them holds.
    direct: f64,
    /// Whether the question asks for a figure that models could collect from passages.
    pub(super) may_be_collected: bool,
    /// How the question reads over the typed tables.
    pub(super) tables: Reader,
}

impl Evidence {
    /// Gathers the evidence, without a model call.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn gather(ports: &Ports, question: &Question) -> Result<Self, SolveError> {
        let query = question.query();
        let cues = Cues::of(query);
        let future = about_future(query);
        let is_ahead = cues.ahead.is_some() || looks_ahead(query);
        // A document's own forecast is read and not computed.
        let is_stated =
            future == Some(AboutFuture::Stated) && (is_ahead || words::looks_ahead(query));
        let figure = cues.wish.as_ref().is_some_and(|wish| !matches!(wish, Wish::List(_)));
        let asks = Asks {
            ahead: !is_stated && is_ahead,
            figure: !is_stated && figure,
            amount: !is_stated && may_ask_for_figure(query),
        };
        let tables = Reader::of(ports, question, asks).await?;
        let is_asked = !is_stated && (cues.wish.is_some() || cues.ahead.is_some());
        let mut collections = if is_asked { declared(ports).await? } else { Vec::new() };
        let mut inquiry = read(&cues, &collections);
        let is_understood = inquiry.as_ref().is_some_and(|it| it.unexplained.is_empty());
        let is_read = cues.ahead.is_some() || ports.models.of(Role::Decompose).is_some();
        if is_asked && is_read && !is_understood && !tables.has_tables() {
            collections.extend(from_tables(ports, query).await?);
            inquiry = read(&cues, &collections);
        }
        let days = inquiry.as_ref().and_then(|inquiry| days(&collections, inquiry));
        let params = RetrievalParams { chunks: LOOKED_AT, ..RetrievalParams::auto() };
        let hits = retrieve(ports, query, params).await?;
        let chunks = fetch(ports, &hits).await?;
        let terms = query_terms(query);
        let direct = chunks.iter().map(|chunk| {
            let held = query_terms(&format!("{} {}", chunk.full_title(), chunk.text));
            let shared = terms.iter().filter(|term| held.contains(term)).count();
            shared as f64 / terms.len().max(1) as f64
        });
        let direct = direct.fold(0.0, f64::max);
        let in_chinese = |text: &str| text.chars().any(is_chinese);
        let is_foreign = !chunks.is_empty()
            && chunks.iter().all(|chunk| in_chinese(&chunk.text) != in_chinese(query));
        let documents: std::collections::BTreeSet<_> =
            chunks.iter().map(|chunk| chunk.source).collect();
        Ok(Self {
            things: compared(query),
            found: hits.iter().map(|hit| hit.chunk).collect(),
            titles: chunks.iter().map(pikerag_knowledge::Chunk::full_title).collect(),
            documents: documents.len(),
            terms: terms.len(),
            is_foreign,
            direct,
            cues,
            future,
            collections,
            inquiry,
            days,
            may_be_collected: figure && can_structure(ports),
            tables: tables.beside(&chunks),
        })
    }

    /// The same, where no figure is collected from passages.
    pub(super) fn without_collecting(self) -> Self {
        Self { may_be_collected: false, ..self }
    }

    /// The collection that the inquiry is about.
    pub(super) fn collection(&self) -> Option<(&Collection, &Inquiry)> {
        let inquiry = self.inquiry.as_ref()?;
        Some((self.collections.get(inquiry.schema)?, inquiry))
    }

    /// An inquiry that accounts for all words of the question.
    pub(super) fn understood(&self) -> Option<(&Collection, &Inquiry)> {
        self.collection().filter(|(_, inquiry)| inquiry.unexplained.is_empty())
    }

    /// Why no passage can answer the question: none holds the share `coverage` of its terms. `None` where one
    /// does, where records answer, or where the passages are in another language.
    pub(super) fn lacks(&self, coverage: f64) -> Option<Reason> {
        let is_covered = coverage <= self.direct || self.is_foreign || self.understood().is_some();
        (!is_covered).then_some(Reason::TooLittleCovered { percent: 100.0 * self.direct })
    }

    /// Whether what is asked for lies within the days of the records.
    fn has_happened(&self) -> bool {
        let Some((Form::Series { until: Some(until), .. }, (_, last))) =
            self.inquiry.as_ref().map(|inquiry| &inquiry.form).zip(self.days.as_ref())
        else {
            return false;
        };
        until.get(..7) <= last.get(..7)
    }

    /// What the base offers, as a fact.
    fn offered(&self) -> Reason {
        let inquired = self.collection().map(|(collection, _)| collection);
        let records = self.collections.iter().take(4).map(|collection| OfferedRecords {
            schema: collection.schema.name.clone(),
            count: collection.unified.frame.things.len(),
            dates: inquired
                .is_some_and(|own| std::ptr::eq(own, collection))
                .then(|| self.days.clone())
                .flatten(),
        });
        Reason::BaseOffers {
            records: records.collect(),
            documents: self.documents,
            percent: 100.0 * self.direct,
            titles: self.titles.clone(),
        }
    }

    /// The same in words for a model, one fact a line.
    pub(super) fn offers_in_words(&self) -> String {
        let Reason::BaseOffers { records, documents, percent, titles } = self.offered() else {
            return String::new();
        };
        let mut lines = Vec::new();
        for OfferedRecords { schema, count, dates } in &records {
            let dates = dates
                .as_ref()
                .map_or_else(String::new, |(first, last)| format!(", dated {first} to {last}"));
            lines.push(format!("Records: {count} things under `{}`{dates}.", one_line(schema)));
        }
        if records.is_empty() {
            lines.push("Records: none that fit.".to_owned());
        }
        lines.push(format!(
            "Passages: the best ones come from {documents} documents; one of them holds {percent:.0} % of the question's words."
        ));
        let titles: Vec<String> = titles.iter().map(|title| one_line(title)).collect();
        lines.push(format!("Their titles: {}.", titles.join(" | ")));
        lines.join("\n")
    }
}

/// Reads a question over these records by rules.
pub(super) fn read(cues: &Cues, collections: &[Collection]) -> Option<Inquiry> {
    let sources: Vec<Source<'_>> = collections.iter().map(Collection::source).collect();
    by_rules(cues, &sources)
}

/// A class with its reasons.
pub(super) struct Verdict {
    pub(super) class: TaskClass,
    pub(super) by: ClassifiedBy,
    pub(super) reasons: Vec<Statement<Reason>>,
}

/// Classifies a question.
///
/// # Errors
/// A model call failed.
pub(super) async fn classify(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    evidence: &Evidence,
    classifier: Classifier,
    recall: &Recall,
) -> Result<Verdict, SolveError> {
    let (class, why, is_undecided) = rules(question.query(), evidence);
    if classifier == Classifier::Auto
        && let Some((class, reason)) = recall.class(is_undecided)
    {
        return Ok(Verdict { class, by: ClassifiedBy::Verified, reasons: vec![reason.into()] });
    }
    let asks = match classifier {
        Classifier::Auto => is_undecided,
        Classifier::Rules => false,
        Classifier::Model => true,
    };
    if asks && ports.models.of(Role::Classify).is_some() {
        let (offers, asked) = (evidence.offers_in_words(), quiet_headings(question.query()));
        let offers = quiet_headings(&offers);
        let inputs = [("offers", offers.as_str()), ("question", asked.as_str())];
        if let Some(reply) = run.ask::<ClassReply>(ports, &PROMPT, &inputs).await? {
            let reasons = vec![Statement::Text(reply.reason), evidence.offered().into()];
            return Ok(Verdict { class: reply.class, by: ClassifiedBy::Model, reasons });
        }
    }
    let reasons = why.into_iter().map(Statement::from).collect();
    Ok(Verdict { class, by: ClassifiedBy::Rules, reasons })
}

/// The class by rules, why, and whether the rules are undecided.
fn rules(question: &str, evidence: &Evidence) -> (TaskClass, Vec<Reason>, bool) {
    let mut why = Vec::new();
    let understood = evidence.understood();
    if words::asks_for_ideas(question) {
        why.push(Reason::AsksForIdeas);
        // `Which ideas does the report propose?` asks for reading.
        let is_read = words::asks_for_a_summary(question) || understood.is_some();
        return (TaskClass::Creative, why, is_read);
    }
    let compares = words::compares(question);
    let is_of_two = compares && 2 <= evidence.things.len();
    if evidence.future == Some(AboutFuture::Judgement) && understood.is_none() && !is_of_two {
        why.push(Reason::AsksForJudgement);
        return (TaskClass::Predictive, why, false);
    }
    if 2 <= evidence.things.len() && words::asks_of_two(question) {
        why.push(Reason::ComparesNamed { things: evidence.things.clone() });
        return (TaskClass::Comparative, why, false);
    }
    if let Some((collection, inquiry)) = understood {
        let (schema, count) =
            (collection.schema.name.clone(), collection.unified.frame.things.len());
        match &inquiry.form {
            Form::Series { .. } | Form::Kinds { .. } if evidence.has_happened() => {
                why.push(Reason::AsksAboutFuture);
                why.push(Reason::RecordsCoverPeriod { schema });
                return (TaskClass::Quantitative, why, false);
            }
            Form::Series { .. } | Form::Kinds { .. } => {
                why.push(Reason::AsksAboutFuture);
                let last = evidence.days.as_ref().map(|(_, last)| last.clone());
                why.push(Reason::RecordsAllowForecast { count, schema, last });
                return (TaskClass::Predictive, why, false);
            }
            Form::List if is_one_list(collection) => {
                why.push(Reason::OneDocumentLists { schema });
                return (TaskClass::Factual, why, false);
            }
            Form::Figures | Form::List => {
                why.push(match inquiry.form {
                    Form::List => Reason::AsksForList,
                    _ => Reason::AsksForFigure,
                });
                why.push(Reason::NeedsCalculation { count, schema });
                return (TaskClass::Quantitative, why, false);
            }
        }
    }
    let is_stated = evidence.future == Some(AboutFuture::Stated) && words::looks_ahead(question);
    let is_put_together =
        compares || words::is_chain(question) || words::asks_for_a_summary(question);
    if is_stated && !is_put_together {
        why.push(Reason::AsksWhatIsStated);
        return (TaskClass::Factual, why, false);
    }
    if words::looks_ahead(question) && evidence.cues.ahead.is_some() && !is_stated {
        why.push(Reason::AsksAboutFuture);
        if evidence.tables.may_foresee() || evidence.tables.may_name_a_kind() {
            return (TaskClass::Predictive, why, false);
        }
        why.push(Reason::NoRecordsForForecast);
        return (TaskClass::Predictive, why, true);
    }
    if words::asks_for_a_summary(question) {
        why.push(Reason::AsksForSummary);
        return (TaskClass::Summarizing, why, compares);
    }
    if compares {
        why.push(Reason::Compares);
        return (TaskClass::Comparative, why, true);
    }
    let is_undecided = match evidence.collection() {
        Some((collection, inquiry)) => {
            why.push(Reason::WordsNotInRecords {
                schema: collection.schema.name.clone(),
                words: inquiry.unexplained.clone(),
            });
            true
        }
        // One passage may state the figure, or many may report the things one by one.
        None if evidence.may_be_collected => {
            why.push(Reason::AsksForFigure);
            true
        }
        None => false,
    };
    let best = Reason::BestPassageCovers { percent: 100.0 * evidence.direct };
    let is_chain = words::is_chain(question);
    // A list without a passage about it must be put together from several.
    let is_list = matches!(evidence.cues.wish, Some(Wish::List(_)));
    let is_scattered = is_list && evidence.direct < NOTHING && !evidence.is_foreign;
    if is_chain || is_scattered || (LONG <= evidence.terms && evidence.direct < DIRECT) {
        why.push(if is_chain { Reason::IsChain } else { Reason::IsScattered });
        why.push(best);
        return (TaskClass::Bridging, why, is_undecided);
    }
    why.push(Reason::AsksForFact);
    why.push(best);
    (TaskClass::Factual, why, is_undecided)
}

/// Whether one document lists all the records, as a table does.
fn is_one_list(collection: &Collection) -> bool {
    let mut records = collection.records.iter();
    let Some(first) = records.next() else { return false };
    records.all(|record| record.source == first.source)
}
