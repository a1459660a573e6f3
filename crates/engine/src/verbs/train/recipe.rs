//! Writes the training recipe (`recipes/`), which is a part of the program.

use std::fs;
use std::path::Path;

use crate::error::{EngineError, Result};

/// The files of the recipe.
const FILES: [(&str, &str); 13] = [
    ("README.md", include_str!("../../../../../recipes/README.md")),
    ("check.py", include_str!("../../../../../recipes/check.py")),
    ("converter.txt", include_str!("../../../../../recipes/converter.txt")),
    ("curve.py", include_str!("../../../../../recipes/curve.py")),
    ("evaluate.py", include_str!("../../../../../recipes/evaluate.py")),
    ("from_gguf.py", include_str!("../../../../../recipes/from_gguf.py")),
    ("readers.py", include_str!("../../../../../recipes/readers.py")),
    ("requirements.txt", include_str!("../../../../../recipes/requirements.txt")),
    ("rows.py", include_str!("../../../../../recipes/rows.py")),
    ("run.py", include_str!("../../../../../recipes/run.py")),
    ("serve.py", include_str!("../../../../../recipes/serve.py")),
    ("to_gguf.py", include_str!("../../../../../recipes/to_gguf.py")),
    ("train.py", include_str!("../../../../../recipes/train.py")),
];

/// Writes the files of the recipe into a folder, and returns their names. Existing files are replaced.
///
/// # Errors
/// A file cannot be written.
///
/// # Examples
/// ```no_run
/// # fn f() -> pikerag_engine::Result<()> {
/// let files = pikerag_engine::train_recipe("recipe".as_ref())?;
/// assert!(files.contains(&"run.py"));
/// # Ok(())
/// # }
/// ```
pub fn train_recipe(folder: &Path) -> Result<Vec<&'static str>> {
    let not_written = |path: &Path| {
        let path = path.to_owned();
        |source| EngineError::NotWritten { path, source }
    };
    fs::create_dir_all(folder).map_err(not_written(folder))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        fs::write(&path, text).map_err(not_written(&path))?;
    }
    Ok(FILES.iter().map(|(name, _)| *name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_recipe_is_in_the_program() {
        let there = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes")).unwrap();
        let mut there: Vec<String> = there
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with(['.', '_']))
            .collect();
        there.sort();
        let mut known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        known.sort_unstable();
        assert_eq!(there, known);
    }
}
