//! Runs `tags`: lists tags, and edits their classes and synonyms.

use std::path::Path;

use pikerag_engine::knowledge::Origin;
use pikerag_engine::narrate::Words;
use pikerag_engine::{LearnRequest, Session, TagClassRequest, TagClassesResponse, chinese_reason};
use serde_json::json;

use crate::advice::go_on;
use crate::cli::{Tags, TagsVerb};
use crate::exit;
use crate::output::{Bar, Output, note, say, say_json};
use crate::render::{count, paid, short};
use crate::words;

pub(crate) async fn tags(
    session: &Session,
    output: Output,
    arguments: &Tags,
) -> anyhow::Result<u8> {
    let done = match &arguments.verb {
        None => return list(output, &pikerag_engine::tag_classes(session).await?),
        Some(TagsVerb::Show { class, k }) => return show(session, output, class, k.get()).await,
        Some(TagsVerb::Pairs) => return pairs(session, output).await,
        Some(TagsVerb::Learn { file }) => return learn(session, output, file).await,
        Some(TagsVerb::AddClass { name, covers, examples }) => {
            let request = TagClassRequest {
                name: name.clone(),
                covers: covers.clone(),
                examples: examples.clone(),
            };
            pikerag_engine::add_tag_class(session, &request).await?;
            Words::new(
                format!(
                    "class {name} is declared; `pikerag index --with tags PATH…` finds its tags"
                ),
                format!("已声明类别 {name}；用 `pikerag index --with tags PATH…` 查找其标签"),
            )
        }
        Some(TagsVerb::Rename { class, name }) => {
            pikerag_engine::rename_tag_class(session, class, name).await?;
            Words::new(
                format!("class {class} is now {name}"),
                format!("类别 {class} 已改名为 {name}"),
            )
        }
        Some(TagsVerb::Drop { class, professional: None }) => {
            pikerag_engine::drop_tag_class(session, class).await?;
            Words::new(
                format!("class {class} is deleted, with its tags"),
                format!("已删除类别 {class} 及其标签"),
            )
        }
        Some(TagsVerb::Drop { class: colloquial, professional: Some(professional) }) => {
            pikerag_engine::drop_tag_pair(session, colloquial, professional).await?;
            Words::new(
                format!("the synonyms {colloquial} → {professional} are deleted"),
                format!("已删除同义词 {colloquial} → {professional}"),
            )
        }
        Some(TagsVerb::Pair { colloquial, professional, class }) => {
            pikerag_engine::add_tag_pair(session, colloquial, professional, class).await?;
            Words::new(
                format!("{colloquial} → {professional} is declared"),
                format!("已声明 {colloquial} → {professional}"),
            )
        }
    };
    if output.json {
        return say_json(&json!({ "done": done.english }));
    }
    say(&done.of(output.language));
    Ok(0)
}

fn list(output: Output, response: &TagClassesResponse) -> anyhow::Result<u8> {
    if output.json {
        return say_json(response);
    }
    for line in &response.classes {
        let (name, covers) = (short(&line.class.name, 60), short(&line.class.covers, 100));
        let (tags, times) = (line.tags, words::times(line.borne, output.language));
        let origin = match line.class.origin {
            Origin::Declared => "已声明",
            Origin::Found => "自动发现",
        };
        output.say(
            format!(
                "{name} ({}): {}, mentioned {times}; {covers}",
                line.class.origin.as_str(),
                count(tags, "tag")
            ),
            format!("{name}（{origin}）：{tags} 个标签，提及 {times}；{covers}"),
        );
    }
    if response.classes.is_empty() {
        output.note(
            "there are no tag classes; `pikerag index --with tags PATH…` finds them, `pikerag tags add-class` declares them",
            "没有标签类别；用 `pikerag index --with tags PATH…` 查找，或用 `pikerag tags add-class` 声明",
        );
    }
    let pairs = response.pairs;
    output.say(
        format!("{}; see `pikerag tags pairs`", count(pairs, "pair")),
        format!("{pairs} 对同义词；见 `pikerag tags pairs`"),
    );
    Ok(0)
}

async fn show(session: &Session, output: Output, class: &str, k: usize) -> anyhow::Result<u8> {
    let response = pikerag_engine::tag_class(session, class, k).await?;
    if output.json {
        return say_json(&response);
    }
    for tag in response.tags {
        let (text, chunks) = (short(&tag.tag.text, 80), tag.chunks);
        output.say(
            format!("{text}  {}", count(chunks, "chunk")),
            format!("{text}  {chunks} 个文本块"),
        );
    }
    Ok(0)
}

async fn pairs(session: &Session, output: Output) -> anyhow::Result<u8> {
    let pairs = pikerag_engine::tag_pairs(session).await?;
    if output.json {
        return say_json(&pairs);
    }
    for pair in &pairs {
        let class =
            if pair.class.is_empty() { String::new() } else { format!(" [{}]", pair.class) };
        let (colloquial, professional) =
            (short(&pair.colloquial, 60), short(&pair.professional, 60));
        let (origin, chinese) = match pair.origin {
            Origin::Declared => ("declared", "已声明"),
            Origin::Found => ("learned", "学得"),
        };
        let n = pair.samples;
        output.say(
            format!("{colloquial} → {professional}{class} ({origin}, {})", count(n, "sample")),
            format!("{colloquial} → {professional}{class}（{chinese}，{n} 个样本）"),
        );
    }
    if pairs.is_empty() {
        output.note(
            "there are no synonyms; `pikerag tags learn FILE` learns them, `pikerag tags pair` declares one",
            "没有同义词；用 `pikerag tags learn FILE` 学习，或用 `pikerag tags pair` 声明",
        );
    }
    Ok(0)
}

async fn learn(session: &Session, output: Output, file: &Path) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = pikerag_engine::learn_tag_pairs(
        session,
        &LearnRequest { file: file.to_owned(), progress: &watch },
    )
    .await?;
    let learned = &response.learned;
    if output.json {
        say_json(&response)?;
    } else {
        let (samples, pairs) = (learned.samples, learned.pairs);
        let (unanswered, unreadable) = (learned.unanswered, learned.unreadable);
        output.say(
            format!(
                "{} read: {}; {unanswered} answered by no chunk of the base, {unreadable} unreadable",
                count(samples, "sample"),
                count(pairs, "pair")
            ),
            format!(
                "读取 {samples} 个样本：{pairs} 对同义词；{unanswered} 个在知识库中没有可回答的文本块，{unreadable} 个无法解析"
            ),
        );
        for (question, reason) in &learned.failed {
            let question = short(question, 80);
            output.note(
                format!("failed: {question}: {reason}"),
                format!("失败：{question}：{}", chinese_reason(reason)),
            );
        }
        if let Some(line) = paid(&response.spent, output.language) {
            say(&line);
        }
        if let Some(reason) = &learned.stopped {
            output
                .note(format!("stopped: {reason}"), format!("已停止：{}", chinese_reason(reason)));
            note(go_on(learned.over_budget, output.language));
        }
    }
    Ok(match learned.stopped.is_none() && learned.failures == 0 {
        true => 0,
        false if learned.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}
