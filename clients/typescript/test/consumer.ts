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
try {
  await client.run("a");
} catch (error) {
  if (error instanceof ProblemError) texts.push(error.code);
}
export { texts };
