//! Runs `tables` and `sql`: lists typed tables, and shows the rows of a statement.

use pikerag_engine::knowledge::{DataColumn, DataTable, DataValue, SqlLimits, SqlRows};
use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::{Session, SqlRequest};

use crate::cli::{Sql, Tables};
use crate::output::{Output, say, say_json};
use crate::render::{count, short, width};

/// The longest cell and sample, in characters.
const CELL: usize = 40;
/// Samples of a column in the list of columns.
const SAMPLES: usize = 5;

pub(crate) async fn tables(
    session: &Session,
    output: Output,
    arguments: &Tables,
) -> anyhow::Result<u8> {
    if let Some(name) = &arguments.name {
        let table = pikerag_engine::table(session, name).await?;
        if output.json {
            return say_json(&table);
        }
        say(&heading(&table, output.language));
        for column in &table.columns {
            say(&described(column, output.language));
        }
        return Ok(0);
    }
    let found = pikerag_engine::tables(session).await?;
    if output.json {
        return say_json(&found);
    }
    for table in &found {
        say(&heading(table, output.language));
        let columns: Vec<String> =
            table.columns.iter().map(|column| kind(column, output.language)).collect();
        say(&format!("    {}", columns.join(output.language.either(", ", "，"))));
    }
    if found.is_empty() {
        output.note(
            "no tables; `pikerag index PATH…` reads them from CSV, spreadsheets, tables in documents, and JSON",
            "没有表；`pikerag index PATH…` 会从 CSV、电子表格、文档中的表格和 JSON 读取",
        );
    }
    Ok(0)
}

/// The name, the title, the number of rows and the source of a table.
fn heading(table: &DataTable, language: Language) -> String {
    let (name, title, rows) = (&table.name, &table.title, table.rows);
    let (left_out, skipped) = match table.left_out {
        0 => Default::default(),
        n => (format!(", {n} left out (totals, notes)"), format!("，略去 {n} 行（合计、注释）")),
    };
    let (source, origin) = match table.parts.as_slice() {
        [part] => (part.uri.clone(), part.uri.clone()),
        parts => (count(parts.len(), "document"), format!("{} 个文档", parts.len())),
    };
    let english = count(usize::try_from(rows).unwrap_or(usize::MAX), "row");
    Words::new(
        format!("{name}  {title:?}: {english} of {source}{left_out}"),
        format!("{name}  {title:?}：{rows} 行，来自 {origin}{skipped}"),
    )
    .of(language)
}

fn kind(column: &DataColumn, language: Language) -> String {
    let unit = column.unit.as_ref().map(|unit| match language {
        Language::English => format!(" ({unit})"),
        Language::Chinese => format!("（{unit}）"),
    });
    let kind = column.kind.in_words(language);
    format!("{} {kind}{}", column.sql, unit.unwrap_or_default())
}

/// A column with the range and samples of its values.
fn described(column: &DataColumn, language: Language) -> String {
    let DataColumn { filled, unread, distinct, .. } = column;
    let mut words = vec![Words::new(format!("{filled} filled"), format!("{filled} 个有值"))];
    if *unread != 0 {
        let Words { english, chinese } = column.kind.words();
        words.push(Words::new(
            format!("{unread} not read as {english}"),
            format!("{unread} 个不是{chinese}"),
        ));
    }
    if *distinct != 0 {
        let (sign, chinese) = match *distinct < DataColumn::MOST_DISTINCT {
            true => ("", ""),
            false => ("at least ", "至少 "),
        };
        words.push(Words::new(
            format!("{sign}{distinct} different"),
            format!("{chinese}{distinct} 种取值"),
        ));
    }
    if let (Some(least), Some(greatest)) = (&column.least, &column.greatest) {
        words.push(Words::new(format!("{least} to {greatest}"), format!("{least} 至 {greatest}")));
    }
    let words: Vec<String> = words.into_iter().map(|words| words.of(language)).collect();
    let words = words.join(language.either(", ", "，"));
    let samples = column.samples.iter().take(SAMPLES).map(|sample| short(sample, CELL));
    let samples = samples.collect::<Vec<_>>().join(language.either(", ", "、"));
    let stop = if samples.is_empty() { "" } else { language.separator() };
    let name = match column.name == column.sql {
        true => String::new(),
        false => format!(" {:?}", column.name),
    };
    let colon = language.either(": ", "：");
    format!("    {}{name}{colon}{words}{stop}{samples}", kind(column, language))
}

pub(crate) async fn sql(session: &Session, output: Output, arguments: &Sql) -> anyhow::Result<u8> {
    let limits = SqlLimits { rows: arguments.most.get(), ..SqlLimits::default() };
    let request = SqlRequest { statement: arguments.statement.join(" "), limits };
    let found = pikerag_engine::sql(session, &request).await?;
    if output.json {
        return say_json(&found);
    }
    for line in lines(&found) {
        say(&line);
    }
    if found.is_cut {
        let n = found.rows.len();
        output.note(
            format!("only the first {} are shown; `--most N` shows more", count(n, "row")),
            format!("只显示前 {n} 行；`--most N` 显示更多"),
        );
    }
    Ok(0)
}

/// The rows below their header, in columns; numbers are right-aligned.
pub(super) fn lines(found: &SqlRows) -> Vec<String> {
    let cell = |value: &DataValue| short(&value.to_string(), CELL);
    let mut table: Vec<Vec<String>> =
        vec![found.columns.iter().map(|name| short(name, CELL)).collect()];
    table.extend(found.rows.iter().map(|row| row.iter().map(cell).collect()));
    let width =
        |place: usize| table.iter().filter_map(|row| row.get(place)).map(|cell| width(cell)).max();
    let widths: Vec<usize> =
        (0..found.columns.len()).map(|place| width(place).unwrap_or_default()).collect();
    let is_number = |place: usize| {
        let mut values = found.rows.iter().filter_map(|row| row.get(place));
        values.all(|value| !matches!(value, DataValue::Text(_)))
    };
    let is_number: Vec<bool> = (0..widths.len()).map(is_number).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(&widths).zip(&is_number) {
            let space = " ".repeat(width.saturating_sub(self::width(cell)));
            match is_number {
                true => line.extend([space.as_str(), cell, "  "]),
                false => line.extend([cell, space.as_str(), "  "]),
            }
        }
        line.trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_in_columns() {
        let text = |text: &str| DataValue::Text(text.to_owned());
        let found = SqlRows {
            columns: vec!["region".to_owned(), "sum(amount)".to_owned()],
            rows: vec![
                vec![text("north"), DataValue::Integer(12)],
                vec![DataValue::Empty, DataValue::Real(0.5)],
            ],
            is_cut: false,
        };
        insta::assert_snapshot!(lines(&found).join("\n"), @r"
        region  sum(amount)
        north            12
                        0.5
        ");
    }
}
