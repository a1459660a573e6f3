//! Turns tables of chat models into endpoints, with their limits and prices.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use pikerag_knowledge::Role;
use pikerag_models::openai::LOCAL;
use pikerag_models::{Endpoint, Limits, Price, Prices, RetryParams, Structured};

use super::ChatSettings;
use super::file::{ChatTable, PriceTable, SettingsFile};
use super::keys::OPENAI;
use super::local::{MOST_PARALLEL, PARALLEL};

/// The prices of the file. Models that pikerag serves itself are free unless the file prices them.
pub(super) fn prices(file: &SettingsFile, tables: &BTreeMap<Role, ChatTable>) -> Prices {
    let price = |set: &PriceTable| Price {
        prompt: set.prompt,
        completion: set.completion,
        search: set.search,
    };
    let perspectives = file.perspectives.iter().map(|own| &own.chat);
    let local = tables.values().chain(perspectives).filter_map(local_model);
    let set = file.prices.iter().map(|(model, set)| (model.clone(), price(set)));
    local.map(|model| (model, Price::default())).chain(set).collect()
}

/// The name of the model that pikerag serves itself, if this is one.
fn local_model(table: &ChatTable) -> Option<String> {
    table.model.clone().filter(|model| model.starts_with(LOCAL))
}

/// The calls at a time that a server of pikerag must process: as many as the settings allow, so that
/// no call displaces the prompt of another from the server's memory.
pub(super) fn local_calls(file: &SettingsFile, tables: &BTreeMap<Role, ChatTable>) -> usize {
    let perspectives = file.perspectives.iter().map(|own| &own.chat);
    let local = tables.values().chain(perspectives).filter(|table| local_model(table).is_some());
    let calls = local.map(|table| chat(table).limits.in_flight.get()).max();
    calls.unwrap_or(PARALLEL.get()).min(MOST_PARALLEL)
}

/// The endpoint of a model that pikerag serves itself: it gets no key and no header.
fn local_endpoint(table: &ChatTable, model: &str) -> Endpoint {
    Endpoint {
        structured: table.structured.unwrap_or(Structured::Auto),
        extra: table.extra.clone(),
        reply_tokens: table.reply_tokens,
        stream: table.stream.unwrap_or(true),
        ..endpoint(Some(model), Some(model), table.timeout_seconds)
    }
}

/// The endpoint of a table, with its limits.
pub(super) fn chat(table: &ChatTable) -> ChatSettings {
    let local = local_model(table);
    let endpoint = match &local {
        Some(model) => local_endpoint(table, model),
        None => remote_endpoint(table),
    };
    // More calls at a time would only wait for the same processors.
    let usual = if local.is_some() { PARALLEL } else { Limits::default().in_flight };
    let in_flight = table.in_flight.and_then(NonZeroUsize::new);
    let limits = Limits {
        in_flight: in_flight.unwrap_or(usual),
        requests_per_minute: table.requests_per_minute.and_then(NonZeroU32::new),
        tokens_per_minute: table.tokens_per_minute.and_then(NonZeroU32::new),
    };
    let mut retry = RetryParams::default();
    if let Some(attempts) = table.max_attempts.and_then(NonZeroU32::new) {
        retry.attempts = attempts;
    }
    // The total time must cover a model that may think for hours.
    retry.total = retry.total.max(endpoint.timeout * 2);
    ChatSettings { endpoint, limits, retry, answer_seconds: table.answer_seconds }
}

fn remote_endpoint(table: &ChatTable) -> Endpoint {
    Endpoint {
        api_key: table.api_key.clone(),
        azure_api_version: table.azure_api_version.clone(),
        headers: table.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        structured: table.structured.unwrap_or(Structured::Auto),
        extra: table.extra.clone(),
        withheld: table.withheld.clone(),
        reply_tokens: table.reply_tokens,
        stream: table.stream.unwrap_or(true),
        ..endpoint(table.base_url.as_deref(), table.model.as_deref(), table.timeout_seconds)
    }
}

/// An endpoint with the defaults.
pub(super) fn endpoint(
    base_url: Option<&str>,
    model: Option<&str>,
    timeout_seconds: Option<u64>,
) -> Endpoint {
    let mut endpoint = Endpoint::new(base_url.unwrap_or(OPENAI), model.unwrap_or_default());
    if let Some(seconds) = timeout_seconds {
        endpoint.timeout = Duration::from_secs(seconds.max(1));
    }
    endpoint
}
