// Tests that every fact of the server's schema has English and Chinese words.
import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import { preferences } from "../preferences.svelte";
import * as facts from "./facts";

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: string[];
  properties?: Record<string, Schema>;
  items?: Schema | false;
  prefixItems?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};

const document = JSON.parse(readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8"));
const schemas: Record<string, Schema> = document.components.schemas;

/** A value that a schema allows. */
function example(schema: Schema): unknown {
  if (schema.$ref) {
    return example(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  }
  if (schema.enum) {
    return schema.enum[0];
  }
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map(example));
  }
  if (schema.oneOf) {
    return example(schema.oneOf.find((one) => one.type !== "null") ?? {});
  }
  if (schema.prefixItems) {
    return schema.prefixItems.map(example);
  }
  const type = [schema.type].flat().find((one) => one !== "null");
  switch (type) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, own]) => [key, example(own)]));
    case "array":
      return schema.items ? [example(schema.items)] : ["X1", "X1"];
    case "string":
      return "X1";
    default:
      return 2;
  }
}

function variants(name: string): unknown[] {
  const [facts] = schemas[name]?.oneOf ?? [];
  return facts?.oneOf?.map(example) ?? [];
}

const worded = {
  Statement_Reason: facts.reason, Statement_PlanStep: facts.planStep, Statement_Recollection: facts.recollection, Statement_Note: facts.note,
  Statement_UnreadableReply: facts.fault,
} as Record<string, (fact: never) => string>;

afterEach(() => {
  preferences.language = "en";
});

test.each(Object.keys(worded))("%s", (name) => {
  const all = variants(name);
  expect(all.length).toBeGreaterThan(2);
  for (const fact of all) {
    preferences.language = "en";
    expect(worded[name]?.(fact as never), JSON.stringify(fact)).toMatch(/^[^\u4e00-\u9fff]+$/);
    preferences.language = "zh";
    const chinese = worded[name]?.(fact as never).replace(/kar3|Token/g, "");
    expect(chinese, JSON.stringify(fact)).toMatch(/[\u4e00-\u9fff]/);
    expect(chinese, JSON.stringify(fact)).not.toMatch(/[a-z]|undefined/);
  }
});

test("left out", () => {
  const organized = schemas.Event?.oneOf?.find((event) => event.properties?.left_out);
  const pair = organized?.properties?.left_out?.items || {};
  const reasons = pair.prefixItems?.[0]?.enum ?? pair.prefixItems?.[0]?.oneOf?.flatMap((one) => one.enum ?? []) ?? [];
  expect(reasons.length).toBe(3);
  for (const reason of reasons) {
    expect(facts.leftOut(reason as facts.LeftOut)).not.toBe(reason);
  }
});

test("words of earlier versions are shown as they are", () => {
  preferences.language = "zh";
  expect([facts.reason("its words compare"), facts.note("A note."), facts.row("2016: 4")]).toEqual(["its words compare", "A note.", "2016: 4"]);
});
