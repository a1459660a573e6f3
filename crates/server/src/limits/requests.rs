//! Lists the limits of connections, requests and bodies.

use pikerag_engine::EngineLimits;
use pikerag_engine::narrate::Words;

use super::figures::{bytes, number, same, time};
use super::{Limit, Place};
use crate::api::forms::MOST as MOST_FILES;
use crate::bounds::{CONNECTIONS, CONNECTIONS_PART, SPARE_CONNECTIONS_PART};
use crate::pace::{LEAST, LEAST_READ, STALLED, WHOLE, WINDOW};
use crate::serve::{HEAD, HEAD_BYTES};

pub(super) fn limits(place: &Place<'_>) -> Vec<Limit> {
    let mut limits = connections(place);
    limits.extend(bodies(place));
    limits
}

fn connections(place: &Place<'_>) -> Vec<Limit> {
    let wanted = number(EngineLimits::OURS.descriptors);
    let usual = number(place.usual.server.requests);
    let (parts, spare) = (SPARE_CONNECTIONS_PART, SPARE_CONNECTIONS_PART - 1);
    vec![
        Limit::new(
            Words::new("connections", "连接数"),
            Words::new(
                format!(
                    "1/{CONNECTIONS_PART} of the open files that the system allows, at most {CONNECTIONS}"
                ),
                format!("系统允许打开的文件数的 1/{CONNECTIONS_PART}，最多 {CONNECTIONS}"),
            ),
            Words::new("the connection is closed", "关闭连接"),
        )
        .now(same(number(place.bounds.connections))),
        Limit::new(
            Words::new("open files", "打开的文件数"),
            Words::new(
                format!("the hard limit, at most {wanted}: `serve` raises the soft limit to it"),
                format!("硬上限，最多 {wanted}：`serve` 把软上限提高到此值"),
            ),
            Words::new(
                "the request fails with 500 or 503; nothing is treated as damaged",
                "请求以 500 或 503 失败；不会当作损坏处理",
            ),
        )
        .now(same(number(place.descriptors))),
        Limit::new(
            Words::new("running requests, including streams", "进行中的请求数，包括流式回复"),
            Words::new(
                format!("{usual}, or {spare}/{parts} of the connections if fewer"),
                format!("{usual}；连接数的 {spare}/{parts} 更小时取后者"),
            ),
            Words::new(
                "503, `Retry-After`; `GET /health` and `GET /ready` are always answered",
                "503 与 `Retry-After`；`GET /health` 与 `GET /ready` 始终有回复",
            ),
        )
        .now(same(number(place.bounds.requests)))
        .set_by("server.requests"),
    ]
}

fn bodies(place: &Place<'_>) -> Vec<Limit> {
    let (set, usual) = (place.settings, place.usual);
    let (head, whole, window) = (time(HEAD), time(WHOLE), time(WINDOW));
    let a_second = bytes(LEAST as u64 / WINDOW.as_secs().max(1));
    let (read, stalled) = (bytes(LEAST_READ), time(STALLED));
    vec![
        Limit::new(
            Words::new("head of a request", "请求头"),
            same(format!("{}, {head}", bytes(HEAD_BYTES))),
            Words::new("431, or the connection is closed", "431，或关闭连接"),
        ),
        Limit::new(
            Words::new("body of a request", "请求正文"),
            same(bytes(usual.server.body_bytes)),
            same("413"),
        )
        .now(same(bytes(set.server.body_bytes)))
        .set_by("server.body_mib"),
        Limit::new(
            Words::new("body of an upload", "上传文件的正文"),
            same(bytes(usual.parser_limits.file_bytes)),
            same("413"),
        )
        .now(same(bytes(set.parser_limits.file_bytes)))
        .set_by("limits.file_mib"),
        Limit::new(
            Words::new("files of a form", "一个表单中的文件数"),
            same(number(MOST_FILES)),
            same("400"),
        ),
        Limit::new(
            Words::new("speed of a body, at least", "请求正文的最低速度"),
            Words::new(
                format!("{a_second}/s in each {window}; {whole} in all"),
                format!("每 {window} 平均 {a_second}/s；总共 {whole}"),
            ),
            same("408"),
        ),
        Limit::new(
            Words::new(
                "speed of a client that reads, once buffers are full, at least",
                "缓冲区已满时客户端读取的最低速度",
            ),
            Words::new(format!("{read} in {stalled}"), format!("{stalled} 内 {read}")),
            Words::new(
                "the connection is closed; its run or export ends",
                "关闭连接；其运行或导出随之结束",
            ),
        ),
    ]
}
