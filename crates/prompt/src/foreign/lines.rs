//! Detects lines that look like the prompt's own lines: headings, passage numbers, figure
//! descriptions, speakers.

use super::Placed;
use super::tokens::plain;
use pikerag_language::is_invisible;

/// Headings of pikerag's templates, letters and digits only, those of earlier texts too: kept runs
/// are replayed with them. A test compares them with the templates.
pub(super) const HEADINGS: [&str; 75] = [
    "answer",
    "answerssofar",
    "aroundthepicture",
    "aroundthetable",
    "captionorwordsthatstandforthepicture",
    "classes",
    "computedfigures",
    "content",
    "context",
    "correctanswerlabels",
    "correction",
    "descriptions",
    "document",
    "entities",
    "evidence",
    "example",
    "examples",
    "factors",
    "factssofar",
    "fields",
    "findings",
    "frommemory",
    "frompassages",
    "furtherpassagesanswer",
    "ideas",
    "knownclasses",
    "knownconditions",
    "knownkinds",
    "lastmessage",
    "lastround",
    "lookedupbefore",
    "name",
    "notes",
    "outputformat",
    "paragraphs",
    "passage",
    "passages",
    "pieces",
    "points",
    "question",
    "rationalesofar",
    "readings",
    "record",
    "records",
    "referencecontextforyourquestion",
    "relations",
    "reports",
    "reportsonparts",
    "resultsofthesteps",
    "resultssofar",
    "samplequestions",
    "settledsofar",
    "subquestions",
    "table",
    "tables",
    "tagsofthepassage",
    "tagsofthequestion",
    "task",
    "text",
    "theanswers",
    "thepassages",
    "thequestion",
    "thereply",
    "thestep",
    "thesteps",
    "thetask",
    "thoughtssofar",
    "turns",
    "whatcamebefore",
    "whatislefttodo",
    "whatthecollectionoffers",
    "wordsofthereaderandofthedocuments",
    "yourideas",
    "yourperspective",
    "yourquerybefore",
];

/// Speakers of a chat, before a colon and in headings of any level (`### System:`).
const SPEAKERS: [&str; 9] =
    ["system", "assistant", "user", "human", "developer", "系统", "助手", "用户", "人类"];

/// Other headings that instruction templates use.
const PARTS: [&str; 8] = [
    "instruction",
    "instructions",
    "response",
    "input",
    "tool",
    "systemprompt",
    "systemmessage",
    "系统提示",
];

/// The beginning of the line that describes what a model sees on a figure.
pub(crate) const SEEN: &str = "What a model sees on it:";

/// Turns lines that look like the prompt's own into quotations, and indents all others that begin
/// with `#` by one space.
pub(super) fn quoted(text: &[Placed]) -> Vec<Placed> {
    each_line(text, |line| match line.first() {
        _ if is_ours(line) => "> ",
        Some(first) if first.c == '#' => " ",
        _ => "",
    })
}

/// Indents lines that begin with `#` by one space.
pub(super) fn indented(text: &[Placed]) -> Vec<Placed> {
    each_line(text, |line| if line.first().is_some_and(|first| first.c == '#') { " " } else { "" })
}

fn each_line(text: &[Placed], before: impl Fn(&[Placed]) -> &'static str) -> Vec<Placed> {
    let mut made = Vec::with_capacity(text.len() + 8);
    for line in text.split_inclusive(|placed| ends_line(placed.c)) {
        let at = line.first().map_or(0, |first| first.of.start);
        made.extend(before(line).chars().map(|c| Placed { c, of: at..at }));
        made.extend_from_slice(line);
    }
    made
}

/// More characters than `str::lines` knows: all that a model may read as the end of a line.
fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_ours(line: &[Placed]) -> bool {
    let bare: String = line
        .iter()
        .map(|placed| plain(placed.c))
        .filter(|c| !is_invisible(*c))
        .skip_while(|c| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~'))
        .collect();
    is_numbered(&bare) || is_heading(&bare) || is_speaker(&bare)
}

/// `[2] …`, and the line below a figure.
fn is_numbered(bare: &str) -> bool {
    let Some((inside, _)) = bare.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return bare.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(SEEN));
    };
    let number = inside.trim();
    (!number.is_empty() && number.chars().all(char::is_numeric)) || number.starts_with(SEEN)
}

/// `# Question`, at the level of pikerag's headings, and `### System:` at any level.
fn is_heading(bare: &str) -> bool {
    let name = bare.trim_start_matches('#');
    let level = bare.len() - name.len();
    if level == 0 {
        return false;
    }
    let name = folded(name.split(':').next().unwrap_or_default());
    let is_in = |names: &[&str]| names.contains(&name.as_str());
    is_in(&SPEAKERS) || is_in(&PARTS) || (level == 1 && is_in(&HEADINGS))
}

/// `System: …`.
fn is_speaker(bare: &str) -> bool {
    let Some((name, _)) = bare.split_once(':') else { return false };
    let is_name = |c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '*' | '_');
    name.chars().all(is_name) && SPEAKERS.contains(&folded(name).as_str())
}

/// Letters and digits, in lower case.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
