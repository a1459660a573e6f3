// The English words for the facts of a run, by their tags.
import { formatNumber } from "../format";
import { nearest } from "./readings";
import type { Dictionary, FactsOf, LeftOut, Schemas } from "./facts";

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const percent = (percent: number) => `${formatNumber(percent, 0)} %`;
const read = (why: string) => `${why}, so the documents are read`;
const again = (why: string) => `answered again: ${why}`;

const kinds: Record<Schemas["StepKind"], string> = { read: "read", compute: "compute", compare: "compare", summarize: "summarize", forecast: "forecast", think: "find ideas" };
const classes: Record<Schemas["TaskClass"], string> = { factual: "factual", bridging: "bridging", comparative: "comparative", quantitative: "quantitative", summarizing: "summarizing", predictive: "predictive", creative: "creative" };
const judged = (scores: Schemas["IdeaScores"]) => `fit ${formatNumber(scores.fit, 1)}, feasibility ${formatNumber(scores.feasibility, 1)}, novelty ${formatNumber(scores.novelty, 1)}`;
const titled = (parts: [string, string[]][]) =>
  parts.filter(([, titles]) => 0 < titles.length).map(([verb, titles]) => `${verb}${titles.join(", ")}`).join("; ");

const reasons: Dictionary<FactsOf["reason"], "reason"> = {
  asks_for_ideas: () => "the question asks for new ideas",
  compares_named: ({ things }) => `the question compares: ${things.join(" | ")}`,
  asks_about_future: () => "the question asks about the future",
  records_cover_period: ({ schema }) => `the records of “${schema}” already cover that period`,
  records_allow_forecast: ({ count, schema, last }) => `the records of “${schema}” allow a forecast: ${plural(count, "thing")}${last === null ? "" : `, the latest of ${last}`}`,
  asks_for_judgement: () => "the question asks whether or how something will develop",
  asks_what_is_stated: () => "the question asks what a document or a person states about the future",
  no_records_for_forecast: () => "no records match the question and allow a forecast",
  one_document_lists: ({ schema }) => `one document lists the answer as records of “${schema}”`,
  asks_for_list: () => "the question asks for a list",
  asks_for_figure: () => "the question asks for a figure",
  needs_calculation: ({ count, schema }) => `the answer must be computed from ${plural(count, "thing")} in “${schema}”`,
  asks_for_summary: () => "the question asks for a summary",
  compares: () => "the question contains words of comparison",
  words_not_in_records: ({ schema, words }) => `no record of “${schema}” contains: ${words.join(", ")}`,
  is_chain: () => "the question names one thing by its relation to another",
  is_scattered: () => "no single passage contains most of the question’s words",
  best_passage_covers: (fact) => `the best passage contains ${percent(fact.percent)} of the question’s words`,
  asks_for_fact: () => "the question asks for a fact that the documents may state",
  class_requested: () => "you set the class",
  agent_asks: () => read("an agent asks"),
  above_level: (fact) => `This question is ${classes[fact.class]}; it needs level ${fact.needs}, and the level is set to ${fact.level}.`,
  combines_steps: () => "the answer combines steps of several kinds",
  step_gave: ({ name, result }) => `{${name}} is: ${result}`,
  step_gave_nothing: ({ name }) => `the step {${name}} gave no answer`,
  level_requested: ({ level }) => `you set level ${level}`,
  verified_same_question: ({ by }) => `${by} verified an answer to this question in this class`,
  verified_similar_question: ({ question }) => `the similar question “${question}” has a verified answer in this class`,
  base_offers: ({ records, documents, percent: share, titles }) => {
    const offered = records.map(({ schema, count, dates }) => `${plural(count, "thing")} in “${schema}”${dates ? ` (${dates[0]} to ${dates[1]})` : ""}`);
    return `the base offers ${offered.join(", ") || "no matching records"}; passages of ${plural(documents, "document")}, the best with ${percent(share)} of the question’s words: ${titles.join(" | ")}`;
  },
  no_matching_records: () => read("the base has no matching records"),
  records_lack_answer: () => read("no record contains the answer"),
  passages_lack_records: ({ schema, read: passages }) => read(`${plural(passages, "passage")} gave no records of “${schema}” that a figure can rest on`),
  tables_answer: ({ tables }) => `the tables answer it: ${tables.join(", ")}`,
  table_unclear: ({ table, columns, words, readings, statements }) =>
    `The table “${table}” fits, but not all of the question was understood (${words.join(", ")}), so there is no figure. ${nearest("The nearest reading: ", readings, statements, ". ")}Its columns: ${columns.join(", ")}.`,
  table_excerpt: ({ table, columns, read, rows, readings, statements }) =>
    `Only ${formatNumber(read)} of the ${formatNumber(rows)} rows of the table “${table}” were read, and the question asks over all of them, so there is no figure. ${nearest("The nearest reading: ", readings, statements, ". ")}Its columns: ${columns.join(", ")}.`,
  table_undecided: ({ readings, statements }) =>
    `It is not certain how the question is meant over the tables, so there is no figure. ${nearest("It may be: ", readings, statements, ". ")}Ask with the names of the columns.`,
  records_do_not_mention: ({ schema, words }) => read(`no record of “${schema}” mentions ${words.join(", ")}`),
  too_little_covered: (fact) => `the best passage contains only ${percent(fact.percent)} of the question’s words`,
  not_two_things: () => read("the question does not name two things"),
  nothing_to_compare: () => read("the search found nothing about the compared things"),
  table_unreadable: () => read("the model’s table could not be read"),
  fewer_than_two_described: () => read("the documents describe fewer than two of the things"),
  no_part_summarized: () => read("no part of the passages could be summarized"),
  nothing_to_summarize: () => "the search found nothing to summarize",
  no_sentences: () => "the passages contain no sentences",
  no_ideas: () => read("no agent found an idea"),
  ideas_need_model: () => "ideas need a language model, and none is set",
  judgement_needs_model: () => "a judgement of this development needs a language model, none is set, and no passage can be quoted",
  nothing_to_judge: () => "the search found no passage to judge this development by",
  forecast_needs_records: () => "a forecast needs matching records with dates, and the base has none",
  no_dates: ({ field }) => `no matching record has a date in “${field}”`,
  mixed_units: () => "the figures have different units",
  dates_too_far_apart: ({ field }) => `the dates in “${field}” are too far apart for one series`,
  too_few_periods: ({ least, known, period }) => `a forecast needs figures of at least ${least} ${periods[period]}, and the records have ${known}`,
  series_has_gaps: ({ periods, missing }) => `${missing} of ${periods} periods from the first to the last have no figure`,
  too_far_ahead: ({ last, steps, farthest }) => `the records end with ${last}, ${steps} periods before the requested one; the limit is ${farthest}`,
  too_few_cases: ({ least, known }) => `shares need at least ${least} cases, and the records have ${known}`,
};

const periods: Record<Schemas["GroupBy"], string> = { value: "periods", year: "years", quarter: "quarters", month: "months" };

const steps: Dictionary<FactsOf["step"], "step"> = {
  find_passages: () => "find the passages that match best",
  read_and_search: () => "read them, search for missing facts, read again",
  quote_sentences: () => "quote the sentences that match best",
  find_each_thing: () => "find what the documents say about each thing",
  align_by_attribute: () => "align it by attribute, each cell with its source",
  conclude_from_table: () => "draw the conclusion from the table",
  find_records: () => "find records: declared ones first, then tables",
  structure_passages: () => "if none match, derive their schema from the question and read passages as records",
  gather_records: ({ schema }) => `gather all records of “${schema}”, one thing per key`,
  compute_figure: () => "compute the figure with the query engine",
  cite_records: () => "cite each record behind it",
  take_documents: () => "take the named documents, or all matching passages",
  summarize_parts: () => "summarize each part, then all parts together",
  sort_by_time: () => "sort the records by time",
  forecast_series: () => "test each model on the past, forecast with the best one",
  find_past_and_causes: () => "find passages on the past, on causes and on doubts",
  weigh_evidence: () => "weigh the evidence for and against",
  check_evidence: () => "check each quote; a verdict without checked evidence becomes uncertain",
  choose_perspectives: () => "choose perspectives",
  run_agents: () => "let one agent per perspective search and think, all at once",
  judge_ideas: () => "let the agents judge each other’s ideas",
  merge_ideas: () => "merge the ideas, with their evidence and their gaps",
  answer_part: ({ name, kind, question }) => `{${name}}: ${kinds[kind]}: ${question}`,
};

const recollections: Dictionary<FactsOf["recollection"], "recollection"> = {
  reused: () => "the documents have nothing new, so this run gives that answer",
  rejected: () => again("a person rejected that answer"),
  evidence_changed: ({ titles }) => again(`its evidence has changed: ${titles.join(", ")}`),
  new_passages: ({ count }) => again(`${plural(count, "passage")} among the best ${count === 1 ? "is" : "are"} new since then`),
  computed_again: () => again("that answer was computed from records"),
  class_requested: () => again("you set a class"),
  records_answer: () => again("records answer it without a model call"),
};

const likelihoods: Record<Schemas["Likelihood"], string> = { likely: "likely", unlikely: "unlikely", uncertain: "uncertain" };

const quoting: Record<Schemas["Quoting"], string> = { no_model: "No language model was used", reply_unreadable: "The reply could not be read", answer_unsupported: "No sentence that was read has the words of the model’s answer" };

const structures: Record<Schemas["Structure"], string> = { graph: "graph", tree: "tree", tags: "tags" };

const notes: Dictionary<FactsOf["note"], "note"> = {
  quotes_evidence: ({ because }) => `${quoting[because]}: the answer quotes its evidence.`,
  nothing_to_quote: ({ because, fit }) => `${quoting[because]}, and no passage matches well: the answer quotes the nearest ones (score ${formatNumber(fit, 2)}).`,
  summary_quotes: () => "No language model was used: the summary consists of the most central sentences.",
  summarizes_tag: ({ tag, passages }) => `The summary covers ${plural(passages, "passage")} with the tag ${tag}.`,
  summarizes_documents: ({ titles }) => `The summary covers ${titles.join(", ")}.`,
  reads_first_passages: ({ limit }) => `The documents are long: the run reads their first ${limit} passages.`,
  context_cut: ({ passages, of, tokens }) => `The model is slow: it reads the best sentences of ${passages} of ${plural(of, "passage")}, at most ${tokens} tokens.`,
  parts_not_summarized: ({ unread, parts }) => `${unread} of ${plural(parts, "part")} could not be summarized.`,
  fewer_agents: ({ agents }) => `The budget is too small for more agents: ${agents} remain.`,
  agent_failed: ({ name, error }) => `The agent “${name}” failed: ${error}.`,
  coordinator_failed: ({ error }) => `The coordinator failed: ${error}; the agents’ scores rank the ideas.`,
  evidence_unchecked: ({ unchecked, given }) => `${unchecked} of ${plural(given, "argument")} left out: the documents do not contain the quote.`,
  verdict_unsupported: ({ verdict }) => `The model’s verdict was “${likelihoods[verdict]}”, but no checked evidence supports it: it becomes “uncertain”.`,
  questions_skipped: ({ name }) => `The agent “${name}” asks no questions: its share of the budget is too small.`,
  critiqued: ({ round, ranking }) => `Critique ${round}: ${ranking.map(({ title, scores }) => `${title}${scores ? ` (${judged(scores)})` : ""}`).join(" > ")}.`,
  ideas_revised: ({ name, changed, defended, dropped }) => `The agent “${name}” answers objections: it ${titled([["changes ", changed], ["defends ", defended], ["drops ", dropped]])}.`,
  nothing_revised: ({ round }) => `No agent revised an idea, so critique ${round} is left out.`,
  perspectives: ({ names }) => `Perspectives: ${names.join(" · ")}.`,
  words_unused: ({ words }) => `The query does not use these words: ${words.join(", ")}.`,
  reading_rejected: ({ model }) => `The model read the question as “${model}” and then rejected this reading: passages are read instead.`,
  readings_differ: ({ rules, model }) => `The rules read the question as “${rules}”, the model as “${model}”.`,
  wording_dropped: ({ figures }) => `The model’s wording names figures that no step gave (${figures.join(", ")}): the results of the steps are listed instead.`,
  counted_not_forecast: ({ last }) => `The records reach to ${last}: the run counts and does not forecast.`,
  derives_schema: ({ schema, fields, key }) => `Records of “${schema}” are read for this question: ${fields.join(", ")}; one thing per ${key.join(" and ")}.`,
  reuses_schema: ({ schema, run }) => `Records of “${schema}” were read for an earlier question (run ${run}): they serve again.`,
  takes_as_same: ({ field, values }) => `These values of “${field}” count as the same: ${values.join(" = ")}.`,
  answers_from_memory: () => "No relevant passage gave an answer: the model answers from memory.",
  passage_scored: ({ title, score }) => `${title}: score ${formatNumber(score, 2)}.`,
  answer_weighed: ({ answer, weight }) => `${answer}: weight ${formatNumber(weight, 3)}.`,
  nothing_to_verify: ({ query }) => `The search found nothing to verify the answer to: ${query}`,
  nothing_to_complete: ({ query }) => `The search found no answer to: ${query}`,
  split_limit: ({ times, question }) => `The question was split ${times} times, which is the limit: ${question}`,
  sub_questions_left_out: ({ left_out, limit }) => `${plural(left_out, "sub-question")} left out: the limit is ${limit}.`,
  not_answered: ({ question }) => `No answer was found to: ${question}`,
  graph_full: ({ steps, left_out }) => `The graph has ${steps} steps, which is the limit${left_out === 0 ? "" : `: ${left_out} are left out`}.`,
  sufficiency_threshold: ({ perplexity }) => `The knowledge is sufficient below a perplexity of ${formatNumber(perplexity, 2)}, measured with this model.`,
  paths_limited: ({ followed, paths }) => `The run follows ${followed} of ${paths} paths.`,
  no_atomic_questions: () => "The base has no atomic questions, which this method searches: index it with a chat model, or use kar3, which also searches passages.",
  no_sentences: () => "The base has no sentences as atoms, which this method searches: add \"sentences\" to atoms under [index], and index again.",
  calibrated: ({ delta }) => `δ = ${formatNumber(delta, 2)}, calibrated on this base.`,
  structure_unhelpful: ({ structure }) => `The ${structures[structure]} does not help here: the run uses plain retrieval.`,
  no_tags: () => "The question contains no tags of the base.",
  spelling_corrected: ({ words }) => `Searched for ${words.map(({ to }) => `“${to}”`).join(", ")}, because no passage has ${words.map(({ word }) => `“${word}”`).join(", ")}.`,
  names_suggested: ({ words }) => `No passage has ${words.map(({ word }) => `“${word}”`).join(", ")}: did you mean ${words.map(({ to }) => `“${to}”`).join(", ")}?`,
};

const faults: Dictionary<FactsOf["fault"], "fault"> = {
  empty: () => "it was empty",
  cut_off: ({ max_tokens }) => `it was cut off at ${max_tokens} tokens`,
  no_object: ({ keys }) => `no JSON object with “${keys}” was found in it`,
  bad_key: ({ key, expected }) => `“${key}” must be ${expected}`,
  refused: () => "the model refused the request",
};

const leftOut: Record<LeftOut, string> = { twice: "found twice", alike: "another passage says the same", no_room: "over the token budget" };

export const en = { reasons, steps, recollections, notes, faults, leftOut, join: "; ", key: ": " };
