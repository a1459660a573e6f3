//! Narrows the schema of a slow, and so small, model's answer: an endpoint that takes JSON schemas then allows
//! existing passage numbers only, and only yes or no, or one of two names, where the question offers no more.

use async_trait::async_trait;
use pikerag_knowledge::{
    AnswerForm, CallRef, ChatModel, ChatReply, ChatRequest, ModelError, Question,
};
use pikerag_language::is_chinese;
use serde_json::{Value, json};

use crate::run::Run;

/// Words of an offered name, at most.
const NAME_WORDS: usize = 6;
/// Characters of an offered Chinese name, at most.
const NAME_CHARACTERS: usize = 12;

/// A model whose schemas of answers are narrowed. Replies are read as before, so that those of endpoints
/// without schemas count too.
pub(crate) struct Narrowed<'a> {
    inner: &'a dyn ChatModel,
    /// The passages of the prompt; 0 changes nothing.
    passages: usize,
    /// The possible answers; empty if the question leaves them open.
    answers: Vec<String>,
}

impl<'a> Narrowed<'a> {
    /// Narrows the answer to `question` from this number of passages, if the run's model is slow. Other runs
    /// keep their requests, and so their recorded replies.
    pub(crate) fn new(
        inner: &'a dyn ChatModel,
        question: &Question,
        passages: usize,
        run: &Run,
    ) -> Self {
        match run.reads_at_most() {
            Some(_) => Self { inner, passages, answers: offered(question) },
            None => Self { inner, passages: 0, answers: Vec::new() },
        }
    }

    fn narrow(&self, schema: &mut Value) {
        let of_quote = "/properties/citations/items/properties/passage";
        for passage in [of_quote, "/properties/passage"] {
            if let Some(passage) = schema.pointer_mut(passage).filter(|_| 0 < self.passages) {
                let numbers: Vec<usize> = (1..=self.passages).collect();
                *passage = json!({"type": "integer", "enum": numbers});
            }
        }
        if let Some(answer) =
            schema.pointer_mut("/properties/answer").filter(|_| !self.answers.is_empty())
        {
            // Prompts allow an empty answer where the model knows none.
            let answers: Vec<&str> = self.answers.iter().map(String::as_str).chain([""]).collect();
            *answer = json!({"type": "string", "enum": answers});
        }
    }
}

#[async_trait]
impl ChatModel for Narrowed<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut request = request.clone();
        if let Some(schema) = &mut request.schema {
            self.narrow(&mut schema.schema);
        }
        self.inner.complete(&request).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.inner.discard(calls).await
    }
}

/// The answers that a question offers: yes and no, or two names; empty for other questions.
fn offered(question: &Question) -> Vec<String> {
    if !matches!(question.form, AnswerForm::Fitting | AnswerForm::Short) {
        return Vec::new();
    }
    let text = question.query().trim().trim_end_matches(['?', '？', '.', '。', ' ']);
    let is_in_chinese = text.chars().any(is_chinese);
    if let Some(names) = two_names(text) {
        let neither = if is_in_chinese { "都不是" } else { "none" };
        return names.into_iter().chain([neither]).map(str::to_owned).collect();
    }
    match (is_in_chinese, asks_yes_or_no(text)) {
        (_, false) => Vec::new(),
        (true, true) => ["是", "否"].map(str::to_owned).to_vec(),
        (false, true) => ["Yes", "No"].map(str::to_owned).to_vec(),
    }
}

const BREAKS: [char; 4] = [',', ':', '，', '：'];

/// The names of `Who is older, Ann or Bo`, `谁更早，甲还是乙`: two, after the only comma or colon. Lists end in the
/// same form (`fees, discounts or penalties`), and a wrong offer would exclude the answer. So an English question
/// must compare, its names must begin as names do, and a Chinese one must ask for a name.
fn two_names(text: &str) -> Option<[&str; 2]> {
    let (asked, offer) = text.rsplit_once(BREAKS)?;
    let is_in_chinese = offer.contains("还是");
    let asks_for_a_name = match is_in_chinese {
        true => ["谁", "哪", "什么"].iter().any(|word| asked.contains(word)),
        false => compares(asked),
    };
    if asked.contains(BREAKS) || offer.contains('、') || !asks_for_a_name {
        return None;
    }
    let mut names = offer.split(if is_in_chinese { "还是" } else { " or " }).map(str::trim);
    let (first, second) = (names.next()?, names.next()?);
    let begins_as_name = |name: &str| {
        name.starts_with("the ") || name.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
    };
    let is_name = |name: &str| {
        if !is_in_chinese && !begins_as_name(name) {
            return false;
        }
        let limit = if name.chars().any(is_chinese) { NAME_CHARACTERS } else { usize::MAX };
        let words = name.split_whitespace().count();
        0 < words && words <= NAME_WORDS && name.chars().count() <= limit
    };
    (names.next().is_none() && is_name(first) && is_name(second)).then_some([first, second])
}

/// Whether an English question asks which thing has more or less of something, or comes first or last.
fn compares(asked: &str) -> bool {
    let asked = asked.to_lowercase();
    let mut words = asked.split(|c: char| !c.is_alphanumeric());
    let is_compared =
        |word: &str| 4 < word.len() && (word.ends_with("er") || word.ends_with("est"));
    words.any(|word| COMPARING.contains(&word) || is_compared(word))
}

/// Words that compare without an ending of comparison.
const COMPARING: [&str; 9] =
    ["first", "last", "more", "most", "less", "least", "best", "worse", "worst"];
const FIRST_WORDS: [&str; 20] = [
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "has", "have", "had", "will",
    "would", "should", "may", "must", "isn't", "doesn't", "didn't",
];
const OPEN_WORDS: [&str; 10] =
    ["or", "who", "whom", "whose", "what", "when", "where", "which", "why", "how"];

/// Whether yes or no answers the question: it begins with a verb and asks for nothing else. Chinese questions
/// end in 吗 or contain 是否.
fn asks_yes_or_no(text: &str) -> bool {
    if text.chars().any(is_chinese) {
        let open = ["什么", "哪", "谁", "多少", "几", "为何", "怎", "还是"];
        let asks = text.ends_with('吗') || text.contains("是否");
        return asks && !open.iter().any(|word| text.contains(word));
    }
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let is_verb = words.next().is_some_and(|word| FIRST_WORDS.contains(&word));
    is_verb && !words.any(|word| OPEN_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(question: &str) -> Vec<String> {
        offered(&Question::new("q", question))
    }

    #[test]
    fn yes_no_and_two_names_are_offered() {
        assert_eq!(offers("Is the pump of crane 7 greased every week?"), ["Yes", "No"]);
        assert_eq!(offers("起重机每周都润滑吗？"), ["是", "否"]);
        assert_eq!(offers("该合同是否包含运费？"), ["是", "否"]);
        assert_eq!(
            offers("Who is older, Ilse Brandt or Jon Hale?"),
            ["Ilse Brandt", "Jon Hale", "none"]
        );
        assert_eq!(
            offers("Which came first, the crane or the pump?"),
            ["the crane", "the pump", "none"]
        );
        assert_eq!(offers("谁先入职，王芳还是李明？"), ["王芳", "李明", "都不是"]);
    }

    #[test]
    fn open_questions_offer_nothing() {
        for question in [
            "Who designed the KX-40?",
            "Is the pump greased, and when was it changed?",
            "Can I take the train or the bus?",
            "Do you know how often it is greased?",
            "In which month, June or July or May, is it closed?",
            "Who visited Oslo, Bern or Lund?",
            "Which is older: the KX-40, the KX-41 or the KX-42?",
            "Who approves travel, meals or hotels?",
            "Is the gate red, green or blue?",
            "谁先入职，王芳、李明还是张伟？",
            "闸门是红色，绿色还是蓝色？",
            "What are the fees, discounts or penalties?",
            "Which town is nearer, Oslo, Bergen or Lund?",
            "Who is the older designer, and where was the crane built or stored?",
            "谁负责，甲、乙还是丙？",
            "起重机多久润滑一次？",
            "您知道谁负责吗？",
        ] {
            assert_eq!(offers(question), [""; 0], "{question}");
        }
        let long = Question { form: AnswerForm::Long, ..Question::new("q", "Is it greased?") };
        assert_eq!(offered(&long), [""; 0]);
    }

    #[test]
    fn schemas_of_answers_are_narrowed_and_others_stay() {
        let citation =
            json!({"properties": {"passage": {"type": "integer"}, "quote": {"type": "string"}}});
        let schema = json!({"properties": {
            "answer": {"type": "string"},
            "citations": {"type": "array", "items": citation},
        }});
        let chat = pikerag_doubles::ScriptedChat::by(|_| Ok(String::new()));
        let answers = vec!["Yes".to_owned(), "No".to_owned()];
        let narrowed = Narrowed { inner: &chat, passages: 2, answers };
        let mut changed = schema.clone();
        narrowed.narrow(&mut changed);
        assert_eq!(changed["properties"]["answer"]["enum"], json!(["Yes", "No", ""]));
        let passage = &changed["properties"]["citations"]["items"]["properties"]["passage"];
        assert_eq!(passage["enum"], json!([1, 2]));
        let mut brief = json!({"properties": {"passage": {"type": "integer"}}});
        narrowed.narrow(&mut brief);
        assert_eq!(brief["properties"]["passage"]["enum"], json!([1, 2]));

        let mut same = schema.clone();
        Narrowed { inner: &chat, passages: 0, answers: Vec::new() }.narrow(&mut same);
        assert_eq!(same, schema);
        let mut other = json!({"properties": {"grade": {"type": "integer"}}});
        let before = other.clone();
        narrowed.narrow(&mut other);
        assert_eq!(other, before);
    }
}
