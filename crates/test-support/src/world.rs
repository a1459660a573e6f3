//! Generates a fictional world of ships, companies, people and ports in English and Chinese: a
//! paragraph for each, and questions of one to four hops with known answers.

pub(crate) mod names;
pub(crate) mod relations;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::json;

use crate::random::Random;
use names::Names;
use relations::{Kind, Language, RELATIONS, fill};

/// The size of a world; half of it is Chinese.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The number of paragraphs, one for each thing.
    pub paragraphs: usize,
    /// The number of questions, of one to four hops in turn.
    pub questions: usize,
}

/// A world: its paragraphs and its questions.
pub struct World {
    paragraphs: Vec<Paragraph>,
    questions: Vec<Question>,
}

struct Paragraph {
    title: String,
    text: String,
}

struct Question {
    text: String,
    answer: String,
    hops: usize,
    /// The titles of the paragraphs on the path to the answer.
    support: Vec<String>,
}

/// The facts of a thing, by relation.
type Facts = HashMap<(String, usize), String>;

impl World {
    /// Generates the world of a seed.
    #[must_use]
    pub fn generate(seed: u64, sizes: Sizes) -> Self {
        let mut random = Random::new(seed);
        let mut names = Names::default();
        let mut world = Self { paragraphs: Vec::new(), questions: Vec::new() };
        for (language, part) in [(Language::English, 0), (Language::Chinese, 1)] {
            let half = |all: usize| (all + 1 - part) / 2;
            let things = things(language, half(sizes.paragraphs), &mut names, &mut random);
            let facts = world.write_paragraphs(language, &things, &mut names, &mut random);
            world.ask(language, &things, &facts, half(sizes.questions), &mut random);
        }
        random.shuffle(&mut world.paragraphs);
        world
    }

    /// The workload that most tests use: 500 paragraphs, 50 questions.
    #[must_use]
    pub fn workload() -> Self {
        Self::generate(20_261, Sizes { paragraphs: 500, questions: 50 })
    }

    /// The paragraphs as a file of chunks, one JSON object per line.
    #[must_use]
    pub fn corpus(&self) -> String {
        let mut lines = String::new();
        for Paragraph { title, text } in &self.paragraphs {
            let line = json!({"chunk_id": id(title), "title": title, "content": text});
            writeln!(lines, "{line}").unwrap();
        }
        lines
    }

    /// The same with a paragraph for each sentence, so that facts of one thing distract from each other.
    ///
    /// # Panics
    /// A paragraph is empty.
    #[must_use]
    pub fn corpus_of_facts(&self) -> String {
        let mut lines = String::new();
        for Paragraph { title, text } in &self.paragraphs {
            for (number, sentence) in text.split_inclusive(['.', '。']).enumerate() {
                let (id, sentence) = (format!("{title}-{number}"), sentence.trim());
                let line = json!({"chunk_id": id, "title": title, "content": sentence});
                writeln!(lines, "{line}").unwrap();
            }
        }
        lines
    }

    /// The questions as a file of a data set.
    #[must_use]
    pub fn questions(&self) -> String {
        let mut lines = String::new();
        for (number, question) in self.questions.iter().enumerate() {
            let support: Vec<String> = question.support.iter().map(|title| id(title)).collect();
            let line = json!({
                "id": format!("Q{number:04}"),
                "question": question.text,
                "answer_labels": [question.answer],
                "question_type": "undefined",
                "metadata": {"hops": question.hops, "supporting_chunk_ids": support},
            });
            writeln!(lines, "{line}").unwrap();
        }
        lines
    }

    /// The first sentence of each paragraph, which states a fact.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &str> {
        let first = |text| str::split_inclusive(text, ['.', '。']).next().unwrap_or_default();
        self.paragraphs.iter().map(move |paragraph| first(&paragraph.text))
    }

    /// The number of hops of each question.
    #[must_use]
    pub fn hops(&self) -> Vec<usize> {
        self.questions.iter().map(|question| question.hops).collect()
    }

    /// The first question with `hops` hops, and its answer.
    ///
    /// # Panics
    /// There is no such question.
    #[must_use]
    pub fn question(&self, hops: usize) -> (&str, &str) {
        let question = self.questions.iter().find(|question| question.hops == hops).unwrap();
        (&question.text, &question.answer)
    }

    /// Writes a paragraph for each thing, and returns its facts.
    fn write_paragraphs(
        &mut self,
        language: Language,
        things: &[Vec<String>; 4],
        names: &mut Names,
        random: &mut Random,
    ) -> Facts {
        let countries: Vec<String> = (0..6).map(|_| names.country(language, random)).collect();
        let mut facts = Facts::new();
        for (kind, titles) in Kind::ALL.into_iter().zip(things) {
            for title in titles {
                let mut sentences = Vec::new();
                for (place, relation) in RELATIONS.iter().enumerate().filter(|(_, r)| r.of == kind)
                {
                    let others = Kind::ALL.iter().position(|kind| *kind == relation.to);
                    let object = loop {
                        let object = match others {
                            Some(kind) => random.one(&things[kind]).clone(),
                            None if relation.words(Language::English).name == "country" => {
                                random.one(&countries).clone()
                            }
                            None if relation.words(Language::English).name == "river" => {
                                names.river(language, random)
                            }
                            None => (1850 + random.below(170)).to_string(),
                        };
                        if object != *title {
                            break object;
                        }
                    };
                    sentences.push(fill(relation.words(language).says, title, &object));
                    facts.insert((title.clone(), place), object);
                }
                sentences.push(gossip(language, title, random));
                let between = if language == Language::English { " " } else { "" };
                let text = sentences.join(between);
                self.paragraphs.push(Paragraph { title: title.clone(), text });
            }
        }
        facts
    }

    /// Asks along chains of relations, one to four hops in turn, without a repeated thing in a
    /// chain.
    fn ask(
        &mut self,
        language: Language,
        things: &[Vec<String>; 4],
        facts: &Facts,
        count: usize,
        random: &mut Random,
    ) {
        let mut asked = HashSet::new();
        while asked.len() < count {
            let hops = 1 + asked.len() % 4;
            let kind = random.below(4);
            let start = random.one(&things[kind]).clone();
            let (mut at, mut at_kind) = (start.clone(), Kind::ALL[kind]);
            let (mut chain, mut support) = (Vec::new(), Vec::new());
            for hop in 1..=hops {
                // A thing without facts can only be last.
                let further: Vec<usize> = (0..RELATIONS.len())
                    .filter(|r| RELATIONS[*r].of == at_kind)
                    .filter(|r| hop == hops || RELATIONS[*r].to != Kind::Value)
                    .collect();
                let relation = *random.one(&further);
                support.push(at.clone());
                let object = &facts[&(std::mem::take(&mut at), relation)];
                at.clone_from(object);
                at_kind = RELATIONS[relation].to;
                chain.push(relation);
            }
            let on_the_way: HashSet<&String> = support.iter().collect();
            let text = chained(language, Kind::ALL[kind], &start, &chain);
            if on_the_way.len() == support.len() && asked.insert(text.clone()) {
                self.questions.push(Question { text, answer: at, hops, support });
            }
        }
    }
}

/// The names of things by kind: two fifths people, a quarter ships, a fifth companies, the rest
/// ports.
fn things(
    language: Language,
    count: usize,
    names: &mut Names,
    random: &mut Random,
) -> [Vec<String>; 4] {
    let (ships, companies, people) = (count / 4, count / 5, count * 2 / 5);
    let counts = [ships, companies, people, count - ships - companies - people];
    let mut next = 0;
    Kind::ALL.map(|kind| {
        let count = counts[next].max(2);
        next += 1;
        (0..count).map(|_| names.of(kind, language, random)).collect()
    })
}

/// “What is the captain of the ship …?”, the last relation first; in Chinese the first comes first.
fn chained(language: Language, kind: Kind, start: &str, chain: &[usize]) -> String {
    let names = chain.iter().map(|relation| RELATIONS[*relation].words(language).name);
    match language {
        Language::English => {
            let names: Vec<&str> = names.rev().collect();
            let kind = kind.name(language);
            format!("What is the {} of the {kind} {start}?", names.join(" of the "))
        }
        Language::Chinese => {
            let names: Vec<&str> = names.collect();
            format!("{}{start}的{}是什么？", kind.name(language), names.join("的"))
        }
    }
}

/// A sentence that answers no question.
fn gossip(language: Language, title: &str, random: &mut Random) -> String {
    const ENGLISH: [&str; 6] = ["quiet", "stubborn", "careful", "cheerful", "modest", "bold"];
    const CHINESE: [&str; 6] = ["安静", "固执", "谨慎", "开朗", "谦逊", "勇敢"];
    match language {
        Language::English => format!(
            "Letters in the town hall call {title} {} and {}, and {} of them were printed.",
            random.one(&ENGLISH),
            random.one(&ENGLISH),
            random.below(40) + 2
        ),
        Language::Chinese => format!(
            "市政厅里的信件称{title}{}又{}，其中{}封曾经刊印。",
            random.one(&CHINESE),
            random.one(&CHINESE),
            random.below(40) + 2
        ),
    }
}

fn id(title: &str) -> String {
    format!("{title}-0")
}

#[cfg(test)]
mod tests {
    use super::{Sizes, World};
    use crate::oracle::{Context, walk};

    #[test]
    fn a_seed_gives_one_world_and_every_question_its_answer() {
        let sizes = Sizes { paragraphs: 60, questions: 16 };
        let world = World::generate(1, sizes);
        assert_eq!(world.corpus(), World::generate(1, sizes).corpus());
        assert_ne!(world.corpus(), World::generate(2, sizes).corpus());
        assert_eq!(world.corpus().lines().count(), 60);
        assert_eq!(world.hops().iter().filter(|hops| **hops == 4).count(), 4);
        for question in &world.questions {
            // The paragraphs on the path suffice, and no fewer do.
            let passages: Vec<&str> = world
                .paragraphs
                .iter()
                .filter(|paragraph| question.support.contains(&paragraph.title))
                .map(|paragraph| paragraph.text.as_str())
                .collect();
            let answer = |passages: &[&str]| {
                let context = Context::read(&passages.join("\n"));
                walk(&question.text, &context).unwrap().answer
            };
            assert_eq!(answer(&passages), Some(question.answer.clone()));
            assert_eq!(answer(&passages[1..]), None, "{}", question.text);
        }
    }
}
