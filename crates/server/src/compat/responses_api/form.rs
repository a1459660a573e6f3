//! Decides the form of an answer: a text of limited length, or an object that is filled from it.

use pikerag_engine::knowledge::{Citation, RunRecord};

use super::content::{Content, Reply, annotations};
use super::request::in_our_terms;
use crate::app::App;
use crate::compat::chat::shown;
use crate::compat::structured::Filling;
use crate::problem::Problem;
use crate::streams::broken;

/// The form of an answer.
pub(super) struct Form {
    pub(super) app: App,
    /// The name of the base.
    pub(super) base: String,
    /// The largest number of tokens of a text; an object is not cut.
    pub(super) at_most: Option<u64>,
    /// The object in place of a text.
    pub(super) filling: Option<Filling>,
}

impl Form {
    /// The answer of a run in this form.
    ///
    /// # Errors
    /// There is no answer, or the object cannot be filled from it.
    pub(super) async fn reply(&mut self, run: &RunRecord) -> Result<Reply, Problem> {
        let Some(answer) = &run.answer else { return Err(broken()) };
        let (whole, spent) = (shown(answer), run.cost.spent.clone());
        let filling = self.filling.take();
        let link = |citation: &Citation| self.app.permalink(&self.base, citation.chunk);
        let Some(filling) = filling else {
            return Ok(Reply::cut(whole, self.at_most, spent, link));
        };
        let filled = filling.filled().await.map_err(in_our_terms)?;
        let content = match (filled.call(), filled.object(), filled.refusal()) {
            (Some((name, arguments)), ..) => {
                Content::Call { name: name.to_owned(), arguments: arguments.to_owned() }
            }
            (None, Some(object), _) => {
                let annotations = annotations(&filled.places(whole.1), link);
                Content::Text { text: object.to_owned(), annotations }
            }
            (None, None, refusal) => Content::Refusal(refusal.unwrap_or_default().to_owned()),
        };
        Ok(Reply { content, is_cut: false, spent })
    }
}
