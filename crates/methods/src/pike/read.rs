//! Answers facts and chains of facts from passages.

use std::num::NonZeroUsize;

use futures::FutureExt;
use futures::future::BoxFuture;
use pikerag_knowledge::{Answer, Context, Level, Question, Role};
use pikerag_narrate::{InWords, Language, Sentence};

use super::{Outcome, Params, Unsettled, stated};
use crate::adaptive;
use crate::named::absent_things;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Reads passages by the method of the parameters. A model with little time is not asked about a thing that no document
/// mentions, and is asked whether the cited passage states its answer.
///
/// # Errors
/// See [`SolveError`].
pub(super) fn read<'a>(
    ports: &'a Ports,
    run: &'a mut Run,
    question: &'a Question,
    params: Params,
) -> BoxFuture<'a, Result<Outcome, SolveError>> {
    // On the heap: every class may end here, and the stack of a thread is small.
    async move {
        // A small model would answer from something that resembles the thing.
        let is_unknown = run.has_little_time()
            && !absent_things(ports, question.query(), &Context::default()).await?.is_empty();
        let without_model = is_unknown.then(|| ports.without(Role::ALL));
        let ports = without_model.as_ref().unwrap_or(ports);
        let mut answer = match params.level {
            Some(Level::L1) => {
                let once = adaptive::Params { looks: NonZeroUsize::MIN, ..params.reading };
                adaptive::solve(ports, run, question, once).await?
            }
            _ => params.l2.solve(ports, run, question, params.reading).await?,
        };
        stated::check(ports, run, question, &mut answer).await?;
        Ok(Outcome::Answered(settled(answer, params, Language::of(question.query()))))
    }
    .boxed()
}

/// The answer; refused if something is missing from it and the parameters want no such answer.
pub(super) fn settled(mut answer: Answer, params: Params, language: Language) -> Answer {
    if params.unsettled == Unsettled::Refused && !answer.refused && !answer.missing.is_empty() {
        answer.refused = true;
        let likeliest = Sentence::MostLikely(&answer.text).in_words(language);
        answer.text = Sentence::Insufficient(&likeliest).in_words(language);
    }
    answer
}
