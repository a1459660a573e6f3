//! Checks that the parts of a prompt that change within a run come after its passages, so that a model's server
//! finds the beginning in its cache.

use std::path::Path;

/// Parts that differ between the rounds of a run, or between agents.
const CHANGING: [&str; 7] = [
    "if last %}",
    "{{ about }}",
    "{{ count }}",
    "{{ distinct }}",
    "{{ name }}",
    "{{ rationale }}",
    "{{ step }}",
];

#[test]
fn changing_parts_come_after_the_passages() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut checked = 0;
    for folder in ["baselines/src/prompts", "methods/src/prompts", "methods/src/decompose/prompts"]
    {
        for entry in std::fs::read_dir(crates.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue; // Earlier texts: only replays send them.
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let Some(context) = text.find("{{ context }}") else { continue };
            for part in CHANGING {
                if let Some(at) = text.find(part) {
                    assert!(context < at, "{part} in {}", path.display());
                    checked += 1;
                }
            }
        }
    }
    assert!(0 < checked);
}
