//! How is a typed reply asked for? Once, and once more with the error.

use pikerag_knowledge::{
    Account, CallOrigin, CallRef, ChatModel, ChatReply, ChatRequest, FinishReason, Message,
    ModelError, Role, Schema, TokenLogprob,
};

use crate::foreign::quiet_prompt;
use crate::read::Unreadable;

/// How many times the room of a reply that was cut off the next one has.
const MORE_ROOM: u32 = 4;

/// Which share of its room a reply may be away from it and still count as cut there: servers count a token more or less.
const NEAR: u32 = 8;

/// A template with the settings of its call. Kept next to the step that uses it.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// What the call is for: settings choose a model by it, traces and bills name it.
    pub role: Role,
    /// A `minijinja` template; an undefined variable is an error.
    pub template: &'static str,
    /// 0 for answers, 0.7 for atomizing (KAR³ §A.3).
    pub temperature: f32,
    /// The most tokens the reply may have, where no setting says otherwise ([`ChatModel::reply_tokens`]).
    pub max_tokens: u32,
}

impl Prompt {
    /// A prompt at temperature 0 (KAR³ §A.3: all but the atomizer), whose replies may have `max_tokens` at most.
    pub const fn new(role: Role, template: &'static str, max_tokens: u32) -> Prompt {
        Prompt { role, template, temperature: 0.0, max_tokens }
    }

    /// The same prompt at another temperature.
    #[must_use]
    pub const fn at(self, temperature: f32) -> Prompt {
        Prompt { temperature, ..self }
    }

    /// Fills the template in. Whoever forgot to make foreign text fit to be shown is not trusted: nothing that
    /// is filled in holds a token of a chat template, what is not seen, or a line that begins with `#`.
    ///
    /// # Errors
    /// The template does not compile or names a variable that `inputs` lacks.
    pub fn render(&self, inputs: &[(&str, &str)]) -> Result<String, AskError> {
        let mut environment = minijinja::Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        let inputs = inputs.iter().map(|(name, text)| (*name, quiet_prompt(text)));
        environment
            .render_str(self.template, minijinja::Value::from_pairs(inputs))
            .map_err(|source| AskError::Template { role: self.role, source: Box::new(source) })
    }
}

/// What a prompt asks for, and how to read it.
pub trait Reply: Sized {
    /// The schema that an endpoint may enforce; none for free text.
    fn schema() -> Option<Schema>;

    /// Reads a reply.
    ///
    /// # Errors
    /// The reply lacks what was asked for; the reason is shown to the model when it is asked again.
    fn read(reply: &str) -> Result<Self, Unreadable>;

    /// Whether a reply that was cut off can still say all that was asked for: a verdict at its beginning.
    fn bears_a_cut() -> bool {
        false
    }

    /// Whether any beginning of a reply reads like a whole one: prose, and no JSON.
    fn hides_a_cut() -> bool {
        false
    }
}

/// Why a step got no usable reply.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The call failed, after all the retries that the model behind the port makes.
    #[error("the `{role}` call failed")]
    Model {
        /// As [`Prompt::role`] has it.
        role: Role,
        /// Whether to ask again later, never, or not within this budget.
        source: ModelError,
    },
    /// The reply stayed unreadable after it was asked for again. The loop goes on as if the model
    /// had said "none".
    #[error("the reply to `{role}` is unreadable ({reason}): {reply:?}")]
    Unreadable {
        /// As [`Prompt::role`] has it.
        role: Role,
        /// The second reply, cut short.
        reply: String,
        /// What the second reply lacks.
        reason: Unreadable,
    },
    /// The template is broken: a defect of ours.
    #[error("the template of `{role}` is broken")]
    Template {
        /// The prompt, by its role.
        role: Role,
        /// It does not compile, or a variable is undefined.
        source: Box<minijinja::Error>,
    },
}

/// Asks `model` for a typed reply: one call, or two where the first reply cannot be read (with the error) or was cut
/// off at the room that it had (with more of it). Prose of which a filter withheld the rest is a refusal. Every call is booked to `account`, readable or not; replies that could not be used are
/// discarded ([`ChatModel::discard`]).
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

/// The same for one of several samples of a request; `sample` tells them apart, from 0.
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
    let sending = Sending { sample, ..Sending::of::<R>(prompt) };
    Ok(exchange(model, &sending, inputs, R::read, account).await?.0)
}

/// The same, with how probable each token of the reply was, in order; none for an empty reply.
///
/// # Errors
/// See [`AskError`]; [`ModelError::NoLogprobs`] where the endpoint has none.
pub async fn ask_scored<R: Reply>(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, &str)],
    account: &mut Account,
) -> Result<(R, Vec<TokenLogprob>), AskError> {
    let sending = Sending { logprobs: true, ..Sending::of::<R>(prompt) };
    let (reply, raw) = exchange(model, &sending, inputs, R::read, account).await?;
    Ok((reply, raw.logprobs))
}

/// The same with pictures, as `data:` URLs, that the model sees beside the prompt.
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
    let sending = Sending { images, ..Sending::of::<R>(prompt) };
    Ok(exchange(model, &sending, inputs, R::read, account).await?.0)
}

/// The same where only the caller knows what a readable reply is: a number within a range, say.
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
    let sending = Sending { schema, ..Sending::plain(prompt) };
    Ok(exchange(model, &sending, inputs, read, account).await?.0)
}

/// What goes out beside the inputs.
#[derive(Clone)]
struct Sending<'a> {
    prompt: &'a Prompt,
    images: &'a [String],
    schema: Option<Schema>,
    sample: u32,
    logprobs: bool,
    /// The most tokens the reply may have.
    room: u32,
    bears_a_cut: bool,
    hides_a_cut: bool,
}

impl<'a> Sending<'a> {
    fn of<R: Reply>(prompt: &'a Prompt) -> Self {
        Self {
            schema: R::schema(),
            bears_a_cut: R::bears_a_cut(),
            hides_a_cut: R::hides_a_cut(),
            ..Self::plain(prompt)
        }
    }

    fn plain(prompt: &'a Prompt) -> Self {
        Self {
            prompt,
            images: &[],
            schema: None,
            sample: 0,
            logprobs: false,
            room: prompt.max_tokens,
            bears_a_cut: false,
            hides_a_cut: false,
        }
    }
}

async fn exchange<R>(
    model: &dyn ChatModel,
    sending: &Sending<'_>,
    inputs: &[(&str, &str)],
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
    account: &mut Account,
) -> Result<(R, ChatReply), AskError> {
    let rendered = sending.prompt.render(inputs)?;
    let role = sending.prompt.role;
    let room = model.reply_tokens().unwrap_or(sending.room);
    let sending = &Sending { room, ..sending.clone() };
    let first = send(model, sending, rendered.clone(), account).await?;
    if is_withheld(sending, &first) {
        return Err(withheld(model, role, [first]).await);
    }
    let is_readable = read(&first.text).is_ok();
    // With a limit of somebody else's the same request would be paid twice.
    let wants_room = is_cut_at(&first, sending.room) && !goes_in_circles(&first.text);
    if wants_room && !(is_readable && sending.bears_a_cut) {
        let roomy = Sending { room: sending.room.saturating_mul(MORE_ROOM), ..sending.clone() };
        tracing::debug!(%role, max_tokens = roomy.room, "a reply was cut off, asking with more room");
        match send(model, &roomy, rendered.clone(), account).await {
            Ok(second) if is_readable && read(&second.text).is_err() => {}
            Ok(second) => return last(model, &roomy, [first, second], read).await,
            // No more room than that, or a run from before there was this question: on with what there is.
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
            warn_of_a_cut(sending, &first);
            return Ok((reply, first));
        }
        Err(reason) => reason,
    };
    tracing::debug!(%role, %reason, "unreadable reply, asking again");
    let again = format!(
        "{rendered}\n\n# Correction\nYour last reply could not be used: {reason}. \
         Reply again, with nothing but the format asked for above."
    );
    let second = send(model, sending, again, account).await?;
    last(model, sending, [first, second], read).await
}

/// What the second reply says. If nobody can use that either, both are asked for anew another time.
async fn last<R>(
    model: &dyn ChatModel,
    sending: &Sending<'_>,
    replies: [ChatReply; 2],
    read: impl Fn(&str) -> Result<R, Unreadable> + Send + Sync,
) -> Result<(R, ChatReply), AskError> {
    let role = sending.prompt.role;
    let [_, second] = &replies;
    if is_withheld(sending, second) {
        return Err(withheld(model, role, replies).await);
    }
    let mut reason = match read(&second.text) {
        Ok(reply) => {
            warn_of_a_cut(sending, second);
            let [_, second] = replies;
            return Ok((reply, second));
        }
        Err(reason) => reason,
    };
    if second.finish == Some(FinishReason::Length) {
        reason = Unreadable::CutOff { max_tokens: cut_at(second, sending.room) };
    }
    let reply = second.text.chars().take(200).collect();
    discard(model, role, replies).await?;
    Err(AskError::Unreadable { role, reply, reason })
}

/// Whether a reply was cut off at the room that it was given; also where nobody counted.
fn is_cut_at(reply: &ChatReply, room: u32) -> bool {
    let counted = reply.usage.completion_tokens;
    let is_near = counted.abs_diff(u64::from(room)) <= u64::from(room.div_ceil(NEAR));
    reply.finish == Some(FinishReason::Length) && (counted == 0 || is_near)
}

/// Whether a reply says the same at its end again and again: more room would only be filled with more of it.
fn goes_in_circles(reply: &str) -> bool {
    const TAIL: usize = 60;
    const TIMES: usize = 4;
    let reversed: Vec<char> = reply.chars().rev().take(TAIL).collect();
    let tail: String = reversed.into_iter().rev().collect();
    tail.chars().count() == TAIL && TIMES <= reply.matches(&tail).count()
}

/// How many tokens a reply had that was cut off.
fn cut_at(reply: &ChatReply, room: u32) -> u32 {
    if is_cut_at(reply, room) {
        return room;
    }
    u32::try_from(reply.usage.completion_tokens).unwrap_or(u32::MAX)
}

/// Whether a filter withheld the end of a reply that does not show that it has none.
fn is_withheld(sending: &Sending<'_>, reply: &ChatReply) -> bool {
    sending.hides_a_cut && reply.finish == Some(FinishReason::ContentFilter)
}

/// A refusal in the middle of a reply.
async fn withheld(
    model: &dyn ChatModel,
    role: Role,
    replies: impl IntoIterator<Item = ChatReply> + Send,
) -> AskError {
    tracing::warn!(%role, "the endpoint's filter withheld the rest of a reply; none of it is used");
    let model_name = model.name().to_owned();
    let source = "its filter withheld the rest of the reply".into();
    match discard(model, role, replies).await {
        Ok(()) => {
            AskError::Model { role, source: ModelError::Refused { model: model_name, source } }
        }
        Err(error) => error,
    }
}

/// Has replies asked for anew another time.
async fn discard(
    model: &dyn ChatModel,
    role: Role,
    replies: impl IntoIterator<Item = ChatReply> + Send,
) -> Result<(), AskError> {
    let calls: Vec<CallRef> = replies.into_iter().filter_map(|reply| reply.call).collect();
    model.discard(&calls).await.map_err(|source| AskError::Model { role, source })
}

fn warn_of_a_cut(sending: &Sending<'_>, reply: &ChatReply) {
    let role = sending.prompt.role;
    match reply.finish {
        Some(FinishReason::Length) if !sending.bears_a_cut => {
            let tokens = cut_at(reply, sending.room);
            tracing::warn!(%role, tokens, "a reply was cut off; what there is of it is used");
        }
        Some(FinishReason::ContentFilter) => {
            tracing::warn!(
                %role,
                "the endpoint's filter withheld the rest of a reply; what there is of it is used"
            );
        }
        _ => {}
    }
}

async fn send(
    model: &dyn ChatModel,
    sending: &Sending<'_>,
    text: String,
    account: &mut Account,
) -> Result<ChatReply, AskError> {
    let prompt = sending.prompt;
    let request = ChatRequest {
        role: prompt.role,
        messages: vec![Message::User { text, images: sending.images.to_vec() }],
        temperature: prompt.temperature,
        max_tokens: sending.room,
        schema: sending.schema.clone(),
        sample: sending.sample,
        logprobs: sending.logprobs,
        origin: CallOrigin { template: Some(prompt.template.into()), passages: Vec::new() },
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

    #[tokio::test]
    async fn a_readable_reply_costs_one_call() {
        let (colour, prompts, account) = run(vec![r#"{"colour": "blue"}"#]).await;
        assert_eq!(colour.unwrap().0, "blue");
        assert_eq!(prompts, ["Which colour has the sea?"]);
        assert_eq!(account.cost().spent.calls(), 1);
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
    async fn two_unreadable_replies_are_an_honest_failure() {
        let (colour, prompts, _) = run(vec!["", "blue"]).await;
        assert!(matches!(colour, Err(AskError::Unreadable { .. })));
        assert_eq!(prompts.len(), 2);
    }

    /// A model that replies as told, that says why it stopped, and hears what is discarded.
    #[derive(Default)]
    struct Cutting {
        replies: Vec<(&'static str, FinishReason)>,
        rooms: Mutex<Vec<(u32, bool)>>,
        discarded: Mutex<Vec<String>>,
        /// The tokens of each reply, where it counts.
        counted: u64,
        /// What a setting says of its replies.
        room: Option<u32>,
    }

    #[async_trait::async_trait]
    impl ChatModel for Cutting {
        fn name(&self) -> &'static str {
            "cutting"
        }

        fn reply_tokens(&self) -> Option<u32> {
            self.room
        }

        async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
            let mut rooms = self.rooms.lock().unwrap();
            let corrects = format!("{:?}", request.messages).contains("# Correction");
            rooms.push((request.max_tokens, corrects));
            let Some((text, finish)) = self.replies.get(rooms.len() - 1) else {
                let source = "max_tokens is too large".into();
                return Err(ModelError::Refused { model: "cutting".to_owned(), source });
            };
            let call = Some(CallRef { key: format!("{}", rooms.len()), replayed: false });
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

    /// The reply or why there is none; each call's room and whether it corrects; what was discarded.
    async fn cut(
        replies: Vec<(&'static str, FinishReason)>,
    ) -> (Result<String, String>, Vec<(u32, bool)>, Vec<String>) {
        cut_after(0, replies).await
    }

    /// The same of a model that counts so many tokens for each reply.
    async fn cut_after(
        counted: u64,
        replies: Vec<(&'static str, FinishReason)>,
    ) -> (Result<String, String>, Vec<(u32, bool)>, Vec<String>) {
        let model = Cutting { replies, counted, ..Cutting::default() };
        let mut account = Account::default();
        let colour = ask::<Colour>(&model, &PROMPT, &[("thing", "the sea")], &mut account).await;
        let colour = colour.map(|colour| colour.0).map_err(|error| match error {
            AskError::Unreadable { reason, .. } => reason.to_string(),
            other => format!("{other:?}"),
        });
        (colour, model.rooms.into_inner().unwrap(), model.discarded.into_inner().unwrap())
    }

    const WHOLE: (&str, FinishReason) = (r#"{"colour": "blue"}"#, FinishReason::Stop);
    const HALF: (&str, FinishReason) = (r#"{"colour": "bl"#, FinishReason::Length);
    const NOTHING: (&str, FinishReason) = ("<think>The sea, well", FinishReason::Length);

    #[tokio::test]
    async fn a_reply_that_was_cut_off_is_asked_for_with_more_room() {
        for first in [HALF, NOTHING] {
            let (colour, rooms, discarded) = cut(vec![first, WHOLE]).await;
            assert_eq!((colour.as_deref(), rooms), (Ok("blue"), vec![(9, false), (36, false)]));
            assert_eq!(discarded, Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn a_reply_that_is_cut_off_again_is_said_to_be() {
        let (colour, rooms, discarded) = cut(vec![NOTHING, NOTHING]).await;
        assert_eq!(colour, Err("it was cut off at 36 tokens".to_owned()));
        assert_eq!((rooms.len(), discarded), (2, vec!["1".to_owned(), "2".to_owned()]));
    }

    /// Where the model has no more room, the format may still be kept within what there is.
    #[tokio::test]
    async fn without_more_room_it_is_corrected() {
        let room_refused = |first, rooms: Vec<(u32, bool)>| async move {
            let (colour, asked, _) = cut(vec![first]).await;
            assert_eq!(asked, rooms);
            colour
        };
        let readable = (r#"{"colour": "blue", "shade": "li"#, FinishReason::Length);
        assert_eq!(room_refused(readable, vec![(9, false), (36, false)]).await.unwrap(), "blue");
        let (colour, _, discarded) = cut(vec![readable, NOTHING]).await;
        assert_eq!((colour.as_deref(), discarded.len()), (Ok("blue"), 0));
        let corrected = vec![(9, false), (36, false), (9, true)];
        assert!(room_refused(NOTHING, corrected).await.unwrap_err().contains("too large"));
    }

    /// More room would be filled with more of the same: it is told what is wrong instead.
    #[tokio::test]
    async fn a_reply_that_goes_in_circles_gets_no_more_room() {
        let round = "which implies that Hercules was the leader of the Argonauts, which is told by Apollonius, ";
        let circles: &'static str = Box::leak(round.repeat(6).into_boxed_str());
        let (colour, rooms, _) = cut(vec![(circles, FinishReason::Length), WHOLE]).await;
        assert_eq!((colour.as_deref(), rooms), (Ok("blue"), vec![(9, false), (9, true)]));
        assert!(!goes_in_circles(&round.repeat(2)) && !goes_in_circles("no"));
    }

    /// The room that a setting gives goes before the prompt's, and is widened as that is.
    #[tokio::test]
    async fn a_setting_gives_the_room() {
        let model = Cutting { replies: vec![HALF, WHOLE], room: Some(500), ..Cutting::default() };
        let mut account = Account::default();
        ask::<Colour>(&model, &PROMPT, &[("thing", "the sea")], &mut account).await.unwrap();
        assert_eq!(model.rooms.into_inner().unwrap(), [(500, false), (2000, false)]);
    }

    /// A limit of the settings or of the window is no matter of the room: the same request would be paid twice.
    #[tokio::test]
    async fn a_cut_at_somebody_elses_limit_is_not_asked_for_with_more_room() {
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

    /// Prose that ends in the middle of a sentence looks like prose; JSON shows that it is whole.
    #[tokio::test]
    async fn prose_whose_rest_a_filter_withheld_is_refused() {
        let model = Cutting {
            replies: vec![("Ada was born in", FinishReason::ContentFilter)],
            ..Cutting::default()
        };
        let mut account = Account::default();
        let inputs = [("thing", "the sea")];
        let said = ask::<crate::Prose>(&model, &PROMPT, &inputs, &mut account).await;
        let Err(AskError::Model { source: ModelError::Refused { source, .. }, .. }) = said else {
            panic!("{said:?}");
        };
        assert_eq!(source.to_string(), "its filter withheld the rest of the reply");
        assert_eq!((account.cost().spent.calls(), model.rooms.lock().unwrap().len()), (1, 1));
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
