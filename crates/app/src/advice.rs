//! Says what to do about errors, notices and findings, with flags, commands and settings. Libraries only state facts.

mod database;
mod errors;
mod files;
#[cfg(test)]
mod tests;

use std::error::Error;

use pikerag_engine::knowledge::Structure;
use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::parts::{FileError, IndexReport, MissingPart, withheld_keys};
use pikerag_engine::{DoctorCheck, DoctorFinding, Notice, Offer, Unmet, chinese_chain};
use pikerag_server::ServeError;

use crate::failure::{Caused, Failure};
use crate::words;

/// The advice after an interrupted run, whose budget may be spent.
pub(crate) fn go_on(is_over_budget: bool, language: Language) -> &'static str {
    match is_over_budget {
        true => language.either(
            "raise the budget and run the same command again to continue; finished work is not paid twice",
            "请提高预算并再次运行同一命令以继续；已完成的工作不会重复付费",
        ),
        false => language.either(
            "run the same command again to continue; finished work is not paid twice",
            "请再次运行同一命令以继续；已完成的工作不会重复付费",
        ),
    }
}

/// The advice about a model that does not answer.
fn out_of_reach() -> Words {
    Words::new(
        "check that its endpoint runs and the address is right, or continue without it: `--offline`",
        "请检查其端点是否运行、地址是否正确，或不使用它：`--offline`",
    )
}

/// The advice about refused requests.
pub(crate) fn refused(language: Language) -> &'static str {
    language.either(
        "rules, or words instead of vectors, replace them; `pikerag index --retry-refused PATH…` asks again",
        "已改用规则，或以词代替向量；`pikerag index --retry-refused PATH…` 会重新请求",
    )
}

/// The advice after a run of indexing that is not complete.
pub(crate) fn unfinished(report: &IndexReport, language: Language) -> String {
    let go_on = go_on(report.over_budget && !report.out_of_reach, language);
    match report.out_of_reach {
        true => format!("{}{}{go_on}", out_of_reach().of(language), language.separator()),
        false => go_on.to_owned(),
    }
}

/// An error with its causes, and the advice.
pub(crate) fn error(error: &anyhow::Error, language: Language) -> String {
    // A withheld key explains more than its consequences.
    let withheld = || error.chain().find_map(|error| withheld_keys(error).last());
    let advice = match withheld() {
        Some(key) => Some(errors::withheld(key)),
        None => error.chain().find_map(errors::about),
    };
    let chain = match language {
        Language::English => format!("{error:#}"),
        Language::Chinese => chain_in_chinese(&**error),
    };
    with_advice(chain, advice, language)
}

/// An error of the command line or of a crate below, with its causes.
fn chain_in_chinese(error: &(dyn Error + 'static)) -> String {
    let own = if let Some(failure) = error.downcast_ref::<Failure>() {
        failure.words().chinese
    } else if let Some(caused) = error.downcast_ref::<Caused>() {
        caused.failure.words().chinese
    } else if let Some(ServeError::Keys(error)) = error.downcast_ref() {
        return chinese_chain(error);
    } else if let Some(error) = error.downcast_ref::<ServeError>() {
        errors::serve_in_chinese(error)
    } else {
        return chinese_chain(error);
    };
    match error.source() {
        Some(cause) => format!("{own}：{}", chain_in_chinese(cause)),
        None => own,
    }
}

/// A notice, and the advice.
pub(crate) fn notice(notice: &Notice, language: Language) -> String {
    let advice = match notice {
        Notice::OtherVectors { .. } => Some(Words::new(
            "run `pikerag index PATH…` to make new vectors",
            "运行 `pikerag index PATH…` 可重新生成",
        )),
        Notice::NoEmbedder { .. } | Notice::Foreign { .. } => Some(see_doctor()),
        Notice::MethodsLeftOut { unmet, .. } => Some(provide(*unmet)),
        Notice::PasswordTyped => Some(Words::new(
            "put the address into a variable, and name it under `[[sources.database]]` as `url_variable`",
            "请把地址放入环境变量，并在 `[[sources.database]]` 的 `url_variable` 中指定它",
        )),
        _ => None,
    };
    with_advice(notice.in_words(language), advice, language)
}

/// How to provide what a method works on.
fn provide(unmet: Unmet) -> Words {
    let (english, chinese) = match unmet {
        Unmet::Graph => (
            "add \"graph\" to `with` under `[index]`; it costs model calls, see `--dry-run` of `pikerag index`",
            "请在 `[index]` 的 `with` 中加入 \"graph\"；需要模型调用，见 `pikerag index` 的 `--dry-run`",
        ),
        Unmet::Tree => (
            "add \"tree\" to `with` under `[index]`; it costs model calls, see `--dry-run` of `pikerag index`",
            "请在 `[index]` 的 `with` 中加入 \"tree\"；需要模型调用，见 `pikerag index` 的 `--dry-run`",
        ),
        Unmet::Questions => (
            "add \"questions\" to `atoms` under `[index]`, with a chat model",
            "请在 `[index]` 的 `atoms` 中加入 \"questions\"，并设置对话模型",
        ),
        Unmet::Sentences => (
            "add \"sentences\" to `atoms` under `[index]`",
            "请在 `[index]` 的 `atoms` 中加入 \"sentences\"",
        ),
        Unmet::LabelledQuestions => {
            ("set `[methods] skr_examples`", "请设置 `[methods] skr_examples`")
        }
    };
    Words::new(english, chinese)
}

fn see_doctor() -> Words {
    Words::new("see `pikerag doctor`", "见 `pikerag doctor`")
}

/// A finding of `doctor`, and the advice.
pub(crate) fn finding(finding: &DoctorFinding, language: Language) -> String {
    let says = language.either(&finding.says, &finding.says_zh).to_owned();
    let stop = language.either(". ", "。");
    match finding.check {
        DoctorCheck::Base if finding.absent => {
            let advice =
                Words::new("`pikerag index PATH…` makes one", "用 `pikerag index PATH…` 建立");
            with_advice(says, Some(advice), language)
        }
        DoctorCheck::Chat if finding.absent => {
            let advice = finding.offer.as_ref().map_or_else(no_chat, offer);
            format!("{says}{stop}{}", advice.of(language))
        }
        _ if finding.out_of_reach => with_advice(says, Some(out_of_reach()), language),
        _ => says,
    }
}

fn no_chat() -> Words {
    Words::new(
        "To use one, set OPENAI_BASE_URL, OPENAI_MODEL and, if needed, OPENAI_API_KEY, or [chat] in pikerag.toml \
         (`pikerag init`); `pikerag models` lists models that this machine can run",
        "如需使用，请设置 OPENAI_BASE_URL、OPENAI_MODEL 及（如需要）OPENAI_API_KEY，或在 pikerag.toml 中设置 [chat]\
         （`pikerag init`）；`pikerag models` 列出本机可运行的模型",
    )
}

/// The models of this machine, and how to use them.
fn offer(offer: &Offer) -> Words {
    let (url, models) = (&offer.base_url, offer.models.join(", "));
    match offer.models.first() {
        Some(first) => Words::new(
            format!(
                "Ollama runs on this machine and has {models}: OPENAI_BASE_URL={url} OPENAI_MODEL={first} uses it"
            ),
            format!(
                "本机正在运行 Ollama，已有 {models}：设置 OPENAI_BASE_URL={url} OPENAI_MODEL={first} 即可使用"
            ),
        ),
        None => Words::new(
            format!(
                "Ollama runs on this machine and has no model yet: after `ollama pull qwen3:8b`, OPENAI_BASE_URL={url} \
                 OPENAI_MODEL=qwen3:8b uses it"
            ),
            format!(
                "本机正在运行 Ollama，但还没有模型：先运行 `ollama pull qwen3:8b`，再设置 OPENAI_BASE_URL={url} \
                 OPENAI_MODEL=qwen3:8b 即可使用"
            ),
        ),
    }
}

/// A structure that could not be built, and the advice.
pub(crate) fn not_built(reason: MissingPart, language: Language) -> String {
    let advice = match reason {
        MissingPart::TreeModels | MissingPart::TagModel => see_doctor(),
        MissingPart::TagClasses => Words::new(
            "declare some with `pikerag tags add-class`",
            "用 `pikerag tags add-class` 声明",
        ),
    };
    with_advice(needed(reason, language), Some(advice), language)
}

/// A structure that could not be updated, and the advice.
pub(crate) fn not_updated(reason: MissingPart, language: Language) -> String {
    let structure = match reason {
        MissingPart::TreeModels => Structure::Tree,
        MissingPart::TagModel | MissingPart::TagClasses => Structure::Tags,
    };
    let needed = needed(reason, language);
    Words::new(
        format!(
            "{needed}: existing data is kept; `pikerag index --without {structure} PATH…` stops maintaining it"
        ),
        format!(
            "{needed}；已有的{}保留；用 `pikerag index --without {structure} PATH…` 可不再维护",
            words::structure(structure, Language::Chinese)
        ),
    )
    .of(language)
}

fn needed(reason: MissingPart, language: Language) -> String {
    match language {
        Language::English => reason.to_string(),
        Language::Chinese => chinese_chain(&reason),
    }
}

/// The reason why a file was left out, and the advice.
pub(crate) fn file(error: &FileError, language: Language) -> String {
    let reason = match language {
        Language::English => error.to_string(),
        Language::Chinese => chinese_chain(error),
    };
    with_advice(reason, files::about_file(error), language)
}

/// A fact, and what to do about it.
fn with_advice(fact: String, advice: Option<Words>, language: Language) -> String {
    match advice {
        Some(advice) => format!("{fact}{}{}", language.separator(), advice.of(language)),
        None => fact,
    }
}
