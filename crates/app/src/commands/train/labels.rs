//! Runs `train label` and `train agree`: labels for the modules of RA-ISF, and how well modules agree with them.

use pikerag_engine::parts::{AgreementShare, LabelCounts, TrainModule};
use pikerag_engine::{Session, TABLE_4, train_agree, train_label, train_label_forecast};

use super::bill;
use crate::advice::go_on;
use crate::cli::{Agree, Label};
use crate::exit;
use crate::output::{Bar, Output, note, say, say_json};

pub(super) fn forecast(output: Output, arguments: &Label) -> anyhow::Result<u8> {
    let forecast = train_label_forecast(&arguments.request(&|_| {}))?;
    if output.json {
        return say_json(&forecast);
    }
    let (questions, most) = (forecast.questions, forecast.most_calls);
    output.say(
        format!("{questions} questions; at most {most} calls"),
        format!("{questions} 个问题；最多 {most} 次调用"),
    );
    super::nothing_done(output);
    Ok(0)
}

pub(super) async fn label(
    session: &Session,
    output: Output,
    arguments: &Label,
) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = train_label(session, &arguments.request(&watch)).await?;
    let failed = response.counts.failed;
    if output.json {
        say_json(&response)?;
    } else {
        counted(output, &response.counts);
        say(&bill(&response.spent).of(output.language));
        if 0 < failed {
            output.note(
                format!("{failed} questions failed; run again to retry them"),
                format!("{failed} 个问题失败；再次运行即可重试"),
            );
        }
        let out = response.out.display();
        output.note(
            format!("labels are in {out}; next: `pikerag train export {out} --out DIR`"),
            format!("标注在 {out} 中；下一步：`pikerag train export {out} --out DIR`"),
        );
    }
    match response.stopped {
        Some(error) => {
            note(go_on(error.is_over_budget(), output.language));
            Err(error.into())
        }
        None if 0 < failed => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

fn counted(output: Output, counts: &LabelCounts) {
    let LabelCounts { questions, unlabelled, .. } = counts;
    let ([known, _], [relevant, others]) = (counts.knows, counts.relevant);
    let [decomposed, _] = counts.decomposed;
    let passages = relevant + others + unlabelled;
    output.say(
        format!(
            "{questions} questions: the model knows {known} answers without passages; {relevant} of {passages} passages are relevant, {unlabelled} have no label; {decomposed} questions have sub-questions"
        ),
        format!(
            "{questions} 个问题：模型不看段落即知道 {known} 个答案；{passages} 个段落中 {relevant} 个相关，{unlabelled} 个没有标注；{decomposed} 个问题有子问题"
        ),
    );
}

pub(super) async fn agree(
    session: &Session,
    output: Output,
    arguments: &Agree,
) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = train_agree(session, &arguments.request(&watch)).await?;
    let failed = response.agreement.failed.len();
    if output.json {
        say_json(&response)?;
    } else {
        for (module, people, gpt_4) in TABLE_4 {
            let share = response.agreement.of(module);
            let model = response.models.get(module.name()).map_or("", String::as_str);
            let paper = |people: &str| match module {
                TrainModule::Know => format!("{gpt_4:.1}"),
                _ => format!("{people}, {gpt_4:.1}"),
            };
            let people = people.map_or_else(String::new, |percent| format!("{percent:.1}"));
            let (name, english, chinese) = (module.name(), shown(share), shown_in_chinese(share));
            output.say(
                format!("{name:<10} {english}  {model}  (paper: {})", paper(&people)),
                format!("{name:<10} {chinese}  {model}（论文：{}）", paper(&people)),
            );
        }
        let questions = response.questions;
        output.note(
            format!("{questions} questions; the paper's figures are percent by persons and by GPT-4 (RA-ISF, Table 4)"),
            format!("{questions} 个问题；论文的数字是人与 GPT-4 评定的百分比（RA-ISF 表 4）"),
        );
        say(&bill(&response.agreement.spent).of(output.language));
        for error in &response.agreement.failed {
            output.note(format!("not compared: {error}"), format!("未能比较：{error}"));
        }
    }
    match response.stopped {
        Some(error) => Err(error.into()),
        None if 0 < failed => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

fn shown(share: AgreementShare) -> String {
    let AgreementShare { agree, all, unreadable } = share;
    let percent = share.percent().map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1}"));
    format!("{percent} % ({agree} of {all} agree, {unreadable} unreadable)")
}

fn shown_in_chinese(share: AgreementShare) -> String {
    let AgreementShare { agree, all, unreadable } = share;
    let percent = share.percent().map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1}"));
    format!("{percent} %（{all} 个判断中 {agree} 个一致，{unreadable} 个无法解读）")
}
