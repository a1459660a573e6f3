//! Reads subtitles (`WebVTT`, `SubRip`): consecutive captions become paragraphs that begin with
//! their time and, if known, their speaker.

use pikerag_knowledge::{BlockKind, Document};

use crate::document::file::TextFile;
use crate::document::writing::Writing;
use crate::formats::text::plain;

/// A longer paragraph, in bytes, ends with its caption.
const LONGEST: usize = 500;

/// Reads captions; a file without captions is read as plain text.
pub(crate) fn read(file: &TextFile) -> Document {
    let mut writing = Writing::new(0);
    let mut open: Option<Speech> = None;
    let mut lines = file.text.lines();
    while let Some(line) = lines.next() {
        let Some((start, _)) = line.split_once("-->") else { continue };
        let mut words = String::new();
        let mut speaker = None;
        for line in lines.by_ref().take_while(|line| !line.trim().is_empty()) {
            let (who, text) = plain(line);
            speaker = speaker.or(who);
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(text.trim());
        }
        let goes_on = open
            .as_ref()
            .is_some_and(|speech| speech.speaker == speaker && speech.words.len() < LONGEST);
        match &mut open {
            Some(speech) if goes_on => {
                speech.words.push('\n');
                speech.words.push_str(&words);
            }
            _ => {
                write(&mut writing, open.take());
                open = Some(Speech { start: seconds(start), speaker, words });
            }
        }
    }
    write(&mut writing, open);
    if writing.blocks.is_empty() {
        let (name, title, limits) = (file.name, file.title.clone(), file.limits);
        let text = file.text.clone();
        return plain::read(TextFile {
            name,
            title,
            format: file.format,
            text,
            encoding: None,
            limits,
        });
    }
    file.document(None, writing.text, writing.blocks, Vec::new())
}

/// The text of one speaker in consecutive captions.
struct Speech {
    start: String,
    speaker: Option<String>,
    words: String,
}

fn write(writing: &mut Writing, speech: Option<Speech>) {
    let Some(Speech { start, speaker, words }) = speech else { return };
    if words.trim().is_empty() {
        return;
    }
    let speaker = speaker.map(|speaker| format!("{speaker}: ")).unwrap_or_default();
    writing.plain(BlockKind::Paragraph, &format!("[{start}] {speaker}{words}"));
}

/// `00:01:02,500` → `00:01:02`.
fn seconds(time: &str) -> String {
    let time = time.trim();
    time.split(['.', ',']).next().unwrap_or(time).chars().take(12).collect()
}

/// A line without its marks: the speaker in `<v Ada>`, and the text.
fn plain(line: &str) -> (Option<String>, String) {
    let mut text = String::new();
    let mut speaker = None;
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(['<', '{']) {
        let close = if rest.as_bytes().get(before.len()) == Some(&b'<') { '>' } else { '}' };
        text.push_str(before);
        // `{\an8}` is a mark, `{this}` is not.
        let is_mark = close == '>' || after.starts_with('\\');
        let Some((mark, after)) = after.split_once(close).filter(|_| is_mark) else {
            text.push(if close == '>' { '<' } else { '{' });
            rest = after;
            continue;
        };
        if let Some(name) = mark.strip_prefix('v').filter(|name| name.starts_with([' ', '.'])) {
            let name = name.split_once(' ').map_or("", |(_, name)| name).trim();
            speaker = speaker.or_else(|| (!name.is_empty()).then(|| name.to_owned()));
        }
        rest = after;
    }
    text.push_str(rest);
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&lrm;", ""),
        ("&rlm;", ""),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    (speaker, text)
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    #[test]
    fn captions_become_paragraphs() {
        let text = "WEBVTT\n\nNOTE nothing\n\n00:11.000 --> 00:13.000 align:left\n<v Ada>We are in <i>London</i>\n\n00:13.000 --> 00:16.000\n<v Ada>at the caf\u{e9} &amp; bar\n\n\
            2\n00:16.000 --> 00:20.000\n<v.loud Bob>No {really} a < b\n";
        insta::assert_snapshot!(run("a.vtt", text), @r#"
        == a
        p "[00:11] Ada: We are in London\nat the café & bar"
        p "[00:16] Bob: No {really} a < b"
        "#);
        let text = "1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<font color=red>Hello</font>\r\nworld\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nagain\r\n";
        insta::assert_snapshot!(run("a.srt", text), @r#"
        == a
        p "[00:00:01] Hello\nworld\nagain"
        "#);
    }

    #[test]
    fn other_text_is_kept() {
        insta::assert_snapshot!(run("a.srt", "no captions\n\nhere <b>at all</b>"), @r#"
        == no captions
        p "no captions"
        p "here <b>at all</b>"
        "#);
    }
}
