// Serves the model of the pictures: it follows written steps, and quotes only passages that pikerag found and sent.
import { createServer } from "node:http";

/** A chain of facts. `quote`: the words in a passage, with any space between them; `pick`: the candidate to choose. */
const CHAINS = [
  {
    question: "Who supervises the hall in which the KX-40 is assembled?",
    answer: "Joss Penhalveth",
    rationale: "The datasheet says that every KX-40 is put together in Hall 3 of Skarnmouth Works [1]. The company guide names Joss Penhalveth as the supervisor of Hall 3 [2].",
    hops: [
      { ask: "In which hall is the KX-40 put together?", pick: /Hall 3/, quote: "Every KX-40 is put together in Hall 3 of Skarnmouth Works" },
      { ask: "Who is the supervisor of Hall 3 at Skarnmouth Works?", pick: /Hall 3/, quote: "Hall 3 Final assembly, north line Joss Penhalveth" },
    ],
  },
  {
    question: "CB-6 电缆卷筒的备件到货后存入的库房由谁管理？",
    answer: "许听澜",
    rationale: "合同摘要写明，CB-6 的备件到货后必须存入恒温库 [1]。员工手册写明，恒温库的管理员是许听澜 [2]。",
    hops: [
      { ask: "CB-6 电缆卷筒的备件到货后必须存入哪个库？", pick: /备件|质保/, quote: "备件到货后必须存入恒温库" },
      { ask: "恒温库的管理员是谁？", pick: /恒温库|仓储|管理员/, quote: "**恒温库**：电气件、滑环和怕潮的部件，常年保持 22 摄氏度。管理员：许听澜" },
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
    const line = next && lines.find((one) => next.pick.test(one));
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
