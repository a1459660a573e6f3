//! Refuses settings with values that make no sense.

use pikerag_knowledge::RecordSchema;

use super::file::SettingsFile;
use super::{RefusedValue, SettingsError};

pub(super) fn check(settings: &SettingsFile) -> Result<(), SettingsError> {
    let refuse = |key: &str, reason| Err(SettingsError::Refused { key: key.to_owned(), reason });
    if settings.index.max_tokens.is_some_and(|tokens| tokens < 20) {
        return refuse("index.max_tokens", RefusedValue::ChunkTooSmall);
    }
    if let (Some(min), max) = (settings.index.min_tokens, settings.index.max_tokens.unwrap_or(240))
        && max < min
    {
        return refuse("index.min_tokens", RefusedValue::MinAboveMax { min, max });
    }
    for class in &settings.tags.classes {
        if pikerag_extract::tag_key(&class.name).is_none() {
            let name = class.name.clone();
            return refuse("tags.classes", RefusedValue::ClassWithoutName { name });
        }
    }
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"_/-".contains(c);
    if let Some(language) =
        settings.tools.languages.iter().find(|l| l.is_empty() || l.contains(odd))
    {
        let language = language.clone();
        return refuse("tools.languages", RefusedValue::NoTesseractLanguage { language });
    }
    if !(0.0..1.0).contains(&settings.retrieval.layers.lambda) {
        return refuse("retrieval.layers.lambda", RefusedValue::NoShare);
    }
    let contrast = settings.retrieval.layers.contrast;
    if !contrast.is_finite() || contrast <= 0.0 {
        return refuse("retrieval.layers.contrast", RefusedValue::NoPower);
    }
    RecordSchema::check(&settings.records).map_err(SettingsError::Records)?;
    for (model, price) in &settings.prices {
        if price.prompt < 0.0 || price.completion < 0.0 || price.search < 0.0 {
            return refuse(&format!("prices.\"{model}\""), RefusedValue::Negative);
        }
    }
    Ok(())
}
