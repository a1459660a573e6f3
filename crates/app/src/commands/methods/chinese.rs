//! Describes the methods in Chinese, by name.

/// The summary of each method.
const SUMMARIES: [(&str, &str); 48] = [
    ("pike", "先判断问题类型，再分别处理：查阅、对比、计算、总结、预测，或由多个智能体共同思考"),
    ("adaptive", "先读几段，指出还缺什么，查找后再读，按需反复"),
    ("kar3", "提出子问题，检索原子问题，选中一个并加入其文本块，最多 N 轮"),
    ("kar3-paper", "与论文中的算法 1 完全一致"),
    ("kar3-sentences", "消融：用句子代替原子问题"),
    ("kar3-one-proposal", "消融：每次只提一个子问题"),
    ("kar3-chunk-retriever", "消融：检索文本块而非原子问题"),
    ("kar3-chunk-selector", "消融：选择时看到整个文本块"),
    ("kar3-trained", "由训练过的模型一次提出下一个子问题，取代提议与选择"),
    ("kar3-hops", "通过跳转检索增加候选"),
    ("hop-rag", "跳转检索，然后一次作答"),
    ("naive-rag", "一次检索，一次作答"),
    ("naive-rag-hr", "同上，在文本块和原子问题上检索"),
    ("hybrid-rag", "同上，同时按词和语义检索"),
    ("layers-rag", "同上，在文档、章节、文本块和原子问题各层上检索"),
    ("auto-rag", "同上，融合跳转、分层和词检索"),
    ("ra-isf", "已知则直接答；否则检索；检索不到相关内容就拆分，再逐一处理"),
    ("crp-rag", "构建可能步骤的图，沿知识充足的路径作答，否则拒答"),
    ("graphrag-local", "取与问题相近的实体及其关系、报告和文本块，一次作答"),
    ("graphrag-global", "从每批社区报告得出部分答案，再合并有用的部分"),
    ("raptor", "在文本块和摘要上检索一次，一次作答"),
    ("direct", "模型直接作答"),
    ("zero-shot-cot", "模型逐步推理作答"),
    ("self-ask", "逐个提出后续问题，由模型自行回答"),
    ("self-ask-r", "同上，每个问题依据 4 个文本块回答"),
    ("self-ask-hr", "同上，每个问题依据文本块和原子问题回答"),
    ("ircot", "逐句推理，每句都触发检索"),
    ("iter-retgen", "用上一次的答案再检索、再作答，共 N 轮"),
    ("least-to-most", "由易到难拆成子问题，由模型回答"),
    ("least-to-most-r", "同上，每个子问题附 4 个文本块"),
    ("searchain", "一串查询，经检索核实和补全，从首个不成立处重新规划"),
    ("probtree", "问题树；每个节点取最有把握的答案：记忆、文本块或子节点"),
    ("replug", "每个文本块各给一个答案，按检索得分和似然加权"),
    ("self-rag", "判断是否需要、是否相关、是否有据、是否有用，据此选择文本块"),
    ("skr", "由标注集中最相近的问题决定是否检索"),
    ("think-then-act", "先看问题是否清楚、是否已知，否则改写后再检索"),
    ("tree-of-thought", "对打分后的想法做广度优先搜索，不检索"),
    ("ra-isf-no-know", "消融：去掉自知模块"),
    ("ra-isf-no-relevant", "消融：去掉段落相关性模块"),
    ("ra-isf-no-decompose", "消融：去掉问题拆分模块"),
    ("crp-rag-no-aggregation", "消融：去掉知识整合"),
    ("crp-rag-no-evaluation", "消融：去掉知识评估"),
    ("crp-rag-no-iteration", "消融：去掉迭代推理"),
    ("crp-rag-tree", "用树代替图"),
    ("crp-rag-chain", "用链代替图"),
    ("crp-rag-text", "用改写后的问题代替图"),
    ("self-ask-zero-shot", "同 `self-ask-r`，不带示例"),
    ("ircot-zero-shot", "同上，不带示例"),
];

/// The meaning of each parameter, which is the same in all methods.
const MEANINGS: [(&str, &str); 41] = [
    ("looks", "阅读轮次的上限，每轮一次调用"),
    ("look_chunks", "每轮阅读的文本块数上限"),
    ("look_tokens", "每轮阅读的文本块的 Token 上限"),
    (
        "look_reads",
        "每轮阅读的内容：最相关且未读过的句子（sentences），或完整的文本块、已找到事实的再读一遍（passages）",
    ),
    (
        "look_passage_tokens",
        "第一轮中每个文本块所选句子的 Token 上限；排在后一半的文本块为其三分之一，之后各轮为其一半",
    ),
    (
        "look_ends",
        "何时直接采用阅读轮次的回答：有文本块包含该回答即可（answered），或仅当事实充分（sufficient）",
    ),
    ("lookups", "每轮之后检索的子问题数上限"),
    ("lookup_chunks", "每个子问题检索的文本块数上限"),
    ("reader", "由谁写出回答：阅读轮次本身、再一次调用，或按该模型已表现出的能力"),
    (
        "decomposer",
        "阅读轮次之后的子问题由谁提出：阅读轮次本身（reader），或角色 `propose` 的训练过的模型（trained）",
    ),
    ("chunks", "检索的文本块数上限"),
    ("context_tokens", "所读文本块的 Token 上限"),
    ("depth", "问题最多拆分的层数（D_th）"),
    ("k", "每次检索的文本块、候选或相近问题的个数（k）"),
    ("relevance", "逐段判断是否相关，还是一并判断是否相关且足够"),
    ("hop_chunks", "跳转检索加入的文本块数上限"),
    ("n", "轮数、句数或子问题数的上限（N）"),
    ("delta", "原子问题的最小相似度（δ）；未设置时按知识库校准"),
    (
        "rule",
        "检索原子时如何适应知识库：论文所印的阈值且只用原子问题，或阈值降到知识库自身的值、没有合适的问题时改用其他原子",
    ),
    (
        "proposer",
        "每轮提出的子问题：多个（many）、一个（one），或由训练过的模型提出一个（trained），其调用同时取代选择",
    ),
    (
        "fallback",
        "除选中的文本块外还读什么；循环没有结果或中断时读得更多：按 auto、hops、layers 或普通检索取得的文本块，或不读",
    ),
    ("class", "所有问题的类别；未设置时逐题判断"),
    ("level", "系统的级别，包含较低的各级：类别更高的问题不予回答，`L0` 只给段落"),
    (
        "l2",
        "阅读事实与事实链的方法，用其默认参数；`auto` 为 `adaptive`，模型太慢、读不完一轮时为 `hop-rag`",
    ),
    ("plan_steps", "组合多类问题的计划的步骤数上限；小于 2 时整题回答"),
    ("classify", "由谁判断类别：规则、模型，或规则无法确定时用模型"),
    ("verified", "是否使用相同问题的人工核实的回答，以及相似问题的类别"),
    ("unsettled", "对模型认为文档不足以确定的回答如何处理：指出缺少的内容，或以依据不足拒答"),
    ("coverage", "一个文本块所含问题用词的最小比例；低于它时不作调用，以依据不足拒答"),
    ("structure_chunks", "没有表格与记录时，为算出数字而读作记录的段落数上限；0 为不读"),
    ("compare_tokens", "对比时所读段落的 Token 上限"),
    ("summary_tokens", "总结时所读段落的 Token 上限"),
    ("agents", "思考开放问题的智能体数"),
    ("agent_tokens", "每个智能体所读段落、表格与所得答案的 Token 上限"),
    ("agent_questions", "每个智能体在思考前最多提出的问题数；每个问题按其类别的策略回答"),
    ("critiques", "智能体互评的轮数；从第二轮起，互评前先按反对意见修改各自的想法"),
    ("seed", "抽取智能体视角的种子：种子相同，回答相同"),
    ("perplexity", "低于此困惑度即视为知识足够；未设置时按模型校准"),
    ("merge", "合并步骤所需的最小相似度"),
    ("noisy_nodes", "被破坏的节点的百分比（图 3）"),
    ("noisy_knowledge", "知识被破坏的节点的百分比（图 3）"),
];

/// The summary of a method.
pub(super) fn summary(name: &str) -> Option<&'static str> {
    find(&SUMMARIES, name)
}

/// The meaning of a parameter.
pub(super) fn meaning(parameter: &str) -> Option<&'static str> {
    find(&MEANINGS, parameter)
}

/// The source of a method.
pub(super) fn source(english: &str) -> String {
    let names = english.replace(" et al. ", " 等 ");
    names.replace(", with our additions", "，含本项目的改动").replace("ours", "本项目")
}

fn find(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == key).map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_parameter_is_described() {
        let (mut methods, mut parameters) = (Vec::new(), Vec::new());
        for method in pikerag_engine::methods() {
            assert!(summary(method.name).is_some(), "{}", method.name);
            for parameter in &method.parameters {
                assert!(meaning(parameter.name).is_some(), "{}: {}", method.name, parameter.name);
                parameters.push(parameter.name);
            }
            methods.push(method.name);
        }
        assert!(SUMMARIES.iter().all(|(name, _)| methods.contains(name)), "a summary is stale");
        assert!(MEANINGS.iter().all(|(name, _)| parameters.contains(name)), "a meaning is stale");
    }
}
