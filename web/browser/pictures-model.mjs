// Serves the model of the pictures: it follows written steps, and quotes only passages that pikerag found and sent.
import { createServer } from "node:http";

/** A chain of facts. `quote`: the words in a passage, with any space between them. */
const CHAINS = [
  {
    question: "Who supervises the hall in which the KX-40 is assembled?",
    answer: "Joss Penhalveth",
    rationale: "The datasheet says that every KX-40 is put together in Hall 3 of Skarnmouth Works [1]. The company guide names Joss Penhalveth as the supervisor of Hall 3 [2].",
    hops: [
      { ask: "In which hall is the KX-40 put together?", quote: "Every KX-40 is put together in Hall 3 of Skarnmouth Works" },
      { ask: "Who is the supervisor of Hall 3 at Skarnmouth Works?", quote: "Hall 3 Final assembly, north line Joss Penhalveth" },
    ],
  },
  {
    question: "INC-205 号故障引出的调查建议开展一项改造行动，这项行动在中国由谁担任现场负责人？",
    answer: "顾南汀",
    rationale: "调查报告 IR-14 建议开展 Campaign Bittern（“麻鳽”改造行动）[1]。维护通知写明，该行动中密封更换队的现场负责人是顾南汀 [2]。",
    hops: [
      { ask: "INC-205 号故障的调查 IR-14 建议开展哪项改造行动 Campaign？", quote: "Campaign Bittern" },
      { ask: "“麻鳽”改造行动 Campaign Bittern 的密封更换队现场负责人是谁？", quote: "密封更换队共五人，现场负责人顾南汀" },
    ],
  },
];
export const QUESTIONS = { en: CHAINS[0].question, zh: CHAINS[1].question };
export const MODEL = "example-model";

export async function startModel() {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const { messages = [] } = JSON.parse(Buffer.concat(parts).toString() || "{}");
      const prompt = messages.map(({ content }) => content).join("\n");
      const content = JSON.stringify(replyTo(prompt));
      // About four letters to a token.
      const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: Math.ceil(content.length / 4) };
      const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "x", object: "chat.completion", created: 0, model: MODEL, choices, usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() };
}

function replyTo(prompt) {
  const chain = CHAINS.find(({ question }) => prompt.includes(question));
  if (!chain) {
    return { thinking: "", sub_questions: [], questions: ["What does this passage describe?"], answer: "", rationale: "", lacking: null, citations: [], facts: [], sufficient: true, missing: [] };
  }
  const context = sectionOf(prompt, "Context");
  const known = chain.hops.map((hop) => wordsOf(hop.quote).exec(context)?.[0]);
  const next = chain.hops.find((_, at) => known[at] === undefined);
  if (prompt.includes('"sub_questions"')) {
    return { thinking: next ? "One fact is still missing." : "The context has all facts.", sub_questions: next ? [next.ask] : [] };
  }
  if (prompt.includes('"question_idx"')) {
    const lines = sectionOf(prompt, "Sub-questions").split("\n");
    const line = next && lines.find((one) => wordsOf(next.quote).test(one) || /Hall 3|Bittern|现场负责人/.test(one));
    return { thinking: "It leads to the missing fact.", enough: next === undefined, question_idx: next ? Number(/\d+/.exec(line ?? "1")[0]) : null };
  }
  const passages = [...context.matchAll(/^\[(\d+)\] .*\n([\s\S]*?)(?=^\[\d+\] |(?![\s\S]))/gm)];
  const citations = chain.hops.flatMap(({ quote }) => {
    const found = passages.find(([, , text]) => wordsOf(quote).test(text));
    return found ? [{ passage: Number(found[1]), quote: wordsOf(quote).exec(found[2])[0] }] : [];
  });
  return { rationale: chain.rationale, answer: chain.answer, lacking: null, citations };
}

function sectionOf(prompt, name) {
  return prompt.split(/^# /m).find((part) => part.startsWith(`${name}\n`))?.slice(name.length + 1) ?? "";
}

/** The words with any space, or the bars of a table, between them. */
function wordsOf(quote) {
  return new RegExp(quote.split(" ").map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s|]+"));
}
