//! Which words carry no meaning of their own?

const ENGLISH: &str = "a about above after again all also am an and any are as at be because been before being below \
    between both but by can could did do does doing down during each few for from further had has have having he her \
    here hers him his how i if in into is it its itself just me more most my no nor not of off on once only or other \
    our out over own same she should so some such than that the their them then there these they this those through \
    to too under until up upon us very was we were what when where which while who whom whose why will with within \
    would you your";
const CHINESE: &str = "的 了 在 是 和 与 及 或 也 都 而 为 于 对 被 把 由 从 到 向 以 之 其 这 那 此 该 哪 哪个 哪些 哪里 哪位 \
    哪家 谁 什么 怎么 如何 多少 几 几个 吗 呢 吧 啊 有 没有 不 就 还 又 很 更 最 个 一个 我 你 他 她 它 我们 你们 他们 请问 何时 \
    何地 何处 何人 为什么";

/// Whether a lower-case word is grammar rather than content, in English or Chinese.
pub fn is_stop_word(word: &str) -> bool {
    use std::collections::HashSet;
    use std::sync::LazyLock;
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| ENGLISH.split_whitespace().chain(CHINESE.split_whitespace()).collect());
    WORDS.contains(word)
}
