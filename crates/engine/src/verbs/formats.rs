//! Lists the formats that can be read, the files that are refused, and the programs that some
//! formats need (`formats`).

use pikerag_narrate::Words;
use pikerag_parse::{Evidence, Format, FormatGroup, FormatWords, RefusedKind, RefusedWords, Tool};
use serde::Serialize;

use crate::engine::Session;

/// All formats, all kinds of refused files, and all programs that formats need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatsResponse {
    /// The formats that are read, in the order of the documentation.
    pub formats: Vec<FormatLine>,
    /// The files that are refused.
    pub refused: Vec<RefusedLine>,
    /// The programs, and whether they are installed.
    pub tools: Vec<ToolLine>,
}

/// Formats that are read alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatLine {
    /// What is read of them, in English.
    #[serde(flatten)]
    pub english: FormatWords,
    /// The same in Chinese.
    #[serde(skip)]
    pub chinese: FormatWords,
    /// The formats.
    pub formats: Vec<FormatFacts>,
    /// The program without which such files, or some of their pages, are not read.
    pub tool: Option<Tool>,
    /// Whether that program is installed; true if none is needed.
    pub has_tool: bool,
}

/// The facts that detect a format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FormatFacts {
    /// Its name in results.
    pub format: Format,
    /// Its media type.
    pub media_type: &'static str,
    /// The extensions of its files, without the dot; empty if any extension may occur.
    pub extensions: &'static [&'static str],
    /// What shows that a file has the format.
    pub evidence: Evidence,
}

/// A kind of files that are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedLine {
    /// The kind in English.
    #[serde(flatten)]
    pub english: RefusedWords,
    /// The same in Chinese.
    #[serde(skip)]
    pub chinese: RefusedWords,
}

/// An external program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolLine {
    /// The program.
    pub tool: Tool,
    /// Whether it is installed and usable.
    pub is_here: bool,
    /// Its place, or the reason why it cannot be used.
    pub says: String,
    /// The same in Chinese.
    pub says_zh: String,
}

/// All formats. It asks Tesseract for its languages, and reads no file.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) {
/// let response = pikerag_engine::formats(session).await;
/// for line in response.formats.iter().filter(|line| !line.has_tool) {
///     println!("{} needs {}, which is not installed", line.english.name, line.english.needs);
/// }
/// # }
/// ```
pub async fn formats(session: &Session) -> FormatsResponse {
    let mut tools = Vec::new();
    for &tool in Tool::ALL {
        tools.push(tool_line(session, tool).await);
    }
    let formats = FormatGroup::ALL.iter().map(|group| format_line(*group, &tools)).collect();
    let refused = RefusedKind::ALL
        .iter()
        .map(|kind| RefusedLine { english: kind.english(), chinese: kind.chinese() })
        .collect();
    FormatsResponse { formats, refused, tools }
}

async fn tool_line(session: &Session, tool: Tool) -> ToolLine {
    let programs = &session.reader().programs;
    let about = match tool {
        Tool::Tesseract => programs.about_tesseract().await,
        Tool::LibreOffice => programs.about_soffice(),
    };
    let is_here = about.is_ok();
    let (Ok(Words { english, chinese }) | Err(Words { english, chinese })) = about;
    ToolLine { tool, is_here, says: english, says_zh: chinese }
}

fn format_line(group: FormatGroup, tools: &[ToolLine]) -> FormatLine {
    let facts = |format: Format| FormatFacts {
        format,
        media_type: format.media_type(),
        extensions: format.extensions(),
        evidence: format.evidence(),
    };
    let tool = group.tool();
    let is_here = |tool| tools.iter().any(|line| line.tool == tool && line.is_here);
    FormatLine {
        english: group.english(),
        chinese: group.chinese(),
        formats: group.formats().map(facts).collect(),
        tool,
        has_tool: tool.is_none_or(is_here),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: Tool, is_here: bool) -> ToolLine {
        ToolLine { tool, is_here, says: String::new(), says_zh: String::new() }
    }

    #[test]
    fn lines_tell_whether_the_needed_program_is_here() {
        let tools = [line(Tool::Tesseract, true), line(Tool::LibreOffice, false)];
        let has_tool = |group| format_line(group, &tools).has_tool;
        assert!(has_tool(FormatGroup::Pdf) && has_tool(FormatGroup::Html));
        assert!(!has_tool(FormatGroup::OldOffice));
    }

    #[test]
    fn json_has_the_fields_of_the_page() {
        let json = serde_json::to_value(format_line(FormatGroup::Separated, &[])).unwrap();
        assert_eq!(json["name"], "CSV, TSV");
        assert_eq!(json["formats"][1]["extensions"], serde_json::json!(["tsv", "tab"]));
        assert_eq!(json["formats"][1]["evidence"], "extension");
        assert_eq!((&json["tool"], &json["needs"]), (&serde_json::Value::Null, &"".into()));
    }
}
