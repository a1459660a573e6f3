//! Runs `records` and `schema propose`.

use std::collections::BTreeMap;
use std::io::Write;

use pikerag_engine::knowledge::Record;
use pikerag_engine::settings::declaration;
use pikerag_engine::{ProposeRequest, RecordsRequest, Session};

use super::inspect::Quiet;
use crate::cli::{Propose, Records};
use crate::output::{Output, note, say, say_json};
use crate::plain::plain;
use crate::render::{count, paid, place, short};

/// The longest value in a list, in characters.
const SHOWN: usize = 60;

pub(crate) async fn records(
    session: &Session,
    output: Output,
    arguments: &Records,
) -> anyhow::Result<u8> {
    let found = pikerag_engine::records(
        session,
        &RecordsRequest { schema: arguments.schema.clone(), ..RecordsRequest::default() },
    )
    .await?;
    let json = output.json;
    if json {
        say_json(&found)?;
    } else if arguments.csv {
        write_csv(&found, &mut Quiet(std::io::stdout().lock()))?;
    } else {
        list(&found, output);
    }
    if found.is_empty() && !json {
        let (of, kind) = match &arguments.schema {
            Some(schema) => (format!(" of `{schema}`"), format!(" `{schema}` 的")),
            None => Default::default(),
        };
        output.note(
            format!(
                "no records{of}; declare them as [[records]] in pikerag.toml (see `pikerag schema propose`), then run \
                 `pikerag index PATH…`"
            ),
            format!(
                "没有{kind}记录；请在 pikerag.toml 中声明 [[records]]（见 `pikerag schema propose`），再运行 `pikerag index PATH…`"
            ),
        );
    }
    Ok(0)
}

fn list(found: &[Record], output: Output) {
    let (language, colon) = (output.language, output.language.either(": ", "："));
    let mut by_schema: BTreeMap<&str, usize> = BTreeMap::new();
    for record in found {
        *by_schema.entry(&record.schema).or_default() += 1;
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| match &field.value {
                Some(value) => {
                    format!("{}{colon}{}", field.name, short(&value.to_string(), SHOWN))
                }
                None => {
                    let untyped = language.either(" (untyped)", "（未定类型）");
                    format!("{}{colon}{:?}{untyped}", field.name, short(&field.raw, SHOWN))
                }
            })
            .collect();
        say(&format!("{}  {}", record.schema, fields.join(language.separator())));
        say(&format!("    {}", place(&record.uri, record.page, record.span, language)));
    }
    for (schema, n) in by_schema {
        output.say(format!("{schema}: {}", count(n, "record")), format!("{schema}：{n} 条记录"));
    }
}

/// One table for all records: their schema, the fields of all schemas, and their places.
fn write_csv(found: &[Record], writer: &mut impl Write) -> std::io::Result<()> {
    let mut columns: Vec<&str> = Vec::new();
    for field in found.iter().flat_map(|record| &record.fields) {
        if !columns.contains(&field.name.as_str()) {
            columns.push(&field.name);
        }
    }
    let mut line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        writeln!(writer, "{}", cells.join(","))
    };
    let mut header = vec!["schema".to_owned()];
    header.extend(columns.iter().map(|column| (*column).to_owned()));
    header.extend(["uri", "page", "start", "end", "origin"].map(str::to_owned));
    line(&header)?;
    for record in found {
        let mut cells = vec![record.schema.clone()];
        for column in &columns {
            let field = record.field(column);
            let typed = field
                .map(|field| field.value.as_ref().map_or(field.raw.clone(), ToString::to_string));
            cells.push(typed.unwrap_or_default());
        }
        cells.push(record.uri.clone());
        cells.push(record.page.map_or_else(String::new, |page| page.to_string()));
        cells.extend([record.span.start.to_string(), record.span.end.to_string()]);
        cells.push(record.origin.as_str().to_owned());
        line(&cells)?;
    }
    Ok(())
}

/// A cell that is no formula for spreadsheets, and no control sequence for terminals.
fn quoted(cell: &str) -> String {
    let cell = &plain(cell);
    let risky = cell.starts_with(['=', '+', '-', '@', '\t']) && cell.parse::<f64>().is_err();
    let cell = if risky { format!("'{cell}") } else { cell.to_string() };
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

pub(crate) async fn propose(
    session: &Session,
    output: Output,
    arguments: &Propose,
) -> anyhow::Result<u8> {
    let request = ProposeRequest { paths: arguments.paths.clone() };
    let response = pikerag_engine::propose_schemas(session, &request).await?;
    if output.json {
        say_json(&response)?;
    } else if response.records.is_empty() {
        output.note(
            "nothing to propose: no table with named columns, no fields of documents, and no chat model to read the texts",
            "没有可起草的内容：没有带列名的表，没有文档字段，也没有可阅读正文的对话模型",
        );
    } else {
        for schema in &response.records {
            say(&declaration(schema));
        }
        output.note(
            "a draft: delete what you do not need, check types and key, and put the rest into pikerag.toml",
            "以上为草稿：请删去不需要的部分，检查类型与键，再写入 pikerag.toml",
        );
        if let Some(line) = paid(&session.cost(), output.language) {
            note(&line);
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula() {
        let cells = ["a", "a,b", "say \"x\"", "=1+1", "-5", "-x", "\x1b[2J"];
        insta::assert_snapshot!(cells.map(quoted).join("|"), @r#"a|"a,b"|"say ""x"""|'=1+1|-5|'-x|␛[2J"#);
    }
}
