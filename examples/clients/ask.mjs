import { Client } from "@pikerag/client";

console.log((await new Client({ url: "http://localhost:8686" }).ask("How many repairs were there at Wrackness?")).answer.text);
