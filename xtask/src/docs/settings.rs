//! Lists every setting that the settings file accepts, from the types that read it
//! (docs/reference/settings.md), and finds settings that the reference or the template lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::help::output;
use super::row;
use super::types::Types;

/// The files that define the settings file.
const SOURCES: [&str; 15] = [
    "crates/engine/src/settings.rs",
    "crates/engine/src/settings/file.rs",
    "crates/engine/src/settings/local.rs",
    "crates/engine/src/settings/postgres.rs",
    "crates/engine/src/settings/rerank.rs",
    "crates/engine/src/settings/runs.rs",
    "crates/engine/src/settings/server.rs",
    "crates/indexing/src/params.rs",
    "crates/knowledge/src/distilled.rs",
    "crates/knowledge/src/ports/models.rs",
    "crates/knowledge/src/records.rs",
    "crates/methods/src/ports.rs",
    "crates/methods/src/tag_use.rs",
    "crates/models/src/openai.rs",
    "crates/retrieve/src/auto.rs",
];
/// Files of weights, whose types would hide others of the same name.
const WEIGHTS: [&str; 2] = ["crates/retrieve/src/layers.rs", "crates/retrieve/src/hops.rs"];
/// The table of a model's prices.
const PRICES: &str = "prices.\"MODEL\"";
const ROOT: &str = "SettingsFile";
const PAGE: &str = "docs/reference/settings.md";
const TEMPLATE: &str = "crates/engine/src/settings/pikerag.toml";
/// Tables of which the template shows examples only: parameters and weights.
const EXAMPLES_ONLY: [&str; 4] = ["methods", "methods.hops", "retrieval.auto", "retrieval.layers"];
/// Settings that the template leaves out. It shows `api_key_env` instead of keys in the file, and
/// Azure for the chat model only.
const LEFT_OUT: [&str; 4] =
    ["chat.api_key", "embed.api_key", "embed.azure_api_version", "rerank.api_key"];

/// A table of the settings file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// Its name, such as `tags.classes`; empty for the top of the file.
    name: String,
    /// Whether it occurs several times: `[[tags.classes]]`.
    is_list: bool,
    /// Settings with their types in words.
    settings: Vec<(String, String)>,
}

/// A table of settings and types for each table of the file.
pub(super) fn list(root: &Path, program: &Path) -> Result<String> {
    let mut text = String::new();
    for table in tables(root, program)? {
        let heading = match (table.name.as_str(), table.is_list) {
            ("", _) => "top of the file".to_owned(),
            (name, true) => format!("`[[{name}]]`"),
            (name, false) => format!("`[{name}]`"),
        };
        text += &(row(&[&heading, "value"]) + "| --- | --- |\n");
        for (name, kind) in &table.settings {
            text += &row(&[&format!("`{name}`"), kind]);
        }
        text.push('\n');
    }
    Ok(text)
}

/// Settings that neither the hand-written part of the page nor the template names.
pub(super) fn missing(root: &Path, program: &Path) -> Result<Vec<String>> {
    let tables = tables(root, program)?;
    let page = fs::read_to_string(root.join(PAGE))?;
    let (before, after) = page.split_once("<!-- settings:begin -->").context("no marks")?;
    let after = after.split_once("<!-- settings:end -->").context("no marks")?.1;
    let template = fs::read_to_string(root.join(TEMPLATE))?;
    let mut missing = unexplained(&tables, &format!("{before}{after}"));
    missing.extend(not_shown(&tables, &template));
    Ok(missing)
}

fn unexplained(tables: &[Table], text: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for Table { name: table, settings, .. } in tables {
        for (name, _) in settings {
            let spellings = [format!("`{name}`"), format!(".{name}`"), format!("`[{name}.")];
            if !spellings.iter().any(|spelling| text.contains(spelling)) {
                missing.push(format!("{PAGE}: no text explains `{name}` of `[{table}]`"));
            }
        }
    }
    missing
}

/// Settings without a line in their table of the template.
fn not_shown(tables: &[Table], template: &str) -> Vec<String> {
    let shown = shown(template);
    let mut missing = Vec::new();
    for Table { name: table, settings, .. } in tables {
        let Some(names) = shown.get(table.as_str()) else {
            missing.push(format!("{TEMPLATE}: there is no `[{table}]`"));
            continue;
        };
        for (name, _) in settings {
            let is_left_out = EXAMPLES_ONLY.contains(&table.as_str())
                || LEFT_OUT.contains(&format!("{table}.{name}").as_str())
                || shown.keys().any(|table| table.starts_with(&format!("{name}.")));
            if !is_left_out && !names.contains(name.as_str()) {
                missing.push(format!("{TEMPLATE}: `[{table}]` has no `{name}`"));
            }
        }
    }
    missing
}

/// The names of the settings of each table, also those within a comment. Those of the lines of a
/// list `x = [{ a = 1 }]` are in the table `x` below.
fn shown(template: &str) -> BTreeMap<String, BTreeSet<&str>> {
    let mut tables = BTreeMap::from([(String::new(), BTreeSet::new())]);
    let (mut table, mut last) = (String::new(), "");
    for line in template.lines() {
        let Some(line) = line.strip_prefix("#: ") else {
            let comment = line.trim_start_matches('#').split([':', ',']).filter_map(setting);
            tables.entry(table.clone()).or_default().extend(comment);
            continue;
        };
        if let Some(header) = line.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default();
            name.clone_into(&mut table);
            tables.entry(table.clone()).or_default();
            continue;
        }
        let is_nested = line.starts_with(' ');
        let place = if is_nested { format!("{table}.{last}") } else { table.clone() };
        let names: BTreeSet<&str> = line.split(['{', ',']).filter_map(setting).collect();
        if !is_nested {
            last = setting(line).unwrap_or(last);
        }
        tables.entry(place).or_default().extend(names);
    }
    // The name of a model is an example.
    let is_price = |table: &String| table.starts_with("prices.");
    let prices = tables.keys().find(|table| is_price(table)).cloned();
    if let Some(names) = prices.and_then(|table| tables.remove(&table)) {
        tables.insert(PRICES.to_owned(), names);
    }
    tables
}

/// The name before ` = `.
fn setting(text: &str) -> Option<&str> {
    let name = text.split_once(" = ")?.0.trim();
    name.chars().all(|c| c.is_ascii_lowercase() || c == '_').then_some(name)
}

fn tables(root: &Path, program: &Path) -> Result<Vec<Table>> {
    let mut types = Types::default();
    for path in WEIGHTS.iter().chain(&SOURCES) {
        let source =
            fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        types.add(&source);
    }
    let mut walk = Walk { types: &types, tables: Vec::new(), places: BTreeMap::new() };
    walk.add(ROOT, "", false).with_context(|| format!("the types of {PAGE}"))?;
    walk.add("HopParams", "methods.hops", false)?;
    let mut tables = walk.tables;
    let methods = tables.iter_mut().find(|table| table.name == "methods");
    let methods = methods.context("there is no table `[methods]`")?;
    methods.settings.retain(|(name, _)| name != "set");
    methods.settings.extend(parameters(program)?);
    methods.settings.push(("certainty".to_owned(), quoted(&types.enums, "Certainty")));
    Ok(tables)
}

/// A depth-first walk over the tables.
struct Walk<'a> {
    types: &'a Types,
    tables: Vec<Table>,
    /// The table that a struct was found in first.
    places: BTreeMap<String, String>,
}

impl Walk<'_> {
    fn add(&mut self, name: &str, table: &str, is_list: bool) -> Result<()> {
        let fields = self.types.structs.get(name).with_context(|| format!("no struct `{name}`"))?;
        self.places.insert(name.to_owned(), table.to_owned());
        let place = self.tables.len();
        self.tables.push(Table { name: table.to_owned(), is_list, ..Table::default() });
        for field in fields {
            let inner = bare(&field.kind);
            let below = if table.is_empty() {
                field.name.clone()
            } else {
                format!("{table}.{}", field.name)
            };
            let first = self.places.get(inner).map(|place| format!("as `[{place}]`"));
            let kind = match first {
                Some(kind) => kind,
                None if self.types.structs.contains_key(inner) => {
                    let is_named = field.kind.starts_with("BTreeMap<String");
                    let below = if is_named { format!("{below}.\"MODEL\"") } else { below };
                    self.add(inner, &below, field.kind.starts_with("Vec<"))?;
                    continue;
                }
                None => self.kind(&field.kind),
            };
            let keys = field.kind.strip_prefix("BTreeMap<Role");
            let kind = match keys {
                Some(_) => {
                    format!("a table for each of {}: {kind}", quoted(&self.types.enums, "Role"))
                }
                None => kind,
            };
            if let Some(table) = self.tables.get_mut(place) {
                table.settings.push((field.name.clone(), kind));
            }
        }
        // A table of tables only.
        if self.tables.get(place).is_some_and(|table| table.settings.is_empty()) {
            self.tables.remove(place);
        }
        Ok(())
    }

    fn kind(&self, kind: &str) -> String {
        if let Some(items) = inner(kind, "Vec<") {
            return format!("list of {}", self.kind(items));
        }
        if let Some(kind) = inner(kind, "Option<") {
            return self.kind(kind);
        }
        let name = kind.rsplit("::").next().unwrap_or(kind);
        if self.types.enums.contains_key(name) {
            return quoted(&self.types.enums, name);
        }
        let word = match name {
            "bool" => "true or false",
            "f32" | "f64" => "number",
            "String" | "PathBuf" | "Secret" => "string",
            _ if name.starts_with("NonZero") => "integer from 1",
            _ if name.starts_with(['u', 'i']) => "integer",
            _ => "table",
        };
        word.to_owned()
    }
}

/// The name of the innermost type, without its path.
fn bare(kind: &str) -> &str {
    let innermost = kind.rsplit(['<', ' ']).next().unwrap_or(kind).trim_end_matches('>');
    innermost.rsplit("::").next().unwrap_or(innermost)
}

fn inner<'a>(kind: &'a str, generic: &str) -> Option<&'a str> {
    kind.strip_prefix(generic)?.strip_suffix('>')
}

fn quoted(enums: &BTreeMap<String, Vec<String>>, name: &str) -> String {
    let values = enums.get(name).into_iter().flatten().map(|value| format!("`{value}`"));
    values.collect::<Vec<_>>().join(", ")
}

/// The parameters of all methods with their ranges.
fn parameters(program: &Path) -> Result<BTreeMap<String, String>> {
    /// The least and the largest value.
    type Limits = [Option<serde_json::Number>; 2];
    #[derive(Deserialize)]
    struct Method {
        parameters: Vec<Parameter>,
    }
    #[derive(Deserialize)]
    struct Parameter {
        name: String,
        range: Range,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Range {
        Whole(Limits),
        Number(Limits),
        OneOf(Vec<String>),
    }
    let methods = output(program, &["--json", "methods"])?;
    let methods: Vec<Method> =
        serde_json::from_str(&methods).context("cannot parse `methods --json`")?;
    let limits = |[from, to]: &Limits| match (from, to) {
        (Some(from), Some(to)) => format!("{from} to {to}"),
        (Some(from), None) => format!("{from} and above"),
        (None, Some(to)) => format!("{to} and below"),
        (None, None) => "any".to_owned(),
    };
    let parameters = methods.into_iter().flat_map(|method| method.parameters);
    Ok(parameters
        .map(|Parameter { name, range }| {
            let range = match range {
                Range::Whole(range) => format!("integer, {}", limits(&range)),
                Range::Number(range) => format!("number, {}", limits(&range)),
                Range::OneOf(values) => {
                    values.iter().map(|v| format!("`{v}`")).collect::<Vec<_>>().join(", ")
                }
            };
            (name, range)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::{Table, Walk, not_shown, unexplained};
    use crate::docs::types::Types;

    const TYPES: &str = "struct SettingsFile {\n    base: Option<PathBuf>,\n    chat: ChatTable,\n    \
        roles: BTreeMap<Role, ChatTable>,\n    tags: a::TagsTable,\n    prices: BTreeMap<String, PriceTable>,\n}\n\
        struct ChatTable {\n    tokens: Option<NonZeroU32>,\n    headers: BTreeMap<String, Secret>,\n}\n\
        struct TagsTable {\n    classes: Vec<TagTable>,\n}\nstruct TagTable {\n    name: String,\n    with: Vec<Kind>,\n}\n\
        struct PriceTable {\n    prompt: f64,\n}\n\
        #[serde(rename_all = \"lowercase\")]\nenum Kind {\n    A,\n    B,\n}\n\
        #[serde(rename_all = \"lowercase\")]\nenum Role {\n    Answer,\n}\n";

    fn tables() -> Vec<Table> {
        let mut types = Types::default();
        types.add(TYPES);
        let mut walk = Walk { types: &types, tables: Vec::new(), places: [].into() };
        walk.add("SettingsFile", "", false).unwrap();
        walk.tables
    }

    #[test]
    fn tables_and_types_follow_the_structs() {
        let mut shown = Vec::new();
        for Table { name, is_list, settings } in tables() {
            for (setting, kind) in settings {
                shown.push(format!("{name} {is_list} {setting}: {kind}"));
            }
        }
        assert_eq!(
            shown,
            [
                " false base: string",
                " false roles: a table for each of `answer`: as `[chat]`",
                "chat false tokens: integer from 1",
                "chat false headers: table",
                "tags.classes true name: string",
                "tags.classes true with: list of `a`, `b`",
                "prices.\"MODEL\" false prompt: number",
            ]
        );
    }

    #[test]
    fn settings_without_text_or_example_are_found() {
        let page = "`base` `[roles.ROLE]` `tokens` `tags.classes.name` `with` `prompt`";
        assert_eq!(
            unexplained(&tables(), page),
            ["docs/reference/settings.md: no text explains `headers` of `[chat]`"]
        );
        let template = "#: base = \"b\"\n#: [chat]\n# For some: tokens = 3, or more.\n#: [roles.answer]\n\
            #: [[tags.classes]]\n#: name = \"n\"\n#: [prices.\"m\"]\n#: prompt = 0.0\n";
        let template_of = |problem| format!("{}: {problem}", super::TEMPLATE);
        assert_eq!(
            not_shown(&tables(), template),
            [
                template_of("`[chat]` has no `headers`"),
                template_of("`[tags.classes]` has no `with`"),
            ]
        );
    }
}
