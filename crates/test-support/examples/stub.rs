//! Runs the tests' model server by hand: writes the tests' world into a folder and serves until it
//! is stopped. `cargo run -p pikerag-test-support --example stub -- FOLDER [SEED [MILLISECONDS]]`. With a seed other
//! than 0 it is another world, of 120 questions over 300 paragraphs. Each reply takes the milliseconds, and a streamed
//! one an eighth of them for each piece. `FOLDER/data` holds a small
//! data set for each preset of `eval`; `GET /kinds` counts the prompts by kind, `other` for those that
//! it does not know.

#![expect(clippy::print_stdout, reason = "it prints its address")]

use std::io::{Error, Result};
use std::path::PathBuf;
use std::time::Duration;

use pikerag_test_support::{Faults, Server, Sizes, World, full_oracle, write_data_sets};

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| Error::other("name the folder to write to"))?;
    std::fs::create_dir_all(&folder)?;
    let number = |nth: usize| -> Result<Option<u64>> {
        std::env::args().nth(nth).map(|number| number.parse().map_err(Error::other)).transpose()
    };
    let latency = Duration::from_millis(number(3)?.unwrap_or_default());
    let world = match number(2)?.filter(|seed| *seed != 0) {
        Some(seed) => World::generate(seed, Sizes { paragraphs: 300, questions: 120 }),
        None => World::workload(),
    };
    std::fs::write(folder.join("corpus.jsonl"), world.corpus())?;
    std::fs::write(folder.join("questions.jsonl"), world.questions())?;
    write_data_sets(&folder.join("data"));
    let server = Server::start(full_oracle, Faults::default(), latency);
    println!(
        "export OPENAI_BASE_URL={} OPENAI_MODEL=stub PIKERAG_EMBED_MODEL=stub-embedding",
        server.url()
    );
    loop {
        std::thread::park();
    }
}
