//! Reads the words of a question that name an event, such as `hired`, `paid` or 到货, and knows the columns of its date.

use std::ops::Range;
use std::sync::LazyLock;

use pikerag_language::stem;

use super::Cues;
use crate::pieces::Piece;

/// A word for an event, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventMention {
    pub(crate) event: &'static Event,
    pub(crate) span: Range<usize>,
    /// The words that negate the event, from the first to the last: `not yet paid`, `unpaid`, 尚未付款.
    pub(crate) denied: Option<Range<usize>>,
}

/// Something that happens to the thing of a row, at a time that a column may hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// English words of questions, folded.
    words: Vec<&'static str>,
    /// Stems of English words in names of columns.
    columns: Vec<String>,
    /// Chinese words of questions and of names of columns.
    chinese: Vec<&'static str>,
    /// See [`EVENTS`].
    marks: &'static str,
}

/// One event for each line: English words of questions, `|`, words in names of columns, `|`, Chinese words. `+` marks
/// events whose date is entered after they happened. `-` marks events that end something. `~` marks the two sides of a
/// trade. `<` marks events that begin a time in which something exists.
const EVENTS: &str = "\
<start started starts begin began begun begins commenced commences launched | start begin begun commencement launch | 开始 开工 启动 动工
-end ended ends finish finished finishes concluded | end finish | 结束
+-complete completed | complete completed completion finished | 完成 完工 竣工
<hired hire joined join joins recruited employed onboarded | hire hired hiring join joined joining employment recruitment onboarding | 入职 录用 到岗
+-left leave leaves resigned quit | left leave leaving resigned resignation exit termination | 离职 辞职
<born | birth born dob birthday | 出生
~ordered | order ordered | 下单 订购 订货
+shipped dispatched | ship shipped shipping shipment dispatch dispatched | 发货 出货 寄出
+delivered arrived arrive arrives arrival | delivery delivered deliver arrival arrived received | 到货 交货 送达 交付 到达 到港
+received receive | received receipt receiving | 收到 收货
+paid settled | paid payment pay settled settlement | 付款 支付 缴费 回款 缴纳 付清
 due | due deadline | 到期 截止
 issued invoiced billed | issue issued invoice invoiced billing billed | 开票 开具 签发
<opened open opens | open opened opening | 开业 开张 开馆 开放
+-closed close closes resolved | close closed closing closure resolved resolution | 关闭 结案 解决 关店 停业
<admitted | admission admitted admit | 入院 住院
+-discharged | discharge discharged | 出院
<signed | sign signed signing signature | 签订 签署 签约
-expire expires expired expiring | expiry expire expires expired expiration valid | 到期 失效 届满
<installed | install installed installation | 安装
~bought purchased acquired | buy bought purchase purchased acquired acquisition | 购买 购置 采购 购入
+~sold | sell sold sale | 售出 卖出
 reported | report reported reporting | 报修 上报 报告
 created registered | create created creation register registered registration | 创建 注册 登记
 published released | publish published publication release released | 出版 发布 上映 发行
<founded established | found founded foundation establish established | 成立 创立 创建
<built constructed | build built construction | 建成 建造
+inspected | inspect inspected inspection | 检查 巡检 检验
+returned | return returned | 归还 退货
 booked reserved | book booked booking reservation | 预订 预约
+-departed departs | depart departed departure | 出发 起飞
+approved | approve approved approval | 批准 审批
-died | death died die | 去世 死亡";

const MARKS: [char; 5] = ['+', '-', '~', '<', ' '];

static ALL: LazyLock<Vec<Event>> = LazyLock::new(|| {
    EVENTS
        .lines()
        .map(|line| {
            let bare = line.trim_start_matches(MARKS);
            let marks = line.get(..line.len() - bare.len()).unwrap_or_default();
            let mut parts = bare.split('|');
            let mut words = || parts.next().unwrap_or_default().split_whitespace();
            Event {
                words: words().collect(),
                columns: words().map(stem).collect(),
                chinese: words().collect(),
                marks,
            }
        })
        .collect()
});

/// The most pieces from a negating word to its event: `has not yet been paid`.
const MOST_BEFORE: usize = 3;

/// English words that negate the next event, and words allowed between them.
const DENIALS: [&str; 4] = ["not", "never", "yet", "without"];
const BETWEEN: [&str; 9] = ["yet", "been", "to", "be", "being", "still", "have", "has", "fully"];
/// Chinese words that negate the event directly after them, the longer ones first.
const DENIALS_ZH: [&str; 10] =
    ["尚未", "还没有", "还未", "并未", "从未", "仍未", "没有", "还没", "未", "没"];

impl Event {
    /// Whether the column is filled only after the event: the day of a payment, but not its due date.
    pub(crate) fn is_past(&self) -> bool {
        self.marks.contains('+')
    }

    /// Whether the event ends the thing of a row.
    pub(crate) fn is_end(&self) -> bool {
        self.marks.contains('-')
    }

    /// Whether the event begins a time in which the thing of a row exists.
    fn is_begin(&self) -> bool {
        self.marks.contains('<')
    }

    /// Whether the event is one side of a trade: a sale is also an order.
    fn is_trade(&self) -> bool {
        self.marks.contains('~')
    }

    /// Whether a column of this name, with these stems, holds the time of the event.
    pub(crate) fn is_time_of(&self, name: &str, stems: &[&str]) -> bool {
        stems.iter().any(|stem| self.columns.iter().any(|own| own == stem))
            || self.chinese.iter().any(|word| name.contains(word))
    }

    /// Whether a column may hold the time of the event under the name of the other side of a trade.
    pub(crate) fn is_traded_at(&self, name: &str, stems: &[&str]) -> bool {
        self.is_trade() && ALL.iter().any(|other| other.is_trade() && other.is_time_of(name, stems))
    }

    /// Whether a text has a word for the event: `paid` of a status.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.any(|word| self.words.contains(&word.strip_prefix("un").unwrap_or(word)))
            || self.chinese.iter().any(|word| text.contains(word))
    }
}

/// Whether a column is named only after events that begin a time in which something exists.
pub(crate) fn is_of_a_beginning(name: &str, stems: &[&str]) -> bool {
    let mut own = ALL.iter().filter(|event| event.is_time_of(name, stems)).peekable();
    own.peek().is_some() && own.all(Event::is_begin)
}

/// Whether a column is named after any event.
pub(crate) fn is_of_an_event(name: &str, stems: &[&str]) -> bool {
    ALL.iter().any(|event| event.is_time_of(name, stems))
}

impl Cues {
    /// Reads words for events. They stay unused, because names of columns and values may have them.
    pub(super) fn read_events(&mut self) {
        let mut found = Vec::new();
        for at in 0..self.pieces.len() {
            for event in ALL.iter() {
                let Some((span, has_prefix)) = self.event_at(at, event) else { continue };
                let denied =
                    if has_prefix { Some(span.clone()) } else { self.denial_before(&span) };
                found.push(EventMention { event, span, denied });
            }
        }
        self.events = found;
    }

    /// The pieces of a word for an event, and whether it begins with `un`.
    fn event_at(&self, at: usize, event: &Event) -> Option<(Range<usize>, bool)> {
        let piece = self.pieces.get(at)?;
        if piece.is_han {
            let length = event.chinese.iter().map(|word| word.chars().count()).find(|length| {
                let text = self.text_of(at..at + length);
                event.chinese.contains(&text)
            })?;
            return Some((at..at + length, false));
        }
        let bare = piece.folded.strip_prefix("un").filter(|bare| event.words.contains(bare));
        let is_word = event.words.contains(&piece.folded.as_str());
        let before = at.checked_sub(1).map(|before| self.folded(before)).unwrap_or_default();
        // `By the end of`, `due to`, `the left one`.
        let is_noun = before == "the"
            && ["end", "start", "left", "finish", "open"].contains(&piece.folded.as_str());
        let is_cause = piece.folded == "due" && self.folded(at + 1) == "to";
        (bare.is_some() || (is_word && !is_noun && !is_cause)).then(|| (at..at + 1, bare.is_some()))
    }

    fn denial_before(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let first = self.pieces.get(span.start)?;
        if first.is_han {
            return DENIALS_ZH.iter().find_map(|word| {
                let start = span.start.checked_sub(word.chars().count())?;
                (self.text_of(start..span.start) == *word).then_some(start..span.start)
            });
        }
        let is_denial = |piece: &Piece| {
            DENIALS.contains(&piece.folded.as_str())
                || ["'t", "’t"].iter().any(|end| piece.raw.ends_with(end))
        };
        let mut start = None;
        for at in (span.start.saturating_sub(MOST_BEFORE + 1)..span.start).rev() {
            let piece = self.pieces.get(at)?;
            if is_denial(piece) {
                start = Some(at);
            } else if !BETWEEN.contains(&piece.folded.as_str()) {
                break;
            }
        }
        // `Yet` alone negates only in `yet to be done`.
        let start = start?;
        let is_yet_alone = self.folded(start) == "yet" && self.folded(start + 1) != "to";
        (!is_yet_alone).then_some(start..span.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: &str) -> Vec<(String, Option<String>)> {
        let cues = Cues::of(question);
        let text = |span: &Range<usize>| cues.text_of(span.clone()).to_owned();
        cues.events.iter().map(|it| (text(&it.span), it.denied.as_ref().map(text))).collect()
    }

    #[test]
    fn events_are_read_with_what_denies_them() {
        for (question, word, denied) in [
            ("Who was hired in 2021?", "hired", None),
            ("How many invoices have not yet been paid?", "paid", Some("not yet been")),
            ("Which bills are yet to be settled?", "settled", Some("yet to be")),
            ("How many invoices are unpaid?", "unpaid", Some("unpaid")),
            ("How many orders weren't shipped?", "shipped", Some("weren't")),
            ("2024年发货的订单有几个？", "发货", None),
            ("尚未付款的订单有几个？", "付款", Some("尚未")),
        ] {
            let expected = vec![(word.to_owned(), denied.map(str::to_owned))];
            assert_eq!(read(question), expected, "{question}");
        }
        assert!(read("How many shops closed due to the flood by the end of 2020?").len() == 1);
    }
}
