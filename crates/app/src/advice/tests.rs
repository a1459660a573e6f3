//! Errors as people read them, with their causes and the advice.

use pikerag_engine::knowledge::{ModelError, Role, Structure};
use pikerag_engine::narrate::Language;
use pikerag_engine::parts::{FileError, MissingPart, SolveError};
use pikerag_engine::settings::SettingsError;
use pikerag_engine::{EndpointOf, EngineError, NoWords};

use super::{error, file, not_built};
use crate::failure::Failure;

fn untrusted(has_changed: bool) -> SettingsError {
    let sets = vec!["chat.base_url".to_owned(), "tools.soffice".to_owned()];
    SettingsError::Untrusted { path: "pikerag.toml".into(), sets, has_changed }
}

fn shown(language: Language) -> String {
    let over_budget = ModelError::OverBudget { cap: "2 calls".into(), spent: "2 calls".into() };
    let unreachable = ModelError::Unreachable { model: "m".into(), source: "gone".into() };
    let of = EndpointOf::Role(Role::Answer);
    let errors: [anyhow::Error; 9] = [
        EngineError::NoBase { folder: ".pikerag".into() }.into(),
        EngineError::from(SolveError::NoModel { role: Role::Propose }).into(),
        EngineError::from(SolveError::NotBuilt { structure: Structure::Graph }).into(),
        EngineError::Endpoint { of, source: over_budget }.into(),
        EngineError::Endpoint { of, source: unreachable }.into(),
        EngineError::NoWords(NoWords::Question).into(),
        SettingsError::NoneInFlight.into(),
        untrusted(false).into(),
        untrusted(true).into(),
    ];
    let lines: Vec<String> = errors.iter().map(|one| error(one, language)).collect();
    lines.join("\n")
}

#[test]
fn errors_come_with_what_to_do() {
    insta::assert_snapshot!(shown(Language::English), @r#"
    .pikerag cannot be opened: there is no knowledge base yet; make one with `pikerag index PATH…`
    this method asks a language model (`propose`), and none is set; set `[chat] model`, or choose kar3, hop-rag, naive-rag or hybrid-rag, which also work without
    this method works on the graph of the base, which is not built; run `pikerag index --with graph PATH…`
    the model for `answer` is not set up right: the budget of 2 calls is spent (2 calls so far); raise it and run again to continue
    the model for `answer` is not set up right: m is out of reach: gone; check that its endpoint runs and the address is right, or continue without it: `--offline`
    the question holds no word; put it in quotes: `pikerag ask "Who …?"`
    at least one model call must be in flight; `--in-flight` takes 1 or more
    pikerag.toml is not trusted, and sets chat.base_url, tools.soffice; check it, then run `pikerag trust`; or use it once with `--config pikerag.toml`
    pikerag.toml has changed since it was trusted, and sets chat.base_url, tools.soffice; check it, then run `pikerag trust`; or use it once with `--config pikerag.toml`
    "#);
    insta::assert_snapshot!(shown(Language::Chinese), @r#"
    无法打开 .pikerag：还没有知识库；请用 `pikerag index PATH…` 建立
    此方法需要语言模型（`propose`），目前未设置；请设置 `[chat] model`，或选用无需模型的 kar3、hop-rag、naive-rag 或 hybrid-rag
    此方法需要知识库的实体图谱，而它尚未建立；请运行 `pikerag index --with graph PATH…`
    `answer` 的模型设置有误：预算（2 次调用）已用尽，已用 2 次调用；请提高预算并再次运行以继续
    `answer` 的模型设置有误：无法连接 m：gone；请检查其端点是否运行、地址是否正确，或不使用它：`--offline`
    问题中没有词；请加引号：`pikerag ask "谁……？"`
    同时进行的模型调用至少为 1；`--in-flight` 须为 1 或更大
    pikerag.toml 未受信任，而它设置了 chat.base_url、tools.soffice；请检查后运行 `pikerag trust`；或用 `--config pikerag.toml` 只使用这一次
    pikerag.toml 在信任之后有改动，而它设置了 chat.base_url、tools.soffice；请检查后运行 `pikerag trust`；或用 `--config pikerag.toml` 只使用这一次
    "#);
}

#[test]
fn a_missing_server_can_be_started() {
    let cause = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let failed = Failure::NoServer("http://127.0.0.1:8686/ready".to_owned()).of(cause).into();
    insta::assert_snapshot!(
        error(&failed, Language::English),
        @"no server answers at http://127.0.0.1:8686/ready: connection refused; start one with `pikerag serve`, or name the port of a running one with `--port N`"
    );
    insta::assert_snapshot!(
        error(&failed, Language::Chinese),
        @"http://127.0.0.1:8686/ready 没有服务器回应：连接被拒绝；请用 `pikerag serve` 启动，或用 `--port N` 指定正在运行的服务器的端口"
    );
}

#[test]
fn missing_structures_come_with_what_to_do() {
    insta::assert_snapshot!(not_built(MissingPart::TagModel, Language::English), @"tags need a chat model; see `pikerag doctor`");
    insta::assert_snapshot!(not_built(MissingPart::TagModel, Language::Chinese), @"标签需要对话模型；见 `pikerag doctor`");
    let large = FileError::TooLarge { bytes: 3 << 19, most: 1 << 20 };
    insta::assert_snapshot!(
        file(&large, Language::English),
        @"it has 1.5 MiB, over the limit of 1 MiB; raise `limits.file_mib`, or split it"
    );
    insta::assert_snapshot!(
        file(&large, Language::Chinese),
        @"大小为 1.5 MiB，超过上限 1 MiB；请提高 `limits.file_mib`，或拆分文件"
    );
}
