//! Reads e-mails: the message is one document; readable attachments give further documents, named
//! after it.

use std::collections::{BTreeMap, HashSet};

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use pikerag_knowledge::{BlockKind, Document, Problem, ProblemFact};

use super::raw_lines::in_utf8;
use crate::document::blocks::one_line;
use crate::document::file::{Input, TextFile};
use crate::document::writing::Writing;
use crate::formats::text::plain;
use crate::formats::web::html;
use crate::{Format, ParseError};
use pikerag_unpack::Problems;
use pikerag_unpack::image_header;

/// The deepest nesting of messages in messages.
const DEEPEST: usize = 3;
/// The most attachments of one message.
const MOST_ATTACHMENTS: usize = 200;
/// A picture with a shorter side is a button, a logo or a tracker.
const SHORTEST_SIDE: u32 = 32;

/// Reads an attachment by its name and its bytes; returns its documents and problems.
type ReadAttachment<'a> =
    dyn Fn(&str, &[u8]) -> Result<(Vec<Document>, Vec<Problem>), ParseError> + 'a;

/// Reads a message; `depth` is the number of messages around it.
pub(crate) fn read(
    input: &Input,
    depth: usize,
    read_attachment: &ReadAttachment,
    problems: &mut Problems,
) -> Result<Vec<Document>, ParseError> {
    let malformed = |reason: &str| input.malformed("an e-mail", reason);
    let bytes = in_utf8(input.bytes);
    let message = MessageParser::default().parse(&bytes);
    let message = message.ok_or_else(|| malformed("it has no header"))?;
    let metadata = metadata(&message);
    if metadata.is_empty() {
        return Err(malformed("its header names neither sender, receiver, date nor subject"));
    }
    let mut documents = vec![document(input, &message, metadata, problems)];
    let mut names = HashSet::new();
    let (mut small, mut more) = (0usize, 0usize);
    for (number, part) in (1..).zip(message.attachments()) {
        if is_small_picture(part) {
            small += 1;
            continue;
        }
        if MOST_ATTACHMENTS < number {
            more += 1;
            continue;
        }
        let name = unique(&name_of(part, number), &mut names);
        if DEEPEST <= depth {
            problems.add(name, ProblemFact::MessagesTooDeep { depth: DEEPEST });
            continue;
        }
        match read_attachment(&name, bytes_of(part)) {
            Ok((inside, found)) => {
                documents.extend(inside.into_iter().map(|document| attached(document, &name)));
                for mut problem in found {
                    let apart = if problem.place.is_empty() { "" } else { ", " };
                    problem.place = format!("{name}{apart}{}", problem.place);
                    problems.push(problem);
                }
            }
            Err(error) => {
                let reason = error.to_string();
                problems.add(name, ProblemFact::AttachmentLeftOut { reason });
            }
        }
    }
    if 0 < small {
        problems.add("", ProblemFact::SmallPictures { pictures: small });
    }
    if 0 < more {
        problems
            .add("", ProblemFact::AttachmentsLeftOut { most: MOST_ATTACHMENTS, attachments: more });
    }
    Ok(documents)
}

fn attached(mut document: Document, name: &str) -> Document {
    document.fragment = match document.fragment.as_str() {
        "" => name.to_owned(),
        inside => format!("{name}/{inside}"),
    };
    document
}

/// The header lines that mail programs show.
fn metadata(message: &Message) -> BTreeMap<String, String> {
    let date = message.date().map(mail_parser::DateTime::to_rfc3339);
    let entries = [
        ("from", message.from().map(people)),
        ("to", message.to().map(people)),
        ("cc", message.cc().map(people)),
        ("date", date),
        ("subject", message.subject().and_then(one_line)),
        ("message-id", message.message_id().and_then(one_line)),
    ];
    let filled = entries.into_iter().filter_map(|(key, value)| {
        let value = value.filter(|value| !value.trim().is_empty())?;
        Some((key.to_owned(), value))
    });
    filled.collect()
}

/// `Ada <ada@a.example>, bob@b.example`.
fn people(address: &Address) -> String {
    let one = |person: &mail_parser::Addr| match (person.name(), person.address()) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (name, address) => address.or(name).unwrap_or_default().to_owned(),
    };
    let all: Vec<String> = address.iter().map(one).filter(|person| !person.is_empty()).collect();
    all.join(", ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The message itself: subject as heading, header lines, body.
fn document(
    input: &Input,
    message: &Message,
    metadata: BTreeMap<String, String>,
    problems: &mut Problems,
) -> Document {
    let mut writing = Writing::new(input.limits.max_cells);
    let title = metadata.get("subject").cloned();
    if let Some(subject) = &title {
        writing.plain(BlockKind::Heading { level: 1 }, subject);
    }
    let lines = [("From", "from"), ("To", "to"), ("Cc", "cc"), ("Date", "date")];
    let lines =
        lines.iter().filter_map(|(label, key)| Some(format!("{label}: {}", metadata.get(*key)?)));
    writing.plain(BlockKind::Paragraph, &lines.collect::<Vec<_>>().join("\n"));
    let before = writing.blocks.len();
    // Prefers the HTML form, because the plain form has no tables and headings.
    for part in message.html_bodies() {
        write_body(&mut writing, input, part, problems);
    }
    if writing.blocks.len() == before {
        for part in message.text_bodies() {
            write_body(&mut writing, input, part, problems);
        }
    }
    let mut document = input.document(title, writing);
    document.metadata = metadata;
    document
}

fn write_body(writing: &mut Writing, input: &Input, part: &MessagePart, problems: &mut Problems) {
    if part.is_encoding_problem {
        problems.add("", ProblemFact::DamagedMessage);
    }
    let file = |format: Format, text: &str| TextFile {
        name: input.name,
        title: String::new(),
        format,
        text: text.to_owned(),
        encoding: None,
        limits: input.limits,
    };
    match &part.body {
        PartType::Text(body) => writing.append(plain::read(file(Format::Text, body))),
        // If it is blank, the plain form may have text.
        PartType::Html(body) => {
            if let Ok(page) = html::read(&file(Format::Html, body), problems) {
                writing.append(page);
            }
        }
        _ => {}
    }
}

fn name_of(part: &MessagePart, number: usize) -> String {
    let named = part.attachment_name().and_then(one_line);
    if let Some(name) = named {
        // A path on the sender's machine is dropped.
        return name
            .rsplit(['/', '\\'])
            .find(|part| !part.is_empty())
            .unwrap_or("attachment")
            .to_owned();
    }
    let extension = match &part.body {
        PartType::Message(_) => "eml",
        PartType::Html(_) => "html",
        PartType::Text(_) => "txt",
        _ => match part.content_type().and_then(mail_parser::ContentType::subtype) {
            Some("pdf") => "pdf",
            _ => "bin",
        },
    };
    format!("attachment {number}.{extension}")
}

fn unique(name: &str, names: &mut HashSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 1;
    while !names.insert(unique.clone()) {
        number += 1;
        unique = format!("{number} {name}");
    }
    unique
}

fn bytes_of<'a>(part: &'a MessagePart<'_>) -> &'a [u8] {
    match &part.body {
        PartType::Message(message) => message.raw_message(),
        _ => part.contents(),
    }
}

fn is_small_picture(part: &MessagePart) -> bool {
    let small = |(width, height): (u32, u32)| width.min(height) < SHORTEST_SIDE;
    image_header::pixels(bytes_of(part)).is_some_and(small)
}

#[cfg(test)]
mod tests {
    use crate::test_support::run;

    const MAIL: &str = "From: =?utf-8?B?5byg5Lyf?= <zhang@a.example>\r\nTo: bob@b.example, Eve <eve@c.example>\r\n\
        Date: Sat, 20 Nov 2021 14:22:01 +0800\r\nSubject: The =?iso-8859-1?Q?caf=E9?= plan\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n\
        --y\r\nContent-Type: text/plain\r\n\r\nPlain.\r\n--y\r\nContent-Type: text/html\r\n\r\n\
        <p>Rich, see <a href=\"http://a.example/plan\">the plan</a></p><table><tr><td>a<td>b<tr><td>1<td>2</table>\r\n--y--\r\n\
        --x\r\nContent-Type: text/csv; name=\"../figures.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nbmFtZSxsb2FkCkExLDUK\r\n\
        --x\r\nContent-Type: application/x-thing\r\nContent-Disposition: attachment; filename=t.bin\r\nContent-Transfer-Encoding: base64\r\n\r\nYQBi\r\n\
        --x\r\nContent-Type: message/rfc822\r\n\r\nFrom: old@d.example\r\nSubject: Earlier\r\n\r\nSaid before.\r\n--x--\r\n";

    #[test]
    fn attachments_are_documents_too() {
        insta::assert_snapshot!(run("m.eml", MAIL), @r#"
        == The café plan
        h1 "The café plan"
        p "From: 张伟 <zhang@a.example>\nTo: bob@b.example, Eve <eve@c.example>\nDate: 2021-11-20T14:22:01+08:00"
        p "Rich, see the plan"
        table "a | b\n1 | 2"
          header []
          row ["a", "b"]
          row ["1", "2"]
        link "the plan" -> http://a.example/plan
        date = 2021-11-20T14:22:01+08:00
        from = 张伟 <zhang@a.example>
        subject = The café plan
        to = bob@b.example, Eve <eve@c.example>
        == figures #figures.csv
        table "name | load\nname: A1; load: 5"
          header ["name", "load"]
          row ["A1", "5"]
        == Earlier #attachment 3.eml
        h1 "Earlier"
        p "From: old@d.example"
        p "Said before."
        from = old@d.example
        subject = Earlier
        ! t.bin: the attachment is left out: `t.bin` is not text: it holds zero bytes; if it is a document, convert it to text first
        "#);
    }

    #[test]
    fn files_without_a_mail_header_are_refused() {
        insta::assert_snapshot!(run("m.eml", "just some text\n"), @"`m.eml` is not readable as an e-mail: it has no header; open it in its program and save it again; if it is plain text, rename it to .txt");
    }

    /// Each level is a message with the next one as its attachment.
    #[test]
    fn nesting_ends() {
        let mut mail = "From: a@b.c\r\n\r\nlast\r\n".to_owned();
        for level in 0..30 {
            mail = format!(
                "From: a@b.c\r\nSubject: {level}\r\nContent-Type: multipart/mixed; boundary=b{level}\r\n\r\n\
                 --b{level}\r\nContent-Type: message/rfc822\r\n\r\n{mail}\r\n--b{level}--\r\n"
            );
        }
        let drawn = run("m.eml", mail);
        assert!(drawn.contains("nested deeper"), "{drawn}");
        assert!(drawn.matches("\nh1").count() < 8, "{drawn}");
    }
}
