//! Cuts Chinese text into words with jieba.
//!
//! The first Chinese text loads jieba's dictionary. The business words below are added to it.

use std::collections::HashSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;

use crate::language::is_chinese;
use crate::stop::is_stop_word;

/// Words of contracts, work and money that are missing from the dictionary (it has 违约金, 试用期, 保修期).
const WORDS: &str = "\
    质保期 质保金 质量保证金 质保书 账期 宽限日 免租期 装修期 交房日 滞纳金 违约方 守约方 竞业限制 竞业禁止 保密期 保密协议 补充协议 \
    框架协议 验收合格 验收报告 验收标准 付款方式 付款条件 付款期限 预付款 进度款 到货款 履约期 履约保函 含税价 不含税价 增值税专用发票 \
    年假 年休假 事假 陪产假 育儿假 带薪假 调休 工龄 入职 入职日 离职证明 五险一金 报销单 报销款 差旅标准 绩效奖 加班工资 经济补偿 \
    经济补偿金 续签 续约 解约 应收账款 应付账款 对公账户 开户行 采购单 采购订单 订单号 供货期 交付期 交付物 交货日 工期 延期交货 \
    服务费 服务期 管理费 保证金 手续费 违约责任 终止合同 解除合同 电子签 电子签章 授权书 报价单 送货单 发货单 对账单 结算单 工单 \
    质检 质检报告 保修卡 维保 维保期 售后";

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    for word in WORDS.split_whitespace() {
        if !jieba.has_word(word) {
            jieba.add_word(word, None, None);
        }
    }
    jieba
});

/// The Chinese words of a text, in order; a long word also gives its parts, for search.
pub(crate) fn chinese_words(text: &str) -> Vec<String> {
    cut(text).0
}

/// Returns the Chinese words of a text, as [`chinese_words`] does, and the pairs of neighbouring
/// characters that are not words of the text, in order.
///
/// Two texts may cut the same characters into different words; their pairs are the same. No pair
/// contains grammar or lies inside a dictionary word, because dictionary words are cut the same way
/// everywhere.
pub(crate) fn cut(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut words, mut found) = (Vec::new(), Vec::new());
    for run in runs(text) {
        let characters: Vec<char> = run.chars().collect();
        let mut may_begin = vec![true; characters.len()];
        for word in JIEBA.cut(run, true) {
            if JIEBA.has_word(word.word) {
                may_begin
                    .get_mut(word.start..word.end.saturating_sub(1))
                    .unwrap_or_default()
                    .fill(false);
                add_with_parts(word.word, &mut words);
                continue;
            }
            for part in split_at_grammar(word.word) {
                add_with_parts(part, &mut words);
            }
        }
        for (both, may_begin) in characters.windows(2).zip(may_begin) {
            let grammar = both.iter().any(|c| is_stop_word(c.encode_utf8(&mut [0; 4])));
            if may_begin && !grammar {
                found.push(both.iter().collect::<String>());
            }
        }
    }
    let known: HashSet<&str> = words.iter().map(String::as_str).collect();
    found.retain(|pair| !known.contains(pair.as_str()));
    (words, found)
}

/// Family names, without characters that common words begin with (何, 方, 向).
const FAMILY_NAMES: &str = "李王张刘陈杨赵黄周吴徐孙朱胡郭林罗郑梁谢宋唐许邓韩冯曹彭曾肖董袁潘蒋蔡余杜程苏魏吕丁\
    沈姚卢姜崔钟谭陆汪范廖贾韦付邹孟熊秦邱尹薛闫段侯龙陶黎贺顾毛郝龚邵严覃武戴莫孔汤娄樊鄢施";

/// Characters of words that the dictionary takes for places although they compare or point: 东西, 新旧.
const POINTING: &str = "东西南北上下左右前后内外新旧大小高低长短";

/// The Chinese words of a text that name a person, a place or an organisation, in order. A word that
/// the dictionary does not have counts as a person if it has three characters and begins with a
/// family name.
pub fn chinese_names_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs(text) {
        for tag in JIEBA.tag(run, true) {
            let mut characters = tag.word.chars();
            let is_person = characters.next().is_some_and(|first| FAMILY_NAMES.contains(first));
            let length = tag.word.chars().count();
            let is_name = match JIEBA.has_word(tag.word) {
                true => {
                    let is_place = matches!(tag.tag, "ns" | "nt")
                        && !tag.word.chars().all(|c| POINTING.contains(c));
                    2 <= length && (is_place || is_person && tag.tag.starts_with("nr"))
                }
                false => length == 3 && is_person,
            };
            if is_name && !names.iter().any(|name| name == tag.word) {
                names.push(tag.word.to_owned());
            }
        }
    }
    names
}

/// Adds the parts of two and three characters that are words, then the word itself.
fn add_with_parts(word: &str, words: &mut Vec<String>) {
    let characters: Vec<char> = word.chars().collect();
    for length in [2, 3].into_iter().filter(|length| *length < characters.len()) {
        let parts = characters.windows(length).map(|part| part.iter().collect::<String>());
        words.extend(parts.filter(|part| JIEBA.has_word(part)));
    }
    words.push(word.to_owned());
}

fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_chinese(c)).filter(|run| !run.is_empty())
}

/// Splits a word that jieba guessed at its grammar characters: `期是` is not a word.
fn split_at_grammar(word: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), word);
    while let Some(at) = rest.find(is_grammar) {
        let behind =
            at + rest.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        parts.extend([rest.get(..at), rest.get(at..behind)].into_iter().flatten());
        rest = rest.get(behind..).unwrap_or_default();
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a character is grammar outside dictionary words. 于, 向, 以 and 之 also occur in names, so
/// they do not count.
fn is_grammar(c: char) -> bool {
    !matches!(c, '于' | '向' | '以' | '之') && is_stop_word(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn business_terms_are_cut_into_words() {
        for (text, words, pairs_besides) in [
            ("质保期是多久", "质保 质保期 是 多久", ""),
            ("年假有几天", "年假 有 几天", ""),
            ("试用期的工资", "试用 试用期 的 工资", ""),
            ("保修期由甲方承担", "保修 保修期 由 甲方 承担", "方承"),
            ("逾期付款的违约金为多少", "逾期 付款 的 违约 违约金 为 多少", "期付"),
            ("交货期和付款方式是什么", "交货 交货期 和 付款 方式 付款方式 是 什么", ""),
            ("验收在交付后进行", "验收 在 交付 后 进行", "付后 后进"),
            ("报销流程与差旅费标准", "报销 流程 与 差旅 旅费 差旅费 标准", "销流 费标"),
            ("质量保证金是多少", "质量 保证 保证金 质量保证金 是 多少", ""),
            ("竞业限制的期限是多长", "限制 竞业限制 的 期限 是 多长", ""),
            ("设备的保修期是几年", "设备 的 保修 保修期 是 几年", ""),
            ("五险一金由谁缴纳", "五险一金 由 谁 缴纳", ""),
            ("押金什么时候退", "押金 什么 时候 退", "金什 么时 候退"),
        ] {
            let (found, pairs) = cut(text);
            assert_eq!(
                (found.join(" "), pairs.join(" ")),
                (words.to_owned(), pairs_besides.to_owned())
            );
        }
    }

    #[test]
    fn names_of_persons_and_places_are_found() {
        let of = |text: &str| chinese_names_in(text).join(" ");
        assert_eq!(of("苏州分公司在哪里"), "苏州");
        assert_eq!(of("娄景衡哪天入职"), "娄景衡");
        assert_eq!(of("门禁卡丢了要赔多少钱"), "");
        assert_eq!(of("小额东西怎么买，新旧两版有什么不同"), "");
    }

    proptest! {
        /// A word that contains grammar is a word of the dictionary.
        #[test]
        fn grammar_is_separate_outside_dictionary_words(text in "[质保期是的了为在由和与多久付款验收天中国]{0,30}") {
            let (words, pairs) = cut(&text);
            for word in words.iter().filter(|word| word.chars().nth(1).is_some()) {
                prop_assert!(JIEBA.has_word(word) || !word.contains(is_grammar), "{}", word);
            }
            for pair in pairs {
                prop_assert!(!pair.contains(is_grammar), "{}", pair);
                prop_assert!(text.contains(&pair));
            }
        }

        #[test]
        fn handles_any_text(text in "\\PC{0,60}") {
            let (words, pairs) = cut(&text);
            for found in words.iter().chain(&pairs) {
                prop_assert!(!found.is_empty() && text.contains(found));
            }
        }
    }
}
