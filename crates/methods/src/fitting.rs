//! Shortens a context to the tokens that a slow model may read before its answer is due.

use std::borrow::Cow;

use pikerag_knowledge::{Context, Event, Note, Question, Role};
pub use pikerag_reason::FIXED_TOKENS;
use pikerag_reason::{context_tokens, fit, tokens_beside};

use crate::ports::{Ports, SolveError};
use crate::quoting::known;
use crate::run::Run;

/// The steps before an answer that rules can take, too.
const BY_RULES: [Role; 2] = [Role::Classify, Role::Decompose];

/// The ports for a run with little time, if they differ: its model neither classifies the question nor plans or queries,
/// because such a call takes as long as the answer itself. A role with a model of its own keeps it.
pub(crate) fn in_little_time(ports: &Ports, run: &Run) -> Option<Ports> {
    let chat = &ports.models.chat;
    let slow = chat.of(Role::Answer).filter(|_| run.has_little_time())?.name();
    let is_slow = |role: &Role| chat.of(*role).is_some_and(|model| model.name() == slow);
    let roles: Vec<Role> = BY_RULES.into_iter().filter(is_slow).collect();
    (!roles.is_empty()).then(|| ports.without(&roles))
}

/// The context as the answering model reads it: all of it, or the best sentences and rows within the run's
/// limit, of at least one passage. The trace notes each cut. Citations are checked against the whole context. `notes` are
/// all other texts of the prompt that vary, such as examples, notes and candidates.
///
/// # Errors
/// The base cannot be read, or the question cannot be embedded.
pub async fn fitted<'a>(
    ports: &Ports,
    question: &Question,
    context: &'a Context,
    notes: &str,
    run: &mut Run,
) -> Result<Cow<'a, Context>, SolveError> {
    let Some(limit) = run.reads_at_most() else { return Ok(Cow::Borrowed(context)) };
    let tokens = u64::from(limit).saturating_sub(tokens_beside(question, notes));
    if context_tokens(context) <= tokens {
        return Ok(Cow::Borrowed(context));
    }
    let known = known(ports, question).await?;
    let Some(cut) = fit(question, context, &known, tokens) else {
        return Ok(Cow::Borrowed(context));
    };
    let (passages, of) = (cut.chunks.len(), context.chunks.len());
    let tokens = context_tokens(&cut);
    run.push(Event::Noted { note: Note::ContextCut { passages, of, tokens }.into() });
    Ok(Cow::Owned(cut))
}
