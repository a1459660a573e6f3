//! Writes the atomic questions of a chunk: the knowledge atomizer `f_a(d_k) → {q_k1 … q_km}` (KAR³
//! §3.3, eq. 3).
//!
//! A chunk has a limit of atoms by its length. Without a model, the sentences of the chunk are its atoms (Table 13).

use std::cmp::Reverse;
use std::collections::HashSet;

use pikerag_knowledge::{Account, Atom, AtomId, AtomKind, ChatModel, Chunk, Role, Schema};
use pikerag_language::{content_words, estimate_tokens, is_chinese, is_stop_word, sentences};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, find_json, list_items, one_line, shape, texts,
    titled, without_thinking,
};
use serde_json::json;

// §A.3: the questions must be diverse, hence the temperature.
const PROMPT: Prompt = Prompt::new(Role::Atomize, include_str!("prompts/atomize.md"), 2048)
    .at(0.7)
    .with_earlier("extract/atomize", &[include_str!("prompts/earlier/atomize.1.md")]);

/// The atoms of a chunk, and the numbers of dropped ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atomized {
    /// The questions or statements, in the model's order, each once; may be empty.
    pub atoms: Vec<Atom>,
    /// Questions that repeat an earlier one with other case, punctuation or spelling.
    pub duplicates: usize,
    /// Questions whose subject is only a pronoun: no search could find them.
    pub pronouns: usize,
    /// Atoms beyond the limit of the chunk.
    pub surplus: usize,
}

/// Tokens of a chunk for each atom, and the limits for short and long chunks.
const TOKENS_PER_ATOM: u64 = 8;
const FEWEST: usize = 8;
const MOST: usize = 60;

/// The most atoms that a model writes for a chunk: one for eight tokens, 8 to 60.
pub(crate) fn most_atoms(chunk: &Chunk) -> usize {
    let by_length = estimate_tokens(&chunk.text) / TOKENS_PER_ATOM;
    usize::try_from(by_length).unwrap_or(MOST).clamp(FEWEST, MOST)
}

/// The schema of a list of atoms under `key`. It has no limit, as in earlier versions, so that their recorded replies
/// serve replays; the text names the limit.
pub(crate) fn atoms_schema(key: &str) -> Schema {
    let list = json!({"type": "array", "items": {"type": "string"}});
    shape(key, [(key.to_owned(), list)].into_iter().collect())
}

impl Atomized {
    /// Drops atoms beyond the limit, which a model may exceed, and counts them.
    pub(crate) fn within(mut self, chunk: &Chunk, most: usize) -> Self {
        self.surplus = self.atoms.len().saturating_sub(most);
        if 0 < self.surplus {
            let (title, surplus) = (chunk.full_title(), self.surplus);
            tracing::warn!(%title, most, surplus, "a model wrote more atoms than a passage may have; the last are dropped");
            self.atoms.truncate(most);
        }
        self
    }
}

/// Sample questions in a prompt, at most.
const SAMPLES: usize = 3;

/// Asks for the atomic questions of a chunk: one call, or two if the first reply is unreadable. Of the
/// sample questions the prompt shows the three that share most words with the chunk (KAR³ §5: an atomizer
/// that learns from sample questions what knowledge is wanted).
///
/// # Errors
/// Those of the model. A reply without any question is no error.
pub async fn question_atoms(
    model: &dyn ChatModel,
    chunk: &Chunk,
    samples: &[String],
) -> Result<Atomized, AskError> {
    let (title, text) = titled(chunk);
    let (samples, most) = (shown_samples(chunk, samples), most_atoms(chunk));
    let number = most.to_string();
    let inputs = [("title", &*title), ("text", &*text), ("samples", &*samples), ("most", &*number)];
    let questions = ask::<Questions>(model, &PROMPT, &inputs, &mut Account::default()).await?;
    let mut atomized = Atomized::default();
    let mut seen = HashSet::new();
    for question in questions.0 {
        if only_pronouns(&question) {
            atomized.pronouns += 1;
        } else if seen.insert(question.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "")) {
            atomized.atoms.push(atom(chunk, AtomKind::Question, &question));
        } else {
            atomized.duplicates += 1;
        }
    }
    Ok(atomized.within(chunk, most))
}

/// The prompt that [`question_atoms`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn atomize_prompt(chunk: &Chunk, samples: &[String]) -> Result<String, AskError> {
    let (title, text) = titled(chunk);
    let (samples, most) = (shown_samples(chunk, samples), most_atoms(chunk).to_string());
    PROMPT.render(&[("title", &*title), ("text", &*text), ("samples", &*samples), ("most", &*most)])
}

/// The nearest sample questions as list items, nearest first, equal ones in the given order; empty without any.
fn shown_samples(chunk: &Chunk, samples: &[String]) -> String {
    if samples.is_empty() {
        return String::new();
    }
    let held: HashSet<String> = content_words(&chunk.reading_text()).into_iter().collect();
    let shared =
        |sample: &String| content_words(sample).iter().filter(|word| held.contains(*word)).count();
    let mut nearest: Vec<&String> = samples.iter().collect();
    nearest.sort_by_cached_key(|sample| Reverse(shared(sample)));
    let items = nearest.iter().take(SAMPLES).map(|sample| format!("- {}", one_line(sample)));
    items.collect::<Vec<_>>().join("\n")
}

/// The sentences of a chunk as atoms: no model call.
pub fn sentence_atoms(chunk: &Chunk) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut seen = HashSet::new();
    for range in sentences(&chunk.text) {
        let Some(sentence) = chunk.text.get(range) else { continue };
        let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        if sentence.chars().any(char::is_alphanumeric) && seen.insert(sentence.clone()) {
            atoms.push(atom(chunk, AtomKind::Sentence, &sentence));
        }
    }
    atoms
}

pub(crate) fn atom(chunk: &Chunk, kind: AtomKind, text: &str) -> Atom {
    Atom {
        id: AtomId::of(chunk.id, kind.as_str(), text),
        chunk: chunk.id,
        kind,
        text: text.to_owned(),
    }
}

struct Questions(Vec<String>);

impl Reply for Questions {
    fn schema() -> Option<Schema> {
        Some(atoms_schema("questions"))
    }

    /// Reads JSON, or one question per line: some models manage only one of the two.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let reply = without_thinking(reply);
        if reply.is_empty() {
            return Err(Unreadable::Empty);
        }
        if let Some(found) = find_json(reply, &["questions"]) {
            return texts(&found.value, "questions").map(Self);
        }
        let mut lines = list_items(reply);
        lines.retain(|line| line.ends_with(['?', '？']));
        if lines.is_empty() {
            return Err(Unreadable::NoObject { keys: "questions".to_owned() });
        }
        Ok(Self(lines))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_questions: Questions }

/// Whether a question names nobody: it has a pronoun, but no name, no number and no noun.
///
/// An unknown word counts as a noun. Dropping a good question loses it, while keeping a poor one
/// does little harm.
pub(crate) fn only_pronouns(question: &str) -> bool {
    match question.chars().any(is_chinese) {
        true => is_nameless_chinese(question),
        false => is_nameless_english(question),
    }
}

const PRONOUNS: [&str; 16] = [
    "he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs",
    "this", "these", "those", "we",
];
/// Verbs of such questions, and words that come with the verbs.
const VERBS: [&str; 64] = [
    "appoint", "arrive", "attend", "become", "began", "begin", "born", "build", "built", "buried",
    "call", "came", "come", "consist", "create", "cost", "designed", "die", "died", "do",
    "elected", "end", "ended", "found", "founded", "get", "go", "graduate", "grow", "happen",
    "happened", "have", "hold", "include", "join", "joined", "know", "known", "last", "lead",
    "led", "leave", "left", "live", "lived", "long", "made", "make", "many", "married", "marry",
    "move", "moved", "much", "often", "old", "play", "played", "say", "start", "study", "work",
    "write", "wrote",
];

fn is_nameless_english(question: &str) -> bool {
    let mut words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let mut pronoun = PRONOUNS.contains(&first.to_lowercase().as_str());
    for word in words {
        let named = word.chars().any(char::is_numeric)
            || (word.chars().any(char::is_uppercase) && word != "I");
        let bare = word.to_lowercase();
        pronoun |= PRONOUNS.contains(&bare.as_str()) || word == "I";
        let is_noun = !is_stop_word(&bare)
            && !PRONOUNS.contains(&bare.as_str())
            && !VERBS.contains(&bare.as_str())
            && 1 < bare.chars().count();
        if named || is_noun {
            return false;
        }
    }
    pronoun
}

fn is_nameless_chinese(question: &str) -> bool {
    const PRONOUNS: [&str; 12] = [
        "他们",
        "她们",
        "它们",
        "他",
        "她",
        "它",
        "该公司",
        "该人",
        "这家公司",
        "这家",
        "这个人",
        "这个",
    ];
    const VERBS: [&str; 53] = [
        "出生",
        "去世",
        "逝世",
        "死",
        "结婚",
        "工作",
        "毕业",
        "就读",
        "居住",
        "住",
        "成立",
        "创立",
        "位于",
        "担任",
        "加入",
        "离开",
        "开始",
        "结束",
        "发生",
        "获得",
        "建造",
        "设计",
        "制造",
        "来自",
        "去",
        "来",
        "做",
        "有",
        "是",
        "什么",
        "时候",
        "什么时候",
        "何时",
        "哪里",
        "哪儿",
        "哪",
        "谁",
        "为什么",
        "怎么",
        "如何",
        "多少",
        "几",
        "在",
        "于",
        "的",
        "了",
        "被",
        "过",
        "多",
        "大",
        "年",
        "岁",
        "叫",
    ];
    let its = question.starts_with('其')
        && !["其他", "其它", "其中", "其余", "其实"].iter().any(|word| question.starts_with(word));
    let opening = PRONOUNS.iter().find(|pronoun| question.starts_with(**pronoun));
    let rest = match (opening, its) {
        (Some(pronoun), _) => question.get(pronoun.len()..).unwrap_or_default(),
        (None, true) => question.get('其'.len_utf8()..).unwrap_or_default(),
        (None, false) => return false,
    };
    if rest.contains(|c: char| c.is_ascii_alphanumeric() || c == '《' || c == '“') {
        return false;
    }
    content_words(rest)
        .iter()
        .all(|word| VERBS.contains(&word.as_str()) || PRONOUNS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Vec<String> {
        Questions::read(reply).unwrap().0
    }

    #[test]
    fn json_and_lines_are_both_read() {
        assert_eq!(read(r#"{"questions": ["Who?", "When?"]}"#), ["Who?", "When?"]);
        assert_eq!(
            read("Here they are:\n1. Who built it?\n- 谁建造了它？\n"),
            ["Who built it?", "谁建造了它？"]
        );
        assert!(Questions::read("I cannot do that.").is_err());
        assert!(Questions::read("  ").is_err());
    }

    #[test]
    fn the_prompt_shows_the_nearest_sample_questions() {
        let chunk = pikerag_doubles::chunk(
            1,
            "Cranes",
            "The KX-40 lifts forty tons. Its rope comes from Norrland Wire.",
        );
        let plain = atomize_prompt(&chunk, &[]).unwrap();
        assert!(plain.contains("language of the content.\n\n# Output format"), "{plain}");
        let samples = [
            "How warm is the sea?",
            "Who audits the accounts?",
            "Who supplies the rope of\nthe KX-40?",
            "What do night shifts earn?",
            "How much does the KX-40 lift?",
        ];
        let shown = atomize_prompt(&chunk, &samples.map(str::to_owned)).unwrap();
        let (_, below) = shown.split_once("# Sample questions\n").unwrap();
        let items: Vec<&str> = below.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(
            items,
            [
                "- Who supplies the rope of the KX-40?",
                "- How much does the KX-40 lift?",
                "- How warm is the sea?",
            ]
        );
    }

    /// Short and long passages have limits of their own; the text names it, and a reply beyond it is cut and counted.
    #[tokio::test]
    async fn a_passage_has_a_limit_of_atoms() {
        let of =
            |words: usize| pikerag_doubles::chunk(1, "Cranes", &"The crane lifts. ".repeat(words));
        let limits: Vec<usize> =
            [1, 40, 4000].iter().map(|words| most_atoms(&of(*words))).collect();
        assert!(limits[0] == FEWEST && limits[2] == MOST, "{limits:?}");
        assert!(FEWEST < limits[1] && limits[1] < MOST, "{limits:?}");
        let chunk = of(1);
        let questions: Vec<String> =
            (0..20).map(|n| format!("What does crane {n} lift?")).collect();
        let chat =
            pikerag_doubles::ScriptedChat::in_order(
                [json!({ "questions": questions }).to_string()],
            );
        let atomized = question_atoms(&chat, &chunk, &[]).await.unwrap();
        assert_eq!((atomized.atoms.len(), atomized.surplus), (FEWEST, 20 - FEWEST));
        assert_eq!(atomized.atoms[0].text, questions[0]);
        let request = &chat.requests()[0];
        let prompt = pikerag_doubles::prompt(request).unwrap();
        assert!(prompt.contains(&format!("at most {FEWEST}.")), "{prompt}");
    }

    #[test]
    fn questions_without_a_name_are_detected() {
        assert!(only_pronouns("Where was he born?"));
        assert!(only_pronouns("他在哪里出生？"));
        assert!(!only_pronouns("Where was Ada Lovelace born, and did she marry?"));
        assert!(!only_pronouns("What is photosynthesis?"));
        assert!(!only_pronouns("What happened to it in 1998?"));
        assert!(!only_pronouns("青岛厂在哪里？"));
    }

    /// A question with a noun can be found, even if it also has a pronoun.
    #[test]
    fn questions_with_a_noun_are_kept() {
        for question in [
            "What is the penalty for an employer that fails to pay wages?",
            "What must they do with hazardous waste?",
            "Who inspects its cranes?",
            "其他股东有优先购买权吗？",
            "其中哪些条款可以修改？",
            "其担保责任何时免除？",
            "该公司的注册资本是多少？",
        ] {
            assert!(!only_pronouns(question), "{question}");
        }
        for question in
            ["When did they marry?", "How old was she?", "她什么时候去世？", "该公司位于哪里？"]
        {
            assert!(only_pronouns(question), "{question}");
        }
    }
}
