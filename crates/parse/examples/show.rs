//! What does the parser make of these files? One JSON line per file: its name, seconds, and what was
//! read or why it was not. Old Office formats are converted with `soffice`, if it is installed.

#![expect(clippy::print_stdout, reason = "it is what this program is for")]

use std::process::Command;
use std::time::Instant;

use pikerag_knowledge::Image;
use pikerag_parse::{Helpers, Limits, SeenWord, Unavailable, parse};

struct Soffice;

impl Helpers for Soffice {
    fn recognize(&self, _: &Image, _: f32) -> Result<Vec<SeenWord>, Unavailable> {
        Err(Unavailable("no recognition here".to_owned()))
    }

    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        let run = || -> std::io::Result<Vec<u8>> {
            let folder = std::env::temp_dir().join(format!("show-{}", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            let old = folder.join(format!("it.{from}"));
            std::fs::write(&old, bytes)?;
            let mut command = Command::new("soffice");
            command.args(["--headless", "--convert-to", &format!("{from}x"), "--outdir"]);
            command.arg(&folder).arg(&old).output()?;
            std::fs::read(folder.join(format!("it.{from}x")))
        };
        run().map_err(|error| Unavailable(format!("soffice did not convert it: {error}")))
    }
}

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let start = Instant::now();
        let parsed = parse(&path, &bytes, &Limits::default(), &Soffice);
        let seconds = start.elapsed().as_secs_f64();
        let shown = match parsed {
            Ok(mut parsed) => {
                for document in &mut parsed.documents {
                    document.images.iter_mut().for_each(|image| image.bytes.clear());
                }
                serde_json::json!({"file": path, "seconds": seconds, "parsed": parsed})
            }
            Err(error) => {
                serde_json::json!({"file": path, "seconds": seconds, "error": error.to_string()})
            }
        };
        println!("{shown}");
    }
    Ok(())
}
