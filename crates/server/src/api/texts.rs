//! Inserts a text as a document: stores it as an uploaded file, which a job indexes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::CreateBase;
use pikerag_engine::uploads::UploadId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::files::Uploaded;
use crate::app::{App, Caller};
use crate::jobs::Work;
use crate::problem::{JsonBody, Parts, Problem};

/// The extension of Markdown, which is added to other names.
const MARKDOWN: &str = "md";
/// The extension of plain text.
const PLAIN: &str = "txt";
/// The extensions of files of text.
const EXTENSIONS: [&str; 3] = [MARKDOWN, "markdown", PLAIN];
/// The most characters of a title in the name of a file.
const TITLE: usize = 40;
/// The most characters of a name of a metadata field.
const FIELD: usize = 64;

/// A text and what is known of it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextBody {
    /// The text, in Markdown unless the name ends with `.txt`.
    #[schema(min_length = 1)]
    text: String,
    /// The name of the file, such as `notes/meeting.md`. A text of the same name is replaced. `.md`
    /// is added unless it ends with `.md`, `.markdown` or `.txt`. By default it is made from the
    /// title and the text.
    #[schema(nullable = false)]
    name: Option<String>,
    /// The title of the document. By default the first heading, else the name.
    #[schema(nullable = false)]
    title: Option<String>,
    /// Fields of the document, such as `{"author": "Chen"}` for the filter `meta:author=Chen`. They
    /// are written before the text, as in a Markdown file.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    /// The text is stored but not indexed yet, as with `?hold=true` of an upload.
    #[serde(default)]
    hold: bool,
}

/// Inserts a text as a document. It is stored as an uploaded file: `GET …/files`, `DELETE …/files`
/// and `PUT …/files/{file}` know it by its name.
#[utoipa::path(post, path = "/api/v1/bases/{base}/texts", operation_id = "insertText", tag = "files", params(("base" = String, Path)),
    request_body = TextBody, responses((status = 200, body = Uploaded), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn insert(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(body): JsonBody<TextBody>,
) -> Result<Json<Uploaded>, Problem> {
    let session = app.whole_base(&caller, &base)?;
    let (file, waits) = (name_of(&body), body.hold);
    let text = file_of(body, &file)?;
    let most = session.settings().parser_limits.file_bytes;
    let uploads = session.uploads(CreateBase::Yes).await?;
    let mut part = uploads.begin(&file, &UploadId::random()?, 0, most).await?;
    if let Err(error) = part.take(text.as_bytes()).await {
        part.discard().await;
        return Err(error.into());
    }
    let held = part.held();
    let place = part.finish(Some(held)).await?;
    let job = match waits {
        true => None,
        false => Some(app.begin(&caller, &base, &session, Work::files(vec![place])).await?.id()),
    };
    Ok(Json(Uploaded { file, held, is_whole: true, upload: None, job, unpacked: None }))
}

/// The name of the file. A made name contains a hash, so that only an equal text is replaced.
fn name_of(TextBody { text, name, title, .. }: &TextBody) -> String {
    if let Some(name) = name {
        let is_known = EXTENSIONS.iter().any(|known| has_extension(name, known));
        return if is_known { name.clone() } else { format!("{name}.{MARKDOWN}") };
    }
    let title = title.as_deref().unwrap_or_default();
    let is_plain = |c: char| c.is_alphanumeric() || "-_".contains(c);
    let words = title.split(|c: char| !is_plain(c)).filter(|word| !word.is_empty());
    let words: String = words.collect::<Vec<_>>().join("-").chars().take(TITLE).collect();
    let words = if words.is_empty() { "text".to_owned() } else { words };
    let hash = blake3::hash(format!("{title}\0{text}").as_bytes()).to_hex();
    let hash: String = hash.chars().take(8).collect();
    format!("{words}-{hash}.{MARKDOWN}")
}

fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

/// The content of the file: the text, after its title and metadata.
fn file_of(body: TextBody, file: &str) -> Result<String, Problem> {
    let TextBody { text, title, metadata, .. } = body;
    if !text.contains(char::is_alphanumeric) {
        return Err(Problem::bad_request("`text` has no word").in_chinese("`text` 中没有文字"));
    }
    let mut fields = metadata;
    fields.extend(title.map(|title| ("title".to_owned(), title)));
    if fields.is_empty() {
        return Ok(text);
    }
    if has_extension(file, PLAIN) {
        let detail = "plain text (`.txt`) holds no title and no metadata: name the file `.md`";
        return Err(Problem::bad_request(detail)
            .in_chinese("纯文本（`.txt`）不含标题与元数据：请用 `.md` 命名文件"));
    }
    let mut head = "---\n".to_owned();
    for (field, value) in fields {
        // The rules of front matter: `parse/document/front_matter.rs`.
        let is_plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
        let is_field = field.chars().all(is_plain) && (1..=FIELD).contains(&field.chars().count());
        if !is_field || field.trim() != field || field.starts_with("- ") {
            let detail = format!(
                "`{field}` cannot be a field: it needs 1 to {FIELD} letters, digits, spaces, `-`, `_` and `.`"
            );
            return Err(Problem::bad_request(detail).in_chinese(format!(
                "`{field}` 不能作为字段名：须为 1 到 {FIELD} 个字母、数字、空格、`-`、`_` 和 `.`"
            )));
        }
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let quote = if value.contains('"') { '\'' } else { '"' };
        // Writing to a string never fails.
        let _ = writeln!(head, "{field}: {quote}{value}{quote}");
    }
    Ok(format!("{head}---\n\n{text}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn body(body: Value) -> TextBody {
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn names_are_those_of_text_files_and_made_names_differ_by_text() {
        for (name, file) in [
            ("notes/a.md", "notes/a.md"),
            ("a.TXT", "a.TXT"),
            ("v1.2 notes", "v1.2 notes.md"),
            ("a.pdf", "a.pdf.md"),
        ] {
            assert_eq!(name_of(&body(json!({"text": "x", "name": name}))), file);
        }
        let made = |title: &str, text: &str| name_of(&body(json!({"text": text, "title": title})));
        let one = made("年报: 2023/Q4 ../x", "one");
        assert!(one.starts_with("年报-2023-Q4-x-") && one.trim_end_matches(".md") != one, "{one}");
        assert_eq!(one, made("年报: 2023/Q4 ../x", "one"));
        assert_ne!(one, made("年报: 2023/Q4 ../x", "two"));
        assert!(name_of(&body(json!({"text": "x"}))).starts_with("text-"));
    }

    #[test]
    fn title_and_metadata_become_front_matter_and_a_bare_text_stays_as_it_is() {
        let file = |content: Value| file_of(body(content), "a.md");
        assert_eq!(file(json!({"text": " # H\n"})).unwrap(), " # H\n");
        let text = json!({
            "text": "# H\n", "title": "A \"B\"", "metadata": {"author": "[Chen]", "note": "a\nb"}
        });
        assert_eq!(
            file(text).unwrap(),
            "---\nauthor: \"[Chen]\"\nnote: \"a b\"\ntitle: 'A \"B\"'\n---\n\n# H\n"
        );
        for wrong in [
            json!({"text": " \n"}),
            json!({"text": "\u{200b}\u{feff} …"}),
            json!({"text": "x", "metadata": {"": "x"}}),
            json!({"text": "x", "metadata": {"a: b": "x"}}),
            json!({"text": "x", "metadata": {"a\nb": "x"}}),
        ] {
            assert_eq!(file(wrong.clone()).unwrap_err().code(), "bad-request", "{wrong}");
        }
        let plain = body(json!({"text": "x", "title": "T"}));
        assert_eq!(file_of(plain, "a.txt").unwrap_err().code(), "bad-request");
    }
}
