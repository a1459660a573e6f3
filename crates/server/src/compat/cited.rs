//! Shows citations as clients of OpenAI's protocol read them.

use pikerag_engine::knowledge::Citation;
use serde_json::{Value, json};

use crate::app::App;

/// A citation, with the first position of its number in the content and the one behind it, in characters.
pub(super) type Place = (Citation, usize, usize);

/// The citations as links, with the positions of their numbers in the content, in characters.
pub(super) fn annotations(app: &App, base: &str, places: &[Place]) -> Vec<Value> {
    let annotation = |(citation, begins, ends): &Place| {
        json!({"type": "url_citation", "url_citation": {
            "url": app.permalink(base, citation.chunk), "title": citation.title,
            "start_index": begins, "end_index": ends,
        }})
    };
    places.iter().map(annotation).collect()
}

/// A citation as Open WebUI reads it: `page` counts from zero. `[n]` opens the n-th source by
/// distinct `metadata.source`. An address there would replace the title and be sent to icon
/// services, so it holds a name that is unique to this citation. Its `distances` are relevances up to
/// 1, which a verbatim quote has.
pub(super) fn source(app: &App, base: &str, number: usize, citation: &Citation) -> Value {
    let url = app.permalink(base, citation.chunk);
    let own = format!("{base}/{}#{number}", citation.chunk);
    let mut metadata = json!({"source": own, "name": citation.title, "uri": citation.uri});
    if let (Some(page), Some(fields)) = (citation.page, metadata.as_object_mut()) {
        fields.insert("page".to_owned(), json!(page.saturating_sub(1)));
    }
    json!({"type": "source", "data": {
        "source": {"name": citation.title, "url": url}, "document": [citation.quote],
        "metadata": [metadata], "distances": [1.0],
    }})
}
