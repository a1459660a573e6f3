// The Chinese words for the facts of a run, by their tags.
import { formatNumber } from "../format";
import { nearest } from "./readings";
import { reasonLine } from "./reasons";
import type { Dictionary, FactsOf, LeftOut, Schemas } from "./facts";

const percent = (percent: number) => `${formatNumber(percent, 0)}%`;
const read = (why: string) => `${why}，因此阅读文档`;
const again = (why: string) => `重新作答：${why}`;

const kinds: Record<Schemas["StepKind"], string> = { read: "阅读", compute: "计算", compare: "比较", summarize: "概括", forecast: "预测", think: "构思" };
const classes: Record<Schemas["TaskClass"], string> = { factual: "事实", bridging: "多跳", comparative: "对比", quantitative: "统计", summarizing: "总结", predictive: "预测", creative: "创意" };
const judged = (scores: Schemas["IdeaScores"]) => `切题 ${formatNumber(scores.fit, 1)}，可行 ${formatNumber(scores.feasibility, 1)}，新颖 ${formatNumber(scores.novelty, 1)}`;
const titled = (parts: [string, string[]][]) =>
  parts.filter(([, titles]) => 0 < titles.length).map(([verb, titles]) => `${verb}${titles.join("、")}`).join("；");

const reasons: Dictionary<FactsOf["reason"], "reason"> = {
  asks_for_ideas: () => "问题要求新的创意",
  compares_named: ({ things }) => `问题比较：${things.join(" | ")}`,
  asks_about_future: () => "问题涉及将来的情况",
  records_cover_period: ({ schema }) => `“${schema}”的记录已包含那段时间`,
  records_allow_forecast: ({ count, schema, last }) => `“${schema}”的记录可用于预测：共 ${count} 项${last === null ? "" : `，最近的是 ${last}`}`,
  asks_for_judgement: () => "问题要求判断事情会不会发生或如何发展",
  asks_what_is_stated: () => "问题询问文档或某人对将来的说法",
  no_records_for_forecast: () => "没有与问题相符且可用于预测的记录",
  one_document_lists: ({ schema }) => `有一篇文档以“${schema}”的记录列出了回答`,
  asks_for_list: () => "问题要求列出清单",
  asks_for_figure: () => "问题要求一个数字",
  needs_calculation: ({ count, schema }) => `需要由“${schema}”的 ${count} 项算出`,
  asks_for_summary: () => "问题要求总结",
  compares: () => "问题含有表示比较的词",
  words_not_in_records: ({ schema, words }) => `“${schema}”的记录没有提到：${words.join("、")}`,
  is_chain: () => "问题通过一件事物与另一件事物的关系来指称它",
  is_scattered: () => "没有一个文本块包含问题中的大部分词",
  best_passage_covers: (fact) => `最相符的文本块包含问题中 ${percent(fact.percent)} 的词`,
  asks_for_fact: () => "问题询问文档中可能写明的事实",
  class_requested: () => "您指定了类别",
  agent_asks: () => "由智能体提问，因此查阅文档",
  above_level: (fact) => `这是${classes[fact.class]}问题，需要 ${fact.needs} 级；当前设为 ${fact.level} 级。`,
  combines_steps: () => "回答需要组合几类步骤",
  step_gave: ({ name, result }) => `{${name}} 为：${result}`,
  step_gave_nothing: ({ name }) => `步骤 {${name}} 没有得到回答`,
  level_requested: ({ level }) => `您指定了 ${level} 级`,
  verified_same_question: ({ by }) => `${by} 按此类别核实过对本问题的回答`,
  verified_similar_question: ({ question }) => `相似问题“${question}”有此类别的人工核实的问答`,
  base_offers: ({ records, documents, percent: share, titles }) => {
    const offered = records.map(({ schema, count, dates }) => `“${schema}”的 ${count} 项${dates ? `（${dates[0]} 至 ${dates[1]}）` : ""}`);
    return `知识库提供：${offered.join("，") || "没有相符的记录"}；${documents} 篇文档中的文本块，最相符的包含问题中 ${percent(share)} 的词：${titles.join(" | ")}`;
  },
  no_matching_records: () => read("知识库没有相符的记录"),
  records_lack_answer: () => read("没有记录包含回答"),
  passages_lack_records: ({ schema, read: passages }) => read(`读过的 ${passages} 个文本块没有给出可供计算的“${schema}”记录`),
  tables_answer: ({ tables }) => `表中可以查到：${tables.join("、")}`,
  table_unclear: ({ table, columns, words, readings, statements }) =>
    `表“${table}”与问题相符，但问题中有内容未能理解（${words.join("、")}），因此不给出数字。${nearest("最接近的理解：", readings, statements, "。")}表的列：${columns.join("、")}。`,
  table_excerpt: ({ table, columns, read, rows, readings, statements }) =>
    `表“${table}”共有 ${formatNumber(rows)} 行，只读取了其中 ${formatNumber(read)} 行，而问题涉及所有行，因此不给出数字。${nearest("最接近的理解：", readings, statements, "。")}表的列：${columns.join("、")}。`,
  table_undecided: ({ readings, statements }) => `无法确定问题在表中所指的是什么，因此不给出数字。${nearest("可能是：", readings, statements, "。")}请用列名提问。`,
  records_do_not_mention: ({ schema, words }) => read(`“${schema}”的记录没有提到${words.join("、")}`),
  too_little_covered: (fact) => `最相符的文本块只包含问题中 ${percent(fact.percent)} 的词`,
  not_two_things: () => read("问题没有指明两件事物"),
  nothing_to_compare: () => read("没有找到关于所比较事物的内容"),
  table_unreadable: () => read("模型写的表格无法解析"),
  fewer_than_two_described: () => read("文档只说明了其中不到两项"),
  no_part_summarized: () => read("没有一部分内容能够概括"),
  nothing_to_summarize: () => "没有找到可总结的内容",
  no_sentences: () => "找到的内容中没有句子",
  no_ideas: () => read("没有智能体提出创意"),
  ideas_need_model: () => "提出创意需要语言模型，目前未设置",
  judgement_needs_model: () => "判断这一发展需要语言模型，目前未设置，也没有可供摘录的文本块",
  nothing_to_judge: () => "没有找到可用来判断这一发展的内容",
  forecast_needs_records: () => "预测需要带日期的相关记录，而知识库中没有",
  no_dates: ({ field }) => `符合条件的记录都没有“${field}”日期`,
  mixed_units: () => "数值的单位不一致",
  dates_too_far_apart: ({ field }) => `“${field}”的日期相距过远，无法形成序列`,
  too_few_periods: ({ least, known, period }) => `预测至少需要 ${least} ${periods[period]}的数值，现有记录只覆盖 ${known} ${periods[period]}`,
  series_has_gaps: ({ periods, missing }) => `从首期到末期共 ${periods} 期，其中 ${missing} 期没有数值`,
  too_far_ahead: ({ last, steps, farthest }) => `记录止于 ${last}，距所问时间有 ${steps} 期；上限为 ${farthest} 期`,
  too_few_cases: ({ least, known }) => `份额至少需要 ${least} 个案例，现有记录只有 ${known} 个`,
};

const periods: Record<Schemas["GroupBy"], string> = { value: "期", year: "年", quarter: "个季度", month: "个月" };

const steps: Dictionary<FactsOf["step"], "step"> = {
  find_passages: () => "找出最相符的文本块",
  read_and_search: () => "阅读，查找缺少的内容，再阅读",
  quote_sentences: () => "摘录最相符的句子",
  find_each_thing: () => "找出文档对每一项的说明",
  align_by_attribute: () => "按属性对齐，每格注明来源",
  conclude_from_table: () => "由表格得出结论",
  find_records: () => "寻找记录：先看声明的，再看表格",
  structure_passages: () => "若没有，就由问题得出记录的结构，把文本块读成记录",
  gather_records: ({ schema }) => `汇集“${schema}”的全部记录，每个键一项`,
  compute_figure: () => "由查询引擎计算",
  cite_records: () => "引用所依据的每条记录",
  take_documents: () => "取用提到的文档，或所有相符的文本块",
  summarize_parts: () => "先逐部分概括，再总括",
  sort_by_time: () => "按时间排序",
  forecast_series: () => "用过去的数据检验每个模型，以最好的进行预测",
  find_past_and_causes: () => "找出有关过去、原因和疑点的文本块",
  weigh_evidence: () => "权衡支持与反对的证据",
  check_evidence: () => "核对每条引文；没有经核对的证据的结论改为不确定",
  choose_perspectives: () => "选取视角",
  run_agents: () => "让每个视角的智能体同时查找并思考",
  judge_ideas: () => "让智能体互相评判创意",
  merge_ideas: () => "汇总创意，注明依据与不足",
  answer_part: ({ name, kind, question }) => `{${name}}：${kinds[kind]}：${question}`,
};

const recollections: Dictionary<FactsOf["recollection"], "recollection"> = {
  reused: () => "文档没有新的内容，因此以此作答",
  rejected: () => again("那个回答已被否定"),
  evidence_changed: ({ titles }) => again(`它的证据已改变：${titles.join("、")}`),
  new_passages: ({ count }) => again(`最相符的文本块中有 ${count} 个是此后新增的`),
  computed_again: () => again("那个回答是由记录计算得出的"),
  class_requested: () => again("您指定了类别"),
  records_answer: () => again("记录即可回答，无需调用模型"),
};

const likelihoods: Record<Schemas["Likelihood"], string> = { likely: "很可能", unlikely: "不太可能", uncertain: "不确定" };

const quoting: Record<Schemas["Quoting"], string> = { no_model: "未使用语言模型", reply_unreadable: "回复无法解析", answer_unsupported: "读过的句子中都没有模型答案的原话" };

const structures: Record<Schemas["Structure"], string> = { graph: "实体图谱", tree: "摘要树", tags: "标签" };

const notes: Dictionary<FactsOf["note"], "note"> = {
  quotes_evidence: ({ because }) => `${quoting[because]}：回答摘自其证据原文。`,
  nothing_to_quote: ({ because, fit }) => `${quoting[because]}，且没有文本块足够相符：回答摘录最接近的文本块（得分 ${formatNumber(fit, 2)}）。`,
  summary_quotes: () => "未使用语言模型：总结由最具代表性的句子组成。",
  summarizes_tag: ({ tag, passages }) => `总结标签为 ${tag} 的 ${passages} 个文本块。`,
  summarizes_documents: ({ titles }) => `总结：${titles.join("、")}。`,
  reads_first_passages: ({ limit }) => `文档较长：只读取前 ${limit} 个文本块。`,
  context_cut: ({ passages, of, tokens }) => `模型较慢：只读取 ${of} 个文本块中 ${passages} 个的最相关句子，最多 ${tokens} 个 Token。`,
  parts_not_summarized: ({ unread, parts }) => `${parts} 个部分中有 ${unread} 个无法概括。`,
  fewer_agents: ({ agents }) => `预算不足以支持更多智能体：保留 ${agents} 个。`,
  agent_failed: ({ name, error }) => `智能体“${name}”失败：${reasonLine(error, "未能完成")}。`,
  coordinator_failed: ({ error }) => `协调者失败：${reasonLine(error, "未能完成")}；创意按智能体的评分排序。`,
  evidence_unchecked: ({ unchecked, given }) => `${given} 条论据中舍去 ${unchecked} 条：文档中没有其引文。`,
  verdict_unsupported: ({ verdict }) => `模型的结论为“${likelihoods[verdict]}”，但没有经核对的证据支持，因此改为“不确定”。`,
  questions_skipped: ({ name }) => `智能体“${name}”不提问：其预算份额不足。`,
  critiqued: ({ round, ranking }) => `第 ${round} 轮互评：${ranking.map(({ title, scores }) => `${title}${scores ? `（${judged(scores)}）` : ""}`).join(" > ")}。`,
  ideas_revised: ({ name, changed, defended, dropped }) => `智能体“${name}”回应反对意见：${titled([["修改：", changed], ["坚持：", defended], ["放弃：", dropped]])}。`,
  nothing_revised: ({ round }) => `没有智能体修改想法，因此省去第 ${round} 轮互评。`,
  perspectives: ({ names }) => `视角：${names.join(" · ")}。`,
  words_unused: ({ words }) => `查询没有用到这些词：${words.join("、")}。`,
  reading_rejected: ({ model }) => `模型把问题理解为“${model}”，随后又否定了这种理解：改为阅读文本块。`,
  readings_differ: ({ rules, model }) => `规则把问题理解为“${rules}”，模型理解为“${model}”。`,
  wording_dropped: ({ figures }) => `模型的措辞含有各步骤都没有给出的数字（${figures.join("、")}）：改为列出各步骤的结果。`,
  counted_not_forecast: ({ last }) => `记录已到 ${last}：直接计数，不作预测。`,
  derives_schema: ({ schema, fields, key }) => `为此问题读取“${schema}”的记录：${fields.join("、")}；按 ${key.join("、")} 区分各项。`,
  reuses_schema: ({ schema, run }) => `“${schema}”的记录曾为先前的问题读取（运行 ${run}），这里再次使用。`,
  takes_as_same: ({ field, values }) => `“${field}”的这些取值视为相同：${values.join(" = ")}。`,
  answers_from_memory: () => "相关文本块均未给出答案：由模型凭自身知识作答。",
  passage_scored: ({ title, score }) => `${title}：得分 ${formatNumber(score, 2)}。`,
  answer_weighed: ({ answer, weight }) => `${answer}：权重 ${formatNumber(weight, 3)}。`,
  nothing_to_verify: ({ query }) => `没有找到可核实此问题的内容：${query}`,
  nothing_to_complete: ({ query }) => `没有找到此问题的回答：${query}`,
  split_limit: ({ times, question }) => `问题已拆分 ${times} 次，达到上限：${question}`,
  sub_questions_left_out: ({ left_out, limit }) => `舍去 ${left_out} 个子问题：上限为 ${limit} 个。`,
  not_answered: ({ question }) => `没有得到此问题的回答：${question}`,
  graph_full: ({ steps, left_out }) => `图已有 ${steps} 个步骤，达到上限${left_out === 0 ? "" : `：舍去 ${left_out} 个`}。`,
  sufficiency_threshold: ({ perplexity }) => `困惑度低于 ${formatNumber(perplexity, 2)} 时知识足够（按此模型测得）。`,
  paths_limited: ({ followed, paths }) => `沿 ${paths} 条路径中的 ${followed} 条推理。`,
  no_atomic_questions: () => "知识库没有此方法所检索的原子问题：请用对话模型重新索引，或改用 kar3，它也检索文本块。",
  no_sentences: () => "知识库没有此方法所检索的句子原子：请在设置的索引部分把“句子”加入原子的种类，再重新索引。",
  calibrated: ({ delta }) => `δ = ${formatNumber(delta, 2)}，按此知识库校准。`,
  structure_unhelpful: ({ structure }) => `${structures[structure]}在此没有用：改用普通检索。`,
  no_tags: () => "问题中没有知识库的标签。",
  spelling_corrected: ({ words }) => `按${words.map(({ to }) => `“${to}”`).join("、")}检索，因为没有文本块含有${words.map(({ word }) => `“${word}”`).join("、")}。`,
  names_suggested: ({ words }) => `没有文本块含有${words.map(({ word }) => `“${word}”`).join("、")}：您是否指${words.map(({ to }) => `“${to}”`).join("、")}？`,
};

const faults: Dictionary<FactsOf["fault"], "fault"> = {
  empty: () => "回复为空",
  cut_off: ({ max_tokens }) => `回复在 ${max_tokens} 个 Token 处被截断`,
  no_object: ({ keys }) => `其中没有含“${keys}”的对象`,
  bad_key: ({ key, expected }) => `“${key}”应为：${expected}`,
  refused: () => "模型拒绝了请求",
};

const leftOut: Record<LeftOut, string> = { twice: "重复找到", alike: "另有文本块内容相同", no_room: "超出预算" };

export const zh = { reasons, steps, recollections, notes, faults, leftOut, join: "；", key: "：" };
