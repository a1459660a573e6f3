//! Lists the routes of the server from the OpenAPI document (docs/reference/rest.md).

use anyhow::{Result, bail};

use super::schema::{Api, Operation};
use super::{one_line, row};

/// Headings by tag, in the order of the page.
const GROUPS: [(&str, &str); 14] = [
    ("bases", "Bases"),
    ("ask", "Questions"),
    ("search", "Search"),
    ("runs", "Runs"),
    ("look", "Documents, tables and graph"),
    ("reading", "Readings and corrections"),
    ("files", "Uploads, files and jobs"),
    ("feedback", "Feedback"),
    ("tags", "Tags"),
    ("budget", "Budget"),
    ("settings", "Settings and reports"),
    ("keys", "Keys"),
    ("compatible", "Protocols of other programs"),
    ("health", "State of the server"),
];

/// The routes of one base begin so; tables write `…`.
const OF_A_BASE: &str = "/api/v1/bases/{base}/";

/// Errors that the page names once: those of guards and of readers of bodies.
const OF_EVERY_ROUTE: [&str; 6] = ["401", "403", "413", "415", "429", "503"];

/// A heading and a table for each group of routes.
pub(super) fn routes(api: &Api) -> Result<String> {
    let mut tables = GROUPS.map(|_| String::new());
    for (path, operations) in &api.paths {
        for (method, operation) in operations {
            let tag = operation.tags.first().map(String::as_str).unwrap_or_default();
            let group = GROUPS.iter().zip(&mut tables).find(|((name, _), _)| *name == tag);
            let Some((_, table)) = group else {
                bail!("the tag `{tag}` of {path} has no heading: add it to xtask/src/docs/rest.rs");
            };
            *table += &line(path, method, operation);
        }
    }
    let head =
        row(&["route", "task", "query", "scope", "errors"]) + "| --- | --- | --- | --- | --- |\n";
    let mut text = String::new();
    let sections = GROUPS.iter().zip(tables).filter(|(_, table)| !table.is_empty());
    for ((_, heading), table) in sections {
        for part in ["### ", heading, "\n\n", &head, &table, "\n"] {
            text.push_str(part);
        }
    }
    Ok(text)
}

fn line(path: &str, method: &str, operation: &Operation) -> String {
    let path = match path.strip_prefix(OF_A_BASE) {
        Some(rest) => format!("…/{rest}"),
        None => path.to_owned(),
    };
    let mut query = Vec::new();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == "query") {
        let mark = if parameter.required { ", required" } else { "" };
        let meaning = one_line(&parameter.description);
        let meaning = meaning.trim_end_matches('.');
        query.push(match (meaning, mark) {
            ("", "") => format!("`{}`", parameter.name),
            ("", _) => format!("`{}` (required)", parameter.name),
            _ => format!("`{}` ({meaning}{mark})", parameter.name),
        });
    }
    let is_own =
        |status: &&String| !status.starts_with('2') && !OF_EVERY_ROUTE.contains(&status.as_str());
    let failures = operation.responses.keys().filter(is_own);
    row(&[
        &format!("`{} {path}`", method.to_uppercase()),
        &one_line(&operation.summary),
        &query.join("; "),
        operation.scope.as_deref().unwrap_or("none"),
        &failures.cloned().collect::<Vec<_>>().join(", "),
    ])
}

#[cfg(test)]
mod tests {
    use super::routes;
    use crate::docs::schema::parse;

    #[test]
    fn routes_are_grouped_and_short() {
        let api = parse(
            r#"{"paths": {
                "/health": {"get": {"tags": ["health"], "summary": "Whether it\nruns.", "responses": {"200": {}}}},
                "/api/v1/bases/{base}/files": {"delete": {"tags": ["files"], "summary": "Deletes.", "x-scope": "write",
                    "parameters": [{"name": "base", "in": "path"}, {"name": "file", "in": "query", "required": true, "description": "The name."}],
                    "responses": {"200": {}, "401": {}, "404": {}, "503": {}}}}},
              "components": {"schemas": {}}}"#,
        );
        let text = routes(&api).unwrap();
        assert!(text.starts_with("### Uploads, files and jobs\n\n| route | task |"), "{text}");
        assert!(
            text.contains(
                "| `DELETE …/files` | Deletes. | `file` (The name, required) | write | 404 |\n"
            ),
            "{text}"
        );
        assert!(text.contains("| `GET /health` | Whether it runs. |  | none |  |\n"), "{text}");
        let api = parse(
            r#"{"paths": {"/x": {"get": {"tags": ["new"], "summary": "", "responses": {}}}}, "components": {"schemas": {}}}"#,
        );
        assert!(routes(&api).is_err());
    }
}
