// Makes the documents of the journey: a page in two columns, one in Chinese, one that is a picture of words, a table, and hostile names.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const filler = (of) => Array.from({ length: 9 }, (_, place) => `Number ${place + 1} of the ${of} was painted grey and stands beside the shed.`).join(" ");
const COLUMNS = `<title>Quay equipment</title><style>main { columns: 2; column-gap: 12mm; font: 11pt/1.5 serif }</style>
  <h1>Quay equipment</h1><main><h2>Sheds</h2><p>${filler("sheds")}</p><h2>Winches</h2><p>${filler("winches")} The winch of the quay hauls eleven tons. ${filler("ropes")}</p></main>`;
const CHINESE = `<html lang="zh"><title>码头设备</title><h1>码头设备</h1><h2>绞车</h2><p>棚屋在码头的东边，共有三间，每年刷漆一次。码头的绞车可拉十一吨。绳索存放在第二间棚屋。</p></html>`;
const SCAN = `<title>Boiler house</title><style>body { margin: 120px; font: 34px/1.6 serif; background: white }</style><h1>Boiler house</h1><p>The boiler is inspected in March.</p><p>The keys hang beside the door of the house.</p>`;

/** PDFs as a browser prints them, in a folder; the files by what they are. */
export async function makeDocuments(browser, folder) {
  await mkdir(folder, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 900, height: 1100 } });
  const printed = async (name, html) => {
    await page.setContent(html);
    const path = join(folder, name);
    await writeFile(path, await page.pdf({ format: "A4" }));
    return path;
  };
  const columns = await printed("columns.pdf", COLUMNS);
  const chinese = await printed("chinese.pdf", CHINESE);
  await page.setContent(SCAN);
  // A whole sheet, as a scanner gives it.
  await page.setViewportSize({ width: 1240, height: 1754 });
  const picture = (await page.screenshot()).toString("base64");
  const scan = await printed("scan.pdf", `<title>Boiler house</title><body style="margin:0"><img src="data:image/png;base64,${picture}" style="display:block;width:210mm;height:296mm">`);
  await page.close();
  const notes = join(folder, "crane.md");
  await writeFile(notes, "# Crane\n\nThe crane of the harbour lifts forty tons. It was built by Ilse Brandt.\n\n| order | tons |\n| --- | --- |\n| A-1 | 40 |\n| A-2 | 38 |\n");
  return { columns, chinese, scan, notes };
}

const RUN = "globalThis.hacked=1";
/** Forty ways to have something run that should be shown. */
export const HOSTILE = [
  `<script>${RUN}</script>`, `<img src=x onerror=${RUN}>`, `"><svg onload=${RUN}>`, `<svg><script>${RUN}</script></svg>`, `<iframe srcdoc="<script>parent.${RUN}</script>">`,
  `<a href="javascript:${RUN}">x</a>`, `[x](javascript:${RUN})`, `![x](x"onerror="${RUN})`, `<details open ontoggle=${RUN}>`, `<body onload=${RUN}>`,
  `<input autofocus onfocus=${RUN}>`, `<video><source onerror=${RUN}></video>`, `<math><mi xlink:href="javascript:${RUN}">x</mi></math>`, `<object data="javascript:${RUN}">`, `<embed src="javascript:${RUN}">`,
  `<form action="javascript:${RUN}"><button>x</button></form>`, `<base href="javascript:${RUN}//">`, `<link rel=stylesheet href="data:text/css,*{}">`, `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`, `<style>@import 'javascript:${RUN}'</style>`,
  `<img srcset="x 1x" onerror="${RUN}">`, `<marquee onstart=${RUN}>`, `<audio src=x onerror=${RUN}>`, `<isindex type=image src=1 onerror=${RUN}>`, `<template><script>${RUN}</script></template>`,
  `{{constructor.constructor('${RUN}')()}}`, `\${${RUN}}`, `{@html "<img src=x onerror=${RUN}>"}`, `'-${RUN}-'`, `";${RUN};//`,
  `</script><script>${RUN}</script>`, `<!--><img src=x onerror=${RUN}>-->`, `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`, `<x contenteditable onblur=${RUN}>`, `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${RUN}>#x">`, `<a href="data:text/html,<script>${RUN}</script>">x</a>`, `[x](data:text/html,<script>${RUN}</script>)`, `<img src=x:x onerror\u0009=${RUN}>`, `\u202e<img src=x onerror=${RUN}>`,
];

/** Those as documents: in the names of files (as far as names may hold them), in titles and in text. */
export async function makeHostile(folder) {
  const places = join(folder, "hostile");
  await mkdir(places, { recursive: true });
  const paths = [];
  for (const [place, text] of HOSTILE.entries()) {
    const name = `${place}-${text.replaceAll("/", "∕").slice(0, 60)}.md`;
    const path = join(places, name);
    await writeFile(path, `---\ntitle: '${text.replaceAll("'", "''")}'\nauthor: '${text.replaceAll("'", "''")}'\n---\n# ${text}\n\nHostile passage ${place}: ${text}\n\n| ${text.replaceAll("|", " ")} | b |\n| --- | --- |\n| ${text.replaceAll("|", " ")} | 1 |\n`);
    paths.push(path);
  }
  return paths;
}
