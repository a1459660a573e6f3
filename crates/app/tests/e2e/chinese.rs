//! Checks that the command line prints no English sentence with `--lang zh`, and the same JSON in both languages.

use crate::common::Place;

const GUIDE: &str = "# 公司指南\n\n青岩公司位于临江市。KX-40 起重机在三号车间装配，车间主任是李明。\n\n## 维护\n\n\
    TW-9 传感器由王芳校准，每年一次。\n";
const NOTICE: &str = "维护通知：KX-40 起重机的回转轴承已更换，供应商为远航轴承厂。\n";
const SUPPLIERS: &str = "供应商,城市,数量\n远航轴承厂,临江,12\n大同机械,平安,7\n";

/// A place with Chinese documents, so that all English is the program's.
fn place() -> Place {
    let place = Place::new();
    place.write("docs/guide.md", GUIDE);
    place.write("docs/notice.txt", NOTICE);
    place.write("docs/suppliers.csv", SUPPLIERS);
    place
}

/// Three or more English words in a row, one of them in lower case, outside code. Usage names commands and arguments.
fn english(line: &str) -> Option<String> {
    if line.starts_with("用法：") {
        return None;
    }
    let bare: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" | ");
    let bare = bare.replace(|c: char| !c.is_ascii(), " | ");
    let is_word = |word: &&str| {
        let word = word.trim_end_matches([',', '.', ';', ':']);
        word.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphabetic() || "'-".contains(c))
    };
    let is_lower = |word: &str| 1 < word.len() && word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = bare.split_whitespace().collect();
    let runs = words.split(|word| !is_word(word));
    let mut sentences = runs.filter(|run| 2 < run.len() && run.iter().any(|word| is_lower(word)));
    sentences.next().map(|run| run.join(" "))
}

/// Runs commands in Chinese, and collects the English sentences that they print.
struct Commands {
    place: Place,
    found: Vec<String>,
}

impl Commands {
    fn at(place: Place) -> Self {
        Self { place, found: Vec::new() }
    }

    /// Runs a command, which must end with this exit code; its output.
    fn run(&mut self, code: i32, arguments: &[&str]) -> String {
        let ran = self.place.run_to(code, &[&["--lang", "zh"], arguments].concat());
        let text = format!("{}{}", ran.stdout, ran.stderr);
        let found = text
            .lines()
            .filter_map(|line| Some(format!("{arguments:?}: {} in {line}", english(line)?)));
        self.found.extend(found);
        text
    }

    fn end(self) {
        assert!(self.found.is_empty(), "{:#?}", self.found);
    }
}

#[test]
fn english_sentences_are_found() {
    assert_eq!(english("未找到：the file is missing").as_deref(), Some("the file is missing"));
    for fine in [
        "用 `pikerag index PATH` 建立",
        "Model Context Protocol",
        "docs/a b.md：3 个",
        "MiniLM 模型 is",
    ] {
        assert_eq!(english(fine), None, "{fine}");
    }
}

#[test]
fn common_commands_print_chinese_only() {
    let mut place = Commands::at(place());
    let shown = place.run(1, &["status"]);
    assert!(shown.contains("还没有知识库；请用 `pikerag index PATH…` 建立"), "{shown}");
    place.run(0, &["init"]);
    place.run(1, &["init"]);
    place.run(0, &["--config", "azure.toml", "init", "--provider", "azure"]);
    place.run(0, &["trust"]);
    place.run(0, &["trust", "--list"]);
    place.run(0, &["--offline", "estimate", "docs"]);
    place.run(0, &["--offline", "index", "docs"]);
    place.run(3, &["--offline", "index", "--with", "graph,tree,tags", "docs"]);
    place.run(0, &["--offline", "status"]);
    place.run(0, &["files"]);
    place.run(0, &["--offline", "search", "谁校准 TW-9 传感器？"]);
    place.run(0, &["--offline", "ask", "谁校准 TW-9 传感器？"]);
    place.run(0, &["--offline", "ask", "--trace", "KX-40 起重机的轴承供应商在哪个城市？"]);
    place.run(0, &["--offline", "classify", "谁校准 TW-9 传感器？"]);
    place.run(0, &["runs"]);
    let run =
        place.place.run_to(0, &["--json", "runs"]).json()[0]["id"].as_str().unwrap().to_owned();
    place.run(0, &["runs", "show", &run]);
    place.run(0, &["--offline", "runs", "replay", &run]);
    place.run(0, &["runs", "diff", &run, &run]);
    place.run(0, &["feedback", "list"]);
    place.run(0, &["feedback", "correct", "last", "王芳", "--by", "李明"]);
    place.run(0, &["feedback", "list"]);
    place.run(0, &["--offline", "ask", "KX-40 起重机的轴承供应商在哪个城市？"]);
    place.run(0, &["tables"]);
    let table =
        place.place.run_to(0, &["--json", "tables"]).json()[0]["name"].as_str().unwrap().to_owned();
    place.run(0, &["tables", &table]);
    place.run(0, &["sql", &format!("SELECT * FROM {table}")]);
    place.run(0, &["records"]);
    place.run(0, &["--offline", "schema", "propose"]);
    place.run(0, &["graph"]);
    place.run(0, &["graph", "--of", "docs/guide.md"]);
    place.run(0, &["tags"]);
    place.run(0, &["tags", "pairs"]);
    place.run(0, &["parse", "docs/guide.md"]);
    place.run(0, &["--offline", "doctor"]);
    place.run(0, &["check"]);
    place.run(0, &["backup", "base.backup"]);
    place.run(0, &["--base", "other", "restore", "base.backup"]);
    place.run(0, &["methods"]);
    place.run(0, &["methods", "kar3"]);
    place.run(0, &["methods", "pike"]);
    place.run(0, &["formats"]);
    place.run(0, &["serve", "--limits"]);
    place.run(0, &["keys", "list"]);
    place.run(0, &["keys", "make", "测试"]);
    place.run(0, &["keys", "list"]);
    place.run(0, &["delete", "docs/notice.txt"]);
    place.run(0, &["delete", "--forget", "docs/suppliers.csv"]);
    place.run(1, &["delete", "docs/suppliers.csv"]);
    place.run(0, &["--offline", "models"]);
    place.run(1, &["--offline", "models", "pull", "qwen3-4b"]);
    place.run(1, &["models", "pull", "nothing"]);
    place.run(1, &["models", "rm", "qwen3-4b"]);
    place.run(0, &["models", "use", "qwen3-4b"]);
    let shown = place.run(1, &["doctor"]);
    assert!(shown.contains("请用 `pikerag models pull qwen3-4b` 下载"), "{shown}");
    place.end();
}

const QUESTIONS: &str = "{\"id\": \"a1\", \"question\": \"谁校准 TW-9 传感器？\", \"answers\": [\"王芳\"], \
    \"kind\": \"事实\", \"supporting\": [{\"paragraph_id\": \"c1\"}]}\n";
const CORPUS: &str =
    "{\"id\": \"c1\", \"title\": \"维护\", \"text\": \"TW-9 传感器由王芳校准。\"}\n";

#[test]
fn evaluations_print_chinese_only() {
    let mut place = Commands::at(place());
    place.place.write("q.jsonl", QUESTIONS);
    place.place.write("c.jsonl", CORPUS);
    let presets = place.run(0, &["eval", "--preset", "list"]);
    assert!(presets.contains("KAR³ 表 1：主要结果"), "{presets}");
    let of = ["--questions", "q.jsonl", "--corpus", "c.jsonl", "--out", "out"];
    let methods = [&["--offline", "eval", "--methods", "naive-rag,hop-rag"], &of[..]].concat();
    let shown = place.run(0, &methods);
    for word in ["全部问题", "方法", "精确率", "证据", "得分以 % 表示"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let heads = ["method", "failed", "precision", "evidence", "calls", "seconds", "Type"];
    for word in heads {
        assert!(!shown.contains(word), "{word}: {shown}");
    }
    // Files of a run are in English, as `rows.jsonl` and the JSON are.
    assert!(place.place.read("out/report.md").contains("### All questions"));
    let searches = ["--offline", "eval", "--searches", "words,hops", "--questions", "q.jsonl"];
    let shown = place.run(0, &[&searches[..], &["--corpus", "c.jsonl", "--out", "found"]].concat());
    assert!(shown.contains("| 数据集 | 检索 |") && !shown.contains("data set"), "{shown}");
    place.run(0, &[&["--offline", "eval", "--dry-run", "--methods", "kar3"], &of[..]].concat());
    place.end();
}

/// Kinds, parts and places are single words, which [`english`] does not find.
#[test]
fn kinds_parts_and_problems_have_chinese_names() {
    let mut place = Commands::at(place());
    place.place.write("docs/uneven.csv", "零件,数量\n轴承,1\n齿轮,2,3\n");
    place.place.write("docs/lines.jsonl", "{\"text\": \"甲\"}\n{\"text\": \n");
    let indexed = place.run(0, &["--offline", "index", "docs"]);
    let uneven = "docs/uneven.csv，第 3 行：1 行的单元格数与第一行的 2 个不同";
    assert!(indexed.contains(uneven), "{indexed}");
    assert!(indexed.contains("第 2 行：JSON 在第 8 列中断"), "{indexed}");
    let parsed = place.run(0, &["parse", "docs/uneven.csv"]);
    assert!(parsed.contains("问题：第 3 行：1 行的单元格数与第一行的 2 个不同"), "{parsed}");
    let tables = place.run(0, &["tables"]);
    let name = place.place.run_to(0, &["--json", "tables"]).json()[0]["name"].clone();
    let table = place.run(0, &["tables", name.as_str().unwrap()]);
    for kind in ["integer", "real", "year", "date", "boolean", "identifier", "category", "text"] {
        let is_kind = |line: &&str| line.split([' ', ',', '，', '：']).any(|word| word == kind);
        let lines: Vec<&str> = tables.lines().chain(table.lines()).filter(is_kind).collect();
        assert!(lines.is_empty(), "{lines:?}");
    }
    assert!(tables.contains("整数"), "{tables}");
    let tree = place.run(0, &["graph", "--of", "docs/guide.md", "--depth", "3"]);
    for word in ["document", "chunk", "section", "contains", "refers to", "atom"] {
        assert!(!tree.contains(word), "{word}: {tree}");
    }
    let checked = place.run(0, &["check"]);
    for word in ["chunks", "documents", "kept", "none", "built", "runs", "vectors"] {
        assert!(!checked.contains(word), "{word}: {checked}");
    }
    place.end();
}

#[test]
fn refused_settings_are_chinese_only() {
    for (settings, reason) in [
        ("[index]\nmax_tokens = 3\n", "至少为 20：更小的文本块不含事实"),
        ("[index]\nmin_tokens = 900\n", "900 不能大于 `index.max_tokens`（240）"),
        ("[tools]\nlanguages = [\"e?\"]\n", "`e?` 不是 Tesseract 的语言"),
        ("[server]\nruns = 0\n", "必须在 1 至 120 之间"),
        ("[server]\npublic_url = \"ftp://x\"\n", "必须以 `http://` 或 `https://` 开头"),
        ("[rerank]\nmodel = \"m\"\n", "没有设置，而重排模型没有默认地址"),
    ] {
        let mut place = Commands::at(Place::new());
        place.place.write("pikerag.toml", settings);
        let shown = place.run(1, &["status"]);
        assert!(shown.contains("的值不可用：") && shown.contains(reason), "{shown}");
        place.end();
    }
}

#[test]
fn errors_are_chinese_only() {
    let mut place = Commands::at(place());
    place.place.write("broken/a.pdf", "no PDF");
    place.place.write("broken/b.txt", "");
    place.place.write("broken/c.bin", [0, 1, 2]);
    place.run(0, &["--offline", "index", "docs"]);
    for (code, arguments) in [
        (2, &["frobnicate"][..]),
        (2, &["indx", "docs"]),
        (2, &["--no-such-flag"]),
        (2, &["index"]),
        (2, &["index", "--with", "forest", "docs"]),
        (2, &["index", "--with", "tags", "--without", "tags", "docs"]),
        (2, &["--offline", "--replay", "status"]),
        (2, &["--budget", "much", "status"]),
        (2, &["--in-flight", "0", "status"]),
        (2, &["search", "-k", "many", "x"]),
        (2, &["graph", "--depth", "9"]),
        (2, &["ask", "two", "words"]),
        (2, &["ask", "--class", "odd", "x"]),
        (2, &["ask", "--level", "L9", "x"]),
        (2, &["ask", "--filter", "odd", "x"]),
        (2, &["keys"]),
        (2, &["keys", "make", "x", "--expires", "never"]),
        (2, &["runs", "fork", "x", "--at", "1"]),
        (2, &["--lang"]),
        (2, &["ask", "--method", "guess", "谁？"]),
        (2, &["ask", "？"]),
        (1, &["--config", "none.toml", "status"]),
        (1, &["search", "--by", "meaning", "轴承"]),
        (1, &["--offline", "ask", "--method", "graphrag-global", "谁？"]),
        (1, &["runs", "show", "zzz"]),
        (1, &["tables", "none"]),
        (1, &["sql", "DROP TABLE x"]),
        (1, &["sql", "SELECT x"]),
        (1, &["graph", "--of", "没有"]),
        (1, &["feedback", "revoke", "zzz"]),
        (1, &["keys", "revoke", "zzz"]),
        (1, &["tags", "show", "没有"]),
        (1, &["original", "docs/none.md"]),
        (1, &["health", "--port", "1"]),
        (1, &["export", "--output", "none/graph.jsonl"]),
        (1, &["parse", "docs/none.md"]),
        (3, &["--offline", "index", "docs/none.md"]),
        (3, &["--offline", "index", "broken"]),
        (3, &["--offline", "estimate", "broken"]),
    ] {
        let shown = place.run(code, arguments);
        assert!(
            shown.contains("错误：") || shown.contains("用法：") || code == 3,
            "{arguments:?}: {shown}"
        );
    }
    place.end();
}

#[test]
fn causes_from_libraries_are_chinese_only() {
    for (settings, reason) in [
        ("[limits]\nfile_mib = \"much\"\n", "`file_mib`：类型不符：得到字符串"),
        ("[limits]\nfile_mib\n", "键没有值，此处应为 `=`"),
        ("[limits]\nsize = 1\n", "没有名为 `size` 的设置；可用：`file_mib`、"),
        ("base = [\"a\"\n", "数组没有结束"),
    ] {
        let mut place = Commands::at(Place::new());
        place.place.write("pikerag.toml", settings);
        let shown = place.run(1, &["status"]);
        assert!(shown.contains(reason), "{shown}");
        place.end();
    }
    let place = place().set("OPENAI_BASE_URL", "http://127.0.0.1:1").set("OPENAI_MODEL", "m");
    let mut place = Commands::at(place);
    place.place.write("broken/d.docx", b"PK\x03\x04 and no more");
    let shown = place.run(3, &["--offline", "index", "broken"]);
    assert!(shown.contains("不能按 ZIP 压缩文件 读取（ZIP 文件无效："), "{shown}");
    place.run(0, &["--offline", "index", "docs"]);
    // The model has no price, so no cap on money can hold.
    let shown = place.run(1, &["--budget", "0.01", "ask", "谁校准 TW-9 传感器？"]);
    assert!(shown.contains("金额上限需要该模型每百万 Token 的价格"), "{shown}");
    place.end();
}

#[test]
fn models_that_do_not_answer_are_reported_in_chinese() {
    let place = place().set("OPENAI_BASE_URL", "http://127.0.0.1:1").set("OPENAI_MODEL", "m");
    let mut place = Commands::at(place);
    let shown = place.run(3, &["index", "docs"]);
    assert!(shown.contains("已停止：") && shown.contains("无法连接 m"), "{shown}");
    place.run(0, &["status"]);
    place.run(1, &["ask", "谁校准 TW-9 传感器？"]);
    place.run(0, &["runs"]);
    let run =
        place.place.run_to(0, &["--json", "runs"]).json()[0]["id"].as_str().unwrap().to_owned();
    place.run(0, &["runs", "show", &run]);
    place.run(1, &["doctor"]);
    place.run(4, &["--budget-calls", "0", "ask", "谁校准 TW-9 传感器？"]);
    place.end();
}

/// The commands that a help text lists.
fn verbs(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "命令：").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    let verbs = lines.filter_map(|line| line.split_whitespace().next());
    verbs.filter(|verb| *verb != "help").map(str::to_owned).collect()
}

#[test]
fn help_is_chinese_only_and_complete() {
    let mut place = Commands::at(Place::new());
    let help = place.run(0, &["--help"]);
    assert!(help.contains("用法：pikerag [选项] <命令>"), "{help}");
    let short = place.run(0, &["-h"]);
    let in_china = Place::new().set("LANG", "zh_CN.UTF-8");
    assert_eq!(in_china.run_to(2, &[]).stderr, short);
    let by_name = place.run(0, &["help", "index"]);
    assert_eq!(by_name, place.run(0, &["index", "--help"]));
    place.run(0, &["help"]);
    let mut open: Vec<Vec<String>> = verbs(&help).into_iter().map(|verb| vec![verb]).collect();
    let mut n_commands = 0;
    while let Some(path) = open.pop() {
        n_commands += 1;
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("--help");
        let own = place.run(0, &arguments);
        for word in ["Usage", "Options", "Commands", "Arguments", "default", "Print"] {
            assert!(!own.contains(word), "{path:?}: `{word}` in {own}");
        }
        open.extend(verbs(&own).into_iter().map(|verb| [&path[..], &[verb]].concat()));
    }
    assert!(40 < n_commands, "{n_commands}");
    for shell in ["bash", "zsh", "fish"] {
        place.place.run_to(0, &["--lang", "zh", "completions", shell]);
    }
    let fish = place.place.run_to(0, &["--lang", "zh", "completions", "fish"]).stdout;
    assert!(fish.contains("把文件和文件夹读入知识库"), "{fish}");
    place.place.run_to(0, &["--lang", "zh", "man", "--out", "pages"]);
    assert!(place.place.read("pages/pikerag-index.1").contains("把文件和文件夹读入知识库"));
    place.end();
}

#[test]
fn the_environment_sets_the_language_and_json_keeps_english() {
    let place = place().set("LANG", "zh_CN.UTF-8");
    let english = place.run_to(1, &["--lang", "en", "status"]).stderr;
    assert!(english.starts_with("error: .pikerag cannot be opened"), "{english}");
    assert!(place.run_to(1, &["status"]).stderr.starts_with("错误："));
    place.run_to(0, &["--offline", "--json", "index", "docs"]);
    for arguments in
        [&["status"][..], &["doctor"], &["files"], &["methods"], &["check"], &["graph"]]
    {
        let arguments = [&["--json", "--offline"], arguments].concat();
        let chinese = place.run_to(0, &arguments).stdout;
        let english = place.run_to(0, &[&["--lang", "en"], &arguments[..]].concat()).stdout;
        assert_eq!(chinese, english, "{arguments:?}");
    }
    let ours = place.set("PIKERAG_LANG", "en");
    assert!(ours.run_to(1, &["--base", "none", "status"]).stderr.starts_with("error: "));
}
