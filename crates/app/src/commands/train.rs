//! Runs `train`: collects trajectories, labels questions, and exports training data.

mod labels;

use std::path::Path;

use pikerag_engine::narrate::Words;
use pikerag_engine::parts::{Spent, TrainCard, TrainPart, TrainUnused};
use pikerag_engine::{
    CollectedRuns, Session, train_collect, train_export, train_forecast, train_recipe, train_use,
};

use crate::advice::go_on;
use crate::cli::{Collect, Train, TrainExport, TrainVerb};
use crate::exit;
use crate::output::{Bar, Output, note, say, say_json};

pub(crate) async fn train(
    session: &Session,
    output: Output,
    arguments: &Train,
) -> anyhow::Result<u8> {
    match &arguments.verb {
        TrainVerb::Collect(arguments) if arguments.dry_run => {
            forecast(session, output, arguments).await
        }
        TrainVerb::Collect(arguments) => collect(session, output, arguments).await,
        TrainVerb::Label(arguments) if arguments.dry_run => labels::forecast(output, arguments),
        TrainVerb::Label(arguments) => labels::label(session, output, arguments).await,
        TrainVerb::Export(arguments) => export(output, arguments),
        TrainVerb::Agree(arguments) => labels::agree(session, output, arguments).await,
        TrainVerb::Recipe { folder } => recipe(output, folder),
        TrainVerb::Use { question } => {
            let ours = output.language.either(
                "Who owns the yard that built the ship Heron?",
                "建造“苍鹭”号的船厂属于谁？",
            );
            tried(session, output, question.as_deref().unwrap_or(ours)).await
        }
    }
}

fn recipe(output: Output, folder: &Path) -> anyhow::Result<u8> {
    let files = train_recipe(folder)?;
    if output.json {
        return say_json(&serde_json::json!({ "folder": folder, "files": files }));
    }
    let folder = folder.display();
    output.say(
        format!("{} files are in {folder}; next: `python3 {folder}/run.py DATA --model smollm2 --out OUT`", files.len()),
        format!("{} 个文件在 {folder} 中；下一步：`python3 {folder}/run.py DATA --model smollm2 --out OUT`", files.len()),
    );
    Ok(0)
}

async fn tried(session: &Session, output: Output, question: &str) -> anyhow::Result<u8> {
    let tried = train_use(session, question).await?;
    if output.json {
        say_json(&tried)?;
        return Ok(if tried.is_readable { 0 } else { exit::FAILED });
    }
    let model = &tried.model;
    if !tried.is_readable {
        output.say(
            format!("{model} does not reply in the form of the training data; is `[roles.propose]` the trained model?"),
            format!("{model} 的回复不是训练数据的形式；`[roles.propose]` 是训练过的模型吗？"),
        );
        return Ok(exit::FAILED);
    }
    match &tried.sub_question {
        Some(asked) => {
            output.say(format!("{model} asks: {asked}"), format!("{model} 提问：{asked}"));
        }
        None => output.say(
            format!("{model} needs no sub-question for: {question}"),
            format!("{model} 认为无需子问题：{question}"),
        ),
    }
    output.note(
        "ask with it: `pikerag ask --method kar3-trained \"…\"`, or set `proposer = \"trained\"` in [methods.kar3]",
        "用它提问：`pikerag ask --method kar3-trained \"…\"`，或在 [methods.kar3] 中设 `proposer = \"trained\"`",
    );
    Ok(0)
}

async fn forecast(session: &Session, output: Output, arguments: &Collect) -> anyhow::Result<u8> {
    let forecast = train_forecast(session, &arguments.request(&|_| {})).await?;
    if output.json {
        return say_json(&forecast);
    }
    let (questions, typical, most) =
        (forecast.questions, forecast.typical_calls, forecast.most_calls);
    output.say(
        format!("{questions} questions; typically {typical} calls, at most {most}"),
        format!("{questions} 个问题；通常 {typical} 次调用，最多 {most} 次"),
    );
    if let Some(runs) = &forecast.runs {
        of_runs(output, runs);
    }
    nothing_done(output);
    Ok(0)
}

fn nothing_done(output: Output) {
    output.note(
        "no call was made and nothing was written; calls in a ledger are not paid again",
        "没有进行调用，也没有写入；已在调用账本中的调用不再付费",
    );
}

async fn collect(session: &Session, output: Output, arguments: &Collect) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let response = train_collect(session, &arguments.request(&watch)).await?;
    let card = &response.card;
    if output.json {
        say_json(&response)?;
    } else {
        let TrainCard { questions, right, trajectories, failed, .. } = *card;
        output.say(
            format!(
                "{right} of {questions} questions have a right trajectory; {trajectories} attempts"
            ),
            format!("{questions} 个问题中有 {right} 个得到正确的轨迹；共尝试 {trajectories} 次"),
        );
        say(&bill(&response.spent).of(output.language));
        if let Some(runs) = &response.runs {
            of_runs(output, runs);
        }
        if 0 < failed {
            output.note(
                format!("{failed} attempts failed; run again to retry them"),
                format!("{failed} 次尝试失败；再次运行即可重试"),
            );
        }
        let out = response.out.display();
        output.note(
            format!("trajectories are in {out}; next: `pikerag train export {out} --out DIR`"),
            format!("轨迹在 {out} 中；下一步：`pikerag train export {out} --out DIR`"),
        );
    }
    let is_whole = card.failed == 0;
    match response.stopped {
        Some(error) => {
            note(go_on(error.is_over_budget(), output.language));
            Err(error.into())
        }
        None if !is_whole => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

/// The kept runs that were read, and why some are left out.
fn of_runs(output: Output, runs: &CollectedRuns) {
    let CollectedRuns { read, earlier, used, left_out } = runs;
    let unused: usize = left_out.values().sum();
    output.say(
        format!("{read} kept runs: {used} used, {earlier} collected earlier, {unused} left out"),
        format!("{read} 个已保存的运行：采用 {used} 个，先前已收集 {earlier} 个，略去 {unused} 个"),
    );
    for (reason, count) in left_out {
        let (english, chinese) = why(*reason);
        output.note(format!("left out, {count}: {english}"), format!("略去 {count} 个：{chinese}"));
    }
}

/// Why runs are left out, and what to do about it.
fn why(reason: TrainUnused) -> (&'static str, &'static str) {
    match reason {
        TrainUnused::NotAnswered => ("they have no answer", "没有回答"),
        TrainUnused::Unknown => (
            "nothing decides whether the answer is right; use `pikerag feedback accept RUN`, `correct` or `reject`, or `--questions FILE`",
            "无从判断回答是否正确；请用 `pikerag feedback accept RUN`、`correct` 或 `reject`，或用 `--questions FILE`",
        ),
        TrainUnused::NoSteps => (
            "they did not select passages by sub-questions of the question, as `--method kar3` with a model does",
            "没有按问题的子问题选择段落；带模型的 `--method kar3` 会这样做",
        ),
        TrainUnused::Gone => (
            "they selected passages that the base no longer has; ask again",
            "所选段落已不在知识库中；请重新提问",
        ),
        TrainUnused::NoAnswers => (
            "their sub-questions have no answers; set a model for the role `answer`",
            "子问题没有回答；请为角色 `answer` 设置模型",
        ),
        TrainUnused::NotDrawn => ("their questions are beyond `--limit`", "其问题超出 `--limit`"),
    }
}

fn bill(spent: &Spent) -> Words {
    let (calls, usage) = (spent.calls(), spent.usage());
    let (prompt_tokens, completion_tokens) = (usage.prompt_tokens, usage.completion_tokens);
    Words::new(
        format!("{calls} calls, {prompt_tokens} + {completion_tokens} tokens, made or recorded"),
        format!("{calls} 次调用，{prompt_tokens} + {completion_tokens} 个 Token（含已有记录的）"),
    )
}

fn export(output: Output, arguments: &TrainExport) -> anyhow::Result<u8> {
    let response = train_export(&arguments.request())?;
    if output.json {
        return say_json(&response);
    }
    let card = &response.card;
    for (module, parts) in card.labels.iter().flat_map(|labels| &labels.modules) {
        for (part, counts) in parts {
            let (name, chinese) = (part.name(), in_chinese(*part));
            let (questions, examples) = (counts.questions, counts.examples);
            output.say(
                format!("{module:<10} {name:<6} {questions} questions, {examples} examples"),
                format!("{module:<10} {chinese}  {questions} 个问题，{examples} 个样例"),
            );
        }
    }
    for (part, counts) in &card.parts {
        let (name, questions) = (part.name(), counts.questions);
        let (examples, preferences) = (counts.examples, counts.preferences);
        let chinese = in_chinese(*part);
        output.say(
            format!(
                "{name:<6} {questions} questions, {examples} examples, {preferences} preferences"
            ),
            format!("{chinese}  {questions} 个问题，{examples} 个样例，{preferences} 个偏好对"),
        );
    }
    let [same, near] = card.leaks;
    if 0 < same + near {
        output.note(
            format!(
                "{same} questions are left out because an evaluation set has them, {near} because it nearly has them"
            ),
            format!("略去了评测集中已有的 {same} 个问题，以及近乎相同的 {near} 个"),
        );
    }
    let out = response.out.display();
    output.note(
        format!("the data and their card (card.md) are in {out}"),
        format!("数据及其说明（card.md）在 {out} 中"),
    );
    Ok(0)
}

fn in_chinese(part: TrainPart) -> &'static str {
    match part {
        TrainPart::Train => "训练",
        TrainPart::Valid => "验证",
        TrainPart::Test => "测试",
    }
}
