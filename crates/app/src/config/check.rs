//! Which settings are refused, and what does the message say? Values that no one can mean.

use anyhow::{Context, bail};
use pikerag_knowledge::RecordSchema;

use super::Settings;

pub(super) fn check(settings: &Settings) -> anyhow::Result<()> {
    if settings.index.max_tokens.is_some_and(|tokens| tokens < 20) {
        bail!("`index.max_tokens` must be at least 20: smaller chunks hold no fact");
    }
    if let (Some(min), max) = (settings.index.min_tokens, settings.index.max_tokens.unwrap_or(240))
        && max < min
    {
        bail!("`index.min_tokens` ({min}) must not be above `index.max_tokens` ({max})");
    }
    for class in &settings.tags.classes {
        if pikerag_extract::tag_key(&class.name).is_none() {
            bail!("a class in `[[tags.classes]]` has no name: `{}`", class.name);
        }
    }
    if settings.methods.set.delta.is_some_and(|delta| !(-1.0..=1.0).contains(&delta)) {
        bail!("`methods.delta` is a cosine: it must lie between -1 and 1");
    }
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"_/-".contains(c);
    if let Some(language) =
        settings.tools.languages.iter().find(|l| l.is_empty() || l.contains(odd))
    {
        bail!(
            "`tools.languages` holds no language of Tesseract: `{language}`; such as `eng`, `deu`, `chi_sim`"
        );
    }
    if !(0.0..1.0).contains(&settings.retrieval.layers.lambda) {
        bail!(
            "`retrieval.layers.lambda` is the part of a score that spreads: it must lie between 0 and 1"
        );
    }
    let contrast = settings.retrieval.layers.contrast;
    if !contrast.is_finite() || contrast <= 0.0 {
        bail!("`retrieval.layers.contrast` is a power of weights: it must be above 0");
    }
    RecordSchema::check(&settings.records).context("`[[records]]` cannot be used")?;
    for (model, price) in &settings.prices {
        if price.prompt < 0.0 || price.completion < 0.0 {
            bail!("`prices.\"{model}\"` must not be negative");
        }
    }
    Ok(())
}
