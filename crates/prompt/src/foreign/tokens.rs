//! Detects tokens of chat templates in text; tokenizers treat them as structure wherever they
//! occur.

use super::Placed;

/// The longest name between brackets, in characters; longer ones are not tokens.
const LONGEST: usize = 64;

/// Names in `<…>` of common templates, with or without a slash before them.
const ANGLED: [&str; 24] = [
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "sop",
    "eop",
    "start_of_turn",
    "end_of_turn",
    "start_of_image",
    "end_of_image",
    "start_of_role",
    "end_of_role",
    "tool_call",
    "tool_response",
    "think",
    "thinking",
    "reasoning",
    "bos_token",
    "eos_token",
    "tools",
    "tool_calls",
    "pad_token",
];

/// Names in `[…]` of common templates.
const SQUARE: [&str; 10] = [
    "inst",
    "system_prompt",
    "available_tools",
    "tool_calls",
    "tool_results",
    "tool_content",
    "gmask",
    "smask",
    "sop",
    "modifier",
];

/// Beginnings of numbered tokens in `<…>`, such as `<unused12>`.
const NUMBERED: [&str; 4] = ["unused", "reserved_", "extra_id_", "0x"];

/// Replaces the brackets of tokens; the other characters are unchanged.
pub(super) fn disarmed(mut text: Vec<Placed>) -> Vec<Placed> {
    let mut at = 0;
    while at < text.len() {
        let behind = text.get(at..).unwrap_or_default();
        match token(behind) {
            Some(length) => {
                for placed in text.iter_mut().skip(at).take(length) {
                    placed.c = safe(placed.c);
                }
                at += length;
            }
            None => at += 1,
        }
    }
    text
}

/// The length in characters of the token that begins here.
fn token(text: &[Placed]) -> Option<usize> {
    let open = plain(text.first()?.c);
    let close = match open {
        '<' => '>',
        '[' => ']',
        _ => return None,
    };
    let inside = text.iter().skip(1).take(LONGEST);
    let name: String =
        inside.map(|placed| plain(placed.c)).take_while(|c| *c != close && *c != '\n').collect();
    let length = name.chars().count();
    let is_closed = text.get(length + 1).is_some_and(|placed| plain(placed.c) == close);
    let name = name.trim().to_ascii_lowercase();
    let name = name.trim_start_matches('/');
    let is_token = match open {
        '[' => SQUARE.contains(&name),
        _ => ANGLED.contains(&name) || is_numbered(name) || is_barred(name) || is_doubled(name),
    };
    (is_closed && is_token).then_some(length + 2)
}

/// `|im_start|` in `<|im_start|>`. A single bar is an operator in many languages, so it does not
/// count.
fn is_barred(name: &str) -> bool {
    let inside = name.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    inside.is_some_and(|inside| {
        !inside.is_empty()
            && inside
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '▁' | '/'))
    })
}

/// `<sys` in `<<SYS>>`.
fn is_doubled(name: &str) -> bool {
    name.strip_prefix('<').is_some_and(|name| name.trim_start_matches('/') == "sys")
}

fn is_numbered(name: &str) -> bool {
    let number = NUMBERED.iter().find_map(|start| name.strip_prefix(start));
    number.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_hexdigit()))
}

/// The ASCII form of brackets and bars of any width.
pub(super) fn plain(c: char) -> char {
    match c {
        '＜' | '﹤' => '<',
        '＞' | '﹥' => '>',
        '［' | '【' | '〔' | '〖' | '〚' | '⟦' | '⁅' | '❲' | '⦗' | '﹝' => '[',
        '］' | '】' | '〕' | '〗' | '〛' | '⟧' | '⁆' | '❳' | '⦘' | '﹞' => ']',
        '｜' | '￨' | '∣' | '│' | 'ǀ' => '|',
        '＃' | '﹟' | '♯' => '#',
        '：' | '﹕' | '︰' | '∶' | '꞉' => ':',
        '＿' => '_',
        '／' => '/',
        c => c,
    }
}

fn safe(c: char) -> char {
    match plain(c) {
        '<' => '‹',
        '>' => '›',
        '[' => '(',
        ']' => ')',
        _ => c,
    }
}
