//! Runs `formats`: a line for each group of formats, then the refused files and the helper programs.

use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::{FormatLine, Session};

use crate::output::{Output, say, say_json};

pub(crate) async fn formats(session: &Session, output: Output) -> anyhow::Result<u8> {
    let response = pikerag_engine::formats(session).await;
    let Output { json, language } = output;
    if json {
        return say_json(&response);
    }
    for line in &response.formats {
        say(&described(line, language));
    }
    for line in &response.refused {
        output.say(
            format!("refused: {}: {}", line.english.files, line.english.advice),
            format!("不读取：{}：{}", line.chinese.files, line.chinese.advice),
        );
    }
    for line in &response.tools {
        let (name, says, says_zh) = (line.tool.name(), &line.says, &line.says_zh);
        output.say(format!("{name}: {says}"), format!("{name}：{says_zh}"));
    }
    Ok(0)
}

/// The name of the formats, their extensions, and the program that they need.
fn described(line: &FormatLine, language: Language) -> String {
    let extensions = line.formats.iter().flat_map(|format| format.extensions);
    let extensions: Vec<String> = extensions.map(|extension| format!(".{extension}")).collect();
    let extensions = match extensions.is_empty() {
        true => language.either("any extension", "任意扩展名").to_owned(),
        false => extensions.join(language.either(", ", "、")),
    };
    let (english, chinese) = (line.english.name, line.chinese.name);
    let named =
        Words::new(format!("{english} ({extensions})"), format!("{chinese}（{extensions}）"));
    if line.tool.is_none() {
        return named.of(language);
    }
    let (state, in_chinese) = match line.has_tool {
        true => ("installed", "已安装"),
        false => ("not installed", "未安装"),
    };
    let (needs, needs_zh) = (line.english.needs, line.chinese.needs);
    let needs =
        Words::new(format!("; needs {needs}: {state}"), format!("；需要 {needs_zh}：{in_chinese}"));
    named.of(language) + &needs.of(language)
}
