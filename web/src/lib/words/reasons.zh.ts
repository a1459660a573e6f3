// Chinese words for reasons that the server sends in English without a code: a pattern of the text, and the words for its parts.

type Entry = [pattern: RegExp, words: (...parts: string[]) => string];

export const REASONS: Entry[] = [
  // Files (crates/parse/src/error.rs, crates/indexing/src/error.rs).
  [/^`?(.*?)`? is empty: /s, () => "文件为空：请确认它已完整保存或复制"],
  [/has (\d+) bytes, more than the limit of (\d+)/, (bytes = "", limit = "") => `文件有 ${number(bytes)} 字节，超过上限 ${number(limit)} 字节：请拆分文件或提高上限`],
  [/is named like an? (\S+), but holds something else/, (format = "") => `文件名像 ${format}，但内容不是：请打开确认保存的是否为所需的文件`],
  [/is not text: /, () => "文件不是文本；如果它是文档，请先转换为文本"],
  [/is not readable as ([^:]+): /, (format = "") => `文件不是有效的 ${format.replace(/^an? /, "")}：请用相应的程序打开并重新保存`],
  [/^(?:`.*` holds|it holds|`.*` contains|it contains) no text/s, () => "文件中没有文字：请确认这是您要的文件"],
  [/^there is no such file$|^the file does not exist/, () => "文件不存在"],
  [/^it is a folder that holds no file|^the folder contains no file/, () => "文件夹中没有文件"],
  [/name is not UTF-8/, () => "文件名不是 UTF-8"],
  [/^it is (?:no|not a) file, but a link/, () => "它不是文件，而是链接、文件夹或设备"],
  [/it has ([\d.]+) MiB, (?:and|but) more than (\d+) MiB/, (size = "", limit = "") => `文件有 ${size} MiB，上限为 ${limit} MiB`],
  [/unfolds to more than (\d+) MiB|unpacks to more than (\d+) MiB/, (one, other) => `文件展开后超过 ${one ?? other} MiB`],
  [/^reading it took longer than (\d+) s/, (seconds = "") => `读取超过 ${seconds} 秒`],
  [/^reading it took more than (\d+) s of processor time/, (seconds = "") => `读取占用处理器超过 ${seconds} 秒`],
  [/^reading it needs more than (\d+) MiB of memory/, (mib = "") => `读取需要超过 ${mib} MiB 的内存`],
  // Folders (crates/engine/src/presence.rs).
  [/^it is empty, and may be a disk/, () => "文件夹为空，可能是磁盘未挂载"],
  [/^it was a disk of its own/, () => "它原为单独的磁盘，目前未挂载"],
  [/^the files of the base were read from a folder that is not found/, () => "找不到知识库文件所在的文件夹，可能未挂载"],
  [/^it is not there, and may be a disk/, () => "文件夹不存在，可能是磁盘未挂载"],
  // Jobs (crates/server/src/jobs).
  [/^its bill is not accepted yet$/, () => "费用尚未确认"],
  [/^there is no work left$/, () => "没有剩余的工作"],
  [/^the key that requested it is gone/, () => "发起任务的密钥已不存在，或不再有权修改此知识库"],
  [/^models or settings have changed since/, () => "确认费用之后，模型或设置已有变化"],
  [/^the server ended; its folders are scanned again$/, () => "服务器曾停止；会重新扫描其文件夹"],
  [/^the process ended while the job was running$/, () => "任务运行时进程结束"],
  [/^indexing `(.*)` ended the process (\d+) times$/s, (file = "", times = "") => `为 ${file} 建立索引时，进程 ${times} 次异常结束`],
  // Findings of doctor (crates/engine/src/verbs/doctor.rs).
  [/^(\d+) chunks in (.+)$/s, (count = "", folder = "") => `${folder} 中有 ${number(count)} 个文本块`],
  [/^none yet$/, () => "尚无"],
  [/^none: answers quote their evidence$/, () => "无：回答摘录证据原文"],
  [/^no model to try$/, () => "没有可检查的模型"],
  [/^none: hits /, () => "无：检索结果保持原有顺序"],
  [/^none, as set: words alone$/, () => "按设置不使用：只按词语检索"],
  [/^none$/, () => "无"],
  [/^reads files in a limited child process$/, () => "在受限的子进程中读取文件"],
  [/^reads files in a child process whose time/, () => "在限制时间和文件的子进程中读取文件；此系统不限制其内存"],
  [/^(\S+) answers$/, (model = "") => `${model} 可以回答`],
  [/^(\S+): (\d+) of (\d+) right/, (model = "", right = "", of = "") => `${model}：${of} 次中 ${right} 次正确`],
  [/^(\S+), (\d+) dimensions$/, (model = "", dimensions = "") => `${model}，${dimensions} 维`],
  [/^(\S+), (\d+) dimensions; it does not know the languages/, (model = "", dimensions = "") => `${model}，${dimensions} 维；它不掌握文档所用的语言，只有词语检索有效`],
  [/^(.+), reads ([^(]+?)(?: \(not installed: (.+)\))?$/s, (program = "", languages = "", missing = "") => `${program}，可识别 ${languages}${missing ? `（未安装：${missing}）` : ""}`],
  [/^(.+), converts \.doc, \.xls, \.ppt$/s, (program = "") => `${program}，可转换 .doc、.xls、.ppt`],
  [/^scanned pages and pictures will be left out/, () => "将略过扫描页和图片"],
  [/^old documents \(\.doc, \.xls, \.ppt\) will be left out/, () => "将略过旧格式的文档（.doc、.xls、.ppt）"],
];

function number(digits: string): string {
  return Number(digits).toLocaleString("zh-CN");
}
