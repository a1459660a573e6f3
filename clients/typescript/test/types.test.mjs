// The types: a program compiles against them, and they fit the document of the server at PIKERAG_URL.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const url = process.env.PIKERAG_URL;
// Interfaces whose schema has another name.
const schemas = { Base: "BaseLine", Feedback: "FeedbackResponse", Method: "MethodDescription", Run: "RunSummary", RunDetails: "RunResponse", Unpacked: "UnpackResponse" };

test("a program compiles, with errors where they are expected", () => {
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [] };
  const program = ts.createProgram([fileURLToPath(new URL("consumer.ts", import.meta.url))], options);
  const found = ts.getPreEmitDiagnostics(program).map((one) => `${one.file?.fileName}: ${ts.flattenDiagnosticMessageText(one.messageText, "\n")}`);
  assert.deepEqual(found, []);
});

test("the types fit the document of the server", { skip: url ? false : "LEFT OUT: PIKERAG_URL names no server" }, async () => {
  const known = (await (await fetch(`${url}/openapi.json`)).json()).components.schemas;
  const path = new URL("types.d.ts", import.meta.resolve("@pikerag/client"));
  const file = ts.createSourceFile("types.d.ts", readFileSync(path, "utf8"), ts.ScriptTarget.ES2022);
  const faults = [];
  let count = 0;
  for (const item of file.statements.filter(ts.isInterfaceDeclaration)) {
    count += 1;
    const name = item.name.text;
    const { properties, required } = fields({ $ref: `#/${schemas[name] ?? name}` }, known);
    for (const member of item.members.filter(ts.isPropertySignature)) {
      const field = member.name.text;
      const type = member.type.getText(file);
      if (!(field in properties)) faults.push(`${name}.${field} is not in the document`);
      else if (!member.questionToken && !required.has(field)) faults.push(`${name}.${field} may be absent`);
      else if (isNullable(properties[field]) && !type.includes("null") && type !== "unknown") faults.push(`${name}.${field} may be null`);
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(30 < count, `${count} interfaces`);
});

function isNullable(schema) {
  return [schema.type].flat().includes("null") || (schema.oneOf ?? []).some((form) => form.type === "null");
}

/** The properties of a schema, and those that each of its forms requires. */
function fields(schema, known) {
  if (schema.$ref) return fields(known[schema.$ref.split("/").at(-1)], known);
  const parts = (schema.allOf ?? []).map((part) => fields(part, known));
  const forms = (schema.oneOf ?? []).map((form) => fields(form, known));
  const properties = Object.assign({}, schema.properties, ...[...parts, ...forms].map((part) => part.properties));
  const always = forms.length ? [...forms[0].required].filter((name) => forms.every((form) => form.required.has(name))) : [];
  return { properties, required: new Set([...(schema.required ?? []), ...parts.flatMap((part) => [...part.required]), ...always]) };
}
