//! Tests that each command does what its help says, and that errors say what to do.

use std::collections::HashSet;
use std::path::Path;

use pikerag_test_support::{Fault, When};
use serde_json::Value;

use crate::common::{Place, good_stub, stub};

/// A place with the example documents in `docs`.
fn harbour(place: Place) -> Place {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour/docs");
    for entry in std::fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(&format!("docs/{name}"), std::fs::read(&path).unwrap());
    }
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let help = place.run_to(0, &["--help"]).stdout;
    for command in [
        "init", "index", "ask", "search", "status", "files", "estimate", "delete", "export",
        "doctor", "eval",
    ] {
        assert!(help.contains(&format!("  {command} ")), "{command} is not in the help");
        let own = place.run_to(0, &[command, "--help"]).stdout;
        assert!(own.contains(&format!("pikerag {command}")), "{own}");
    }
    assert!(!help.contains("parse-child"));
    place.run_to(2, &["frobnicate"]);
    place.run_to(2, &["index"]);
    place.run_to(2, &["--offline", "--replay", "status"]);
}

/// Without a model the graph consists of names and sentences; building the tree reports what is
/// missing.
#[test]
fn structures_are_built_on_request() {
    let place = harbour(Place::new());
    place.run_to(0, &["--offline", "index", "docs"]);
    let ask =
        ["--offline", "--json", "ask", "--method", "graphrag-local", "Who designed the KX-40?"];
    let stderr = place.run_to(1, &ask).stderr;
    assert!(stderr.contains("run `pikerag index --with graph PATH…`"), "{stderr}");
    place.run_to(0, &["--offline", "index", "--with", "graph", "docs"]);
    let status = place.run_to(0, &["--json", "status"]).json();
    let count = |what: &str| status["summary"][what].as_u64().unwrap();
    assert!(0 < count("entities") && 0 < count("relations") && 0 < count("reports"), "{status}");
    assert_eq!(count("reports"), count("communities"));
    let answer = place.run_to(0, &ask).json();
    assert!(!answer["answer"]["citations"].as_array().unwrap().is_empty(), "{answer}");
    let estimate =
        place.run_to(0, &["--offline", "--json", "estimate", "--with", "graph,tree", "docs"]);
    assert_eq!(estimate.json()["estimate"]["calls"], 0);
    let missing = place.run_to(3, &["--offline", "index", "--with", "tree", "docs"]).stderr;
    assert!(missing.contains("needs an embedder and a chat model"), "{missing}");
    place.run_to(2, &["index", "--with", "forest", "docs"]);
}

#[test]
fn init_never_overwrites() {
    let place = Place::new();
    place.run_to(0, &["init"]);
    place.write("pikerag.toml", "# mine\n");
    let ran = place.run_to(1, &["init"]);
    assert!(ran.stderr.contains("pikerag.toml exists already"), "{}", ran.stderr);
    assert_eq!(place.read("pikerag.toml"), "# mine\n");
}

#[test]
fn errors_name_what_is_wrong() {
    let place = Place::new();
    let fails_with = |code: i32, place: &Place, arguments: &[&str], parts: &[&str]| {
        let stderr = place.run_to(code, arguments).stderr;
        assert!(parts.iter().all(|part| stderr.contains(part)), "{parts:?}: {stderr}");
    };
    let fails = |place: &Place, arguments: &[&str], parts: &[&str]| {
        fails_with(1, place, arguments, parts);
    };
    fails(&place, &["ask", "Who?"], &[".pikerag", "no knowledge base", "pikerag index"]);
    fails(&place, &["--base", "b", "status"], &["no knowledge base"]);
    assert!(!place.path("b").exists(), "a question creates no base");
    fails_with(
        2,
        &place,
        &["ask", "-m", "guess", "Who?"],
        &["`guess`", "kar3,", "hop-rag", "naive-rag"],
    );
    fails(&place, &["--config", "none.toml", "status"], &["none.toml"]);
    fails_with(2, &place, &["--in-flight", "0", "status"], &["--in-flight"]);
    place.write("pikerag.toml", "[chat]\nmodle = \"x\"\n");
    fails(&place, &["status"], &["pikerag.toml", "modle"]);
    place.write("pikerag.toml", "[limits]\nfile_mib = \"much\"\n");
    fails(&place, &["status"], &["pikerag.toml", "file_mib"]);
    place.write("pikerag.toml", "[index]\nmax_tokens = 3\n");
    fails(&place, &["status"], &["index.max_tokens"]);
}

/// The nearest passages are no answer about a thing of which no passage has the name.
#[test]
fn a_subject_that_no_passage_has_is_named() {
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    place.write("docs/stores.md", "# Stores\n\nVellmarsh keeps food cold at three places.\n");
    place.write("docs/公司.md", "# 简介\n\n公司位于临江市，员工共有三百人。\n");
    place.run_to(0, &["index", "docs"]);
    let ask = |question: &str| place.run(&["ask", question]).stdout;
    let shown = ask("Who is the CEO of Vellmarsh?");
    assert!(shown.contains("No passage has the word “CEO”"), "{shown}");
    assert!(shown.contains("Vellmarsh keeps food cold"), "{shown}");
    let shown = ask("公司的CEO是谁？");
    assert!(shown.contains("没有段落含有“CEO”") && shown.contains("临江市"), "{shown}");
    let shown = ask("Where does Vellmarsh keep food?");
    assert!(!shown.contains("No passage has"), "{shown}");
}

/// A mistyped word finds its passage, and the answer says what was searched for. A name is only
/// suggested: it may be right.
#[test]
fn mistyped_words_are_forgiven_and_names_are_not_replaced() {
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    place.write(
        "docs/travel.md",
        "# Travel\n\nThe daily allowance for meals is 45 pounds.\n\n# People\n\nAsk Ruth Whitcombe about lost receipts.\n",
    );
    place.run_to(0, &["index", "docs"]);
    let ask = |question: &str| place.run(&["ask", question]).stdout;
    let shown = ask("daly allowence for meels");
    assert!(shown.contains("45 pounds"), "{shown}");
    assert!(
        shown.contains("Searched for “daily”, “meals”, because no passage has “daly”, “meels”."),
        "{shown}"
    );
    let shown = ask("Can Whitcome help with lost receipts?");
    assert!(shown.contains("No passage has “Whitcome”: did you mean “Whitcombe”?"), "{shown}");
    assert!(!shown.contains("Searched for"), "{shown}");
    let shown = place.run(&["ask", "meels 的标准是多少？"]).stdout;
    assert!(shown.contains("没有段落含有“meels”：您是否指“meals”？"), "{shown}");
    let shown = ask("What is the daily allowance for meals?");
    assert!(!shown.contains("No passage has") && !shown.contains("Searched for"), "{shown}");
    let nothing = place.run(&["ask", "Zorbl"]).stdout;
    assert!(nothing.contains("Not found: no passage has a word of the question."), "{nothing}");
}

/// A code that no document has is named first, and rows about other things are the nearest passages.
/// A row is never without the names of its columns, and JSON has the grade.
#[test]
fn an_unknown_pump_is_named_before_rows_on_other_pumps() {
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    place.write(
        "docs/pumps.md",
        "# Pumps\n\n| Pump | Use | Overhaul |\n| --- | --- | --- |\n| P-101 | bilge | 2025-11-04 |\n| P-102 | fire main | 2025-06-17 |\n",
    );
    place.write("docs/手册.md", "# 员工手册\n\n第一条 男职工在配偶生育时享受陪产假十五天。\n");
    place.run_to(0, &["index", "docs"]);
    let shown = place.run(&["ask", "When was the overhaul of pump P-107?"]).stdout;
    let lead =
        "No document mentions “P-107”.\n\nNot found; nearest passages:\n[1] Pumps: “Pump: P-10";
    assert!(shown.contains(lead), "{shown}");
    let shown = place.run_to(0, &["ask", "When was the overhaul of pump P-102?"]).stdout;
    assert!(shown.contains("“Pump: P-102 | Use: fire main | Overhaul: 2025-06-17”"), "{shown}");
    let shown = place.run_to(0, &["ask", "男职工的陪产假是几天？"]).stdout;
    assert!(shown.contains("Found in the documents:") && shown.contains("十五天"), "{shown}");
    let answer =
        place.run(&["ask", "--json", "P-107 上次大修是什么时候？"]).json()["answer"].clone();
    assert_eq!(answer["quotes"]["grade"], "not_found", "{answer:#}");
    assert_eq!(answer["quotes"]["absent"][0], "P-107");
    assert_eq!(answer["refused"], true);
    assert!(!answer["citations"].as_array().unwrap().is_empty(), "{answer:#}");
    let shown = place.run(&["ask", "老婆生孩子了，我能歇几天啊？"]).stdout;
    assert!(shown.contains("nearest passages:") && shown.contains("陪产假十五天"), "{shown}");
}

/// An offline answer quotes its evidence; each quote is in the file, byte for byte.
#[test]
fn citations_are_the_bytes_of_the_files() {
    let place = harbour(Place::new());
    place.run_to(0, &["index", "docs"]);
    let mut checked = 0;
    let mut cited = |question: &str| {
        let answer = place.run_to(0, &["ask", "--json", question]).json()["answer"].clone();
        assert_eq!(answer["written_by"]["kind"], "quotation");
        assert!(!answer["trace"].as_array().unwrap().is_empty());
        let mut uris = HashSet::new();
        for citation in answer["citations"].as_array().unwrap() {
            let uri = citation["uri"].as_str().unwrap();
            uris.insert(uri.to_owned());
            assert_eq!(citation["check"], "verified", "{citation:#}");
            if Path::new(uri).extension().is_some_and(|ending| ending == "md" || ending == "txt") {
                let end = |name: &str| citation["span"][name].as_u64().unwrap() as usize;
                let bytes = std::fs::read(place.path(uri)).unwrap();
                let quoted = std::str::from_utf8(&bytes[end("start")..end("end")]).unwrap();
                assert_eq!(citation["quote"], quoted, "{uri}");
                checked += 1;
            }
        }
        uris
    };
    let uris = cited("In which town is the supplier of the KX-40's slewing bearing?");
    assert!(uris.contains("docs/suppliers.csv") && uris.contains("docs/kx-40-datasheet.md"));
    let uris = cited("Who is the keeper of the rig on which the TW-9 sensor is calibrated?");
    assert!(uris.contains("docs/ellisand-lab-notes.txt"), "{uris:?}");
    let uris =
        cited("INC-205 号故障引出的调查建议开展一项改造行动，这项行动在中国由谁担任现场负责人？");
    assert!(uris.iter().any(|uri| uri.contains("-zh.")), "{uris:?}");
    assert!(3 <= checked, "only {checked} quotes were compared with files");

    // `--trace` prints the reasoning as a tree; `--quiet` prints the answer only.
    let question = "Who supervises the hall in which the KX-40 is assembled?";
    let (long, short) = (["ask", "--trace", question], ["ask", "--quiet", question]);
    let (long, short) = (place.run_to(0, &long).stdout, place.run_to(0, &short).stdout);
    assert!(long.contains("├─ gathers") && !short.contains("├─ gathers"), "{long}");
    assert!(long.contains("no language model wrote this"), "{long}");
    assert!(long.contains(short.trim()), "{long}\n{short}");
    // The same question gives the same bytes.
    assert_eq!(place.run_to(0, &["ask", "--trace", question]).stdout, long);
}

#[test]
fn searches_show_the_parts_of_scores() {
    let place = harbour(Place::new());
    place.run_to(0, &["index", "docs"]);
    for by in ["hybrid", "words", "atoms", "hops"] {
        let query = ["search", "--json", "-k", "3", "--by", by, "Who calibrates the TW-9 sensor?"];
        let hits = place.run_to(0, &query).json();
        let hits = hits.as_array().unwrap();
        assert!((1..=3).contains(&hits.len()), "{by}");
        let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| b <= a), "{by}: {scores:?}");
        assert!(hits.iter().all(|hit| !hit["parts"].as_object().unwrap().is_empty()), "{by}");
    }
    let ran = place.run_to(1, &["search", "--by", "meaning", "x"]);
    assert!(ran.stderr.contains("no embedder"), "{}", ran.stderr);
}

#[test]
fn status_counts_and_export_lists_the_same() {
    let place = harbour(Place::new());
    place.run_to(0, &["index", "docs"]);
    let summary = place.run_to(0, &["status", "--json"]).json()["summary"].clone();
    let export = place.run_to(0, &["export"]).stdout;
    place.run_to(0, &["export", "--output", "graph.jsonl"]);
    assert!(place.read("graph.jsonl") == export);
    let nodes = lines(&export);
    let count = |kind: &str| nodes.iter().filter(|node| node["node"] == kind).count() as u64;
    for (name, kind) in
        [("sources", "source"), ("sections", "section"), ("chunks", "chunk"), ("sentences", "atom")]
    {
        assert_eq!(summary[name], count(kind), "{name}");
    }
    assert_eq!(summary["files"], 14);
    assert_eq!((&summary["questions"], &summary["vectors"]), (&0.into(), &0.into()));
    // Both ends of each edge are known nodes.
    let ids: HashSet<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    for edge in nodes.iter().filter(|line| !line["edge"].is_null()) {
        let known = |end: &str| ids.contains(edge[end].as_str().unwrap());
        assert!(known("from") && known("to"), "{edge}");
    }
}

#[test]
fn deleting_files_leaves_the_base_of_the_others() {
    let place = harbour(Place::new());
    let gone = ["docs/suppliers.csv", "docs/project-heron.md"];
    place.run_to(0, &["--base", "all", "index", "docs"]);
    let whole = place.export("all");
    let deleted = place.run_to(0, &["--base", "all", "--json", "delete", gone[0], gone[1]]).json();
    assert_eq!(deleted["deleted"], serde_json::json!([gone[1], gone[0]]));
    place.run_to(1, &["--base", "all", "delete", gone[0]]);
    let kept: Vec<_> = gone.map(|file| (file, place.read(file))).into();
    for file in gone {
        std::fs::remove_file(place.path(file)).unwrap();
    }
    place.run_to(0, &["--base", "rest", "index", "docs"]);
    let rest = place.export("rest");
    assert!(rest != whole);
    assert!(place.export("all") == rest, "something of the deleted files is left");
    // Compares only the order. Scores still differ, because the full-text index counts deleted
    // chunks until it merges its segments.
    let order = |base: &str| {
        let query = "Isla Corviston Kestrelwick Project Heron";
        let hits = place.run_to(0, &["--base", base, "--json", "search", query]).json();
        let hits = hits.as_array().unwrap().iter().map(|hit| hit["chunk"]["id"].to_string());
        hits.collect::<Vec<_>>()
    };
    assert_eq!(order("all"), order("rest"));

    // Indexing brings the files back; pruning removes them again.
    for (file, text) in kept {
        place.write(file, text);
    }
    place.run_to(0, &["--base", "all", "index", "docs"]);
    assert!(place.export("all") == whole);
    for file in gone {
        std::fs::remove_file(place.path(file)).unwrap();
    }
    place.run_to(0, &["--base", "all", "index", "--prune", "docs"]);
    assert!(place.export("all") == rest);
    place.run_to(0, &["--base", "all", "delete", "docs"]);
    assert_eq!(place.export("all"), "");
}

#[test]
fn an_estimate_is_free_and_accurate() {
    let stub = good_stub();
    let place = harbour(Place::with(&stub));
    let estimate = place.run_to(0, &["--json", "estimate", "docs"]).json()["estimate"].clone();
    assert_eq!((&estimate["files"], &estimate["unchanged"]), (&14.into(), &0.into()));
    // One call for each chunk, and one more for each of the 11 chunks that are tables.
    let chunks = estimate["chunks"].as_u64().unwrap();
    assert_eq!(estimate["calls"].as_u64(), Some(chunks + 11));
    let tokens = estimate["usage"]["prompt_tokens"].as_u64().unwrap();
    assert_eq!(stub.received().requests(), 0);
    assert!(!place.path(".pikerag").exists(), "an estimate leaves nothing behind");

    let report = place.run_to(0, &["--json", "index", "docs"]).json();
    assert_eq!(estimate["calls"], stub.received().chats);
    let parts = report["spent"]["parts"].as_array().unwrap();
    let asked =
        parts.iter().filter(|part| part["role"] == "atomize" || part["role"] == "summarize");
    let paid: u64 = asked.map(|part| part["prompt_tokens"].as_u64().unwrap()).sum();
    println!("estimated {tokens} prompt tokens, paid {paid}");
    // The stub counts tokens by its own rule, so the figures differ.
    assert!((paid / 2..=paid * 2).contains(&tokens), "estimated {tokens}, paid {paid}");

    let again = place.run_to(0, &["--json", "estimate", "docs"]).json()["estimate"].clone();
    assert_eq!((&again["unchanged"], &again["calls"]), (&14.into(), &0.into()));
    // Offline, no model is called, even if one is configured.
    stub.reset();
    let question = "Who supervises the hall in which the KX-40 is assembled?";
    place.run_to(0, &["--offline", "--base", "other", "index", "docs"]);
    place.run_to(0, &["--offline", "--base", "other", "ask", question]);
    assert_eq!(stub.received().requests(), 0);
}

const KEY: &str = "sk-secret-test-4711";

#[test]
fn the_key_is_never_shown() {
    let refusing = stub(vec![(Fault::Unauthorized, When::Always)]);
    let place = harbour(Place::new())
        .set("OPENAI_BASE_URL", &refusing.url())
        .set("OPENAI_MODEL", "m")
        .set("OPENAI_API_KEY", KEY);
    let mut shown = String::new();
    for (code, arguments) in [
        (1, &["-vv", "doctor"][..]),
        (3, &["-vv", "index", "docs/company-guide.md"]),
        (3, &["--json", "index", "docs/company-guide.md"]),
        (1, &["-vv", "ask", "Who?"]),
        (0, &["status", "--json"]),
        (0, &["export"]),
    ] {
        let ran = place.run_to(code, arguments);
        shown += &ran.stdout;
        shown += &ran.stderr;
    }
    assert!(shown.contains("refused"), "the server was not asked: {shown}");
    let heads = refusing.heads();
    assert!(!heads.is_empty() && heads.iter().all(|head| head.contains(KEY)), "{heads:?}");
    assert!(!shown.contains(KEY), "{shown}");
    for entry in std::fs::read_dir(place.path(".pikerag")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{path:?}");
    }
}

#[test]
fn an_evaluation_continues_where_it_stopped() {
    let place = Place::new();
    place.write_workload();
    let eval: Vec<&str> =
        "eval --json --methods naive-rag --limit 6 --out out --questions questions.jsonl --corpus corpus.jsonl"
            .split(' ')
            .collect();
    place.run_to(0, &eval);
    let rows = place.read("out/rows.jsonl");
    assert_eq!(rows.lines().count(), 7, "a header and six rows");
    // As if the process had been killed while it wrote the last row.
    let cut = &rows[..rows.len() - 20];
    place.write("out/rows.jsonl", cut);
    let report = place.run_to(0, &eval).json();
    assert_eq!(report["report"]["overall"][0]["questions"], 6);
    let whole = rows[..=cut.rfind('\n').unwrap()].to_owned();
    let now = place.read("out/rows.jsonl");
    assert!(now.starts_with(&whole) && now.lines().count() == 7, "{now}");
    let other = place.run(&[&eval[..], &["--corpus", "elsewhere.jsonl"]].concat());
    assert_eq!(other.code, Some(1), "{}", other.stderr);
}
