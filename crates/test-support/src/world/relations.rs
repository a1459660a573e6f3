//! Lists the relations of the world, with their statements and questions in both languages.

/// The kind of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ship,
    Company,
    Person,
    Port,
    /// A country, a river or a year, which has no facts of its own.
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Ship, Self::Company, Self::Person, Self::Port];

    pub(crate) fn name(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Ship, Language::English) => "ship",
            (Self::Ship, Language::Chinese) => "轮船",
            (Self::Company, Language::English) => "company",
            (Self::Company, Language::Chinese) => "公司",
            (Self::Person, Language::English) => "person",
            (Self::Person, Language::Chinese) => "船员",
            (Self::Port, Language::English) => "port",
            (Self::Port, Language::Chinese) => "港口",
            (Self::Value, _) => "",
        }
    }
}

/// A relation between two things, with its words.
pub(crate) struct Relation {
    pub(crate) of: Kind,
    pub(crate) to: Kind,
    english: Words,
    chinese: Words,
}

/// `{s}` is the subject of the fact, `{o}` its object.
pub(crate) struct Words {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    /// Two wordings of the same question.
    pub(crate) asks: [&'static str; 2],
}

impl Relation {
    pub(crate) fn words(&self, language: Language) -> &Words {
        match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        }
    }
}

macro_rules! relation {
    ($of:ident -> $to:ident, $name:literal, $says:literal, $asks:literal, $again:literal;
     $zh_name:literal, $zh_says:literal, $zh_asks:literal, $zh_again:literal) => {
        Relation {
            of: Kind::$of,
            to: Kind::$to,
            english: Words { name: $name, says: $says, asks: [$asks, $again] },
            chinese: Words { name: $zh_name, says: $zh_says, asks: [$zh_asks, $zh_again] },
        }
    };
}

pub(crate) const RELATIONS: [Relation; 12] = [
    relation!(Ship -> Company, "builder", "The ship {s} was built by {o}.",
        "Which company built the ship {s}?", "By which company was the ship {s} built?";
        "建造公司", "轮船{s}由{o}建造。", "轮船{s}由哪家公司建造？", "哪家公司建造了轮船{s}？"),
    relation!(Ship -> Person, "captain", "The captain of the ship {s} is {o}.",
        "Who is the captain of the ship {s}?", "Which person commands the ship {s}?";
        "船长", "轮船{s}的船长是{o}。", "轮船{s}的船长是谁？", "谁指挥轮船{s}？"),
    relation!(Ship -> Value, "launch year", "The ship {s} was launched in {o}.",
        "In which year was the ship {s} launched?", "When was the ship {s} launched?";
        "下水年份", "轮船{s}于{o}年下水。", "轮船{s}在哪一年下水？", "轮船{s}何时下水？"),
    relation!(Company -> Port, "head office", "The company {s} has its head office in {o}.",
        "In which port does the company {s} have its head office?", "Where is the head office of the company {s}?";
        "总部", "公司{s}的总部设在{o}。", "公司{s}的总部设在哪个港口？", "公司{s}的总部在哪里？"),
    relation!(Company -> Person, "founder", "The company {s} was founded by {o}.",
        "Who founded the company {s}?", "By whom was the company {s} founded?";
        "创办人", "公司{s}由{o}创办。", "公司{s}由谁创办？", "谁创办了公司{s}？"),
    relation!(Company -> Value, "founding year", "The company {s} began its work in {o}.",
        "In which year did the company {s} begin its work?", "When did the company {s} begin its work?";
        "开业年份", "公司{s}于{o}年开业。", "公司{s}在哪一年开业？", "公司{s}何时开业？"),
    relation!(Person -> Port, "birthplace", "{s} was born in {o}.",
        "In which port was {s} born?", "Where was {s} born?";
        "出生地", "船员{s}出生在{o}。", "船员{s}出生在哪个港口？", "船员{s}出生在哪里？"),
    relation!(Person -> Company, "employer", "{s} is employed by {o}.",
        "Which company employs {s}?", "By which company is {s} employed?";
        "雇主", "船员{s}受雇于{o}。", "船员{s}受雇于哪家公司？", "哪家公司雇用了船员{s}？"),
    relation!(Person -> Person, "teacher", "{s} learned the trade from {o}.",
        "From whom did {s} learn the trade?", "Who taught {s} the trade?";
        "师傅", "船员{s}师从{o}。", "船员{s}师从谁？", "谁是教船员{s}手艺的人？"),
    relation!(Port -> Value, "country", "The port {s} lies in {o}.",
        "In which country does the port {s} lie?", "Which country does the port {s} belong to?";
        "所属国", "港口{s}位于{o}。", "港口{s}位于哪个国家？", "港口{s}属于哪个国家？"),
    relation!(Port -> Person, "harbour master", "The harbour master of the port {s} is {o}.",
        "Who is the harbour master of the port {s}?", "Which person runs the port {s}?";
        "港务长", "港口{s}的港务长是{o}。", "港口{s}的港务长是谁？", "谁掌管港口{s}？"),
    relation!(Port -> Value, "river", "The port {s} stands on the river {o}.",
        "On which river does the port {s} stand?", "Which river flows through the port {s}?";
        "河流", "港口{s}濒临{o}。", "港口{s}濒临哪条河？", "哪条河流经港口{s}？"),
];

/// Fills both places of a pattern.
pub(crate) fn fill(pattern: &str, subject: &str, object: &str) -> String {
    pattern.replace("{s}", subject).replace("{o}", object)
}

/// The subject and object of a text that matches a pattern. `{s}` comes before `{o}`.
pub(crate) fn parts<'a>(pattern: &str, text: &'a str) -> Option<(&'a str, &'a str)> {
    let (before, rest) = pattern.split_once("{s}")?;
    let text = text.strip_prefix(before)?;
    let (subject, object) = match rest.split_once("{o}") {
        Some((between, after)) => text.strip_suffix(after)?.split_once(between)?,
        None => (text.strip_suffix(rest)?, ""),
    };
    (!subject.is_empty()).then_some((subject, object))
}

/// The language of a name.
pub(crate) fn language_of(name: &str) -> Language {
    match name.is_ascii() {
        true => Language::English,
        false => Language::Chinese,
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, RELATIONS, fill, parts};

    #[test]
    fn each_sentence_states_exactly_one_fact() {
        for language in [Language::English, Language::Chinese] {
            let (subject, object) = match language {
                Language::English => ("Velmar Tosk", "Branda Kel"),
                Language::Chinese => ("沈青川", "苏若"),
            };
            for (place, relation) in RELATIONS.iter().enumerate() {
                let sentence = fill(relation.words(language).says, subject, object);
                let read: Vec<_> = RELATIONS
                    .iter()
                    .enumerate()
                    .filter_map(|(n, r)| Some((n, parts(r.words(language).says, &sentence)?)))
                    .collect();
                assert_eq!(read, [(place, (subject, object))], "{sentence}");
            }
        }
    }
}
