//! Lists the names of the methods in lines, for the README.

/// The largest number of characters of a line.
const WIDTH: usize = 120;

/// The names of the table's first column, in lines.
pub(super) fn names(table: &str) -> String {
    let named = table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let named: Vec<String> = named.map(|name| format!("`{name}`")).collect();
    let (mut lines, mut line) = (String::new(), String::new());
    for (place, name) in named.iter().enumerate() {
        let word = if place + 1 == named.len() { name.clone() } else { format!("{name},") };
        if !line.is_empty() && WIDTH <= line.len() + word.len() {
            lines += &line;
            lines.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_in_lines() {
        let table = "| name | x |\n| --- | --- |\n| `a` | `no` |\n| `b-c` | |\n";
        assert_eq!(names(table), "`a`, `b-c`\n");
        let rows: Vec<String> = (0..40).map(|n| format!("| `method-{n}` | |")).collect();
        let lines = names(&rows.join("\n"));
        assert!(
            2 < lines.lines().count() && lines.lines().all(|line| line.len() <= 120),
            "{lines}"
        );
    }
}
