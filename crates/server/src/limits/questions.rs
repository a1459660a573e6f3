//! Lists the limits of questions, searches, keys and kept responses.

use pikerag_engine::EngineLimits;
use pikerag_engine::narrate::Words;
use pikerag_engine::settings::ServerSettings;

use super::figures::{bytes, number, same, time};
use super::{Limit, LimitSetting, Place};
use crate::api::search::MOST as MOST_HITS;
use crate::api::tables::MOST as MOST_ROWS;
use crate::app::CONVERSATION;
use crate::bounds::SPARE_STATES_PART;
use crate::compat::mcp;
use crate::responses::{ALL_BYTES, BYTES, KEPT, LONGEST};
use crate::wrong::WINDOW;

pub(super) fn limits(place: &Place<'_>) -> Vec<Limit> {
    let mut limits = questions(place);
    limits.extend(keys(place));
    limits.extend(searches(place));
    limits.extend(assistants());
    limits
}

/// The limits of the tools for assistants.
fn assistants() -> Vec<Limit> {
    let (all, each, kept) = (mcp::MOST, mcp::MOST_OF_CALLER, time(mcp::KEPT));
    let characters = number(mcp::MOST_CHARACTERS);
    vec![
        Limit::new(
            Words::new("calls of assistants kept as tasks (MCP)", "保存为任务的助手调用（MCP）"),
            Words::new(
                format!("{all}, {each} of one caller, {kept}"),
                format!("共 {all} 个，每个调用者 {each} 个，{kept}"),
            ),
            Words::new("the response waits for the result", "回复等待结果"),
        ),
        Limit::new(
            Words::new(
                "text that the tool `fetch` returns (MCP)",
                "工具 `fetch` 返回的文字（MCP）",
            ),
            Words::new(format!("{characters} characters"), format!("{characters} 个字符")),
            Words::new("the text around the passage is returned", "返回该段落前后的文字"),
        ),
    ]
}

fn questions(place: &Place<'_>) -> Vec<Limit> {
    let (set, usual) = place.server();
    let ours = EngineLimits::OURS;
    let (runs, most, per_run) = (number(usual.runs), number(ours.runs), ours.waiting_per_run);
    let (parts, spare) = (SPARE_STATES_PART, SPARE_STATES_PART - 1);
    let waiting = number(usual.runs_waiting);
    let too_long = Words::new("413 with both figures", "413，含两个数字");
    let conversation =
        |server: &ServerSettings| bytes(server.question_bytes.saturating_mul(CONVERSATION));
    vec![
        Limit::new(
            Words::new("question or query, with its filter", "问题或检索词，含过滤条件"),
            same(bytes(usual.question_bytes)),
            too_long.clone(),
        )
        .now(same(bytes(set.question_bytes)))
        .set_by("server.question_kib"),
        Limit::new(
            Words::new("conversation, all messages together", "对话，全部消息合计"),
            Words::new(
                format!("{}: {CONVERSATION} × a question", conversation(usual)),
                format!("{}：问题上限的 {CONVERSATION} 倍", conversation(usual)),
            ),
            too_long,
        )
        .now(same(conversation(set)))
        .set_by("server.question_kib"),
        Limit::new(
            Words::new("questions answered at a time", "同时回答的问题数"),
            Words::new(
                format!("{runs}, at most {most}; or {spare}/{parts} of the held states if fewer"),
                format!("{runs}，最多 {most}；持有状态数的 {spare}/{parts} 更小时取后者"),
            ),
            Words::new("they wait", "排队等待"),
        )
        .now(same(number(place.bounds.runs)))
        .set_by("server.runs"),
        Limit::new(
            Words::new("waiting questions", "等待的问题数"),
            Words::new(
                format!("{waiting}: {per_run} × `server.runs`"),
                format!("{waiting}：{per_run} × `server.runs`"),
            ),
            Words::new("429, `Retry-After`", "429 与 `Retry-After`"),
        )
        .now(same(number(set.runs_waiting)))
        .set_by("server.runs_waiting"),
    ]
}

fn keys(place: &Place<'_>) -> Vec<Limit> {
    let (set, usual) = place.server();
    let window = time(WINDOW);
    let wrong = |server: &ServerSettings| {
        let n = number(server.wrong_keys);
        Words::new(format!("{n} in {window}"), format!("{window} 内 {n} 次"))
    };
    let per_minute = Limit::new(
        Words::new("requests of one key per minute", "每个密钥每分钟的请求数"),
        Words::new("none", "无"),
        Words::new("429, `Retry-After`", "429 与 `Retry-After`"),
    );
    vec![
        Limit { setting: Some(LimitSetting::Option("keys make --per-minute")), ..per_minute },
        Limit::new(
            Words::new("wrong keys from one address", "同一地址的错误密钥"),
            wrong(usual),
            Words::new(
                "429, `Retry-After`; correct keys are answered",
                "429 与 `Retry-After`；正确的密钥仍有回复",
            ),
        )
        .now(wrong(set))
        .set_by("server.wrong_keys"),
    ]
}

fn searches(place: &Place<'_>) -> Vec<Limit> {
    let (set, usual) = place.server();
    let (all, each, kept) = (bytes(ALL_BYTES), bytes(BYTES), time(KEPT));
    vec![
        Limit::new(
            Words::new("hits of a search", "一次检索的结果数"),
            same(number(MOST_HITS)),
            same("400"),
        ),
        Limit::new(
            Words::new("reranked hits of a search", "一次检索重排的结果数"),
            same(number(usual.rerank_limit)),
            Words::new("422 with both figures", "422，含两个数字"),
        )
        .now(same(number(set.rerank_limit)))
        .set_by("server.rerank_limit"),
        Limit::new(
            Words::new("rows of a `SELECT`", "一次 `SELECT` 的行数"),
            same(number(MOST_ROWS)),
            same("400"),
        ),
        Limit::new(
            Words::new("responses kept for `Idempotency-Key`", "为 `Idempotency-Key` 保存的回复"),
            Words::new(
                format!("{all}, {each} each, {kept}"),
                format!("共 {all}，每个 {each}，{kept}"),
            ),
            Words::new("the request may be made again", "请求可以再次执行"),
        ),
        Limit::new(
            Words::new("length of an `Idempotency-Key`", "`Idempotency-Key` 的长度"),
            Words::new(format!("{LONGEST} characters"), format!("{LONGEST} 个字符")),
            same("400"),
        ),
    ]
}
