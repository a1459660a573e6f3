//! Lists the limits of the server from the output of `serve --limits` (docs/reference/limits.md).

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::help::output;
use super::row;

/// The fields of `pikerag --json serve --limits` that hold on every machine.
#[derive(Deserialize)]
struct Limit {
    name: String,
    default: String,
    setting: Option<String>,
    beyond: String,
}

/// A row for each limit.
pub(super) fn table(program: &Path) -> Result<String> {
    rows(&output(program, &["--json", "serve", "--limits"])?)
}

fn rows(json: &str) -> Result<String> {
    let limits: Vec<Limit> =
        serde_json::from_str(json).context("cannot parse `serve --limits --json`")?;
    ensure!(!limits.is_empty(), "`serve --limits --json` lists no limits");
    let mut table = row(&["limit", "default", "setting", "beyond"]) + "| --- | --- | --- | --- |\n";
    for Limit { name, default, setting, beyond } in &limits {
        let setting = setting.as_ref().map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
        table += &row(&[name, default, &setting, beyond]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_show_the_default_and_the_setting() {
        let json = r#"[
            {"name": "body", "default": "4 MiB", "now": "16 MiB", "setting": "server.body_mib", "beyond": "413"},
            {"name": "exports", "default": "4", "now": "4", "setting": null, "beyond": "they wait"}]"#;
        let table = rows(json).unwrap();
        assert_eq!(
            table.lines().skip(2).collect::<Vec<_>>(),
            ["| body | 4 MiB | `server.body_mib` | 413 |", "| exports | 4 | – | they wait |"]
        );
        assert!(rows("[]").is_err());
    }
}
