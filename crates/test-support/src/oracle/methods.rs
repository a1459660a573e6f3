//! Replies to the prompts of the papers' methods, of indexing and of `pike`, which the oracle alone
//! would answer with a sentence that fits none of them.

use serde_json::{Value, json};

use super::{
    Context, OracleReply, asked, chain, facts_in, oracle, question, section, unnumbered, walk,
};
use crate::world::relations::{RELATIONS, fill, language_of};

/// A kind of prompt: the mark by which it is known, its name, and its reply.
type Kind = (&'static str, &'static str, fn(&str) -> String);

/// The kinds in the order in which their marks are looked for. A graded reply comes with its task, which
/// holds the marks of other kinds.
const KINDS: [Kind; 51] = [
    ("<sub-question>the next sub-question</sub-question>", "next", next),
    ("keep to the meaning of the question", "consistent_parts", |_| "Yes".to_owned()),
    ("{\"confidence\":", "grade", |_| json!({"confidence": 80}).to_string()),
    ("\"kind\": \"compute\"", "plan", |_| json!({"steps": []}).to_string()),
    ("# Results of the steps", "plan_result", |prompt| {
        let answer = first_line(section(prompt, "Results of the steps"));
        json!({"rationale": "By the steps.", "answer": answer, "lacking": null}).to_string()
    }),
    ("{\"statement\":", "prospect", |prompt| {
        let (passage, quote) = first_quote(section(prompt, "Context"));
        json!({
            "statement": question(prompt), "figures": "neither", "verdict": "uncertain",
            "evidence_for": [{"evidence": quote, "passage": passage, "quote": quote}],
            "evidence_against": [], "reason": "Little is known.", "would_change": "More figures.",
        })
        .to_string()
    }),
    ("{\"causes\":", "prospect_queries", |prompt| {
        json!({"causes": question(prompt), "doubts": question(prompt)}).to_string()
    }),
    ("\"known\": null, \"schema\":", "structure", |_| {
        json!({"known": null, "schema": null, "words": [], "searches": []}).to_string()
    }),
    ("\"same\": [[", "alike", |_| json!({"fields": []}).to_string()),
    ("are a part of one document", "section", |_| json!({"questions": []}).to_string()),
    ("Each asks for one fact or figure", "agent_questions", |_| {
        json!({"questions": []}).to_string()
    }),
    ("{\"revisions\":", "revise", |_| {
        json!({"revisions": [{"idea": 1, "action": "keep"}]}).to_string()
    }),
    ("{\"tree\":", "tree", |prompt| tree(prompt).to_string()),
    ("then a last line: So the final answer is:", "final_line", |prompt| {
        format!("Read step by step.\nSo the final answer is: {}", answer_from(prompt))
    }),
    ("Write the answer alone, without any explanation", "replug", answer_from),
    ("{\"chain\":", "searchain", |prompt| plan(prompt).to_string()),
    ("{\"consistent\":", "consistent", |prompt| {
        let same = section(prompt, "From memory") == section(prompt, "From passages");
        json!({ "consistent": same }).to_string()
    }),
    ("{\"retrieve\":", "retrieve", |_| json!({"retrieve": true}).to_string()),
    ("{\"relevant\":", "relevant", |prompt| {
        json!({"relevant": bears_on(prompt, section(prompt, "Context"))}).to_string()
    }),
    ("{\"supported\":", "supported", |prompt| {
        let (reply, context) = (section(prompt, "The reply"), section(prompt, "Context"));
        json!({"supported": if context.contains(reply) { "fully" } else { "no" }}).to_string()
    }),
    ("{\"useful\":", "useful", |prompt| {
        json!({"useful": if section(prompt, "The reply") == "unknown" { 1 } else { 5 }}).to_string()
    }),
    ("{\"clear\":", "judge_question", |prompt| {
        // Every other question is rewritten, so that both ways are taken.
        let is_clear = question(prompt).len().is_multiple_of(2);
        json!({"clear": is_clear, "can_answer": false}).to_string()
    }),
    ("{\"question\": \"the question, rewritten\"}", "rewrite", |prompt| {
        json!({ "question": section(prompt, "Question") }).to_string()
    }),
    ("Reply with the rewritten question", "rewrite", |prompt| question(prompt).to_owned()),
    ("{\"thoughts\":", "thoughts", |prompt| {
        let thoughts = [1, 2, 3].map(|n| format!("Thought {n}: {}", question(prompt)));
        json!({ "thoughts": thoughts }).to_string()
    }),
    ("{\"value\":", "value", |_| json!({"value": 5}).to_string()),
    ("{\"answer\": \"what the reports say\"", "map", |prompt| {
        json!({"answer": first_line(section(prompt, "Reports")), "score": 50}).to_string()
    }),
    ("\"final\": true or false}", "crp_step", |prompt| next_step(prompt).to_string()),
    ("Bring together what the passages tell", "integrate", |prompt| {
        bearing(section(prompt, "The passages"))
    }),
    ("Carry out the step with the knowledge given", "evaluate", result),
    ("Reply with the result in one or two sentences", "reason", result),
    ("Write one step that stands for all of them", "merge", |prompt| {
        unnumbered(first_line(section(prompt, "The steps"))).trim().to_owned()
    }),
    ("Think of a hobby", "interfere", |_| "Water the seedlings in the evening.".to_owned()),
    ("{\"entities\":", "entities", |prompt| entities(prompt).to_string()),
    ("{\"title\": \"...\", \"summary\":", "report", |prompt| {
        let about = first_line(section(prompt, "Entities"));
        let findings = [about];
        json!({"title": "A community", "summary": about, "rating": 5, "findings": findings})
            .to_string()
    }),
    ("Reply with the description alone", "describe", |prompt| {
        first_line(section(prompt, "Descriptions")).to_owned()
    }),
    ("Reply with the summary alone", "summary", |prompt| {
        // A summary is shorter than its text, and within the limit of a reply.
        let facts = bearing(section(prompt, "Content"));
        facts.lines().take(5).collect::<Vec<_>>().join("\n")
    }),
    ("Reply with these sentences alone", "summary", |prompt| {
        let content = section(prompt, "Content");
        let table = section(prompt, "Table");
        format!(
            "It tells of this: {}",
            first_line(if content.is_empty() { table } else { content })
        )
    }),
    ("\"class\": \"one of the seven kinds\"", "classify", |prompt| classify(prompt).to_string()),
    ("{\"things\":", "compare", |prompt| {
        let (passage, quote) = first_quote(section(prompt, "Context"));
        let cell = json!({"text": quote, "passage": passage, "quote": quote});
        json!({
            "things": ["the first", "the second"],
            "rows": [{"attribute": "what is stated", "cells": [cell, null]}],
            "rationale": "By the table.", "answer": "the first", "lacking": null,
        })
        .to_string()
    }),
    ("Turn the question into a query", "inquire", |_| {
        json!({"schema": null, "conditions": [], "group": [], "measure": {"what": "count", "field": null},
                "order": "key", "limit": null, "ahead": null})
            .to_string()
    }),
    ("{\"sql\":", "query", |_| json!({"sql": ""}).to_string()),
    ("\"choice\": \"A\"", "choose_reading", |_| {
        json!({"thinking": "It is the one.", "choice": "A"}).to_string()
    }),
    ("{\"points\": [{", "points", |prompt| {
        let (passage, quote) = first_quote(section(prompt, "Context"));
        json!({"points": [{"point": quote, "passage": passage, "quote": quote}]}).to_string()
    }),
    ("\"points\": [1, 2]}", "summarize", |prompt| {
        let point = unnumbered(first_line(section(prompt, "Points"))).trim();
        json!({"answer": point, "points": [1]}).to_string()
    }),
    ("{\"perspectives\":", "perspectives", |_| {
        let of = |name: &str| json!({"name": name, "about": format!("looks at {name}")});
        let all = ["cost", "safety", "people", "time", "weather"].map(of);
        json!({ "perspectives": all }).to_string()
    }),
    ("{\"judgements\":", "critique", |prompt| {
        let ideas = section(prompt, "Ideas").lines().filter(|line| is_numbered(line)).count();
        let of =
            |n| json!({"idea": n, "fit": 3 + n % 3, "feasibility": 3, "novelty": 3, "against": ""});
        json!({"judgements": (1..=ideas.max(1)).map(of).collect::<Vec<_>>()}).to_string()
    }),
    ("\"why\": \"how the ranking", "coordinate", |prompt| {
        let idea = unnumbered(first_line(section(prompt, "Ideas"))).trim();
        json!({
            "ideas": [{"title": "First", "idea": idea, "from": [1]}],
            "why": "It fits best.", "answer": idea,
        })
        .to_string()
    }),
    ("\"next_step\":", "ideas", |prompt| {
        let (passage, quote) = first_quote(section(prompt, "Context"));
        json!({"ideas": [{
                "title": "Another way", "idea": format!("Try another way for this: {}", question(prompt)),
                "evidence": [{"passage": passage, "quote": quote}],
                "missing": "what it costs", "next_step": "Ask for offers.",
            }]})
            .to_string()
    }),
    ("{\"relevance\": 1,", "criteria", |_| {
        json!({"relevance": 3, "diversity": 3, "comprehensiveness": 3, "uniqueness": 3, "inspiration": 3})
                .to_string()
    }),
    ("{\"statements\":", "statements", |prompt| {
        json!({"statements": bearing(section(prompt, "Content")).lines().collect::<Vec<_>>()})
            .to_string()
    }),
];

/// The reply to a prompt of any method; kind `other` only if the prompt is of no known kind.
#[must_use]
pub fn full_oracle(prompt: &str) -> OracleReply {
    match KINDS.iter().find(|(mark, ..)| prompt.contains(mark)) {
        Some((_, kind, reply)) => OracleReply { kind, text: reply(prompt) },
        None => oracle(prompt),
    }
}

/// The facts of a context and of a transcript above the question.
fn facts(prompt: &str) -> Context {
    let mut context = Context::read(section(prompt, "Context"));
    let answers = ["Answers so far", "Known conditions", "Settled so far"];
    for heading in answers {
        let mut followed = None;
        for line in section(prompt, heading).lines() {
            if let Some((_, asks)) = line.split_once("Follow up: ") {
                followed = chain(asks);
            } else if let Some((_, object)) = line.split_once("Intermediate answer: ")
                && let Some((subject, relations)) = followed.take()
                && let [relation] = relations.as_slice()
            {
                context.tell(subject, *relation, object.trim());
            }
        }
        for (key, fact) in Context::read(section(prompt, heading)).0 {
            context.0.entry(key).or_insert(fact);
        }
    }
    context
}

/// The reply of a trained proposer, from the question and the answers so far.
fn next(prompt: &str) -> String {
    let mut context = Context::default();
    for line in section(prompt, "Answers so far").lines() {
        if let Some((asks, object)) = line.split_once(" → ")
            && let Some((_, asks)) = asks.split_once(". ")
            && let Some((subject, relations)) = chain(asks)
            && let [relation] = relations.as_slice()
        {
            context.tell(subject, *relation, object.trim());
        }
    }
    match walk(question(prompt), &context).and_then(|walked| walked.missing) {
        Some((subject, relation)) => format!(
            "<decompose>True</decompose>\n<sub-question>{}</sub-question>",
            asked(&subject, relation, 0)
        ),
        None => "<decompose>False</decompose>".to_owned(),
    }
}

fn answer_from(prompt: &str) -> String {
    let context = facts(prompt);
    let answer = walk(question(prompt), &context).and_then(|walked| walked.answer);
    answer.unwrap_or_else(|| "unknown".to_owned())
}

/// Whether a text states a fact about a name of the question.
fn bears_on(prompt: &str, text: &str) -> bool {
    let asked = question(prompt);
    let about = |sentence: &str| facts_in(sentence).iter().any(|(_, s, _)| asked.contains(s));
    sentences(text).any(about)
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().flat_map(|line| line.split_inclusive(['.', '。']));
    lines.map(|sentence| unnumbered(sentence.trim()))
}

/// The sentences of a text that state facts, one a line.
fn bearing(text: &str) -> String {
    let facts: Vec<&str> = sentences(text).filter(|it| !facts_in(it).is_empty()).collect();
    match facts.is_empty() {
        true => first_line(text).to_owned(),
        false => facts.join("\n"),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Nothing is stated.")
}

fn is_numbered(line: &str) -> bool {
    line.trim_start_matches(['[', ' ']).starts_with(|c: char| c.is_ascii_digit())
}

/// The number of the first passage, and the first line of its text.
fn first_quote(context: &str) -> (u64, &str) {
    let mut lines = context.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines.next().unwrap_or_default();
    let number = heading.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let number = number.and_then(|(n, _)| n.parse().ok()).unwrap_or(1);
    (number, lines.next().unwrap_or(heading))
}

/// A question under the root for each hop; later ones name the answer before as `#1`, `#2`.
fn tree(prompt: &str) -> Value {
    let root = question(prompt);
    let mut children = Vec::new();
    if let Some((subject, relations)) = chain(root).filter(|(_, relations)| 1 < relations.len()) {
        let language = language_of(&subject);
        let mut at = subject;
        for (place, relation) in relations.iter().enumerate() {
            let asks = fill(RELATIONS[*relation].words(language).asks[0], &at, "");
            children.push(json!({"question": asks, "children": []}));
            at = format!("#{}", place + 1);
        }
    }
    json!({"tree": {"question": root, "children": children}})
}

/// The queries for what is not settled yet.
fn plan(prompt: &str) -> Value {
    let context = facts(prompt);
    let missing = walk(question(prompt), &context).and_then(|walked| walked.missing);
    let queries = missing
        .iter()
        .map(|(subject, relation)| json!({"query": asked(subject, *relation, 0), "answer": null}));
    json!({"chain": queries.collect::<Vec<_>>()})
}

/// The first step of a chain, then its next ones, named by their relations.
fn next_step(prompt: &str) -> Value {
    let done = section(prompt, "Known conditions").lines().filter(|line| is_numbered(line)).count();
    let Some((subject, relations)) = chain(question(prompt)) else {
        let step = (done == 0).then(|| question(prompt));
        return json!({"next_rationale": step, "final": true});
    };
    let language = language_of(&subject);
    let step = relations.get(done).map(|relation| match done {
        0 => asked(&subject, *relation, 0),
        _ => fill(RELATIONS[*relation].words(language).asks[0], "it", ""),
    });
    json!({"next_rationale": step, "final": relations.len() <= done + 1})
}

/// The result of a step: a fact of the knowledge about a name of the step, or the statement that there
/// is none.
fn result(prompt: &str) -> String {
    let step = section(prompt, "The step");
    let knowledge = section(prompt, "Context");
    let about = |sentence: &&str| facts_in(sentence).iter().any(|(_, s, _)| step.contains(s));
    let all: Vec<&str> = sentences(knowledge).collect();
    let stated = all.iter().find(|sentence| about(sentence));
    let other = all.iter().find(|sentence| sentence.chars().count() > 3);
    stated.or(other).map_or_else(|| "It does not say.".to_owned(), |it| (*it).to_owned())
}

fn entities(prompt: &str) -> Value {
    let content = section(prompt, "Content");
    let (mut entities, mut relations): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for sentence in sentences(content) {
        for (_, subject, object) in facts_in(sentence) {
            for name in [subject, object] {
                if !entities.iter().any(|known| known["name"] == name) {
                    entities.push(json!({"name": name, "type": "thing", "description": sentence}));
                }
            }
            relations.push(json!({
                "source": subject, "target": object, "description": sentence, "weight": 5,
            }));
        }
    }
    if entities.is_empty() {
        let name: Vec<&str> = first_line(content).split_whitespace().take(4).collect();
        entities.push(
            json!({"name": name.join(" "), "type": "thing", "description": first_line(content)}),
        );
    }
    json!({"entities": entities, "relations": relations})
}

/// Words of a question, by class; the first class with one of its words counts.
const CUES: [(&str, &[&str]); 5] = [
    ("creative", &["idea", "could be", "should", "主意", "建议"]),
    ("summarizing", &["summar", "总结", "概括"]),
    ("predictive", &["will ", "next year", "forecast", "明年", "预测"]),
    ("quantitative", &["how many", "how much", "total", "average", "多少"]),
    ("comparative", &[" or ", "differ", "compare", "than", "比较"]),
];

fn classify(prompt: &str) -> Value {
    let asked = question(prompt).to_lowercase();
    let cued = CUES.iter().find(|(_, words)| words.iter().any(|word| asked.contains(word)));
    let is_chain = 1 < asked.matches(" of the ").count();
    let plain = if is_chain { "bridging" } else { "factual" };
    json!({"reason": "By its words.", "class": cued.map_or(plain, |(class, _)| class)})
}

#[cfg(test)]
mod tests {
    use super::full_oracle;

    const PASSAGES: &str = "[1] Grey Tern Vela\nThe captain of the ship Grey Tern Vela is Cora Dunba. \
        Letters call it bold.\n\n[2] Cora Dunba\nCora Dunba was born in Velahaven.";
    const QUESTION: &str = "What is the birthplace of the captain of the ship Grey Tern Vela?";

    #[test]
    fn a_tree_has_a_question_for_each_hop() {
        let reply = full_oracle(&format!("{{\"tree\": …}}\n\n# Question\n{QUESTION}"));
        assert_eq!(reply.kind, "tree");
        assert!(reply.text.contains("In which port was #1 born?"), "{reply:?}");
        assert!(reply.text.contains("captain of the ship Grey Tern Vela?"), "{reply:?}");
    }

    #[test]
    fn steps_go_along_the_chain_and_end_with_it() {
        let of = |done: &str| {
            let known = format!("# Known conditions\n{done}\n\n# Question\n{QUESTION}");
            full_oracle(&format!("\"final\": true or false}}\n\n{known}")).text
        };
        assert!(of("").contains("\"final\":false"), "{}", of(""));
        assert!(of("1. Who?").contains("\"final\":true"), "{}", of("1. Who?"));
        assert!(of("1. Who?\n2. Where?").contains("null"), "{}", of("1. Who?\n2. Where?"));
    }

    #[test]
    fn a_step_is_carried_out_with_its_knowledge() {
        let prompt = format!(
            "Carry out the step with the knowledge given\n\n# Context\n{PASSAGES}\n\n# The step\nWhere was Cora Dunba born?"
        );
        assert!(full_oracle(&prompt).text.starts_with("Cora Dunba"), "{:?}", full_oracle(&prompt));
    }

    #[test]
    fn a_community_and_its_report_come_from_the_content() {
        let reply = full_oracle(&format!("{{\"entities\": …}}\n\n# Content\n{PASSAGES}"));
        assert!(reply.text.contains("\"target\":\"Cora Dunba\""), "{reply:?}");
    }

    #[test]
    fn other_kinds_are_the_oracles_own() {
        let prompt = format!("{{\"sub_questions\"}}\n\n# Context\n\n# Question\n{QUESTION}");
        assert_eq!(full_oracle(&prompt).kind, "propose");
        assert_eq!(full_oracle("Tell me something.").kind, "other");
    }
}
