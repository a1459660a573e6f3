// What does the server say of itself in English that Chinese readers want in Chinese? What is not here stays as it came.
import { preferences } from "../lib/preferences.svelte";

const CHINESE: [RegExp, string][] = [
  [/^its words ask for something that the documents may tell$/, "问的是文档中可能有记载的内容"],
  [/^its words ask for something new$/, "问的是新的想法"],
  [/^its words ask for what is to come$/, "问的是将来的情况"],
  [/^its words ask for much in few words$/, "要求用少量文字概括大量内容"],
  [/^its words ask for a figure$/, "问的是一个数字"],
  [/^its words ask which ones there are$/, "问的是有哪些"],
  [/^its words compare$/, "含有比较的措辞"],
  [/^one thing in it is named by another$/, "其中一个对象要通过另一个对象才能确定"],
  [/^whoever asked said so$/, "由提问者指定"],
  [/^it puts side by side: (.+)$/, "并列比较：$1"],
  [/^the best passage holds (\d+) % of its words$/, "最贴切的段落包含问题中 $1% 的词语"],
  [/^it has to be worked out of (\d+) things under `(.+)`$/, "须由“$2”下的 $1 个对象计算得出"],
  [/^no records that could be carried on fit all of its words$/, "没有与问题完全相符、可供推算的记录"],
  [/^find the passages that fit best$/, "找出最贴切的段落"],
  [/^quote the sentences that fit best$/, "摘录最贴切的句子"],
  [/^read them, look up what is missing, and read again$/, "阅读，查找缺失的内容，再读"],
  [/^No language model was used: the answer quotes its evidence\.$/, "未使用语言模型：答案摘自所依据的原文。"],
  [/^No language model was used: the summary is the sentences that stand for the others\.$/, "未使用语言模型：总结由具有代表性的句子组成。"],
  [/^δ = ([\d.]+), calibrated on this base\.$/, "δ = $1，按此知识库校准。"],
  [/^no room$/, "容纳不下"],
];

/** A sentence of the server in the language of now, as far as it is known; parts that `;` joins are told one by one. */
export function told(text: string): string {
  if (preferences.language === "en") {
    return text;
  }
  const whole = inChinese(text);
  return whole ?? (text.includes("; ") ? text.split("; ").map((part) => inChinese(part) ?? part).join("；") : text);
}

function inChinese(text: string): string | null {
  const known = CHINESE.find(([pattern]) => pattern.test(text));
  return known ? text.replace(known[0], known[1]) : null;
}
