//! Stores how long this user's model calls take, over all bases, so that a wait can be shown with
//! its expected time. It stores sums by model and role, and no question, text or name of a base.

use std::path::PathBuf;

use pikerag_models::Paces;

use crate::state_file::{read, update};

/// The sums, in a file in the user's own folder; none if there is no such folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct PaceFile {
    pub(crate) path: Option<PathBuf>,
}

impl PaceFile {
    /// The sums so far. An unreadable file counts as empty.
    pub(crate) fn known(&self) -> Paces {
        self.path.as_deref().and_then(read).unwrap_or_default()
    }

    /// Adds measured calls. If they cannot be stored, only expected times lack them.
    pub(crate) fn add(&self, measured: &Paces) {
        let Some(path) = self.path.as_deref().filter(|_| !measured.is_empty()) else { return };
        if let Err(error) = update(path, |known: &mut Paces| known.merge(measured)) {
            tracing::debug!(%error, "the times of model calls could not be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_add_up_in_the_file_and_a_broken_file_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/paces.json");
        let file = PaceFile { path: Some(path.clone()) };
        assert!(file.known().is_empty());
        let json =
            r#"{"m":{"answer":{"calls":1,"prompt_tokens":10,"completion_tokens":2,"millis":30}}}"#;
        let measured: Paces = serde_json::from_str(json).unwrap();
        file.add(&measured);
        assert_eq!(file.known(), measured);
        file.add(&measured);
        let mut twice = measured.clone();
        twice.merge(&measured);
        assert_eq!(file.known(), twice);

        std::fs::write(&path, b"\xff{").unwrap();
        assert!(file.known().is_empty());
        file.add(&measured);
        assert_eq!(file.known(), measured);
        PaceFile::default().add(&measured);
    }
}
