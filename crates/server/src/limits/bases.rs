//! Lists the limits of work on bases: their number, places, memory, the log of the database, and
//! the end.

use pikerag_engine::EngineLimits;
use pikerag_engine::narrate::Words;

use super::figures::{bytes, number, same, time};
use super::{Limit, Place};
use crate::api::graph::PATIENCE;
use crate::bounds::STATES_PART;
use crate::serve::CANCELLED_BEFORE;

/// The number of bases, and the places of reads, writes, children, models and exports.
pub(super) fn places(place: &Place<'_>) -> Vec<Limit> {
    let ours = EngineLimits::OURS;
    let (states, parsers) = (number(ours.store.states), ours.usual_parsers);
    let wait = || Words::new("they wait", "排队等待");
    let patience = time(PATIENCE);
    let (set, usual) = place.server();
    vec![
        Limit::new(
            Words::new("bases made over REST or on the page", "通过 REST 或网页创建的知识库数"),
            same(number(usual.bases_limit)),
            same("409"),
        )
        .now(same(number(set.bases_limit)))
        .set_by("server.bases_limit"),
        Limit::new(
            Words::new(
                "states of bases held by questions, searches and exports",
                "问题、检索与导出持有的知识库状态数",
            ),
            Words::new(
                format!("{states} over all bases, or 1/{STATES_PART} of the open files if fewer"),
                format!("所有知识库共 {states}；打开文件数的 1/{STATES_PART} 更小时取后者"),
            ),
            wait(),
        )
        .now(same(number(place.bounds.states))),
        per_processor(
            Words::new("reads of a base on a thread at a time", "同时在线程上读取知识库的次数"),
            ours.store.reads_per_processor,
            place,
        ),
        Limit::new(
            Words::new(
                "questions and searches with a thread of their own at a time",
                "同时各占一个线程的问题和检索数",
            ),
            Words::new(
                format!("{}, or the held states if fewer", ours.store.own_threads),
                format!("{}；持有的知识库状态数更小时取后者", ours.store.own_threads),
            ),
            wait(),
        )
        .now(same(number(ours.store.own_threads.min(place.bounds.states)))),
        Limit::new(
            Words::new("writes on a thread at a time", "同时在线程上写入的次数"),
            same(number(ours.store.writes)),
            wait(),
        ),
        Limit::new(
            Words::new(
                "files read, archives opened, pages drawn at a time, each in a child process",
                "同时读取的文件、打开的压缩包与绘制的页，各在一个子进程中",
            ),
            Words::new(
                format!("processors, at most {parsers}"),
                format!("处理器数，最多 {parsers}"),
            ),
            wait(),
        )
        .now(same(number(place.settings.parser_limits.at_once)))
        .set_by("limits.parsers"),
        per_processor(
            Words::new("requests of a local model at a time", "本地模型同时处理的请求数"),
            ours.local_requests_per_processor,
            place,
        ),
        Limit::new(
            Words::new("exports at a time", "同时进行的导出数"),
            same(number(ours.exports)),
            Words::new(
                format!("they wait {patience}, then 503, `Retry-After`"),
                format!("等待 {patience}，然后 503 与 `Retry-After`"),
            ),
        ),
        Limit::new(
            Words::new("other reads of a whole base at a time", "同时对整个知识库的其他读取"),
            same(number(ours.long_reads)),
            wait(),
        ),
    ]
}

/// A number at a time for each processor; others wait.
fn per_processor(name: Words, each: usize, place: &Place<'_>) -> Limit {
    let default = Words::new(format!("{each} × processors"), format!("{each} × 处理器数"));
    Limit::new(name, default, Words::new("they wait", "排队等待"))
        .now(same(number(each * place.processors)))
}

/// Page caches, kept names, connections, the log of the database, deletions, and the end of the server.
pub(super) fn memory_and_log(place: &Place<'_>) -> Vec<Limit> {
    let store = EngineLimits::OURS.store;
    let (open, idle) = (number(store.idle.0), time(store.idle.1));
    let mut limits = page_caches(place);
    limits.push(Limit::new(
        Words::new(
            "names that questions keep for later ones, over all bases",
            "问题为后续问题保留的名称，所有知识库合计",
        ),
        same(bytes(EngineLimits::OURS.known_bytes)),
        Words::new("those unused for the longest time are looked up again", "最久未用的重新查询"),
    ));
    let (filters, passages) = (number(store.scopes.0), number(store.scopes.1));
    limits.push(Limit::new(
        Words::new(
            "filters of a base whose admitted passages are kept",
            "知识库中保留其放行段落的筛选条件数",
        ),
        Words::new(
            format!("{filters}, with {passages} passages in all"),
            format!("{filters}，合计 {passages} 个段落"),
        ),
        Words::new("those unused for the longest time are evaluated again", "最久未用的重新计算"),
    ));
    limits.push(Limit::new(
        Words::new("unused connections to a base", "知识库的空闲连接数"),
        Words::new(format!("{open}; others for {idle}"), format!("{open}；其余保留 {idle}")),
        Words::new("they are closed", "关闭"),
    ));
    limits.extend(logs());
    limits.push(Limit::new(
        Words::new(
            "wait of a deletion with `forget` for earlier questions and exports",
            "带 `forget` 的删除等待先前问题与导出的时间",
        ),
        same(time(store.forget_wait)),
        Words::new(
            "the response says `overwrites_later`; the freed bytes are overwritten when the last reader ends",
            "回复中有 `overwrites_later`；最后一个读取结束后覆写所释放的字节",
        ),
    ));
    let (set, usual) = place.server();
    let before = time(CANCELLED_BEFORE);
    limits.push(
        Limit::new(
            Words::new("time to end after `SIGTERM`", "收到 `SIGTERM` 后结束的时间"),
            same(time(usual.grace)),
            Words::new(
                format!("runs are cancelled and kept {before} before; then the process ends"),
                format!("提前 {before} 取消并保存运行；然后进程结束"),
            ),
        )
        .now(same(time(set.grace)))
        .set_by("server.grace_seconds"),
    );
    limits
}

fn page_caches(place: &Place<'_>) -> Vec<Limit> {
    let store = EngineLimits::OURS.store;
    let (caches, reads) = (store.page_caches, store.reads_per_processor);
    let [writer, reader, small] = [caches.writer, caches.reader, caches.small].map(bytes);
    let few = caches.few;
    let rest = store.states.saturating_sub(few);
    let all = store.all_page_caches(place.processors, place.bounds.states);
    let beyond = || Words::new("pages are read again from the disk", "从磁盘重新读取页");
    vec![
        Limit::new(
            Words::new("page cache of the writer of a base", "知识库写入连接的页缓存"),
            same(&writer),
            beyond(),
        ),
        Limit::new(
            Words::new("page cache of a reader", "读取连接的页缓存"),
            Words::new(
                format!("{reader}; {small} while more than {few} states are held"),
                format!("{reader}；持有的状态多于 {few} 个时 {small}"),
            ),
            beyond(),
        ),
        Limit::new(
            Words::new("page caches of one base in all", "一个知识库的全部页缓存"),
            Words::new(
                format!("{writer} + ({few} + {reads} × processors) × {reader} + {rest} × {small}"),
                format!("{writer} + ({few} + {reads} × 处理器数) × {reader} + {rest} × {small}"),
            ),
            beyond(),
        )
        .now(same(bytes(all))),
    ]
}

fn logs() -> Vec<Limit> {
    let store = EngineLimits::OURS.store;
    let ((long, short_wait), (very_long, long_wait)) = (store.long_log, store.very_long_log);
    let (short_wait, long_wait) = (time(short_wait), time(long_wait));
    let times = store.log_pause;
    vec![
        Limit::new(
            Words::new("log of the database", "数据库日志"),
            same(bytes(long)),
            Words::new(
                format!(
                    "new questions wait for running ones, at most {short_wait}; then it is emptied"
                ),
                format!("新问题等待进行中的问题，最多 {short_wait}；然后清空日志"),
            ),
        ),
        Limit::new(
            Words::new("log of the database, second limit", "数据库日志的第二个上限"),
            same(bytes(very_long)),
            Words::new(
                format!(
                    "the same, at most {long_wait}. A failed attempt is repeated after {times} times the wait"
                ),
                format!("同上，最多 {long_wait}；失败后过 {times} 倍的等待时间再试"),
            ),
        ),
    ]
}
