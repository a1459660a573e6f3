//! Gathers the parts of a request besides the inputs: the prompt's text, schema, limit and sample.

use pikerag_knowledge::Schema;

use super::template::{Prompt, Version};
use crate::reply::Reply;

/// The parts of a request besides the inputs.
#[derive(Clone)]
pub(super) struct CallOptions<'a> {
    pub(super) prompt: &'a Prompt,
    /// The text of the prompt that is sent.
    pub(super) version: Version<'a>,
    pub(super) images: &'a [String],
    pub(super) schema: Option<Schema>,
    pub(super) sample: u32,
    pub(super) logprobs: bool,
    /// The most tokens the reply may have.
    pub(super) limit: u32,
    pub(super) tolerates_truncation: bool,
    pub(super) hides_truncation: bool,
    /// The number of passages among the inputs.
    pub(super) n_passages: usize,
}

impl<'a> CallOptions<'a> {
    pub(super) fn of<R: Reply>(prompt: &'a Prompt) -> Self {
        Self {
            schema: R::schema(),
            tolerates_truncation: R::tolerates_truncation(),
            hides_truncation: R::hides_truncation(),
            ..Self::plain(prompt)
        }
    }

    pub(super) fn plain(prompt: &'a Prompt) -> Self {
        Self {
            prompt,
            version: prompt.current(),
            images: &[],
            schema: None,
            sample: 0,
            logprobs: false,
            limit: prompt.max_tokens,
            tolerates_truncation: false,
            hides_truncation: false,
            n_passages: 0,
        }
    }

    /// The requests of earlier versions of pikerag, the latest text first, each with every limit.
    pub(super) fn earlier(&self, former_limits: &[u32]) -> Vec<Self> {
        let mut limits = vec![self.limit];
        limits.extend(former_limits);
        let mut requests = Vec::new();
        for version in self.prompt.versions() {
            for &limit in &limits {
                requests.push(Self { version, limit, ..self.clone() });
            }
        }
        // The first has today's text and limit.
        requests.split_off(1)
    }
}
