//! `classify`: which kind of question is it, and why?

use pikerag_engine::knowledge::TaskClass;
use pikerag_engine::narrate::{InWords, Language};
use pikerag_engine::{ClassifiedQuestion, ClassifyRequest, Session};
use serde_json::json;

use crate::cli::Classify;
use crate::output::{say, say_json, tell_notice};
use crate::plain::one_line;
use crate::render::short;

pub(crate) async fn classify(
    session: &Session,
    json: bool,
    arguments: &Classify,
) -> anyhow::Result<u8> {
    let request = ClassifyRequest {
        question: arguments.question.concat(),
        questions: arguments.questions.clone(),
        classifier: arguments.by,
        filter: arguments.filters.filter(),
    };
    let response = pikerag_engine::classify(session, &request).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    if json {
        return say_json(&json!(response.questions));
    }
    for told in &response.questions {
        let wrong = told.label.filter(|label| *label != told.class);
        let wrong = wrong.map_or_else(String::new, |label| format!("  ✗ labelled {label}"));
        let (class, level, by) = (told.class, told.level, told.by.in_words(Language::English));
        say(&format!("{class} ({level}, by {by}){wrong}  {}", short(&told.question, 100)));
        if response.questions.len() == 1 {
            for reason in &told.reasons {
                say(&format!("  {}", one_line(&reason.in_words(Language::English))));
            }
        }
    }
    for line in score(&response.questions) {
        say(&line);
    }
    Ok(0)
}

/// How often the class was right, where there are labels: of all, of those kept apart, and by class.
fn score(questions: &[ClassifiedQuestion]) -> Vec<String> {
    let labelled: Vec<&ClassifiedQuestion> =
        questions.iter().filter(|told| told.label.is_some()).collect();
    if labelled.is_empty() {
        return Vec::new();
    }
    let line = |name: &str, of: &dyn Fn(&&&ClassifiedQuestion) -> bool| {
        let all: Vec<_> = labelled.iter().filter(of).collect();
        let right = all.iter().filter(|told| told.label == Some(told.class)).count();
        let share = 100.0 * right as f64 / all.len().max(1) as f64;
        (!all.is_empty())
            .then(|| format!("{name:<14} {right:>4} of {:>4}  {share:>5.1} %", all.len()))
    };
    let mut lines = vec![String::new()];
    lines.extend(line("all", &|_| true));
    lines.extend(line("kept apart", &|told| told.apart));
    for &class in TaskClass::ALL {
        lines.extend(line(class.as_str(), &|told| told.label == Some(class)));
    }
    let calls: usize = labelled.iter().map(|told| told.calls).sum();
    lines.push(format!("{:<14} {calls:>4} calls", "models"));
    lines
}
