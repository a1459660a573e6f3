// Serves the model of the journey: it quotes the sentence that the question is about, and adds hostile text.
import { createServer } from "node:http";

/** By a word of the question, the sentence that answers it, and the answer. */
export const FACTS = [
  { word: "winch", sentence: "The winch of the quay hauls eleven tons.", answer: "Eleven tons" },
  { word: "绞车", sentence: "码头的绞车可拉十一吨。", answer: "十一吨" },
  { word: "boiler", sentence: "The boiler is inspected in March.", answer: "In March" },
  // It misreads this one.
  { word: "gantry", sentence: "The gantry was built in the year 1987.", answer: "In 1978" },
  { word: "crane", sentence: "The crane of the harbour lifts forty tons.", answer: "Forty tons" },
];

/** A chat model on a free port; `hostile` stands in everything that it says. */
export async function startModel(hostile = "") {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      if (request.method === "GET") {
        // As Ollama lists its models.
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify({ object: "list", data: [{ id: "journey", object: "model", owned_by: "library" }] }));
      }
      const { messages = [] } = JSON.parse(Buffer.concat(parts).toString() || "{}");
      const content = JSON.stringify(replyTo(messages.map(({ content }) => content).join("\n"), hostile));
      const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "x", object: "chat.completion", created: 0, model: "journey", choices, usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() };
}

function replyTo(prompt, hostile) {
  if (prompt.includes('"sub_questions"')) {
    return { thinking: `first this ${hostile}`, sub_questions: [asked(prompt), `What else? ${hostile}`] };
  }
  if (prompt.includes('"question_idx"')) {
    return { thinking: hostile, enough: false, question_idx: 1 };
  }
  if (prompt.includes('"questions"')) {
    return { questions: [`What is told here? ${hostile}`] };
  }
  const fact = FACTS.find(({ word }) => asked(prompt).includes(word));
  const passages = [...prompt.matchAll(/^\[(\d+)\] .*\n([\s\S]*?)(?=^\[\d+\] |^# )/gm)];
  // As it is written there: with the ends of its lines, also between two Chinese characters.
  const asWritten = fact && new RegExp([...fact.sentence.replaceAll(" ", "")].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s*"));
  const found = fact && passages.find(([, , text]) => asWritten.test(text));
  const quote = found && asWritten.exec(found[2])[0];
  const citations = found ? [{ passage: Number(found[1]), quote }] : [];
  return { rationale: `It is written there. ${hostile}`, answer: `${fact?.answer ?? "Nobody knows"} ${hostile}`.trim(), lacking: null, citations, facts: [], sufficient: true, missing: [] };
}

function asked(prompt) {
  return prompt.slice(prompt.lastIndexOf("# Question")).replace("# Question", "").trim().split("\n")[0];
}
