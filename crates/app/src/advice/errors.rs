//! Says what to do about an error of each kind.

use std::error::Error;

use pikerag_engine::keys::KeysError;
use pikerag_engine::knowledge::{DataError, ModelError, StoreError};
use pikerag_engine::narrate::Words;
use pikerag_engine::parts::{BaseProblem, EvalError, RetrieveError, SolveError, TrainError};
use pikerag_engine::settings::SettingsError;
use pikerag_engine::{
    EngineError, FeedbackError, Missing, Needed, NoWords, WeightsOf, chinese_chain, remedy,
};
use pikerag_server::ServeError;

use super::database::about_database;
use super::files::about_file;
use super::{out_of_reach, see_doctor};
use crate::failure::{Caused, Failure};

/// The advice about one of the errors of a chain.
pub(super) fn about(error: &(dyn Error + 'static)) -> Option<Words> {
    let known = error.downcast_ref().map(session);
    let known = known.or_else(|| error.downcast_ref().map(settings));
    let known = known.or_else(|| error.downcast_ref().map(about_file));
    let known = known.or_else(|| error.downcast_ref().map(serving));
    let known = known.or_else(|| error.downcast_ref().map(command));
    let known = known.or_else(|| error.downcast_ref().map(|problem| Some(base(problem))));
    let known = known.or_else(|| error.downcast_ref().map(about_database));
    let known = known.or_else(|| error.downcast_ref().map(remedy));
    known.or_else(|| error.downcast_ref().map(model)).flatten()
}

/// The advice about a failure of the command line itself.
fn command(error: &Caused) -> Option<Words> {
    match error.failure {
        Failure::NoServer(_) => Some(Words::new(
            "start one with `pikerag serve`, or name the port of a running one with `--port N`",
            "请用 `pikerag serve` 启动，或用 `--port N` 指定正在运行的服务器的端口",
        )),
        _ => None,
    }
}

/// The advice about a server that does not run.
fn serving(error: &ServeError) -> Option<Words> {
    let (english, chinese) = match error {
        ServeError::NoAddress { .. } => (
            "use an address such as 127.0.0.1, 0.0.0.0, ::1, or a name of this machine",
            "请使用 127.0.0.1、0.0.0.0、::1 之类的地址，或本机的名称",
        ),
        ServeError::NeedsKey { .. } => (
            "create one with `pikerag keys make NAME`; without a key, it listens on this machine only",
            "用 `pikerag keys make NAME` 创建；没有密钥时只在本机监听",
        ),
        ServeError::NotBound { .. } => (
            "check that no other server uses it, or choose another port with `--port N`",
            "请检查是否有其他服务器占用，或用 `--port N` 换一个端口",
        ),
        ServeError::NoAudit { .. } => (
            "set `server.audit` to a file in an existing, writable folder",
            "请把 `server.audit` 设为一个存在且可写的文件夹中的文件",
        ),
        ServeError::KeysGone { mark, .. } => {
            let mark = mark.display();
            return Some(Words::new(
                format!(
                    "restore the store from a copy, or create a new key with `pikerag keys make NAME --scope admin`; to \
                     serve without keys, remove {mark} and the other marks"
                ),
                format!(
                    "请由副本恢复密钥库，或用 `pikerag keys make NAME --scope admin` 创建新密钥；若要不用密钥提供服务，请删除 \
                     {mark} 及其他标记"
                ),
            ));
        }
        ServeError::Keys(KeysError::Store { .. }) => (
            "restore it from a copy; or move it away and create a new key with `pikerag keys make NAME --scope admin`",
            "请由副本恢复；或将其移走，再用 `pikerag keys make NAME --scope admin` 创建新密钥",
        ),
        ServeError::Keys(_) => return None,
    };
    Some(Words::new(english, chinese))
}

/// An error of a server without its cause.
pub(super) fn serve_in_chinese(error: &ServeError) -> String {
    match error {
        ServeError::NoAddress { host } => format!("`{host}` 不是本机的地址"),
        ServeError::NeedsKey { address } => format!("{address} 可被其他机器访问，而没有密钥"),
        ServeError::NotBound { address, .. } => format!("无法在 {address} 监听"),
        ServeError::NoAudit { file, .. } => format!("审计日志 `{}` 无法写入", file.display()),
        ServeError::KeysGone { store, mark } => format!(
            "{} 表明曾为此服务器创建密钥，而 {} 中没有：密钥库缺失或损坏",
            mark.display(),
            store.display()
        ),
        // Transparent: its causes follow.
        ServeError::Keys(error) => chinese_chain(error),
    }
}

fn base(problem: &BaseProblem) -> Words {
    let (english, chinese) = match problem {
        BaseProblem::ReadOnly { .. } => (
            "`ask`, `search`, `export` and `backup` work without writing",
            "`ask`、`search`、`export` 和 `backup` 无需写入",
        ),
        BaseProblem::Busy { .. } => {
            ("run it again when the other process is done", "请在另一个进程结束后再次运行")
        }
        BaseProblem::Forgotten { .. } => ("try it again", "请再试一次"),
        BaseProblem::StillRead { .. } => (
            "run `pikerag check --repair` when that has ended: it overwrites the rest",
            "请在其结束后运行 `pikerag check --repair`，以覆写其余内容",
        ),
        BaseProblem::Exists { .. } => {
            ("choose another folder with `--base DIR`", "请用 `--base DIR` 指定另一个文件夹")
        }
        BaseProblem::FileThere { .. } => ("choose another file", "请指定另一个文件"),
        BaseProblem::DamagedDatabase { .. } => (
            "restore an older backup with `pikerag restore`, or index the documents again",
            "请用 `pikerag restore` 恢复更早的备份，或重新索引文档",
        ),
    };
    Words::new(english, chinese)
}

fn model(error: &ModelError) -> Option<Words> {
    match error {
        ModelError::OverBudget { .. } => {
            Some(Words::new("raise it and run again to continue", "请提高预算并再次运行以继续"))
        }
        ModelError::NoLogprobs { .. } => Some(self_assessment()),
        ModelError::Unreachable { .. } => Some(out_of_reach()),
        ModelError::Denied { .. } => Some(Words::new(
            "check its key, name and address, and the account",
            "请检查其密钥、名称、地址及账户",
        )),
        _ => None,
    }
}

/// A key of the environment can be named in the file; the address of a key from the file belongs beside it.
pub(super) fn withheld(key: &str) -> Words {
    match key.contains('.') {
        true => Words::new(
            format!("give `base_url` beside `{key}`"),
            format!("请在 `{key}` 旁给出 `base_url`"),
        ),
        false => Words::new(
            format!("to send it there, put `api_key_env = \"{key}\"` beside that `base_url`"),
            format!("如需发送到该处，请在该 `base_url` 旁写上 `api_key_env = \"{key}\"`"),
        ),
    }
}

fn settings(error: &SettingsError) -> Option<Words> {
    match error {
        SettingsError::NoneInFlight => {
            Some(Words::new("`--in-flight` takes 1 or more", "`--in-flight` 须为 1 或更大"))
        }
        SettingsError::Untrusted { path, .. } => {
            let path = path.display();
            Some(Words::new(
                format!(
                    "check it, then run `pikerag trust`; or use it once with `--config {path}`"
                ),
                format!("请检查后运行 `pikerag trust`；或用 `--config {path}` 只使用这一次"),
            ))
        }
        SettingsError::NoStateFolder | SettingsError::TrustNotKept { .. } => Some(Words::new(
            "name the file with `--config FILE` or PIKERAG_CONFIG: a named file needs no trust",
            "请用 `--config FILE` 或 PIKERAG_CONFIG 指定文件：指定的文件无需信任",
        )),
        _ => None,
    }
}

fn without_reranker() -> Words {
    Words::new(
        "`first = 0` in `[rerank]`, or `search --rerank 0`, skips it",
        "在 `[rerank]` 中设置 `first = 0`，或用 `search --rerank 0`，即可不使用",
    )
}

fn self_assessment() -> Words {
    Words::new(
        "set `[methods] certainty = \"self-assessment\"` to let the model grade itself instead",
        "设置 `[methods] certainty = \"self-assessment\"` 可改由模型自评",
    )
}

fn runs_lists() -> Words {
    Words::new("`pikerag runs` lists them", "用 `pikerag runs` 列出")
}

fn session(error: &EngineError) -> Option<Words> {
    let (english, chinese) = match error {
        EngineError::Solve(error) => return solve(error),
        EngineError::Retrieve(RetrieveError::Rerank(error)) => return reranking(error),
        EngineError::Settings(error) => return settings(error),
        EngineError::NotFound { what, .. } => return missing(*what),
        EngineError::Needs(needed) => return Some(needs(*needed)),
        EngineError::NoWeights { of: WeightsOf::Reranker(_), .. } => {
            return Some(without_reranker());
        }
        EngineError::UnclearRun { .. } | EngineError::RunNotAnswered { .. } => {
            return Some(runs_lists());
        }
        EngineError::PromptMissing { .. } => {
            ("update pikerag, and repeat the command", "请更新 pikerag，再运行此命令")
        }
        EngineError::Feedback(error) => return Some(feedback(error)),
        EngineError::ClassOfOtherMethod { .. } => (
            "leave out `--method`, or `--class` and `--level`",
            "请去掉 `--method`，或去掉 `--class` 与 `--level`",
        ),
        EngineError::NoWords(NoWords::Question) => {
            ("put it in quotes: `pikerag ask \"Who …?\"`", "请加引号：`pikerag ask \"谁……？\"`")
        }
        EngineError::NoWords(NoWords::Query) => {
            ("put it in quotes: `pikerag search \"…\"`", "请加引号：`pikerag search \"…\"`")
        }
        EngineError::Store(StoreError::Data(
            DataError::NoTable { .. }
            | DataError::BadStatement { .. }
            | DataError::NotAllowed { .. },
        )) => {
            ("`pikerag tables` lists them with their columns", "用 `pikerag tables` 列出各表及其列")
        }
        EngineError::NoMethod(_) => {
            ("`pikerag methods` describes each of them", "用 `pikerag methods` 查看各方法的说明")
        }
        EngineError::Eval(EvalError::UnknownFormat { .. }) => {
            ("name one with `--format`", "请用 `--format` 指定")
        }
        EngineError::Train(TrainError::Connected { .. }) => {
            ("split by question: `--apart question`", "请按问题划分：`--apart question`")
        }
        EngineError::Train(TrainError::NoDecompositions { .. }) => (
            "collect with a model: `--from model`, after `pikerag index`",
            "请先 `pikerag index`，再用模型收集：`--from model`",
        ),
        EngineError::Train(TrainError::Mixed { .. }) => (
            "call `pikerag train export` once for trajectories and once for labels",
            "请对轨迹和标注各运行一次 `pikerag train export`",
        ),
        EngineError::Train(TrainError::NothingRight { .. }) => (
            "collect with more `--attempts`, a stronger model, or `--right contains`",
            "请用更多 `--attempts`、更强的模型或 `--right contains` 收集",
        ),
        EngineError::SettingsExist { .. } => {
            ("choose another file with `--config FILE`", "请用 `--config FILE` 指定另一个文件")
        }
        EngineError::NoBase { .. } => {
            ("make one with `pikerag index PATH…`", "请用 `pikerag index PATH…` 建立")
        }
        EngineError::TagClassExists { .. } => ("drop it first", "请先删除它"),
        EngineError::OtherRun { .. } => {
            ("give another --out, or --fresh", "请指定另一个 --out，或用 --fresh")
        }
        EngineError::CorpusIncomplete { .. } => {
            ("run the same command again to continue", "请再次运行同一命令以继续")
        }
        _ => return None,
    };
    Some(Words::new(english, chinese))
}

fn feedback(error: &FeedbackError) -> Words {
    let (english, chinese) = match error {
        FeedbackError::NoVerified { .. } => {
            ("`pikerag feedback list` lists them", "用 `pikerag feedback list` 列出")
        }
        FeedbackError::NothingToAccept { .. } => (
            "give the right answer with `pikerag feedback correct RUN \"…\"`",
            "请用 `pikerag feedback correct RUN \"…\"` 给出正确的回答",
        ),
        FeedbackError::NoAuthor => (
            "name yourself with `--by`, or set PIKERAG_AUTHOR or `author`",
            "请用 `--by` 说明您的姓名，或设置 PIKERAG_AUTHOR 或 `author`",
        ),
        FeedbackError::EmptyCorrection => (
            "put it in quotes: `pikerag feedback correct RUN \"…\"`; use `reject` if an answer is just wrong",
            "请加引号：`pikerag feedback correct RUN \"…\"`；若只需说明回答有误，请用 `reject`",
        ),
    };
    Words::new(english, chinese)
}

fn missing(what: Missing) -> Option<Words> {
    let (english, chinese) = match what {
        Missing::Run => return Some(runs_lists()),
        Missing::File => ("`pikerag files` lists the files", "用 `pikerag files` 列出文件"),
        Missing::Original => (
            "index it again with `index.originals = true`; larger files need `index.originals_mib`",
            "请设置 `index.originals = true` 并重新索引；较大的文件还需 `index.originals_mib`",
        ),
        Missing::Node => {
            ("`pikerag graph export` lists them all", "用 `pikerag graph export` 列出全部节点")
        }
        Missing::TagClass => ("`pikerag tags` lists them", "用 `pikerag tags` 列出"),
        Missing::TagPair => ("`pikerag tags pairs` lists them", "用 `pikerag tags pairs` 列出"),
        Missing::Chunk | Missing::Correction | Missing::Evaluation | Missing::Backup => {
            return None;
        }
    };
    Some(Words::new(english, chinese))
}

fn needs(needed: Needed) -> Words {
    let (english, chinese) = match needed {
        Needed::Embedder | Needed::ChatForPairs => return see_doctor(),
        Needed::Reranker => (
            "set `[rerank]`, as the file of `pikerag init` describes",
            "请按 `pikerag init` 写出的文件设置 `[rerank]`",
        ),
        Needed::TagClasses => (
            "run `pikerag index --with tags PATH…` first",
            "请先运行 `pikerag index --with tags PATH…`",
        ),
        Needed::PartsOfBase => (
            "provide what the lines above name, or choose others with `--methods`",
            "请补上以上各行所列的部分，或用 `--methods` 选用其他方法",
        ),
        Needed::RunFolder => ("name one with `--out DIR`", "请用 `--out DIR` 指定"),
        Needed::DataFolder => {
            ("give `--data DIR` or `--questions FILE`", "请给出 `--data DIR` 或 `--questions FILE`")
        }
        Needed::Judge => {
            ("set `chat.model` or `[roles.judge]`", "请设置 `chat.model` 或 `[roles.judge]`")
        }
        Needed::LogProbabilities => ("set `chat.model`", "请设置 `chat.model`"),
    };
    Words::new(english, chinese)
}

/// The advice about a reranker that failed. The advice about a spent budget comes from the error itself.
fn reranking(error: &ModelError) -> Option<Words> {
    let (english, chinese) = match error {
        ModelError::OverBudget { .. } | ModelError::NotRecorded { .. } => return None,
        ModelError::Unreachable { .. } => (
            "check that its endpoint runs and the address is right; ",
            "请检查其端点是否运行、地址是否正确；",
        ),
        ModelError::Denied { .. } => (
            "check its key, name and address, and the account; ",
            "请检查其密钥、名称、地址及账户；",
        ),
        _ => ("", ""),
    };
    let without = without_reranker();
    Some(Words::new(
        format!("{english}{}", without.english),
        format!("{chinese}{}", without.chinese),
    ))
}

fn solve(error: &SolveError) -> Option<Words> {
    Some(match error {
        SolveError::Retrieve(RetrieveError::Rerank(error)) => return reranking(error),
        SolveError::NoModel { .. } => Words::new(
            "set `[chat] model`, or choose kar3, hop-rag, naive-rag or hybrid-rag, which also work without",
            "请设置 `[chat] model`，或选用无需模型的 kar3、hop-rag、naive-rag 或 hybrid-rag",
        ),
        SolveError::NoScorer => self_assessment(),
        SolveError::NotBuilt { structure } => Words::new(
            format!("run `pikerag index --with {structure} PATH…`"),
            format!("请运行 `pikerag index --with {structure} PATH…`"),
        ),
        SolveError::NoLabelledQuestions => Words::new(
            "set `[methods] skr_examples` to a file with lines {\"question\": \"…\", \"known\": true}",
            "请把 `[methods] skr_examples` 设为一个文件，其各行为 {\"question\": \"…\", \"known\": true}",
        ),
        _ => return None,
    })
}
