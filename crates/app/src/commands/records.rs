//! `records` and `schema propose`: which typed records are in the base, and which could be?

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context;
use pikerag_extract::{propose_by_model, propose_from_columns};
use pikerag_knowledge::{
    Chunk, ChunkId, KnowledgeBase, KnowledgeWriter, Record, RecordSchema, Role, Spent, Stage,
};
use serde_json::json;

use crate::cli::{Propose, Records};
use crate::files;
use crate::output::{note, say, say_json};
use crate::render::{count, place, short};
use crate::wiring::Wiring;

/// Chunks that a model is shown to propose schemas from, and their bytes in all.
const SAMPLE: usize = 24;
const SAMPLE_BYTES: usize = 24_000;
/// Values of a column that its type is told from, at most.
const VALUES: usize = 500;
/// Documents that must say the same of themselves before that is proposed as records.
const ALIKE: usize = 3;
/// Longest value that is shown in a list, in characters.
const SHOWN: usize = 60;

pub(crate) async fn records(wiring: &Wiring, arguments: &Records) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    let found = base.records(arguments.schema.as_deref()).await?;
    if wiring.json {
        say_json(&found)?;
    } else if arguments.csv {
        let mut writer = std::io::stdout().lock();
        super::inspect::quiet_end(write_csv(&found, &mut writer))?;
    } else {
        list(&found);
    }
    if found.is_empty() && !wiring.json {
        let of = arguments.schema.as_deref().map(|schema| format!(" of `{schema}`"));
        note(&format!(
            "no records{}; declare them as [[records]] in pikerag.toml (see `pikerag schema propose`), then run `pikerag index`",
            of.unwrap_or_default()
        ));
    }
    Ok(0)
}

fn list(found: &[Record]) {
    let mut by_schema: BTreeMap<&str, usize> = BTreeMap::new();
    for record in found {
        *by_schema.entry(&record.schema).or_default() += 1;
        let fields: Vec<String> = record
            .fields
            .iter()
            .map(|field| match &field.value {
                Some(value) => format!("{}: {}", field.name, short(&value.to_string(), SHOWN)),
                None => format!("{}: {:?} (as it stands)", field.name, short(&field.raw, SHOWN)),
            })
            .collect();
        say(&format!("{}  {}", record.schema, fields.join("; ")));
        say(&format!("    {}", place(&record.uri, record.page, record.span)));
    }
    for (schema, n) in by_schema {
        say(&format!("{schema}: {}", count(n, "record")));
    }
}

/// One table for all records: their schema, the fields of all schemas, and where they stand.
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

/// A cell that no spreadsheet takes for a formula.
fn quoted(cell: &str) -> String {
    let risky = cell.starts_with(['=', '+', '-', '@', '\t']) && cell.parse::<f64>().is_err();
    let cell = if risky { format!("'{cell}") } else { cell.to_owned() };
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

pub(crate) async fn propose(wiring: &Wiring, arguments: &Propose) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    let roots: Vec<std::path::PathBuf> =
        arguments.paths.iter().map(|path| files::clean(path)).collect();
    let wanted = |uri: &str| {
        let path = std::path::Path::new(uri.split('#').next().unwrap_or(uri));
        let here = std::path::Path::new(".");
        roots.is_empty()
            || roots
                .iter()
                .any(|root| path.starts_with(root) || (root == here && path.is_relative()))
    };
    // A stage of no chunk: all of them wait for it.
    let ids = base.pending(&Stage("propose".to_owned()), None, usize::MAX).await?;
    let mut proposed = from_tables(&base, &ids, &wanted).await?;
    proposed.extend(from_metadata(&base, &wanted).await?);
    let model = wiring.tools(&base)?.models;
    if let Some(model) = model.of(Role::Extract) {
        let sample = sample(&base, &ids, &wanted).await?;
        if !sample.is_empty() {
            let by_model = propose_by_model(model, &sample, &mut Spent::default()).await;
            proposed.extend(by_model.context("the model proposes no schema")?);
        }
    }
    let mut kept: Vec<RecordSchema> = Vec::new();
    for mut schema in proposed {
        if kept.iter().any(|held| held.fields == schema.fields) {
            continue;
        }
        let name = schema.name.clone();
        let mut n = 1;
        while kept.iter().any(|held| held.name == schema.name) {
            n += 1;
            schema.name = format!("{name}_{n}");
        }
        kept.push(schema);
    }
    if wiring.json {
        say_json(&json!({ "records": kept }))?;
    } else if kept.is_empty() {
        note(
            "nothing to propose: no table with named columns, no fields of documents, and no chat model that could read the texts",
        );
    } else {
        for schema in &kept {
            say(&declaration(schema));
        }
        note(
            "a draft: drop what you do not need, check types and key, and put the rest into pikerag.toml",
        );
        if let Some(line) = wiring.spent_line() {
            note(&line);
        }
    }
    Ok(0)
}

/// A schema as it stands in `pikerag.toml`.
fn declaration(schema: &RecordSchema) -> String {
    // JSON's strings are TOML's, for all that occurs in names and descriptions.
    let text = |text: &str| json!(text).to_string();
    let mut lines = vec!["[[records]]".to_owned(), format!("name = {}", text(&schema.name))];
    if !schema.description.is_empty() {
        lines.push(format!("description = {}", text(&schema.description)));
    }
    let key: Vec<String> = schema.key.iter().map(|name| text(name)).collect();
    lines.push(format!("key = [{}]", key.join(", ")));
    lines.push("fields = [".to_owned());
    for field in &schema.fields {
        let order = match field.order {
            pikerag_knowledge::records::DayOrder::Mdy => "",
            pikerag_knowledge::records::DayOrder::Dmy => ", order = \"dmy\"",
        };
        lines.push(format!(
            "    {{ name = {}, type = \"{}\"{order} }},",
            text(&field.name),
            field.kind.as_str()
        ));
    }
    lines.push("]\n".to_owned());
    lines.join("\n")
}

type Columns = Vec<(String, Vec<String>)>;

/// From the tables that share a header, the largest first.
async fn from_tables(
    base: &dyn KnowledgeWriter,
    ids: &[ChunkId],
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Vec<RecordSchema>> {
    let mut found: BTreeMap<Vec<String>, (String, usize, Columns)> = BTreeMap::new();
    for page in ids.chunks(512) {
        for chunk in base.chunks(page).await? {
            let Some(table) = chunk.table.as_ref().filter(|table| !table.header.is_empty()) else {
                continue;
            };
            if !wanted(&chunk.uri) {
                continue;
            }
            let held = found.entry(table.header.clone()).or_insert_with(|| {
                let columns = table.header.iter().map(|name| (name.clone(), Vec::new())).collect();
                (chunk.title.clone(), 0, columns)
            });
            held.1 += table.rows.len();
            for row in &table.rows {
                for (place, (_, values)) in held.2.iter_mut().enumerate() {
                    if values.len() < VALUES {
                        values.push(row.get(place).cloned().unwrap_or_default());
                    }
                }
            }
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(found.iter().filter_map(|(name, _, columns)| propose_from_columns(name, columns)).collect())
}

/// From what documents say of themselves, where enough of a file's say the same.
async fn from_metadata(
    base: &dyn KnowledgeBase,
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Vec<RecordSchema>> {
    let mut found: BTreeMap<(String, Vec<String>), (usize, Columns)> = BTreeMap::new();
    for source in base.sources().await? {
        if source.metadata.is_empty() || !wanted(&source.uri) {
            continue;
        }
        let file = source.uri.split('#').next().unwrap_or_default().to_owned();
        let names: Vec<String> = source.metadata.keys().cloned().collect();
        let held = found.entry((file, names)).or_default();
        held.0 += 1;
        let values = source.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (place, (name, value)) in
            [("title", source.title.as_str())].into_iter().chain(values).enumerate()
        {
            if held.1.len() <= place {
                held.1.push((name.to_owned(), Vec::new()));
            }
            if let Some((_, values)) =
                held.1.get_mut(place).filter(|(_, values)| values.len() < VALUES)
            {
                values.push(value.to_owned());
            }
        }
    }
    let alike = found.into_iter().filter(|(_, (documents, _))| ALIKE <= *documents);
    let named = alike.map(|((file, _), (_, columns))| {
        let stem =
            file.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        (stem.to_owned(), columns)
    });
    Ok(named.filter_map(|(name, columns)| propose_from_columns(&name, &columns)).collect())
}

/// Chunks from all over the base, so many that a prompt holds them.
async fn sample(
    base: &dyn KnowledgeWriter,
    ids: &[ChunkId],
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Vec<Chunk>> {
    // Identifiers are hashes: their order is a draw.
    let mut sample = Vec::new();
    let mut bytes = 0;
    for page in ids.chunks(512) {
        for chunk in base.chunks(page).await? {
            if !wanted(&chunk.uri) || chunk.table.is_some() {
                continue;
            }
            bytes += chunk.text.len();
            if SAMPLE <= sample.len() || (SAMPLE_BYTES < bytes && !sample.is_empty()) {
                return Ok(sample);
            }
            sample.push(chunk);
        }
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula() {
        let cells = ["a", "a,b", "say \"x\"", "=1+1", "-5", "-x"];
        insta::assert_snapshot!(cells.map(quoted).join("|"), @r#"a|"a,b"|"say ""x"""|'=1+1|-5|'-x"#);
    }

    /// What is proposed can be declared.
    #[test]
    fn a_declaration_reads_back() {
        let columns = [
            ("Name \"of\" it".to_owned(), vec!["Ada".to_owned(), "Bea".to_owned()]),
            ("批准日期".to_owned(), vec!["31/12/2010".to_owned(), "1/2/2010".to_owned()]),
        ];
        let schema = propose_from_columns("a", &columns).unwrap();
        let text = declaration(&schema);
        let read: crate::config::Settings = toml::from_str(&text).unwrap();
        assert_eq!(read.records, [schema]);
        insta::assert_snapshot!(text, @r#"
        [[records]]
        name = "a"
        key = ["name_of_it"]
        fields = [
            { name = "name_of_it", type = "text" },
            { name = "批准日期", type = "date", order = "dmy" },
        ]
        "#);
    }
}
