//! Finds the kind of a document by its head noun: a rule replaces its older version, a report does not.

use pikerag_language::pattern;

/// How a document of a later date relates to an earlier one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It replaces it: a rule, a manual, a price list.
    Rule,
    /// It stays beside it, because each has the facts of its own time: a report, minutes, an invoice.
    Record,
}

/// Head nouns, between bars.
const RULES: &str = "policy|policies|rule|rules|regulation|regulations|manual|manuals|handbook|handbooks|\
    guide|guides|guideline|guidelines|instruction|instructions|procedure|procedures|\
    price list|tariff|tariffs|standard|standards|specification|specifications|\
    data sheet|datasheet|terms|bylaws|statutes|directive|charter";
const RECORDS: &str = "report|reports|minutes|invoice|invoices|log|logs|logbook|statement|statements|\
    newsletter|newsletters|bulletin|bulletins|budget|budgets|results|accounts|journal|diary|\
    letter|letters|offer|offers|quotation|contract|contracts|agreement|agreements|receipt|\
    receipts|order|orders|agenda|forecast|forecasts|review|reviews|survey|surveys|calendar|\
    plan|plans|memo|memos|mail|email|audit|payroll|timesheet|timesheets|record|records|\
    protocol|presentation|slides|announcement|notes|assessment|inspection|summary|\
    transcript";
const CHINESE_RULES: &str = "办法|规定|制度|规则|规程|规范|手册|指南|指引|细则|条例|章程|标准|须知|准则|守则|价目表|\
    价格表|资费表|说明书|政策|流程|条款";
const CHINESE_RECORDS: &str = "报告|年报|月报|周报|日报|季报|纪要|记录|发票|账单|日志|台账|总结|统计|通讯|简报|预算|\
    决算|合同|协议|邮件|收据|订单|报表|计划|会议|通报|报价单|清单|检查|考核表";

pattern!(PREPOSITION, r"\b(?:on|of|for|about|from|to|in|at|by|with|after|against)\b");

/// The kind by the last noun that says it, before a preposition: a policy on reports is a rule.
/// `name`: words of a name or title, without marks of versions and dates.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    let head = match PREPOSITION.find(name) {
        Some(found) if 0 < found.start() => name.get(..found.start()).unwrap_or(name),
        _ => name,
    };
    let head = format!(" {} ", head.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut last: Option<(usize, Kind)> = None;
    let lists: [(&str, Kind, bool); 4] = [
        (RULES, Kind::Rule, false),
        (RECORDS, Kind::Record, false),
        (CHINESE_RULES, Kind::Rule, true),
        (CHINESE_RECORDS, Kind::Record, true),
    ];
    for (words, kind, is_part) in lists {
        for word in words.split('|') {
            let at = match is_part {
                true => head.rfind(word).map(|at| at + word.len()),
                false => head.rfind(&format!(" {word} ")).map(|at| at + 1 + word.len()),
            };
            if let Some(at) = at
                && last.is_none_or(|(end, _)| end < at)
            {
                last = Some((at, kind));
            }
        }
    }
    last.map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_noun_before_a_preposition_decides() {
        for (name, kind) in [
            ("travel policy", Some(Kind::Rule)),
            ("annual report", Some(Kind::Record)),
            ("policy on reports", Some(Kind::Rule)),
            ("report on the travel policy", Some(Kind::Record)),
            ("policy report", Some(Kind::Record)),
            ("log book manual", Some(Kind::Rule)),
            ("会议管理办法", Some(Kind::Rule)),
            ("差旅制度执行报告", Some(Kind::Record)),
            ("sales", None),
            ("考勤", None),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }
}
