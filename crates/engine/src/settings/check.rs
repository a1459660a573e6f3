//! Refuses settings with values that make no sense.

use pikerag_knowledge::RecordSchema;

use super::SettingsError;
use super::file::SettingsFile;

pub(super) fn check(settings: &SettingsFile) -> Result<(), SettingsError> {
    let refuse =
        |key: &str, reason: String| Err(SettingsError::Refused { key: key.to_owned(), reason });
    if settings.index.max_tokens.is_some_and(|tokens| tokens < 20) {
        return refuse(
            "index.max_tokens",
            "must be at least 20: smaller chunks contain no fact".to_owned(),
        );
    }
    if let (Some(min), max) = (settings.index.min_tokens, settings.index.max_tokens.unwrap_or(240))
        && max < min
    {
        return refuse(
            "index.min_tokens",
            format!("({min}) must not be above `index.max_tokens` ({max})"),
        );
    }
    for class in &settings.tags.classes {
        if pikerag_extract::tag_key(&class.name).is_none() {
            return refuse(
                "tags.classes",
                format!("contains a class without a name: `{}`", class.name),
            );
        }
    }
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"_/-".contains(c);
    if let Some(language) =
        settings.tools.languages.iter().find(|l| l.is_empty() || l.contains(odd))
    {
        let reason = format!(
            "contains `{language}`, which is not a language of Tesseract, such as `eng`, `deu`, `chi_sim`"
        );
        return refuse("tools.languages", reason);
    }
    if !(0.0..1.0).contains(&settings.retrieval.layers.lambda) {
        let reason = "must be between 0 and 1: it is the part of a score that spreads";
        return refuse("retrieval.layers.lambda", reason.to_owned());
    }
    let contrast = settings.retrieval.layers.contrast;
    if !contrast.is_finite() || contrast <= 0.0 {
        let reason = "must be above 0: it is a power of weights";
        return refuse("retrieval.layers.contrast", reason.to_owned());
    }
    RecordSchema::check(&settings.records).map_err(SettingsError::Records)?;
    for (model, price) in &settings.prices {
        if price.prompt < 0.0 || price.completion < 0.0 || price.search < 0.0 {
            return refuse(&format!("prices.\"{model}\""), "must not be negative".to_owned());
        }
    }
    Ok(())
}
