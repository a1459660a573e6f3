//! Writes a schema of records as a declaration for `pikerag.toml`.

use pikerag_knowledge::RecordSchema;
use pikerag_knowledge::records::DayOrder;
use serde_json::json;

/// The lines that declare a schema.
pub fn declaration(schema: &RecordSchema) -> String {
    // JSON strings are valid TOML for all characters in names and descriptions.
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
            DayOrder::Mdy => "",
            DayOrder::Dmy => ", order = \"dmy\"",
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

#[cfg(test)]
mod tests {
    use pikerag_records::propose_from_columns;

    use super::*;
    use crate::settings::file::SettingsFile;

    /// A proposed schema can be declared.
    #[test]
    fn a_declaration_parses_to_its_schema() {
        let columns = [
            ("Name \"of\" it".to_owned(), vec!["Ada".to_owned(), "Bea".to_owned()]),
            ("批准日期".to_owned(), vec!["31/12/2010".to_owned(), "1/2/2010".to_owned()]),
        ];
        let schema = propose_from_columns("a", &columns).unwrap();
        let text = declaration(&schema);
        let read: SettingsFile = toml::from_str(&text).unwrap();
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
