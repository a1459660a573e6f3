// A program that must compile against the types, with an error exactly where one is expected.

import { Client, ProblemError } from "@pikerag/client";

const client = new Client({ key: "k" });
const asked = await client.ask("q", { filter: ["folder=docs"], level: "L1" });
const texts: string[] = asked.answer.citations.map((citation) => citation.quote);
for await (const event of client.stream("q")) {
  if (event.event === "draft") texts.push(event.data.text);
  // @ts-expect-error: only the event `answer` has an answer.
  event.data.answer;
}
// @ts-expect-error: no such search.
await client.search("q", { by: "no-such" });
await client.upload("a", new Uint8Array());
const { hits, similarity_by } = await client.search("q");
const measure: "meaning" | "words" = similarity_by;
const near = hits.filter((hit) => 0.5 < hit.similarity && hit.metadata["author"] !== undefined && hit.sent_as !== null);
texts.push(measure, ...near.map((hit) => hit.chunk.text), ...((await client.chunk("c")).corrections ?? []).map((one) => one.new));
// @ts-expect-error: a deletion needs the name once more.
await client.deleteBase("law");
try {
  await client.run("a");
} catch (error) {
  if (error instanceof ProblemError) texts.push(error.code, error.param ?? "");
}
export { texts };
