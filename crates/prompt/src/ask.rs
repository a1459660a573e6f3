//! Asks a model for a typed reply, and asks once more with the error if the reply is unreadable.

mod cut;
mod options;
mod placeholders;
mod template;

use pikerag_knowledge::{
    Account, CallOrigin, CallRef, ChatModel, ChatReply, ChatRequest, FinishReason, Message,
    ModelError, Role, Schema, TokenLogprob,
};

pub use self::template::Prompt;

use self::cut::{cut_at, is_cut_at, repeats_itself};
use self::options::CallOptions;
use self::placeholders::Placeholders;
use crate::passages::count_passages;
use crate::read::Unreadable;
use crate::reply::Reply;

/// Factor of the token limit for a second request, after the first reply was cut off.
const LIMIT_FACTOR: u32 = 4;

/// Why a step got no usable reply.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The call failed after all retries of the model behind the port.
    #[error("the `{role}` call failed")]
    Model {
        /// As [`Prompt::role`] has it.
        role: Role,
        /// Tells the caller to ask again later, never, or not within this budget.
        source: ModelError,
    },
    /// The second reply was unreadable too. The caller goes on as if the model had replied "none".
    #[error("the reply to `{role}` is unreadable ({reason}): {reply:?}")]
    Unreadable {
        /// As [`Prompt::role`] has it.
        role: Role,
        /// The second reply, cut short.
        reply: String,
        /// The error in the second reply.
        reason: Unreadable,
    },
    /// The template is broken: a defect of pikerag.
    #[error("the template of `{role}` is broken")]
    Template {
        /// The prompt, by its role.
        role: Role,
        /// It does not compile, or a variable is undefined.
        source: Box<minijinja::Error>,
    },
}

/// Asks `model` for a typed reply with one call, or two: after an unreadable reply (with the error)
/// or a truncated one (with a higher limit). If a filter withholds the rest of a prose reply, it
/// counts as refused. `account` records every call, readable or not. Unusable replies are discarded
/// ([`ChatModel::discard`]).
///
/// # Errors
/// See [`AskError`].
pub async fn ask<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    account: &mut Account,
) -> Result<R, AskError> {
    ask_sample(model, prompt, inputs, 0, account).await
}

/// Like [`ask`], for one of several samples of a request; `sample` distinguishes them, from 0.
///
/// # Errors
/// See [`AskError`].
pub async fn ask_sample<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    sample: u32,
    account: &mut Account,
) -> Result<R, AskError> {
    let options = CallOptions { sample, ..CallOptions::of::<R>(prompt) };
    Ok(exchange(model, &options, inputs, R::read, account).await?.reply)
}

/// Like [`ask`], with the text that was sent: a replay may send an earlier one than [`Prompt::render`] gives.
///
/// # Errors
/// See [`AskError`].
pub async fn ask_rendered<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    account: &mut Account,
) -> Result<(R, String), AskError> {
    let options = CallOptions::of::<R>(prompt);
    let exchanged = exchange(model, &options, inputs, R::read, account).await?;
    Ok((exchanged.reply, exchanged.rendered))
}

/// Like [`ask_sample`], with the log probability of each token of the reply, in order; none for an
/// empty reply.
///
/// # Errors
/// See [`AskError`]; [`ModelError::NoLogprobs`] if the endpoint does not report them.
pub async fn ask_scored<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    account: &mut Account,
) -> Result<(R, Vec<TokenLogprob>), AskError> {
    let options = CallOptions { logprobs: true, ..CallOptions::of::<R>(prompt) };
    let exchanged = exchange(model, &options, inputs, R::read, account).await?;
    Ok((exchanged.reply, exchanged.raw.logprobs))
}

/// Like [`ask`], with pictures, as `data:` URLs, that the model sees beside the prompt.
///
/// # Errors
/// See [`AskError`].
pub async fn ask_about<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    images: &[String],
    account: &mut Account,
) -> Result<R, AskError> {
    let options = CallOptions { images, ..CallOptions::of::<R>(prompt) };
    Ok(exchange(model, &options, inputs, R::read, account).await?.reply)
}

/// Like [`ask`], with a reader of the caller's own, for example for a number within a range.
///
/// # Errors
/// See [`AskError`].
pub async fn ask_read<R>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    schema: Option<Schema>,
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
    account: &mut Account,
) -> Result<R, AskError> {
    let options = CallOptions { schema, ..CallOptions::plain(prompt) };
    Ok(exchange(model, &options, inputs, read, account).await?.reply)
}

/// A reply that could be read, and what was sent for it.
struct Exchanged<R> {
    reply: R,
    raw: ChatReply,
    rendered: String,
}

/// The first reply to a prompt, and what was sent for it.
struct First<'a> {
    options: CallOptions<'a>,
    rendered: String,
    reply: ChatReply,
}

async fn exchange<R>(
    model: &dyn ChatModel,
    options: &CallOptions<'_>,
    inputs: &[(&str, &str)],
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
    account: &mut Account,
) -> Result<Exchanged<R>, AskError> {
    let first = ask_first(model, options, inputs, account).await?;
    let rendered = first.rendered.clone();
    let (reply, raw) = read_or_ask_again(model, first, read, account).await?;
    Ok(Exchanged { reply, raw, rendered })
}

/// Asks with today's text and limit. A replay that has no reply to them asks with those of earlier
/// versions: its run may have been made by one.
async fn ask_first<'a>(
    model: &dyn ChatModel,
    options: &CallOptions<'a>,
    inputs: &[(&str, &str)],
    account: &mut Account,
) -> Result<First<'a>, AskError> {
    let n_passages = inputs.iter().map(|(_, text)| count_passages(text)).max().unwrap_or_default();
    let set_limit = model.reply_tokens();
    let former_limits: &[u32] = match set_limit {
        Some(_) => &[],
        None => options.prompt.former_max_tokens,
    };
    let limit = set_limit.unwrap_or(options.limit);
    let options = CallOptions { limit, n_passages, ..options.clone() };
    let rendered = options.version.render(inputs)?;
    let not_recorded = match send(model, &options, rendered.clone(), account).await {
        Ok(reply) => return Ok(First { options, rendered, reply }),
        Err(error) if is_not_recorded(&error) => error,
        Err(error) => return Err(error),
    };
    for options in options.earlier(former_limits) {
        let rendered = options.version.render(inputs)?;
        match send(model, &options, rendered.clone(), account).await {
            Ok(reply) => return Ok(First { options, rendered, reply }),
            Err(error) if is_not_recorded(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Err(not_recorded)
}

fn is_not_recorded(error: &AskError) -> bool {
    matches!(error, AskError::Model { source: ModelError::NotRecorded { .. }, .. })
}

async fn read_or_ask_again<R>(
    model: &dyn ChatModel,
    first: First<'_>,
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
    account: &mut Account,
) -> Result<(R, ChatReply), AskError> {
    let First { options, rendered, reply: first } = first;
    let options = &options;
    let role = options.prompt.role;
    let placeholders = Placeholders::of(options.version.template);
    let read = |reply: &str| read(&placeholders.without(reply));
    if is_withheld(options, &first) {
        return Err(refuse_withheld(model, role, [first]).await);
    }
    let is_readable = read(&first.text).is_ok();
    // A cut below the limit has another cause: the same request would be paid twice.
    let needs_higher_limit =
        is_cut_at(&first, options.limit) && !repeats_itself(&first.text, &rendered);
    if needs_higher_limit && !(is_readable && options.tolerates_truncation) {
        let raised =
            CallOptions { limit: options.limit.saturating_mul(LIMIT_FACTOR), ..options.clone() };
        tracing::debug!(%role, max_tokens = raised.limit, "a reply was cut off; asking again with a higher limit");
        match send(model, &raised, rendered.clone(), account).await {
            Ok(second) if is_readable && read(&second.text).is_err() => {}
            Ok(second) => return read_second(model, &raised, [first, second], read).await,
            // No higher limit, or no such request in a replayed run: use the first reply.
            Err(AskError::Model {
                source: ModelError::Refused { .. } | ModelError::NotRecorded { .. },
                ..
            }) => {}
            Err(AskError::Model { source: ModelError::OverBudget { .. }, .. }) if is_readable => {}
            Err(error) => return Err(error),
        }
    }
    let reason = match read(&first.text) {
        Ok(reply) => {
            warn_of_truncation(options, &first);
            return Ok((reply, first));
        }
        Err(reason) => reason,
    };
    tracing::debug!(%role, %reason, "unreadable reply, asking again");
    let again = format!(
        "{rendered}\n\n# Correction\nYour last reply could not be used: {reason}. \
         Reply again, with nothing but the format asked for above."
    );
    let second = send(model, options, again, account).await?;
    read_second(model, options, [first, second], read).await
}

/// Reads the second reply. If it is unreadable too, discards both, so that a later run asks again.
async fn read_second<R>(
    model: &dyn ChatModel,
    options: &CallOptions<'_>,
    replies: [ChatReply; 2],
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
) -> Result<(R, ChatReply), AskError> {
    let role = options.prompt.role;
    let [_, second] = &replies;
    if is_withheld(options, second) {
        return Err(refuse_withheld(model, role, replies).await);
    }
    let mut reason = match read(&second.text) {
        Ok(reply) => {
            warn_of_truncation(options, second);
            let [_, second] = replies;
            return Ok((reply, second));
        }
        Err(reason) => reason,
    };
    if second.finish == Some(FinishReason::Length) {
        reason = Unreadable::CutOff { max_tokens: cut_at(second, options.limit) };
    }
    let reply = second.text.chars().take(200).collect();
    discard(model, role, replies).await?;
    Err(AskError::Unreadable { role, reply, reason })
}

/// Whether a filter withheld the end of a reply that does not show the cut.
fn is_withheld(options: &CallOptions<'_>, reply: &ChatReply) -> bool {
    options.hides_truncation && reply.finish == Some(FinishReason::ContentFilter)
}

/// Refuses a reply whose rest a filter withheld.
async fn refuse_withheld(
    model: &dyn ChatModel,
    role: Role,
    replies: impl IntoIterator<Item = ChatReply> + Send,
) -> AskError {
    tracing::warn!(%role, "a filter withheld the rest of a reply; the reply is not used");
    let model_name = model.name().to_owned();
    let source = "its filter withheld the rest of the reply".into();
    match discard(model, role, replies).await {
        Ok(()) => {
            AskError::Model { role, source: ModelError::Refused { model: model_name, source } }
        }
        Err(error) => error,
    }
}

/// Discards replies, so that a later run asks for them again.
async fn discard(
    model: &dyn ChatModel,
    role: Role,
    replies: impl IntoIterator<Item = ChatReply> + Send,
) -> Result<(), AskError> {
    let calls: Vec<CallRef> = replies.into_iter().filter_map(|reply| reply.call).collect();
    model.discard(&calls).await.map_err(|source| AskError::Model { role, source })
}

fn warn_of_truncation(options: &CallOptions<'_>, reply: &ChatReply) {
    let role = options.prompt.role;
    match reply.finish {
        Some(FinishReason::Length) if !options.tolerates_truncation => {
            let tokens = cut_at(reply, options.limit);
            tracing::warn!(%role, tokens, "a reply was cut off; using the partial reply");
        }
        Some(FinishReason::ContentFilter) => {
            tracing::warn!(%role, "a filter withheld the rest of a reply; using the partial reply");
        }
        _ => {}
    }
}

async fn send(
    model: &dyn ChatModel,
    options: &CallOptions<'_>,
    text: String,
    account: &mut Account,
) -> Result<ChatReply, AskError> {
    let prompt = options.prompt;
    let request = ChatRequest {
        role: prompt.role,
        messages: vec![Message::User { text, images: options.images.to_vec() }],
        temperature: prompt.temperature,
        max_tokens: options.limit,
        schema: options.schema.clone(),
        prompt: options.version.label(),
        sample: options.sample,
        logprobs: options.logprobs,
        origin: CallOrigin {
            template: Some(options.version.template.into()),
            n_passages: options.n_passages,
            draft: prompt.draft,
            ..CallOrigin::default()
        },
    };
    let reply = model
        .complete(&request)
        .await
        .map_err(|source| AskError::Model { role: prompt.role, source })?;
    account.book(prompt.role, &reply);
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pikerag_doubles::ScriptedChat;
    use pikerag_knowledge::DraftFields;

    use super::*;
    use crate::read::{object, text};

    struct Colour(String);

    impl Reply for Colour {
        fn schema() -> Option<Schema> {
            None
        }
        fn read(reply: &str) -> Result<Self, Unreadable> {
            Ok(Self(text(&object(reply, &["colour"])?, "colour")?))
        }
    }

    const PROMPT: Prompt = Prompt::new(Role::Answer, "Which colour has {{ thing }}?", 9);

    async fn run(replies: Vec<&'static str>) -> (Result<Colour, AskError>, Vec<String>, Account) {
        let script = ScriptedChat::in_order(replies);
        let mut account = Account::default();
        let inputs = [("thing", "the sea")];
        let colour = ask::<Colour>(&script, &PROMPT, &inputs, &mut account).await;
        (colour, script.prompts(), account)
    }

    /// The model copies the format; its reply counts as empty, and no further call is made.
    #[tokio::test]
    async fn a_copy_of_the_format_is_no_value() {
        let format = "# Output format\n{\"colour\": \"a colour in a few words\"}";
        let prompt = Prompt::new(Role::Answer, format, 9);
        let script = ScriptedChat::in_order(vec![r#"{"colour": "A colour in a few words."}"#]);
        let colour = ask::<Colour>(&script, &prompt, &[], &mut Account::default()).await;
        assert_eq!(colour.unwrap().0, "");
    }

    #[tokio::test]
    async fn a_readable_reply_costs_one_call() {
        let (colour, prompts, account) = run(vec![r#"{"colour": "blue"}"#]).await;
        assert_eq!(colour.unwrap().0, "blue");
        assert_eq!(prompts, ["Which colour has the sea?"]);
        assert_eq!(account.cost().spent.calls(), 1);
    }

    /// Those who wait see a final answer, wherever its prompt says that it is.
    #[tokio::test]
    async fn a_final_answer_names_its_field_in_the_request() {
        let draft = async |prompt: Prompt| {
            let script = ScriptedChat::by(|_| Ok(r#"{"colour": "blue"}"#.to_owned()));
            let inputs = [("thing", "the sea")];
            ask::<Colour>(&script, &prompt, &inputs, &mut Account::default()).await.unwrap();
            script.requests()[0].origin.draft
        };
        assert_eq!(draft(PROMPT).await, None);
        let shown = async |prompt: Prompt| {
            let DraftFields { answer, only_if, reasons } = draft(prompt).await.unwrap();
            (answer, only_if, reasons)
        };
        assert_eq!(shown(PROMPT.answering()).await, ("answer", None, None));
        let after = PROMPT.answering_after("why");
        assert_eq!(shown(after).await, ("answer", None, Some("why")));
        let possibly = PROMPT.answering_if("sufficient", "why");
        assert_eq!(shown(possibly).await, ("answer", Some("sufficient"), Some("why")));
    }

    /// A replay of an earlier version has no reply under today's limit.
    #[tokio::test]
    async fn a_reply_that_was_recorded_with_another_limit_is_found() {
        let recorded = |limit| {
            ScriptedChat::by(move |request| match request.max_tokens == limit {
                true => Ok(r#"{"colour": "blue"}"#.to_owned()),
                false => Err(ModelError::NotRecorded {
                    role: "answer".to_owned(),
                    model: "m".to_owned(),
                }),
            })
        };
        let raised = PROMPT.formerly(&[5]);
        let inputs = [("thing", "the sea")];
        for (limit, prompt, found) in [(5, &raised, true), (9, &raised, true), (5, &PROMPT, false)]
        {
            let script = recorded(limit);
            let colour = ask::<Colour>(&script, prompt, &inputs, &mut Account::default()).await;
            assert_eq!(colour.is_ok(), found, "{limit}");
        }
    }

    /// A replay asks with the latest text first, and again with the earlier ones; corrections go on
    /// with the text that has a reply. A live model is asked once, with the latest text.
    #[tokio::test]
    async fn a_reply_to_an_earlier_text_is_found() {
        let reworded = Prompt::new(Role::Answer, "Name the colour of {{ thing }}.", 9)
            .with_earlier("prompt/colour", &["Colour of {{ thing }}?", "Say it: {{ thing }}"]);
        let inputs = [("thing", "the sea")];
        let versions = [
            ("Colour of the sea?", None),
            ("Say it: the sea", Some("prompt/colour.2")),
            ("Name the colour of the sea.", Some("prompt/colour.3")),
        ];
        for (recorded, label) in versions {
            let script = ScriptedChat::by(move |request| {
                let text = pikerag_doubles::prompt(request).unwrap_or_default();
                match text.strip_prefix(recorded) {
                    Some("") => Ok("blue".to_owned()),
                    Some(_) => Ok(r#"{"colour": "blue"}"#.to_owned()),
                    None => Err(ModelError::NotRecorded {
                        role: "answer".to_owned(),
                        model: "m".to_owned(),
                    }),
                }
            });
            let mut account = Account::default();
            let (colour, sent) =
                ask_rendered::<Colour>(&script, &reworded, &inputs, &mut account).await.unwrap();
            assert_eq!((colour.0.as_str(), sent.as_str()), ("blue", recorded));
            let last = script.requests().pop().unwrap();
            assert_eq!(last.prompt.as_deref(), label);
            assert_eq!(account.cost().spent.calls(), 2);
        }
        let script = ScriptedChat::in_order([r#"{"colour": "blue"}"#]);
        ask::<Colour>(&script, &reworded, &inputs, &mut Account::default()).await.unwrap();
        assert_eq!(script.prompts(), ["Name the colour of the sea."]);
    }

    #[tokio::test]
    async fn without_a_recorded_reply_to_any_text_the_error_stays() {
        let reworded = PROMPT.with_earlier("prompt/colour", &["Colour of {{ thing }}?"]);
        let script = ScriptedChat::by(|request| {
            let (role, model) = (request.prompt.clone().unwrap_or_default(), "m".to_owned());
            Err(ModelError::NotRecorded { role, model })
        });
        let inputs = [("thing", "the sea")];
        let asked = ask::<Colour>(&script, &reworded, &inputs, &mut Account::default()).await;
        let Err(AskError::Model { source: ModelError::NotRecorded { role, .. }, .. }) = asked
        else {
            panic!("a reply was found");
        };
        assert_eq!((role.as_str(), script.requests().len()), ("prompt/colour.2", 2));
    }

    #[tokio::test]
    async fn an_unreadable_reply_is_asked_for_once_more_with_the_error() {
        let (colour, prompts, account) = run(vec!["Blue, I think.", r#"{"colour": "blue"}"#]).await;
        assert_eq!(colour.unwrap().0, "blue");
        assert!(prompts[1].starts_with("Which colour has the sea?"));
        assert!(
            prompts[1].contains("could not be used: no JSON object with `colour`"),
            "{}",
            prompts[1]
        );
        assert_eq!(account.cost().spent.calls(), 2);
    }

    #[tokio::test]
    async fn two_unreadable_replies_are_an_error() {
        let (colour, prompts, _) = run(vec!["", "blue"]).await;
        assert!(matches!(colour, Err(AskError::Unreadable { .. })));
        assert_eq!(prompts.len(), 2);
    }

    /// A model with scripted replies and finish reasons; it records its limits and the discarded
    /// calls.
    #[derive(Default)]
    struct TruncatingModel {
        replies: Vec<(&'static str, FinishReason)>,
        limits: Mutex<Vec<(u32, bool)>>,
        discarded: Mutex<Vec<String>>,
        /// The tokens of each reply; 0 if the model does not count.
        counted: u64,
        /// The limit that a setting gives.
        limit: Option<u32>,
    }

    #[async_trait::async_trait]
    impl ChatModel for TruncatingModel {
        fn name(&self) -> &'static str {
            "cutting"
        }

        fn reply_tokens(&self) -> Option<u32> {
            self.limit
        }

        async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
            let mut limits = self.limits.lock().unwrap();
            let corrects = format!("{:?}", request.messages).contains("# Correction");
            limits.push((request.max_tokens, corrects));
            let Some((text, finish)) = self.replies.get(limits.len() - 1) else {
                let source = "max_tokens is too large".into();
                return Err(ModelError::Refused { model: "cutting".to_owned(), source });
            };
            let call = Some(CallRef { key: format!("{}", limits.len()), replayed: false });
            let usage =
                pikerag_knowledge::Usage { prompt_tokens: 9, completion_tokens: self.counted };
            let reply = ChatReply::new(*text, usage);
            Ok(ChatReply { finish: Some(*finish), call, ..reply })
        }

        async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
            self.discarded.lock().unwrap().extend(calls.iter().map(|call| call.key.clone()));
            Ok(())
        }
    }

    /// The reply or the error; the limit of each call, and whether the call corrects; the discarded
    /// calls.
    async fn cut(
        replies: Vec<(&'static str, FinishReason)>,
    ) -> (Result<String, String>, Vec<(u32, bool)>, Vec<String>) {
        cut_after(0, replies).await
    }

    /// The same for a model that counts this many tokens for each reply.
    async fn cut_after(
        counted: u64,
        replies: Vec<(&'static str, FinishReason)>,
    ) -> (Result<String, String>, Vec<(u32, bool)>, Vec<String>) {
        let model = TruncatingModel { replies, counted, ..TruncatingModel::default() };
        let mut account = Account::default();
        let colour = ask::<Colour>(&model, &PROMPT, &[("thing", "the sea")], &mut account).await;
        let colour = colour.map(|colour| colour.0).map_err(|error| match error {
            AskError::Unreadable { reason, .. } => reason.to_string(),
            other => format!("{other:?}"),
        });
        (colour, model.limits.into_inner().unwrap(), model.discarded.into_inner().unwrap())
    }

    const WHOLE: (&str, FinishReason) = (r#"{"colour": "blue"}"#, FinishReason::Stop);
    const HALF: (&str, FinishReason) = (r#"{"colour": "bl"#, FinishReason::Length);
    const NOTHING: (&str, FinishReason) = ("<think>The sea, well", FinishReason::Length);

    #[tokio::test]
    async fn a_truncated_reply_is_asked_for_with_a_higher_limit() {
        for first in [HALF, NOTHING] {
            let (colour, limits, discarded) = cut(vec![first, WHOLE]).await;
            assert_eq!((colour.as_deref(), limits), (Ok("blue"), vec![(9, false), (36, false)]));
            assert_eq!(discarded, Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn a_reply_that_is_truncated_twice_is_an_error() {
        let (colour, limits, discarded) = cut(vec![NOTHING, NOTHING]).await;
        assert_eq!(colour, Err("it was cut off at 36 tokens".to_owned()));
        assert_eq!((limits.len(), discarded), (2, vec!["1".to_owned(), "2".to_owned()]));
    }

    /// If the model allows no higher limit, the format may still be correct within the old one.
    #[tokio::test]
    async fn without_a_higher_limit_the_reply_is_corrected() {
        let higher_limit_refused = |first, limits: Vec<(u32, bool)>| async move {
            let (colour, asked, _) = cut(vec![first]).await;
            assert_eq!(asked, limits);
            colour
        };
        let readable = (r#"{"colour": "blue", "shade": "li"#, FinishReason::Length);
        assert_eq!(
            higher_limit_refused(readable, vec![(9, false), (36, false)]).await.unwrap(),
            "blue"
        );
        let (colour, _, discarded) = cut(vec![readable, NOTHING]).await;
        assert_eq!((colour.as_deref(), discarded.len()), (Ok("blue"), 0));
        let corrected = vec![(9, false), (36, false), (9, true)];
        assert!(higher_limit_refused(NOTHING, corrected).await.unwrap_err().contains("too large"));
    }

    /// A higher limit would only give more repetition, so the model gets the error instead.
    #[tokio::test]
    async fn a_repetitive_reply_gets_no_higher_limit() {
        let sentence = "which implies that Hercules was the leader of the Argonauts, which is told by Apollonius, ";
        let repetitive: &'static str = Box::leak(sentence.repeat(6).into_boxed_str());
        let (colour, limits, _) = cut(vec![(repetitive, FinishReason::Length), WHOLE]).await;
        assert_eq!((colour.as_deref(), limits), (Ok("blue"), vec![(9, false), (9, true)]));
        assert!(!repeats_itself(&sentence.repeat(2), "") && !repeats_itself("no", ""));
        // A model that is lost counts on; a table of measurements differs in its numbers, too.
        let row = |day| {
            format!(r#"{{"day":"2025-05-{day:02}","cause":"worn pump","lost":"{day} hours"}}"#)
        };
        let rows = (1..=40).map(row).collect::<Vec<_>>().join(",");
        assert!(repeats_itself(&rows, &"The pump was worn. ".repeat(20)));
        let long = "On 1 May it lost 2 hours. ".repeat(80);
        assert!(!repeats_itself(&rows, &long));
        let list = |numbers: &mut dyn Iterator<Item = u32>| {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
        };
        let counting = format!(r#"{{"thinking": "why", "numbers": [{}"#, list(&mut (2..90)));
        assert!(repeats_itself(&counting, &long));
        assert!(!repeats_itself(&format!("[{}", list(&mut (1..180).step_by(2))), &long));
        assert!(!repeats_itself(&format!("[{}", list(&mut (1..30))), &long));
        let named = (1..90).map(|number| format!("{number}. pump")).collect::<Vec<_>>().join("\n");
        assert!(!repeats_itself(&named, &long));
    }

    /// A limit from the settings replaces the prompt's limit and rises by the same factor.
    #[tokio::test]
    async fn a_setting_gives_the_limit() {
        let model = TruncatingModel {
            replies: vec![HALF, WHOLE],
            limit: Some(500),
            ..TruncatingModel::default()
        };
        let mut account = Account::default();
        ask::<Colour>(&model, &PROMPT, &[("thing", "the sea")], &mut account).await.unwrap();
        assert_eq!(model.limits.into_inner().unwrap(), [(500, false), (2000, false)]);
    }

    /// Another limit (of the settings or of the window) cut the reply: the same request would be
    /// paid twice.
    #[tokio::test]
    async fn a_reply_cut_at_another_limit_gets_no_higher_one() {
        for counted in [4, 40] {
            let (colour, asked, _) = cut_after(counted, vec![HALF, WHOLE]).await;
            assert_eq!((colour.as_deref(), asked), (Ok("blue"), vec![(9, false), (9, true)]));
            let (colour, _, _) = cut_after(counted, vec![HALF, HALF]).await;
            assert_eq!(colour, Err(format!("it was cut off at {counted} tokens")));
        }
        for counted in [8, 9, 10] {
            let (_, asked, _) = cut_after(counted, vec![HALF, WHOLE]).await;
            assert_eq!(asked, [(9, false), (36, false)]);
        }
    }

    /// Truncated prose looks like whole prose; JSON shows whether it is whole.
    #[tokio::test]
    async fn prose_that_a_filter_truncated_is_refused() {
        let model = TruncatingModel {
            replies: vec![("Ada was born in", FinishReason::ContentFilter)],
            ..TruncatingModel::default()
        };
        let mut account = Account::default();
        let inputs = [("thing", "the sea")];
        let refused = ask::<crate::Prose>(&model, &PROMPT, &inputs, &mut account).await;
        let Err(AskError::Model { source: ModelError::Refused { source, .. }, .. }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(source.to_string(), "its filter withheld the rest of the reply");
        assert_eq!((account.cost().spent.calls(), model.limits.lock().unwrap().len()), (1, 1));
        assert_eq!(*model.discarded.lock().unwrap(), ["1"]);

        let filtered = (WHOLE.0, FinishReason::ContentFilter);
        let half = (HALF.0, FinishReason::ContentFilter);
        for replies in [vec![filtered], vec![half, filtered]] {
            let (colour, _, discarded) = cut(replies).await;
            assert_eq!((colour.as_deref(), discarded.len()), (Ok("blue"), 0));
        }
    }

    #[tokio::test]
    async fn two_unreadable_replies_are_discarded_and_one_is_not() {
        let bad = ("Blue.", FinishReason::Stop);
        assert_eq!(cut(vec![bad, bad]).await.2, ["1", "2"]);
        assert_eq!(cut(vec![bad, WHOLE]).await.2, Vec::<String>::new());
    }

    #[test]
    fn an_undefined_variable_is_an_error() {
        assert!(matches!(PROMPT.render(&[("thin", "x")]), Err(AskError::Template { .. })));
    }
}
