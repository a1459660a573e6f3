//! Computes the key under which a call is recorded.

use serde::Serialize;

/// JSON without white space, with the keys of all objects sorted: equal values, equal bytes.
pub(crate) fn canonical(value: &impl Serialize) -> Result<String, serde_json::Error> {
    // Through text: a `Value` made directly would widen 0.7 to 0.699999988079071.
    let mut value: serde_json::Value = serde_json::from_str(&serde_json::to_string(value)?)?;
    value.sort_all_objects();
    Ok(value.to_string())
}

/// The name of a model at its endpoint: models of one name at two endpoints may differ.
pub(crate) fn served(model: &str, endpoint: Option<&str>) -> String {
    match endpoint {
        Some(endpoint) => format!("{model}#{endpoint}"),
        None => model.to_owned(),
    }
}

/// The hash of `[kind, model, request]` in canonical JSON, in hexadecimal.
pub(crate) fn key(kind: &str, model: &str, request: &str) -> String {
    let (kind, model) = (serde_json::Value::from(kind), serde_json::Value::from(model));
    blake3::hash(format!("[{kind},{model},{request}]").as_bytes()).to_hex().to_string()
}

/// The key of the request that a call belongs to: the call's own key, or that of an earlier reply.
pub(crate) fn request_key(call: &str) -> &str {
    call.split_once('#').map_or(call, |(key, _)| key)
}

/// The key of the reply after this one to the same request.
pub(crate) fn following(call: &str) -> String {
    let nth = call.split_once('#').and_then(|(_, nth)| nth.parse::<u64>().ok()).unwrap_or_default();
    format!("{}#{}", request_key(call), nth + 1)
}
