//! Errors as people read them, with their causes and the advice.

use pikerag_engine::knowledge::{ModelError, Role, Structure};
use pikerag_engine::narrate::Language;
use pikerag_engine::parts::{FileError, Lacking, SolveError};
use pikerag_engine::settings::SettingsError;
use pikerag_engine::{EndpointOf, EngineError, Wordless};

use super::{error, file, not_built};

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
        EngineError::Wordless(Wordless::Question).into(),
        SettingsError::NoneInFlight.into(),
        untrusted(false).into(),
        untrusted(true).into(),
    ];
    let lines: Vec<String> = errors.iter().map(|one| error(one, language)).collect();
    lines.join("\n")
}

#[test]
fn errors_come_with_what_to_do() {
    insta::assert_snapshot!(shown(Language::English), @"");
    insta::assert_snapshot!(shown(Language::Chinese), @"");
}

#[test]
fn missing_structures_come_with_what_to_do() {
    insta::assert_snapshot!(not_built(Lacking::TagModel, Language::English), @"tags need a chat model; see `pikerag doctor`");
    insta::assert_snapshot!(not_built(Lacking::TagModel, Language::Chinese), @"标签需要对话模型；见 `pikerag doctor`");
    let large = FileError::TooLarge { bytes: 3 << 19, most: 1 << 20 };
    insta::assert_snapshot!(
        file(&large, Language::English),
        @"it has 1.5 MiB, and more than 1 MiB are not read; raise `limits.file_mib`, or split it"
    );
    insta::assert_snapshot!(
        file(&large, Language::Chinese),
        @"大小为 1.5 MiB，超过上限 1 MiB；请提高 `limits.file_mib`，或拆分文件"
    );
}
