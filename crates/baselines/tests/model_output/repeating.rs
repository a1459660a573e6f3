//! Plays a model that repeats its input, so that its output can be traced by its words. It ends
//! chunks somewhere, and takes capitalised words and quoted Chinese ones for names. The prompt
//! alone decides.

use serde_json::{Value, json};

/// The text below a heading of a prompt.
pub(crate) fn below<'a>(prompt: &'a str, heading: &str) -> &'a str {
    let (_, rest) = prompt.rsplit_once(&format!("\n# {heading}\n")).unwrap();
    rest.split("\n\n# ").next().unwrap()
}

/// The reply to a prompt of indexing, or of a question's tags.
pub(crate) fn reply(prompt: &str) -> String {
    let holds = |heading: &str| prompt.contains(&format!("\n# {heading}\n"));
    let object = match () {
        () if holds("Factors") => classes(below(prompt, "Factors")),
        () if holds("Passages") => factors(below(prompt, "Passages")),
        () if holds("Tags of the passage") => {
            json!({"pairs": [{"question_tag": 1, "passage_tag": 1}]})
        }
        () if holds("Classes") && holds("Passage") => tags(below(prompt, "Passage")),
        () if holds("Classes") => tags(below(prompt, "Question")),
        () if holds("Pieces") => end(prompt),
        () if holds("Record") => record(below(prompt, "Content")),
        () if holds("Relations") => report(below(prompt, "Entities")),
        () if prompt.contains("{\"questions\":") => {
            json!({"questions": [format!("What of {}?", words(below(prompt, "Content"), 9))]})
        }
        () if prompt.contains("{\"statements\":") => {
            json!({"statements": [format!("It is said: {}.", words(below(prompt, "Content"), 9))]})
        }
        () if prompt.contains("{\"entities\":") => entities(below(prompt, "Content")),
        () => return prose(prompt),
    };
    object.to_string()
}

fn prose(prompt: &str) -> String {
    const REPEATED: [(&str, &str, usize); 6] = [
        ("Caption or words that stand for the picture", "A picture with", 60),
        ("Table", "The table has", 20),
        ("Descriptions", "Put together:", 40),
        ("Content", "All about", 20),
        ("Text", "It begins with", 12),
        ("Question", "Rewritten:", 60),
    ];
    let entry =
        REPEATED.iter().find(|(heading, _, _)| prompt.contains(&format!("\n# {heading}\n")));
    let (heading, begins, most) = entry.unwrap_or_else(|| panic!("an unknown prompt: {prompt}"));
    format!("{begins} {}", words(below(prompt, heading), *most))
}

fn words(text: &str, n: usize) -> String {
    text.split_whitespace().take(n).collect::<Vec<_>>().join(" ")
}

/// Ends the chunk somewhere within the range that the prompt allows.
fn end(prompt: &str) -> Value {
    let (_, rest) = prompt.split_once("{\"end\": an integer from ").unwrap();
    let (from, to) = rest.split_once(',').unwrap().0.split_once(" to ").unwrap();
    let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
    let pieces = below(prompt, "Pieces");
    let end = from + pieces.len() % (to - from + 1);
    json!({"end": end, "summary": format!("In short: {}", words(pieces, 12))})
}

fn classes(factors: &str) -> Value {
    let examples = factors.lines().filter_map(|line| Some(line.split_once(". ")?.1));
    let examples: Vec<&str> = examples.take(3).collect();
    json!({"classes": [{"name": "thing", "covers": "whatever has a name", "examples": examples}]})
}

fn factors(passages: &str) -> Value {
    let mut factors = Vec::new();
    for (place, passage) in passages.split("\n\n").enumerate() {
        let named = named(passage).into_iter();
        factors.extend(named.map(|word| json!({"factor": word, "passage": place + 1})));
    }
    json!({ "factors": factors })
}

fn tags(text: &str) -> Value {
    let tags: Vec<_> = named(text).iter().map(|word| json!({"class": 1, "tag": word})).collect();
    json!({ "tags": tags })
}

/// One record of the first name, with a field `name`.
fn record(text: &str) -> Value {
    let records: Vec<_> = named(text).iter().take(1).map(|name| json!({ "name": name })).collect();
    json!({ "records": records })
}

/// All names, the first two of them related.
fn entities(text: &str) -> Value {
    let named = named(text);
    let entity = |name: &String| {
        let description = format!("{name} stands in: {}", words(text, 8));
        json!({"name": name, "type": "thing", "description": description})
    };
    let relations: Vec<_> = named
        .windows(2)
        .take(1)
        .map(|two| json!({"source": two[0], "target": two[1], "description": "Both are named.", "weight": 3}))
        .collect();
    json!({"entities": named.iter().map(entity).collect::<Vec<_>>(), "relations": relations})
}

fn report(entities: &str) -> Value {
    let summary = format!("They belong together: {}", words(entities, 20));
    json!({"title": words(entities, 3), "summary": summary, "rating": 5, "findings": [words(entities, 9)]})
}

/// Capitalised words, and words in 「」.
fn named(text: &str) -> Vec<String> {
    let latin = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    let mut named: Vec<String> =
        latin.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect();
    named.extend(
        text.split('「').skip(1).filter_map(|rest| Some(rest.split_once('」')?.0.to_owned())),
    );
    named
}
