//! Lists the stop words of English and Chinese.

const ENGLISH: &str = "a an the of in on at to for from by with and or but nor as is are was were be been being am do \
    does did done has have had having he she it its they them their his her him hers i you we us our your my me this \
    that these those there here who whom whose which what when where why how than then so if into onto over under \
    about after before between during through while also not no yes can could will would shall should may might must \
    s t";
const CHINESE: &str = "的 了 在 是 和 与 及 或 也 都 而 为 于 对 被 把 由 从 到 向 以 之 其 这 那 此 该 哪 哪个 哪些 哪里 哪位 \
    哪家 谁 什么 怎么 如何 多少 几 几个 吗 呢 吧 啊 有 没有 不 就 还 又 很 更 最 个 一个 我 你 他 她 它 我们 你们 他们 请问 何时 \
    何地 何处 何人 为什么 为何 多久 多长 多大 多长时间 几天 几年 几次 怎样 怎么样 什么时候 哪天 哪年 是否";

/// Whether a lower-case word is grammar, not content, in English or Chinese.
pub fn is_stop_word(word: &str) -> bool {
    use std::collections::HashSet;
    use std::sync::LazyLock;
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| ENGLISH.split_whitespace().chain(CHINESE.split_whitespace()).collect());
    WORDS.contains(word)
}
