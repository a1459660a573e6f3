//! Of which class is a question? Its words say what kind of answer it wants, the base says what there is for it: the same
//! words are a count where the records reach, a forecast where they do not, and a matter of reading where there are none
//! (PIKE-RAG §3.2).

use pikerag_knowledge::{ChunkId, ClassifiedBy, Question, Role, Schema, TaskClass, Value};
use pikerag_language::{is_chinese, query_terms};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, one_line, quiet_headings, text};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::recall::Recall;
use super::things::compared;
use crate::candidates::fetch;
use crate::decompose::inquiry::{Cues, Form, Inquiry, Source, Wish, by_rules};
use crate::pattern::pattern;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;
use crate::structuring::{Collection, declared, from_tables};
use crate::verdict::{at_most, shape};

const PROMPT: Prompt = Prompt::new(Role::Classify, include_str!("../prompts/classify.md"), 200);
/// Chunks that are looked at.
const LOOKED_AT: usize = 8;
/// The share of a question's terms below which no one chunk holds the answer, as far as that can be told.
const DIRECT: f64 = 0.5;
/// The share below which no chunk is about it.
const NOTHING: f64 = 0.34;
/// Terms of a question that names more than one thing, if it is no chain in its words.
const LONG: usize = 8;

/// Who tells the class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Classifier {
    /// Rules; a model where they are torn between classes.
    #[default]
    Auto,
    /// Rules alone.
    Rules,
    /// A model each time, where there is one.
    Model,
}

/// What the base offers for a question.
pub(super) struct Evidence {
    pub(super) cues: Cues,
    pub(super) collections: Vec<Collection>,
    /// What rules make of it.
    pub(super) inquiry: Option<Inquiry>,
    /// The first and the last day of the dates that the inquiry is about.
    days: Option<(String, String)>,
    /// Things compared, where two are named.
    pub(super) things: Vec<String>,
    /// Titles of the chunks that fit best.
    titles: Vec<String>,
    /// How many documents they are from.
    documents: usize,
    /// Terms of the question.
    terms: usize,
    /// The passages that fit best, the best first.
    pub(super) found: Vec<ChunkId>,
    /// Whether the question is in Chinese and no passage is, or the other way round: shares of words say nothing then.
    is_foreign: bool,
    /// The largest share of the question's terms that one of them holds.
    direct: f64,
}

impl Evidence {
    /// Gathers it, without a model call.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn gather(ports: &Ports, question: &Question) -> Result<Self, SolveError> {
        let query = question.query();
        let cues = Cues::of(query);
        let mut collections = Vec::new();
        let mut inquiry = None;
        if cues.wish.is_some() || cues.ahead.is_some() {
            collections = declared(ports).await?;
            inquiry = read(&cues, &collections);
            if inquiry.as_ref().is_none_or(|inquiry| !inquiry.unexplained.is_empty()) {
                collections.extend(from_tables(ports, query).await?);
                inquiry = read(&cues, &collections);
            }
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
            collections,
            inquiry,
            days,
        })
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

    /// Whether what is asked for lies within the days of the records.
    fn has_happened(&self) -> bool {
        let Some((Form::Series { until: Some(until), .. }, (_, last))) =
            self.inquiry.as_ref().map(|inquiry| &inquiry.form).zip(self.days.as_ref())
        else {
            return false;
        };
        until.get(..7) <= last.get(..7)
    }

    /// For a model: a line each.
    fn told(&self) -> String {
        let mut lines = Vec::new();
        for collection in self.collections.iter().take(4) {
            let dates = self
                .inquiry
                .as_ref()
                .filter(|inquiry| {
                    self.collections
                        .get(inquiry.schema)
                        .is_some_and(|own| std::ptr::eq(own, collection))
                })
                .and(self.days.as_ref())
                .map_or_else(String::new, |(first, last)| format!(", dated {first} to {last}"));
            lines.push(format!(
                "Records: {} things under `{}`{dates}.",
                collection.unified.frame.things.len(),
                one_line(&collection.schema.name)
            ));
        }
        if self.collections.is_empty() {
            lines.push("Records: none that fit.".to_owned());
        }
        lines.push(format!(
            "Passages: the best ones come from {} documents; one of them holds {:.0} % of the question's words.",
            self.documents,
            100.0 * self.direct
        ));
        let titles: Vec<String> = self.titles.iter().map(|title| one_line(title)).collect();
        lines.push(format!("Their titles: {}.", titles.join(" | ")));
        lines.join("\n")
    }
}

/// What rules make of a question over these records.
pub(super) fn read(cues: &Cues, collections: &[Collection]) -> Option<Inquiry> {
    let sources: Vec<Source<'_>> = collections.iter().map(Collection::source).collect();
    by_rules(cues, &sources)
}

fn days(collections: &[Collection], inquiry: &Inquiry) -> Option<(String, String)> {
    let collection = collections.get(inquiry.schema)?;
    let date = match &inquiry.form {
        Form::Series { date, .. } => date.clone(),
        _ => collection
            .schema
            .fields
            .iter()
            .find(|field| field.kind == pikerag_knowledge::records::FieldType::Date)?
            .name
            .clone(),
    };
    let frame = &collection.unified.frame;
    let told = (0..frame.things.len()).filter_map(|thing| match &frame.cell(thing, &date)?.value {
        Value::Date(date) => Some(date.clone()),
        _ => None,
    });
    let told: Vec<String> = told.collect();
    Some((told.iter().min()?.clone(), told.iter().max()?.clone()))
}

/// A class with its reasons.
pub(super) struct Verdict {
    pub(super) class: TaskClass,
    pub(super) by: ClassifiedBy,
    pub(super) reasons: Vec<String>,
}

/// Tells the class of a question.
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
    let (class, reasons, is_torn) = rules(question.query(), evidence);
    if classifier == Classifier::Auto
        && let Some((class, reason)) = recall.class(is_torn)
    {
        return Ok(Verdict { class, by: ClassifiedBy::Verified, reasons: vec![reason] });
    }
    let asks = match classifier {
        Classifier::Auto => is_torn,
        Classifier::Rules => false,
        Classifier::Model => true,
    };
    if asks && ports.models.of(Role::Classify).is_some() {
        let (offers, asked) = (evidence.told(), quiet_headings(question.query()));
        let offers = quiet_headings(&offers);
        let inputs = [("offers", offers.as_str()), ("question", asked.as_str())];
        if let Some(said) = run.ask::<Said>(ports, &PROMPT, &inputs).await? {
            let reasons = vec![said.reason, evidence.told()];
            return Ok(Verdict { class: said.class, by: ClassifiedBy::Model, reasons });
        }
    }
    Ok(Verdict { class, by: ClassifiedBy::Rules, reasons })
}

pattern!(
    CREATIVE,
    r"^\s*(?:please\s+|can you\s+|could you\s+|help (?:us|me)\s+)*(?:suggest|propose|design|devise|brainstorm|invent|sketch|imagine|come up with|think of|draft|recommend|develop)\b|\bhow (?:could|might|can|should|would) (?:we|one|the (?:company|port|team|firm|plant|yard|management|organisation|organization)|it)\b.*|\bwhat (?:could|can|should|might) (?:we|be done|the (?:company|port|team|firm))\b|\b(?:new|fresh|creative|innovative|novel) (?:ideas?|approach(?:es)?|ways?|solutions?|concepts?)\b|\b(?:what|which|any|some) ideas\b|\bideas? (?:for|to|on|about)\b|\bways to\b|\bwhat if we\b|提出.{0,12}(?:方案|建议|思路|想法|对策|措施|创意|计划)|(?:设计|构思|策划|制定|拟定|规划|构想)(?:一|出|个|新|下|套|份)|给出.{0,10}(?:建议|方案|思路|对策|创意)|(?:如何|怎样|怎么)(?:才能|可以|能够?|去|更好地)?(?:改进|改善|提高|提升|降低|减少|优化|避免|防止|缩短|加快|创新|应对|加强|利用|保护|推广)|(?:我们|公司|港口)(?:可以|应该|应当|能)?(?:如何|怎样|怎么)|有(?:什么|哪些)(?:更?好的?|新的?|创新的?|可行的?)?(?:办法|建议|思路|创意|点子|改进|想法|对策|方法|措施)|请(?:策划|构思|设计)|头脑风暴|创意|集思广益"
);
pattern!(
    SUMMARY,
    r"\b(?:summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|overview|outline|recap|gist|synopsis|digest|in a nutshell|main (?:points?|findings?|themes?|topics?|issues?|ideas?)|key (?:points?|findings?|themes?|takeaways?|messages?)|brief me|sum up|wrap up)\b|总结|概括|概述|综述|归纳|要点|主要内容|梗概|摘要|简述|大意|概况|主要(?:问题|观点|结论|议题|事项)|综合介绍"
);
pattern!(
    COMPARE,
    r"\b(?:compare[sd]?|comparison|comparing|versus|vs\.?|differ(?:s|ence|ences|ent)?\b.*\b(?:between|from|and)|in contrast|both\b.*\bsame|the same\b.*\bas|(?:more|less|fewer|better|worse|\w{3,}er)\b.*\bthan|(?:which|who|what)\b.*\b(?:more|less|fewer|first|earlier|later|better|worse|older|younger|larger|longer|shorter|higher|lower|heavier|taller|\w{3,}er)\b.*\bor\b|\bdiffer\b|in the same\b|at the same\b|by the same\b|do .* agree|(?:in)?consisten(?:t|cy)|(?:agree|disagree|contradict|conflict|align)(?:s|ed)? with|was there a change|do both)\b|^(?:do|does|did|is|are|was|were)\b.*\bwhile\b|比较|对比|相比|区别|差异|不同(?:之处|点)|异同|哪(?:个|一个|家|台|种|款|位|份|项)?更|谁[^，。？]{0,10}更|哪[^，。？]{0,8}更|是否[^，。？]{0,6}(?:同|一样|一致)|有(?:什么|何)不同|有何(?:区别|差异)|还是.*[？?]|孰|(?:比|较).*(?:更|高|低|长|短|早|晚|多|少|大|小|快|慢|贵)(?:吗|多少)?|(?:是否|是不是)(?:相同|一样|一致|都)"
);
pattern!(
    FORESEE,
    r"\b(?:forecast|predict(?:ion)?s?|project(?:ion|ed)|outlook|extrapolat\w+|trend for|next (?:year|quarter|month)|will there be|likely (?:to )?(?:be |occur |happen )?next|(?:most )?likely need|(?:should|to) (?:we |be )?expect(?:ed)?|in the (?:coming|next))\b|预测|预计|预期|预估|展望|未来|明年|下(?:一)?(?:年|个?季度|个?月)|今后|趋势|走势|最有?可能"
);
pattern!(
    CHAIN,
    r"\b(?:whose|of the \w+(?: \w+){0,4} (?:that|which|who|where|whose|of|in|on|at|for)|(?:that|which|who) (?:\w+ ){1,8}(?:that|which|who|whose|where)|the \w+ (?:that|which|who) .* (?:is|was|does|did|has|had)|by the \w+ (?:of|that|who|which)|in which|at which|for which|on which|of which)\b|的[^，。？?]{1,14}的[^，。？?]{1,14}的|所在的|所属的|对应的|(?:该|那)(?:公司|部门|部件|港口|人|供应商|项目|合同|船|设备)|其(?:所|负责人|供应商|上级)"
);

// Two relations in one word.
pattern!(
    TWICE_REMOVED,
    r"\bgrand-?(?:father|mother|parent|son|daughter|child)|\b(?:father|mother|sister|brother|son|daughter)-in-law\b|\b(?:uncle|aunt|niece|nephew|cousin|stepfather|stepmother|half-(?:brother|sister))\b|祖父|祖母|外公|外婆|岳父|岳母|公公|婆婆|叔叔|伯伯|姑姑|舅舅|姨妈|侄子|侄女|外甥|堂[兄弟姐妹]|表[兄弟姐妹]|嫂子|女婿|儿媳"
);
// Something is asked of whoever stands in a relation to what is named: `Where did the director of … die?`
pattern!(
    RELATED,
    r"\b(?:what|where|when|how|which|why)\b.*(?:\bthe (?:\w+ )?|['’]s (?:\w+ )?)(?:director|performer|composer|author|writer|singer|producer|publisher|founder|creator|inventor|designer|architect|owner|maker|manufacturer|supplier|builder|employer|manager|captain|president|chairman|editor|inspector|successor|predecessor|teacher|spouse|wife|husband|father|mother|son|daughter|brother|sister|child|parent|partner|birthplace|hometown)s?(?:\s+(?:of|who|that)\b|\s+(?:\w+ed|die|born|live|work|study|graduate|come|play)\b)|\b(?:what|where|when|how)\b.*\bthe (?:\w+ ){1,2}(?:who|whom|that|which|where)\b|的(?:导演|演唱者|作曲者|作者|编剧|歌手|制片人|出版社|创始人|创建者|发明者|设计师|建筑师|所有者|制造商|供应商|雇主|经理|船长|总裁|董事长|校长|负责人|检查员|父亲|母亲|丈夫|妻子|儿子|女儿|兄弟|姐妹)(?:出生|死|逝世|毕业|来自|住|葬|任职|工作|成立|何时|什么时候|在哪|是哪[国年里个一])"
);
// Of two things that are named, even where no word of its own compares.
pattern!(
    OF_TWO,
    r"\bthe same\b|\bboth\b|\b(?:which|who|whose|what|where|when)\b.*\bor\b|^(?:of|between|among|out of)\b.*\band\b|\bout of\b.*\band\b|^(?:are|were|is|was|do|did|does|have|has|had)\b.*\b(?:and|or)\b.*\?|还是|都是|同一"
);

/// The class by rules, why, and whether the rules are torn.
fn rules(question: &str, evidence: &Evidence) -> (TaskClass, Vec<String>, bool) {
    let mut reasons = Vec::new();
    let understood = evidence.understood();
    if CREATIVE.is_match(question) {
        reasons.push("its words ask for something new".to_owned());
        // `Which ideas does the report propose?` is read.
        let is_read = SUMMARY.is_match(question) || understood.is_some();
        return (TaskClass::Creative, reasons, is_read);
    }
    let compares = COMPARE.is_match(question);
    if 2 <= evidence.things.len() && (compares || OF_TWO.is_match(question)) {
        reasons.push(format!("it puts side by side: {}", evidence.things.join(" | ")));
        return (TaskClass::Comparative, reasons, false);
    }
    if let Some((collection, inquiry)) = understood {
        let (schema, count) = (&collection.schema.name, collection.unified.frame.things.len());
        match &inquiry.form {
            Form::Series { .. } | Form::Kinds { .. } if evidence.has_happened() => {
                reasons.push("its words ask for what is to come".to_owned());
                reasons.push(format!("the records under `{schema}` reach that time already"));
                return (TaskClass::Quantitative, reasons, false);
            }
            Form::Series { .. } | Form::Kinds { .. } => {
                reasons.push("its words ask for what is to come".to_owned());
                let days = evidence
                    .days
                    .as_ref()
                    .map_or_else(String::new, |(_, last)| format!(", the last of {last}"));
                reasons.push(format!("{count} things under `{schema}` can be carried on{days}"));
                return (TaskClass::Predictive, reasons, false);
            }
            Form::List if is_one_list(collection) => {
                reasons.push(format!(
                    "one document lists what it asks for, as records under `{schema}`"
                ));
                return (TaskClass::Factual, reasons, false);
            }
            Form::Figures | Form::List => {
                reasons.push(match inquiry.form {
                    Form::List => "its words ask which ones there are".to_owned(),
                    _ => "its words ask for a figure".to_owned(),
                });
                reasons.push(format!("it has to be worked out of {count} things under `{schema}`"));
                return (TaskClass::Quantitative, reasons, false);
            }
        }
    }
    if FORESEE.is_match(question) && evidence.cues.ahead.is_some() {
        reasons.push("its words ask for what is to come".to_owned());
        reasons.push("no records that could be carried on fit all of its words".to_owned());
        return (TaskClass::Predictive, reasons, true);
    }
    if SUMMARY.is_match(question) {
        reasons.push("its words ask for much in few words".to_owned());
        return (TaskClass::Summarizing, reasons, compares);
    }
    if compares {
        reasons.push("its words compare".to_owned());
        return (TaskClass::Comparative, reasons, true);
    }
    let is_torn = match evidence.collection() {
        Some((collection, inquiry)) => {
            reasons.push(format!(
                "no record under `{}` says anything of: {}",
                collection.schema.name,
                inquiry.unexplained.join(", ")
            ));
            true
        }
        None => false,
    };
    let share = 100.0 * evidence.direct;
    let is_chain = [&*CHAIN, &TWICE_REMOVED, &RELATED].iter().any(|words| words.is_match(question));
    // Which ones there are, where no passage is about them: they have to be put together.
    let is_list = matches!(evidence.cues.wish, Some(Wish::List(_)));
    let is_scattered = is_list && evidence.direct < NOTHING && !evidence.is_foreign;
    if is_chain || is_scattered || (LONG <= evidence.terms && evidence.direct < DIRECT) {
        reasons.push(match is_chain {
            true => "one thing in it is named by another".to_owned(),
            false => "no single passage holds most of it".to_owned(),
        });
        reasons.push(format!("the best passage holds {share:.0} % of its words"));
        return (TaskClass::Bridging, reasons, is_torn);
    }
    reasons.push("its words ask for something that the documents may tell".to_owned());
    reasons.push(format!("the best passage holds {share:.0} % of its words"));
    (TaskClass::Factual, reasons, is_torn)
}

/// Whether one document lists all the records, as a table does.
fn is_one_list(collection: &Collection) -> bool {
    let mut records = collection.records.iter();
    let Some(first) = records.next() else { return false };
    records.all(|record| record.source == first.source)
}

/// What a model says of a question.
struct Said {
    class: TaskClass,
    reason: String,
}

impl Reply for Said {
    fn schema() -> Option<Schema> {
        let names: Vec<&str> = TaskClass::ALL.into_iter().map(TaskClass::as_str).collect();
        Some(shape(
            "task_class",
            [("reason", at_most(200)), ("class", json!({"type": "string", "enum": names}))],
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["class"])?;
        let class = text(&object, "class")?.to_lowercase();
        let class = class.parse().map_err(|_| Unreadable::BadKey {
            key: "class".to_owned(),
            expected: "one of the seven kinds".to_owned(),
        })?;
        Ok(Self { class, reason: text(&object, "reason").unwrap_or_default() })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_class: Said }
