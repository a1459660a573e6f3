//! Holds a key so that it cannot be shown by accident.

use std::fmt;

use serde::Deserialize;

/// A key or a password. It cannot be printed; code that needs it calls `expose`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Secret(String);

impl Secret {
    /// Keeps a secret, without the white space that files and shells leave around it.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The secret itself, for requests only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the secret. Secrets below eight bytes (`none`, `ollama`) protect nothing, and
    /// may be words that a message needs.
    pub(crate) fn redact(&self, text: String) -> String {
        if 8 <= self.0.len() && text.contains(&self.0) {
            text.replace(&self.0, "***")
        } else {
            text
        }
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_printed() {
        let secret = Secret::new(" sk-0123456789\n");
        assert_eq!(secret.expose(), "sk-0123456789");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "*** Some(***)");
        assert_eq!(secret.redact("bad key sk-0123456789!".to_owned()), "bad key ***!");
        assert_eq!(Secret::new("ollama").redact("is ollama up?".to_owned()), "is ollama up?");
    }
}
