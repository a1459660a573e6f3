//! Reads the output and the help of the program.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The program's standard output, in English and for no terminal, so that lines break at the same
/// width everywhere.
pub(super) fn output(program: &Path, arguments: &[&str]) -> Result<String> {
    let line = format!("{} {}", program.display(), arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .env("PIKERAG_LANG", "en")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{line}`; build it: `cargo build`"))?;
    if !output.status.success() {
        bail!("`{line}` ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// The lines below a heading such as `Options:`, up to the next line without indentation.
pub(super) fn section<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let below = help.lines().skip_while(|line| *line != heading).skip(1);
    below.take_while(|line| line.is_empty() || line.starts_with(' ')).collect()
}

/// The first long flag of a line that begins an option.
pub(super) fn flag(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let is_option = text.starts_with('-') && line.len() - text.len() <= 6;
    let long = text.split([' ', ',']).find(|word| word.starts_with("--"));
    long.filter(|_| is_option).map(|word| word.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::{flag, section};

    #[test]
    fn sections_and_flags_are_found() {
        let help =
            "A\n\nOptions:\n  -q, --quiet  Less\n      --base <DIR>\n          A --folder\n\nEnd\n";
        let options = section(help, "Options:");
        assert_eq!(options.len(), 4);
        let flags: Vec<&str> = options.iter().filter_map(|line| flag(line)).collect();
        assert_eq!(flags, ["--quiet", "--base"]);
        assert_eq!(flag("  -v, --verbose..."), Some("--verbose"));
    }
}
