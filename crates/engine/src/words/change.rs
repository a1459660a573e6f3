//! Words the errors of a change of a model in Chinese.

use crate::change_error::ChangeModelError;

/// An error without its causes.
pub(super) fn change_model(error: &ChangeModelError) -> String {
    match error {
        ChangeModelError::Settings(_) => "无法更改设置文件".to_owned(),
        ChangeModelError::Local(_) => "无法使用该模型".to_owned(),
        ChangeModelError::Endpoint(_) => "无法使用该端点".to_owned(),
        ChangeModelError::BadValue { name } => {
            format!("`{name}` 为空，或含有引号、反斜杠或控制字符")
        }
        ChangeModelError::OtherSettings { path, settings } => {
            format!("{} 中的 {} 也会用于新地址", path.display(), settings.join("、"))
        }
        ChangeModelError::KeyUsed { path, settings } => {
            format!("{} 中的 {} 会失去 `[chat]` 的密钥", path.display(), settings.join("、"))
        }
        ChangeModelError::OfOldModel { path, settings } => {
            format!("{} 中有只适用于当前模型的设置：{}", path.display(), settings.join("、"))
        }
        ChangeModelError::Form { path } => {
            format!("{} 中模型的写法无法由 pikerag 更改", path.display())
        }
        ChangeModelError::NotWritten { path, .. } => format!("{} 无法写入", path.display()),
        ChangeModelError::Overridden { variable } => {
            format!("环境变量 {variable} 指定了另一个模型或地址并优先")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::settings::SettingsError;
    use crate::words::chinese_chain;

    #[test]
    fn a_refused_change_is_worded_with_its_cause() {
        let path = || PathBuf::from("pikerag.toml");
        let (settings, variable) = (vec!["chat.headers".to_owned()], "OPENAI_MODEL");
        let errors = [
            ChangeModelError::Settings(SettingsError::NoStateFolder),
            ChangeModelError::BadValue { name: "model" },
            ChangeModelError::OtherSettings { path: path(), settings },
            ChangeModelError::KeyUsed { path: path(), settings: vec!["embed", "rerank"] },
            ChangeModelError::OfOldModel {
                path: path(),
                settings: vec!["embed.query_prefix".to_owned()],
            },
            ChangeModelError::Form { path: path() },
            ChangeModelError::Overridden { variable },
        ];
        let lines = errors.map(|error| {
            let english = pikerag_knowledge::error_chain(&error);
            format!("{english}\n{}", chinese_chain(&error))
        });
        insta::assert_snapshot!(lines.join("\n"), @r"
        the settings file cannot be changed: trust cannot be kept: neither XDG_STATE_HOME nor HOME names a folder
        无法更改设置文件：无法保存信任记录：XDG_STATE_HOME 与 HOME 都没有指定文件夹
        `model` is empty, or has a quotation mark, a backslash or a control character
        `model` 为空，或含有引号、反斜杠或控制字符
        chat.headers in pikerag.toml would go to the new address, too
        pikerag.toml 中的 chat.headers 也会用于新地址
        embed, rerank in pikerag.toml would lose the key of `[chat]`
        pikerag.toml 中的 embed、rerank 会失去 `[chat]` 的密钥
        pikerag.toml has settings for the present model alone: embed.query_prefix
        pikerag.toml 中有只适用于当前模型的设置：embed.query_prefix
        pikerag.toml sets the model in a form that pikerag does not change
        pikerag.toml 中模型的写法无法由 pikerag 更改
        the variable OPENAI_MODEL names another model or address, and has priority
        环境变量 OPENAI_MODEL 指定了另一个模型或地址并优先
        ");
    }
}
