//! Runs `classify`: shows the class of a question and the reasons.

use pikerag_engine::knowledge::TaskClass;
use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::{ClassifiedQuestion, ClassifyRequest, Session};
use serde_json::json;

use crate::cli::Classify;
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render::short;

pub(crate) async fn classify(
    session: &Session,
    output: Output,
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
        output.notice(notice);
    }
    let Output { json, language } = output;
    if json {
        return say_json(&json!(response.questions));
    }
    for found in &response.questions {
        let label = found.label.filter(|label| *label != found.class);
        let (wrong, mistaken) = label.map_or_else(Default::default, |label| {
            (format!("  ✗ labelled {label}"), format!("  ✗ 标注为{}", label.words().chinese))
        });
        let (class, level, by) = (found.class.words(), found.level, found.by.words());
        let question = short(&found.question, 100);
        output.say(
            format!("{} ({level}, by {}){wrong}  {question}", class.english, by.english),
            format!("{}（{level}，由{}判断）{mistaken}  {question}", class.chinese, by.chinese),
        );
        if response.questions.len() == 1 {
            for reason in &found.reasons {
                say(&format!("  {}", one_line(&reason.in_words(language))));
            }
        }
    }
    for line in score(&response.questions, language) {
        say(&line);
    }
    Ok(0)
}

/// The share of right classes among the labelled questions: of all, of the held-out ones, and by class.
fn score(questions: &[ClassifiedQuestion], language: Language) -> Vec<String> {
    let labelled: Vec<&ClassifiedQuestion> =
        questions.iter().filter(|found| found.label.is_some()).collect();
    if labelled.is_empty() {
        return Vec::new();
    }
    let line = |name: &str, of: &dyn Fn(&&&ClassifiedQuestion) -> bool| {
        let all: Vec<_> = labelled.iter().filter(of).collect();
        let right = all.iter().filter(|found| found.label == Some(found.class)).count();
        let share = 100.0 * right as f64 / all.len().max(1) as f64;
        (!all.is_empty()).then(|| {
            let of = language.either("of", "/");
            format!("{name:<14} {right:>4} {of} {:>4}  {share:>5.1} %", all.len())
        })
    };
    let mut lines = vec![String::new()];
    lines.extend(line(language.either("all", "全部"), &|_| true));
    lines.extend(line(language.either("held out", "留出"), &|found| found.apart));
    for &class in TaskClass::ALL {
        lines.extend(line(&class.in_words(language), &|found| found.label == Some(class)));
    }
    let calls: usize = labelled.iter().map(|found| found.calls).sum();
    let words = Words::new(
        format!("{:<14} {calls:>4} calls", "models"),
        format!("{:<14} {calls:>4} 次调用", "模型"),
    );
    lines.push(words.of(language));
    lines
}
