//! Reads the fields of structs and the variants of enums from formatted Rust sources.

use std::collections::BTreeMap;

/// The public shape of the types of some files, by name.
#[derive(Default)]
pub(super) struct Types {
    pub(super) structs: BTreeMap<String, Vec<Field>>,
    /// The variants, as settings name them.
    pub(super) enums: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Its type as written.
    pub(super) kind: String,
}

impl Types {
    /// Adds the types of a file as `rustfmt` writes it: one field or variant per line.
    pub(super) fn add(&mut self, source: &str) {
        let mut lines = source.lines();
        let mut attributes = String::new();
        while let Some(line) = lines.next() {
            if line.starts_with("#[") {
                attributes += line;
            } else if let Some(name) = opened(line, "struct ") {
                let body = lines.by_ref().take_while(|line| *line != "}");
                self.structs.insert(name, fields(body));
                attributes.clear();
            } else if let Some(name) = opened(line, "enum ") {
                let body = lines.by_ref().take_while(|line| *line != "}");
                let case = value(&attributes, "rename_all = ").unwrap_or_default();
                self.enums.insert(name, variants(body, &case));
                attributes.clear();
            } else if !line.starts_with([' ', ')', '/']) {
                attributes.clear();
            }
        }
    }
}

/// The name in a line such as `pub struct Name {`.
fn opened(line: &str, keyword: &str) -> Option<String> {
    let (before, after) = line.strip_suffix(" {")?.split_once(keyword)?;
    let is_item = before.is_empty() || before == "pub " || before.starts_with("pub(");
    is_item.then(|| after.to_owned())
}

fn fields<'a>(body: impl Iterator<Item = &'a str>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut attributes = String::new();
    for line in body.map(str::trim) {
        if line.starts_with("#[") {
            attributes += line;
        } else if let Some((name, kind)) = line.trim_end_matches(',').split_once(": ")
            && !line.starts_with("//")
        {
            let name = name.rsplit(' ').next().unwrap_or(name).to_owned();
            if !attributes.contains("serde(skip)") {
                let name = value(&attributes, "rename = ").unwrap_or(name);
                fields.push(Field { name, kind: kind.to_owned() });
            }
            attributes.clear();
        }
    }
    fields
}

fn variants<'a>(body: impl Iterator<Item = &'a str>, case: &str) -> Vec<String> {
    let names = body.filter_map(|line| line.strip_prefix("    ")?.strip_suffix(','));
    let is_name = |name: &&str| name.starts_with(char::is_uppercase) && !name.contains(' ');
    names.filter(is_name).map(|name| cased(name, case)).collect()
}

fn cased(name: &str, case: &str) -> String {
    let separator = match case {
        "snake_case" => "_",
        "kebab-case" => "-",
        "lowercase" => "",
        _ => return name.to_owned(),
    };
    let mut written = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !written.is_empty() {
            written += separator;
        }
        written.extend(letter.to_lowercase());
    }
    written
}

/// The quoted text after a name.
fn value(attributes: &str, name: &str) -> Option<String> {
    let (_, after) = attributes.split_once(name)?;
    after.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Types;

    #[test]
    fn structs_and_enums_are_read() {
        let source = "use a::B;\n\n#[derive(\n    Debug,\n)]\n#[serde(default)]\npub(super) struct Table {\n    \
            /// A note: on it.\n    pub(super) base_url: Option<String>,\n    #[serde(rename = \"type\", default)]\n    \
            pub kind: Kind,\n    #[serde(skip)]\n    withheld: Vec<String>,\n}\n\n#[serde(rename_all = \"kebab-case\")]\n\
            pub enum Kind {\n    /// Text.\n    #[default]\n    OneStep,\n    MeanTop2,\n}\nenum Other {\n    A,\n}\n";
        let mut types = Types::default();
        types.add(source);
        let shown: Vec<String> =
            types.structs["Table"].iter().map(|f| format!("{}: {}", f.name, f.kind)).collect();
        assert_eq!(shown, ["base_url: Option<String>", "type: Kind"]);
        assert_eq!(types.enums["Kind"], ["one-step", "mean-top2"]);
        assert_eq!(types.enums["Other"], ["A"]);
    }
}
