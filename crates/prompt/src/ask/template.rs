//! Ties a template to the settings of its call, and to the texts that pikerag asked with before.

use pikerag_knowledge::{DraftFields, Role};

use super::AskError;
use crate::foreign::quiet_prompt;

/// A template with the settings of its call; it is kept next to the step that uses it.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// The purpose of the call: settings choose a model by it, and traces and bills show it.
    pub role: Role,
    /// A `minijinja` template; an undefined variable is an error.
    pub template: &'static str,
    /// 0 for answers, 0.7 for atomizing (KAR³ §A.3).
    pub temperature: f32,
    /// The most tokens of the reply, unless a setting replaces it ([`ChatModel::reply_tokens`]).
    ///
    /// [`ChatModel::reply_tokens`]: pikerag_knowledge::ChatModel::reply_tokens
    pub max_tokens: u32,
    /// The limits that earlier versions of pikerag asked with: their recorded replies serve replays.
    pub former_max_tokens: &'static [u32],
    /// The text that people see while the model writes it; `None` unless the reply is a final answer.
    pub draft: Option<DraftFields>,
    /// Private, so that no prompt takes it over from another together with its settings.
    earlier: Earlier,
}

/// The texts of a prompt before the current one.
#[derive(Clone, Copy, Debug)]
struct Earlier {
    /// `CRATE/TEMPLATE`, as in `methods/look`; empty without earlier texts.
    name: &'static str,
    /// Version 1 first.
    texts: &'static [&'static str],
    /// For each earlier time, the constant inputs that had another text.
    inputs: &'static [Constants],
}

/// Constant inputs: today's text of each, and an earlier one.
type Constants = &'static [(&'static str, &'static str)];

impl Earlier {
    const NONE: Self = Self { name: "", texts: &[], inputs: &[] };
}

impl Prompt {
    /// A prompt at temperature 0 (KAR³ §A.3: all but the atomizer).
    pub const fn new(role: Role, template: &'static str, max_tokens: u32) -> Prompt {
        Prompt {
            role,
            template,
            temperature: 0.0,
            max_tokens,
            former_max_tokens: &[],
            draft: None,
            earlier: Earlier::NONE,
        }
    }

    /// The same prompt at another temperature.
    #[must_use]
    pub const fn at(self, temperature: f32) -> Prompt {
        Prompt { temperature, ..self }
    }

    /// Another prompt with the same settings, and without this one's earlier texts.
    #[must_use]
    pub const fn with_template(self, template: &'static str) -> Prompt {
        Prompt { template, earlier: Earlier::NONE, ..self }
    }

    /// The same prompt, whose limit was another one in earlier versions of pikerag.
    #[must_use]
    pub const fn formerly(self, max_tokens: &'static [u32]) -> Prompt {
        Prompt { former_max_tokens: max_tokens, ..self }
    }

    /// The same prompt, whose reply is a final answer: people see its field `answer` while it is written.
    #[must_use]
    pub const fn answering(self) -> Prompt {
        let draft = DraftFields { answer: "answer", only_if: None, reasons: None };
        Prompt { draft: Some(draft), ..self }
    }

    /// As [`Prompt::answering`]; until the answer begins, people see the field `reasons`.
    #[must_use]
    pub const fn answering_after(self, reasons: &'static str) -> Prompt {
        let draft = DraftFields { answer: "answer", only_if: None, reasons: Some(reasons) };
        Prompt { draft: Some(draft), ..self }
    }

    /// As [`Prompt::answering_after`], for a reply that is a final answer if its field `only_if` is true.
    #[must_use]
    pub const fn answering_if(self, only_if: &'static str, reasons: &'static str) -> Prompt {
        let reasons = Some(reasons);
        let draft = DraftFields { answer: "answer", only_if: Some(only_if), reasons };
        Prompt { draft: Some(draft), ..self }
    }

    /// The same prompt with the texts that shipped before, version 1 first. Kept runs are replayed
    /// with the text of their time, so each text must find its variables among today's inputs.
    /// `name` is `CRATE/TEMPLATE`, as in `methods/look`; calls record it with the version.
    #[must_use]
    pub const fn with_earlier(self, name: &'static str, texts: &'static [&'static str]) -> Prompt {
        Prompt { earlier: Earlier { name, texts, ..self.earlier }, ..self }
    }

    /// The same prompt, some inputs of which are constant texts that were changed, such as
    /// demonstrations: for each earlier time, pairs of today's text and the text then. A replay
    /// tries them with each text of the prompt.
    #[must_use]
    pub const fn with_earlier_inputs(
        self,
        inputs: &'static [&'static [(&'static str, &'static str)]],
    ) -> Prompt {
        Prompt { earlier: Earlier { inputs, ..self.earlier }, ..self }
    }

    /// Fills in the template and neutralises foreign text, even if the caller forgot: no input keeps
    /// a token of a chat template, an invisible character, or a line that begins with `#`.
    ///
    /// # Errors
    /// The template does not compile or names a variable that is missing from `inputs`.
    pub fn render(&self, inputs: &[(&str, &str)]) -> Result<String, AskError> {
        self.current().render(inputs)
    }

    /// The version that new calls send.
    pub(super) fn current(&self) -> Version<'_> {
        let number = self.earlier.texts.len() as u32 + 1;
        Version { prompt: self, number, template: self.template, former: &[] }
    }

    /// All versions, the current one first; each with today's constant inputs, then with earlier ones.
    pub(super) fn versions(&self) -> Vec<Version<'_>> {
        let current = self.current();
        let mut texts = vec![(current.number, self.template)];
        texts.extend((1..current.number).zip(self.earlier.texts.iter().copied()).rev());
        let mut versions = Vec::new();
        for (number, template) in texts {
            versions.push(Version { number, template, ..current });
            for &former in self.earlier.inputs {
                versions.push(Version { number, template, former, ..current });
            }
        }
        versions
    }
}

/// One text of a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    prompt: &'a Prompt,
    /// From 1.
    number: u32,
    pub(super) template: &'static str,
    former: Constants,
}

impl Version<'_> {
    /// What a call records: `methods/look.2`; nothing for the first version.
    pub(super) fn label(&self) -> Option<String> {
        (1 < self.number).then(|| format!("{}.{}", self.prompt.earlier.name, self.number))
    }

    /// See [`Prompt::render`].
    pub(super) fn render(&self, inputs: &[(&str, &str)]) -> Result<String, AskError> {
        let mut environment = minijinja::Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        let inputs =
            inputs.iter().map(|(name, text)| (*name, quiet_prompt(self.of_its_time(text))));
        environment.render_str(self.template, minijinja::Value::from_pairs(inputs)).map_err(
            |source| AskError::Template { role: self.prompt.role, source: Box::new(source) },
        )
    }

    /// The text that an input had then.
    fn of_its_time<'t>(&self, input: &'t str) -> &'t str {
        for &(now, former) in self.former {
            if input == now {
                return former;
            }
            // Demonstrations are passed without their last line break.
            if input == now.trim_end() {
                return former.trim_end();
            }
        }
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: Prompt = Prompt::new(Role::Answer, "Third: {{ thing }}. {{ form }}", 9)
        .with_earlier("prompt/colour", &["First: {{ thing }}. {{ form }}", "Second: {{ thing }}."]);

    fn rendered(prompt: &Prompt, form: &str) -> Vec<String> {
        let inputs = [("thing", "the sea"), ("form", form)];
        let mut lines = Vec::new();
        for version in prompt.versions() {
            let label = version.label().unwrap_or_default();
            lines.push(format!("{label}: {}", version.render(&inputs).unwrap()));
        }
        lines
    }

    #[test]
    fn each_version_has_its_text_and_the_latest_comes_first() {
        assert_eq!(
            rendered(&PROMPT, "Briefly."),
            [
                "prompt/colour.3: Third: the sea. Briefly.",
                "prompt/colour.2: Second: the sea.",
                ": First: the sea. Briefly.",
            ]
        );
        assert_eq!(PROMPT.render(&[("thing", "x"), ("form", "y")]).unwrap(), "Third: x. y");
        let only = Prompt::new(Role::Answer, "{{ thing }}", 9);
        assert_eq!(rendered(&only, ""), [": the sea"]);
    }

    /// An input without its last line break stays so.
    #[test]
    fn constant_inputs_are_tried_as_they_are_and_as_they_were() {
        let prompt = Prompt::new(Role::Answer, "{{ thing }}: {{ form }}", 9)
            .with_earlier_inputs(&[&[("Now.\n", "Then.\n")], &[("Now.\n", "Long ago.\n")]]);
        let lines = [": the sea: Now.", ": the sea: Then.", ": the sea: Long ago."];
        assert_eq!(rendered(&prompt, "Now."), lines);
        assert_eq!(rendered(&prompt, "Other."), [": the sea: Other."; 3]);
        assert_eq!(prompt.render(&[("thing", "x"), ("form", "Now.")]).unwrap(), "x: Now.");
    }

    #[test]
    fn another_prompt_with_the_same_settings_has_no_earlier_texts() {
        let other = PROMPT.with_template("Other: {{ thing }}");
        assert_eq!(rendered(&other, ""), [": Other: the sea"]);
    }
}
