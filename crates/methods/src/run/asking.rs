//! Asks models within a run: each call is booked to it, and the trace notes each reply that stays unreadable.

use futures::future::join_all;
use pikerag_knowledge::facts::UnreadableReply;
use pikerag_knowledge::{Event, ModelError, Role, error_chain};
use pikerag_narrate::Language;
use pikerag_prompt::{AskError, Prompt, Reply, ask, ask_sample};
use pikerag_reason::ReplyLength;

use super::Run;
use crate::ports::{Ports, SolveError};

/// The tokens of one reading round of `adaptive`: its prompt and 1,500 tokens of passages.
const A_ROUND: u32 = 2000;

impl Run {
    /// The tokens that the answering model may read at a time, if there is a limit.
    pub fn reads_at_most(&self) -> Option<u32> {
        self.params.reads_at_most
    }

    /// Whether the model cannot read a whole round of `adaptive` in time. It then gets one call where a method may choose,
    /// and writes brief replies.
    pub(crate) fn has_little_time(&self) -> bool {
        self.reads_at_most().is_some_and(|most| most < A_ROUND)
    }

    /// How much the model writes beside its answers.
    pub(crate) fn reply_length(&self) -> ReplyLength {
        match self.has_little_time() {
            true => ReplyLength::Brief,
            false => ReplyLength::Full,
        }
    }

    /// The language of the question, for sentences that no model writes.
    pub(crate) fn language(&self) -> Language {
        Language::of(self.record.question.query())
    }

    /// Asks the model of the prompt's role; `None` where its reply stayed unreadable, which the trace then notes.
    ///
    /// # Errors
    /// There is no such model, or the call failed.
    pub async fn ask<R: Reply>(
        &mut self,
        ports: &Ports,
        prompt: &Prompt,
        inputs: &[(&str, &str)],
    ) -> Result<Option<R>, SolveError> {
        let model = ports.models.need(prompt.role)?;
        let asked = ask(model, prompt, inputs, &mut self.account).await;
        Ok(self.readable(prompt.role, asked)?)
    }

    /// Asks about many things at once; the replies and their account come in the order of `inputs`, whichever
    /// arrives first. The number is the sample: 0 unless one request is sampled several times.
    ///
    /// # Errors
    /// As [`Run::ask`]: the first error in order that is no refusal.
    pub async fn ask_each<R: Reply>(
        &mut self,
        ports: &Ports,
        prompt: &Prompt,
        inputs: &[(Vec<(&str, &str)>, u32)],
    ) -> Result<Vec<Option<R>>, SolveError> {
        let model = ports.models.need(prompt.role)?;
        let mut calls = Vec::with_capacity(inputs.len());
        for (inputs, sample) in inputs {
            let mut account = self.account.part();
            calls.push(async move {
                let reply = ask_sample::<R>(model, prompt, inputs, *sample, &mut account).await;
                (reply, account)
            });
        }
        let mut replies = Vec::with_capacity(inputs.len());
        for (reply, account) in join_all(calls).await {
            self.account.merge(account);
            replies.push(self.one_of_many(prompt.role, reply)?);
        }
        Ok(replies)
    }

    /// The reply about one of many things; `None` also where the model refuses, as content filters do,
    /// because the other calls are paid.
    ///
    /// # Errors
    /// The call failed for another reason.
    pub fn one_of_many<T>(
        &mut self,
        role: Role,
        asked: Result<T, AskError>,
    ) -> Result<Option<T>, AskError> {
        let Err(AskError::Model { source, .. }) = &asked else { return self.read(role, asked) };
        let is_refused = match source {
            ModelError::Refused { .. } => true,
            // Refusals are not recorded. If a recorded reply is lost instead, this event differs from the recorded one.
            ModelError::NotRecorded { .. } => self.asks_the_record(),
            _ => false,
        };
        if !is_refused {
            return self.read(role, asked);
        }
        tracing::warn!(%role, error = error_chain(source), "a call was refused; going on without its reply");
        self.push(Event::Unreadable { role, reason: UnreadableReply::Refused.into() });
        Ok(None)
    }

    /// The reply of a step; `None` where it stayed unreadable, which the trace then notes.
    ///
    /// # Errors
    /// The call failed for another reason.
    pub fn readable<T>(
        &mut self,
        role: Role,
        asked: Result<T, AskError>,
    ) -> Result<Option<T>, AskError> {
        if self.is_part { self.one_of_many(role, asked) } else { self.read(role, asked) }
    }

    fn read<T>(&mut self, role: Role, asked: Result<T, AskError>) -> Result<Option<T>, AskError> {
        match asked {
            Ok(reply) => Ok(Some(reply)),
            Err(AskError::Unreadable { reason, .. }) => {
                tracing::warn!(%role, %reason, "a reply stayed unreadable; going on without it");
                self.push(Event::Unreadable { role, reason: UnreadableReply::from(reason).into() });
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }
}
