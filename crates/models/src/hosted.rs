//! Speaks to a chat model whose server this program starts when it is first needed.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{ChatModel, ChatReply, ChatRequest, ModelError};

use crate::openai::{Endpoint, OpenAiChat, Quirks, Transport};
use crate::secret::Secret;

/// The server of one model, which runs only while it is needed.
#[async_trait]
pub trait ModelServer: fmt::Debug + Send + Sync {
    /// Starts the server unless it runs, and waits until it answers.
    ///
    /// # Errors
    /// [`ModelError::NotStarted`], with the reason.
    ///
    /// # Cancel safety
    /// Dropping the future ends a server that has not answered yet.
    async fn ready(&self) -> Result<Serving, ModelError>;
}

/// A server that answers. It is not stopped for idleness before this value is dropped.
pub struct Serving {
    /// Its address, up to `/v1`.
    pub base_url: String,
    /// The key that it asks for.
    pub api_key: Secret,
    /// Keeps it running.
    pub held: Box<dyn Send + Sync>,
}

/// The chat model of such a server. Its endpoint has no address of its own.
pub(crate) struct HostedChat {
    endpoint: Endpoint,
    transport: Transport,
    server: Arc<dyn ModelServer>,
    quirks: Arc<Quirks>,
}

impl HostedChat {
    /// Starts nothing and sends nothing.
    pub(crate) fn new(
        endpoint: Endpoint,
        transport: &Transport,
        server: Arc<dyn ModelServer>,
        quirks: Arc<Quirks>,
    ) -> Self {
        Self { endpoint, transport: transport.clone(), server, quirks }
    }
}

#[async_trait]
impl ChatModel for HostedChat {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.endpoint.reply_tokens.map(NonZeroU32::get)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let Serving { base_url, api_key, held } = self.server.ready().await?;
        let endpoint = Endpoint { base_url, api_key: Some(api_key), ..self.endpoint.clone() };
        let chat = OpenAiChat::new(endpoint, &self.transport)?;
        let reply = chat.with_quirks(Arc::clone(&self.quirks)).complete(request).await;
        drop(held);
        reply
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pikerag_doubles::request;
    use pikerag_test_support::canned::{Server, ok};

    use super::*;

    /// Gives the address of a server, and counts the calls that hold it.
    #[derive(Debug)]
    struct Counted {
        base_url: Option<String>,
        held: Arc<AtomicUsize>,
    }

    struct Hold(Arc<AtomicUsize>);

    impl Drop for Hold {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[async_trait]
    impl ModelServer for Counted {
        async fn ready(&self) -> Result<Serving, ModelError> {
            let Some(base_url) = self.base_url.clone() else {
                let source = "no file".into();
                return Err(ModelError::NotStarted { model: "local:m".to_owned(), source });
            };
            self.held.fetch_add(1, Ordering::SeqCst);
            let held = Box::new(Hold(Arc::clone(&self.held)));
            Ok(Serving { base_url, api_key: Secret::new("token-of-it"), held })
        }
    }

    fn chat(base_url: Option<String>, held: &Arc<AtomicUsize>) -> HostedChat {
        let server = Arc::new(Counted { base_url, held: Arc::clone(held) });
        let endpoint = Endpoint::new("local:m", "local:m");
        HostedChat::new(endpoint, &Transport::default(), server, Arc::default())
    }

    #[tokio::test]
    async fn calls_go_to_the_started_server_with_its_key() {
        let reply = r#"{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}"#;
        let server = Server::start(vec![ok(reply)]);
        let held = Arc::new(AtomicUsize::new(0));
        let chat = chat(Some(server.base_url.clone()), &held);
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "yes");
        assert_eq!((chat.name(), held.load(Ordering::SeqCst)), ("local:m", 0));
        assert!(server.requests()[0].contains("authorization: Bearer token-of-it"));
    }

    #[tokio::test]
    async fn a_server_that_cannot_start_is_reported() {
        let error = chat(None, &Arc::default()).complete(&request("a")).await.unwrap_err();
        assert!(matches!(error, ModelError::NotStarted { .. }), "{error}");
        assert!(error.concerns_every_call());
    }
}
