//! Reads the OpenAPI document (docs/openapi.json), which a test compares with the server's own.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// The parts of the document that pages show.
#[derive(Deserialize)]
pub(super) struct Api {
    /// Operations by path and method.
    pub(super) paths: BTreeMap<String, BTreeMap<String, Operation>>,
    components: Components,
}

#[derive(Deserialize)]
struct Components {
    schemas: BTreeMap<String, Schema>,
}

#[derive(Deserialize)]
pub(super) struct Operation {
    pub(super) tags: Vec<String>,
    pub(super) summary: String,
    #[serde(default)]
    pub(super) parameters: Vec<Parameter>,
    pub(super) responses: BTreeMap<String, serde_json::Value>,
    /// The scope that a key needs; `None` for routes without a key.
    #[serde(rename = "x-scope")]
    pub(super) scope: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    #[serde(rename = "in")]
    pub(super) place: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) required: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Schema {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kinds>,
    #[serde(rename = "enum")]
    pub(super) values: Vec<serde_json::Value>,
    pub(super) description: String,
    pub(super) properties: BTreeMap<String, Schema>,
    pub(super) required: Vec<String>,
    items: Option<Items>,
    prefix_items: Vec<Schema>,
    pub(super) one_of: Vec<Schema>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Items {
    /// Whether there may be others than `prefixItems`.
    Others(#[expect(dead_code, reason = "only its presence counts")] bool),
    Each(Box<Schema>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kinds {
    One(String),
    Several(Vec<String>),
}

/// The largest number of values that a cell lists.
const MOST_VALUES: usize = 12;

pub(super) fn read(root: &Path) -> Result<Api> {
    let text = std::fs::read_to_string(root.join("docs/openapi.json"))?;
    serde_json::from_str(&text).context("cannot parse docs/openapi.json")
}

impl Api {
    pub(super) fn schema(&self, name: &str) -> Option<&Schema> {
        self.components.schemas.get(name)
    }

    /// The type in words: `integer`, `array of Candidate`, `one of "a", "b"`.
    pub(super) fn kind(&self, schema: &Schema) -> String {
        if let Some(name) = schema.name() {
            let target = self.schema(name);
            let is_plain =
                |target: &&Schema| target.one_of.is_empty() && target.properties.is_empty();
            return match target.filter(is_plain) {
                Some(target) => self.kind(target),
                None => target.and_then(Schema::listed).unwrap_or_else(|| format!("`{name}`")),
            };
        }
        if let Some(listed) = schema.listed() {
            return listed;
        }
        if !schema.prefix_items.is_empty() {
            let kinds = schema.prefix_items.iter().map(|schema| self.kind(schema));
            return format!("array of {}", kinds.collect::<Vec<_>>().join(" and "));
        }
        if let Some(Items::Each(items)) = &schema.items {
            return format!("array of {}", self.kind(items));
        }
        let kinds: Vec<String> = schema.one_of.iter().map(|schema| self.kind(schema)).collect();
        match &schema.kind {
            _ if !kinds.is_empty() => kinds.join(" or "),
            Some(Kinds::One(kind)) => kind.clone(),
            Some(Kinds::Several(kinds)) => kinds.join(" or "),
            None => "any".to_owned(),
        }
    }
}

impl Schema {
    /// The name of the schema that this one refers to.
    fn name(&self) -> Option<&str> {
        self.reference.as_deref()?.rsplit('/').next()
    }

    /// The possible values, if they are few and all of them strings.
    fn listed(&self) -> Option<String> {
        let alternatives = self.one_of.iter().flat_map(|schema| &schema.values);
        let values: Vec<&str> =
            self.values.iter().chain(alternatives).filter_map(|value| value.as_str()).collect();
        let is_whole = self.one_of.iter().all(|schema| schema.values.len() == 1);
        if values.is_empty() || MOST_VALUES < values.len() || !is_whole {
            return None;
        }
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        Some(values.join(", "))
    }
}

#[cfg(test)]
pub(super) fn parse(text: &str) -> Api {
    serde_json::from_str(text).unwrap()
}
