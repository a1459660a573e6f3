//! Builds a chat model for a single call that tries its endpoint.

use std::num::NonZeroU32;
use std::sync::Arc;

use pikerag_knowledge::{ChatModel, ModelError};
use pikerag_models::{
    CallContext, MemoryLedger, Mode, ModelServer, RetryParams, StackParams, chat_stack,
};

use super::Session;
use crate::settings::ChatSettings;

impl Session {
    /// A model of these settings, which makes one attempt for each call and records none. It shares
    /// no circuit breaker with other calls, so that its failure changes nothing for them. Its calls
    /// count in the caps.
    pub(crate) fn trial_chat(&self, chat: &ChatSettings) -> Result<Arc<dyn ChatModel>, ModelError> {
        let calls = self.calls(Arc::new(MemoryLedger::default()), Mode::Record);
        let calls = CallContext { scope: None, ..calls };
        let name = chat.endpoint.local_name();
        let server = name.map(|name| Arc::new(self.local_server(name)) as Arc<dyn ModelServer>);
        let retry = RetryParams { attempts: NonZeroU32::MIN, ..chat.retry };
        chat_stack(&calls, &chat.endpoint, &StackParams { retry, server, ..StackParams::default() })
    }
}
