//! Writes the hostile files into a folder: `cargo run -p pikerag-test-support --example hostile --
//! FOLDER`.

use std::io::{Error, Result};
use std::path::PathBuf;

use pikerag_test_support::hostile;

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| Error::other("name the folder to write to"))?;
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in hostile::all() {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
