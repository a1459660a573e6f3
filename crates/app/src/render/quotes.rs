//! Lays out an answer of quotes: one list under its grade, each quote with its title and its place.

use std::fmt::Write;

use pikerag_engine::knowledge::{Answer, Check, Grade, Quotes};
use pikerag_engine::narrate::{InWords, Language, Sentence, Words, quoted_text};

use super::{place, replaced, short};
use crate::plain::one_line;

/// Characters of a quote that are shown, at most.
const SHOWN: usize = 600;

/// The quotes of an answer without a model, the best first.
pub(super) fn shown(answer: &Answer, language: Language) -> String {
    if answer.citations.is_empty() {
        return Sentence::NotInDocuments.in_words(language);
    }
    let mut shown = lead(answer.quotes.as_ref(), language);
    for citation in &answer.citations {
        let check = match citation.check {
            Check::Verified => "",
            _ => language.either(" ✗ not found there", " ✗ 该处没有找到"),
        };
        let _ = write!(
            shown,
            "\n[{}] {}: “{}”\n    {}{check}",
            citation.number,
            one_line(&citation.title),
            short(&quoted_text(citation), SHOWN),
            place(&citation.uri, citation.page, citation.span, language)
        );
        if let Some(by) = &citation.replaced_by {
            let _ = write!(shown, "\n    {}", replaced(by, language));
        }
    }
    shown
}

/// The grade of the quotes, in words; without one, that a person must read them.
fn lead(quotes: Option<&Quotes>, language: Language) -> String {
    let Some(Quotes { grade, .. }) = quotes else {
        let lead = language
            .either("No model wrote this: passages to read", "未使用模型：以下段落供您阅读");
        return lead.to_owned();
    };
    let Words { english, chinese } = grade.words();
    let words = match grade {
        Grade::Found => {
            Words::new(format!("{english} in the documents:"), format!("在文档中{chinese}："))
        }
        Grade::Possibly => Words::new(
            format!("{english} in these passages; check them:"),
            format!("{chinese}在以下段落中，请核对："),
        ),
        Grade::NotFound => Words::new(format!("{english}:"), format!("{chinese}：")),
    };
    words.of(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_grade_has_its_lead() {
        let of = |grade, language| lead(Some(&Quotes { grade, absent: Vec::new() }), language);
        assert_eq!(of(Grade::Found, Language::English), "Found in the documents:");
        assert_eq!(
            of(Grade::Possibly, Language::English),
            "Possibly in these passages; check them:"
        );
        assert_eq!(of(Grade::NotFound, Language::English), "Not found; nearest passages:");
        assert_eq!(of(Grade::NotFound, Language::Chinese), "未找到；最接近的段落：");
        assert!(lead(None, Language::English).starts_with("No model wrote this"));
    }
}
