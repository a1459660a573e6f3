//! Defines a prompt: its template and the settings of its call.

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
    /// The most tokens of the reply, unless a setting replaces it
    /// ([`ChatModel::reply_tokens`](pikerag_knowledge::ChatModel::reply_tokens)).
    pub max_tokens: u32,
    /// The limit that an earlier version asked with: its recorded replies serve replays.
    pub former_max_tokens: Option<u32>,
    /// The text that people see while the model writes it; `None` unless the reply is a final answer.
    pub draft: Option<DraftFields>,
}

impl Prompt {
    /// A prompt at temperature 0 (KAR³ §A.3: all but the atomizer).
    pub const fn new(role: Role, template: &'static str, max_tokens: u32) -> Prompt {
        Prompt {
            role,
            template,
            temperature: 0.0,
            max_tokens,
            former_max_tokens: None,
            draft: None,
        }
    }

    /// The same prompt at another temperature.
    #[must_use]
    pub const fn at(self, temperature: f32) -> Prompt {
        Prompt { temperature, ..self }
    }

    /// The same prompt, whose limit was another one in an earlier version.
    #[must_use]
    pub const fn formerly(self, max_tokens: u32) -> Prompt {
        Prompt { former_max_tokens: Some(max_tokens), ..self }
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

    /// Fills in the template and neutralises foreign text, even if the caller forgot: no input keeps
    /// a token of a chat template, an invisible character, or a line that begins with `#`.
    ///
    /// # Errors
    /// The template does not compile or names a variable that is missing from `inputs`.
    pub fn render(&self, inputs: &[(&str, &str)]) -> Result<String, AskError> {
        let mut environment = minijinja::Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        let inputs = inputs.iter().map(|(name, text)| (*name, quiet_prompt(text)));
        environment
            .render_str(self.template, minijinja::Value::from_pairs(inputs))
            .map_err(|source| AskError::Template { role: self.role, source: Box::new(source) })
    }
}
