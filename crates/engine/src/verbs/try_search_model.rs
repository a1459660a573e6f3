//! Tries an embedder or a reranker by one small call before it is set.

use pikerag_knowledge::ModelError;
use serde::Serialize;
use utoipa::ToSchema;

use super::set_chat::SettingsPlace;
use super::set_search_model::prepare;
use super::small_call::{PATIENCE, Tried, tried};
use crate::change_error::ChangeModelError;
use crate::engine::{Session, TrialModel};
use crate::settings::SearchModelChoice;

/// The result of a small call to an embedder or a reranker.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TriedSearchModel {
    /// Whether the model has replied.
    pub fine: bool,
    /// The address without user, password and query.
    pub address: String,
    /// The time of the call, in seconds.
    pub seconds: f64,
    /// Dimensions of its vectors; none for a reranker and after an error.
    #[schema(required)]
    pub dimensions: Option<usize>,
    /// The kind of error in one word, such as `unreachable` or `denied`; `offline` if no call may be
    /// made.
    #[schema(required)]
    pub error: Option<String>,
    /// The error in a sentence; empty without one.
    pub says: String,
    /// The same in Chinese.
    pub says_zh: String,
}

/// Makes one small call to an embedder or a reranker, with the key that would be sent if it was set.
/// The settings file stays as it is. The call counts in the caps.
///
/// # Errors
/// The errors of [`set_search_model`](crate::set_search_model); a model that does not answer is no
/// error.
///
/// # Cancel safety
/// Dropping the future aborts the call.
pub async fn try_search_model(
    session: &Session,
    place: SettingsPlace<'_>,
    choice: &SearchModelChoice,
) -> Result<TriedSearchModel, ChangeModelError> {
    let mut set = prepare(session, place, choice)?.endpoint;
    set.endpoint.timeout = set.endpoint.timeout.min(PATIENCE);
    let model = session.trial_search_model(choice.of, &set)?;
    let Tried { seconds, outcome } = tried(session, reply(&model)).await;
    let result = TriedSearchModel {
        fine: outcome.is_ok(),
        address: set.endpoint.address(),
        seconds,
        dimensions: None,
        error: None,
        says: String::new(),
        says_zh: String::new(),
    };
    Ok(match outcome {
        Ok(dimensions) => TriedSearchModel { dimensions, ..result },
        Err((error, words)) => {
            let (says, says_zh) = (words.english, words.chinese);
            TriedSearchModel { error: Some(error.to_owned()), says, says_zh, ..result }
        }
    })
}

/// One call; the numbers of a vector if the model makes vectors.
async fn reply(model: &TrialModel) -> Result<Option<usize>, ModelError> {
    let text = |text: &str| text.to_owned();
    match model {
        TrialModel::Embedder(model) => {
            let vectors = model.embed(&[text("ready")]).await?;
            Ok(vectors.first().map(Vec::len))
        }
        TrialModel::Reranker(model) => {
            let documents = [text("The pump was repaired."), text("The harbour is closed.")];
            model.rerank("Who repaired the pump?", &documents).await?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_models::Secret;
    use pikerag_test_support::canned::{Canned, Server, error, ok};

    use super::*;
    use crate::settings::{Environment, SearchModel, Settings};

    async fn tried_with(of: SearchModel, reply: Canned) -> (TriedSearchModel, Vec<String>) {
        let server = Server::start(vec![reply]);
        let home = tempfile::tempdir().unwrap();
        let (path, environment) = (home.path().join("pikerag.toml"), Environment::default());
        std::fs::write(&path, "").unwrap();
        let place = SettingsPlace { path: &path, is_named: true, environment: &environment };
        let (model, base_url) = ("m".to_owned(), server.base_url.clone());
        let api_key = Some(Secret::new("sk-0123456789"));
        let choice = SearchModelChoice { of, model, base_url, api_key };
        let session = crate::open(Settings::defaults().unwrap()).unwrap().session();
        let tried = try_search_model(&session, place, &choice).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        (tried, server.requests())
    }

    #[tokio::test]
    async fn one_call_shows_the_numbers_of_a_vector_or_the_error() {
        let reply = r#"{"data": [{"index": 0, "embedding": [0.6, 0.8, 0.0]}]}"#;
        let (fine, requests) = tried_with(SearchModel::Embedder, ok(reply)).await;
        assert_eq!((fine.fine, fine.dimensions), (true, Some(3)), "{fine:?}");
        assert!(requests[0].contains("authorization: Bearer sk-0123456789"), "{requests:?}");
        let body = r#"{"error": {"message": "wrong key sk-0123456789"}}"#;
        let (denied, _) = tried_with(SearchModel::Embedder, error(401, body)).await;
        assert_eq!((denied.fine, denied.error.as_deref()), (false, Some("denied")), "{denied:?}");
        let shown = format!("{denied:?}");
        assert!(!shown.contains("sk-0123456789") && !denied.says_zh.is_empty(), "{shown}");
    }

    #[tokio::test]
    async fn one_call_tries_a_reranker() {
        let reply = r#"{"results": [{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]}"#;
        let (fine, requests) = tried_with(SearchModel::Reranker, ok(reply)).await;
        assert_eq!((fine.fine, fine.dimensions, requests.len()), (true, None, 1), "{fine:?}");
        let (bad, _) = tried_with(SearchModel::Reranker, ok("{}")).await;
        assert!(!bad.fine && bad.error.is_some(), "{bad:?}");
    }
}
