//! Tests how `eval` reads, judges, counts, forecasts and reports.

use std::time::Duration;

use pikerag_test_support::{Faults, Server, full_oracle, optional, write_data_sets};
use serde_json::Value;

use crate::common::{Place, good_stub, thousandths};

/// HotpotQA's published format with words of our own.
const HOTPOTQA: &str = r#"[
  {"_id": "a1", "question": "In which town was the builder of the Orla mill born?", "answer": "Delft", "type": "bridge", "level": "hard",
   "supporting_facts": [["Orla mill", 0], ["Jan Vos", 0]],
   "context": [["Orla mill", ["The Orla mill was built by Jan Vos in 1822."]],
               ["Jan Vos", ["Jan Vos was born in Delft."]], ["Karsk", ["Karsk is a harbour."]]]},
  {"_id": "a2", "question": "Is Karsk a harbour?", "answer": "yes", "type": "comparison", "level": "easy",
   "supporting_facts": [["Karsk", 0]], "context": [["Karsk", ["Karsk is a harbour."]], ["Rusk", ["Rusk is bread."]]]}]"#;
const NEUTRAL: &str =
    "{\"id\": \"a1\", \"question\": \"What is bread?\", \"answers\": [\"Rusk\"]}\n";
const CORPUS: &str = "{\"id\": \"c1\", \"title\": \"Rusk\", \"text\": \"Rusk is bread.\"}\n";

/// With models, the judge decides Acc and its calls are booked to the judge. A second run judges
/// nothing again. A run that adds judging pays for nothing else.
#[test]
fn judge_calls_are_booked_to_the_judge() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write("pikerag.toml", "[prices.stub]\nprompt = 2.0\ncompletion = 8.0\n");
    place.write_workload();
    let eval: Vec<&str> =
        "eval --json --methods kar3,naive-rag --limit 10 --out out --questions questions.jsonl --corpus corpus.jsonl"
            .split(' ')
            .collect();
    let bare = place.run_to(0, &eval).json();
    assert_eq!(stub.received().kind("judge"), 0);
    assert!(bare["report"]["overall"][0]["further"].get("acc").is_none());
    let answered = stub.received().requests();
    let judging = [&eval[..], &["--judge"]].concat();
    let report = place.run_to(0, &judging).json();
    let judged = stub.received().kind("judge");
    assert!((1..=20).contains(&judged), "{judged}");
    assert_eq!(stub.received().requests(), answered + judged, "only judging was paid");
    let first = |pointer: &str| thousandths(&report, &format!("/report/overall/0/{pointer}"));
    assert_eq!((first("further/acc/mean"), first("em/mean")), (1000, 1000));
    assert_eq!(first("judge/calls"), 1000);
    let by_role = &report["report"]["overall"][0]["by_role"];
    assert!(by_role.get("judge").is_none() && by_role.get("propose").is_some(), "{by_role}");
    let sum: f64 =
        by_role.as_object().unwrap().values().map(|r| r["calls"].as_f64().unwrap()).sum();
    assert!((sum * 1000.0 - first("calls/mean") as f64).abs() < 1.0);
    assert!(0.0 < report["report"]["overall"][0]["usd"].as_f64().unwrap());
    // Nothing is left to do.
    let again = place.run_to(0, &judging).json();
    assert_eq!(
        (&again["report"], stub.received().requests()),
        (&report["report"], answered + judged)
    );
    // Further metrics pay only for their own calls. The passages of kar3 contain its answers.
    let detailed = [&judging[..], &["--consistency", "--perplexity"]].concat();
    let detailed = place.run_to(0, &detailed).json();
    let further = &detailed["report"]["overall"][0]["further"];
    assert_eq!(thousandths(further, "/consistency/mean"), 1000);
    assert!(1000 < thousandths(further, "/perplexity/mean"), "{further}");
    assert_eq!(thousandths(further, "/acc/mean"), 1000);
    // Log-probabilities need a new request, so each answer is requested once more.
    assert!(
        stub.received().requests() <= 2 * (answered + judged) + 40,
        "{}",
        stub.received().requests()
    );
    let comparisons = report["report"]["significance"].as_array().unwrap();
    assert!(comparisons.iter().any(|c| c["metric"] == "acc" && c["method"] == "naive-rag"));
    let page = place.read("out/report.html");
    assert!(page.contains("Acc in %") && page.contains("Calls per component"));
    let indexing: Value = serde_json::from_str(&place.read("out/indexing.json")).unwrap();
    assert_eq!(indexing["questions"]["chunks"], 500);
}

#[test]
fn published_questions_bring_their_corpus_and_data_sets_stay_separate() {
    let place = Place::new();
    place.write("dev.json", HOTPOTQA);
    place.write("rusk.jsonl", NEUTRAL);
    place.write("bread.jsonl", CORPUS);
    let alone = "--offline eval --json --methods naive-rag --out alone --questions dev.json";
    let report = place.run_to(0, &alone.split(' ').collect::<Vec<_>>()).json();
    assert_eq!(thousandths(&report, "/report/overall/0/final_recall/mean"), 1000);
    assert_eq!(place.read("alone/corpus.jsonl").lines().count(), 4);
    // Other questions mean another corpus: the run fails and leaves the base of the existing rows
    // unchanged.
    let fewer = format!("{alone} --limit 1");
    let ran = place.run_to(1, &fewer.split(' ').collect::<Vec<_>>());
    assert!(ran.stderr.contains("other questions"), "{}", ran.stderr);
    assert_eq!(place.read("alone/corpus.jsonl").lines().count(), 4);
    // Two data sets share the identifier of a question. The first brings its corpus; the second has
    // a corpus file.
    let both: Vec<&str> =
        "--offline eval --json --methods naive-rag,hop-rag --out both --questions dev.json \
         --questions rusk.jsonl --corpus - --corpus bread.jsonl"
            .split_whitespace()
            .collect();
    let report = place.run_to(0, &both).json()["report"].clone();
    assert_eq!(report["overall"][0]["questions"], 3);
    let names: Vec<&Value> =
        report["data_sets"].as_array().unwrap().iter().map(|part| &part["name"]).collect();
    assert_eq!(names, ["hotpotqa", "rusk"]);
    assert!(place.path("both/hotpotqa/base").exists() && place.path("both/rusk/base").exists());
    let rows = place.read("both/rows.jsonl");
    assert_eq!(rows.lines().count(), 7);
    place.run_to(0, &both);
    assert_eq!(place.read("both/rows.jsonl"), rows, "nothing was asked again");
    let text = place.run_to(0, &[&both[..2], &both[3..]].concat()).stdout;
    assert!(text.contains("== hotpotqa ==") && text.contains("Type: bridge"), "{text}");
    let markdown = place.read("both/report.md");
    assert!(markdown.contains("## rusk\n"), "{markdown}");
    let ran = place.run_to(2, &[&both[..], &["--corpus", "x"]].concat());
    assert!(ran.stderr.contains("3 corpora"), "{}", ran.stderr);
}

/// A dry run costs nothing and leaves no file, and actual costs stay within its bounds.
#[test]
fn a_dry_run_is_free_and_its_bounds_hold() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write_workload();
    let eval: Vec<&str> =
        "eval --json --judge --methods kar3,kar3:n=2,naive-rag,hop-rag,self-ask-hr,ircot,iter-retgen,\
         searchain,probtree,least-to-most-r,replug,self-rag,think-then-act,tree-of-thought,ra-isf,crp-rag \
         --limit 12 --questions questions.jsonl --corpus corpus.jsonl"
            .split(' ')
            .collect();
    let forecast = place.run_to(0, &[&eval[..], &["--dry-run"]].concat()).json();
    assert_eq!(stub.received().requests(), 0);
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), 2, "nothing is left behind");
    assert_eq!(forecast["indexing"][0]["calls"], 500);
    let report = place.run_to(0, &[&eval[..], &["--out", "out"]].concat()).json();
    let mut compared = 0;
    for summary in report["report"]["overall"].as_array().unwrap() {
        let expected = forecast["expected"].as_array().unwrap();
        let own = expected.iter().find(|e| e["method"] == summary["method"]).unwrap();
        for (sum, most) in [
            ("calls", "calls"),
            ("prompt_tokens", "prompt_tokens"),
            ("completion_tokens", "completion_tokens"),
        ] {
            let paid = 12.0 * summary[sum]["mean"].as_f64().unwrap();
            let most = own["forecast"]["most"][most].as_f64().unwrap();
            let typical = own["forecast"]["typical"][sum].as_f64().unwrap();
            println!("{} {sum}: {paid:.0} paid, {typical} typical, {most} most", summary["method"]);
            assert!(paid <= most, "{summary:#}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 16);
    let guess = ["eval", "--dry-run", "--methods", "guess", "--questions", "questions.jsonl"];
    let ran = place.run_to(2, &guess);
    assert!(ran.stderr.contains("no method `guess`"), "{}", ran.stderr);
}

#[test]
fn presets_are_listed_and_run() {
    let place = Place::new();
    let listed = place.run_to(0, &["eval", "--preset", "list"]).stdout;
    assert!(listed.contains("kar3-table-1 ") && listed.contains("crp-rag-figure-3 "), "{listed}");
    let fails = |arguments: &[&str], parts: &[&str]| {
        let ran = place.run(arguments);
        assert_ne!(ran.code, Some(0));
        assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{parts:?}: {}", ran.stderr);
    };
    fails(&["eval", "--preset", "kar3-table-4"], &["no preset `kar3-table-4`", "kar3-table-6"]);
    fails(&["eval", "--preset", "kar3-table-3"], &["--data DIR"]);
    fails(&["eval", "--preset", "kar3-table-3", "--data", "."], &["no data set `hotpotqa`"]);
    fails(&["eval", "--out", "x"], &["--questions"]);
    place.write("dev.json", HOTPOTQA);
    let eval = ["eval", "--questions", "dev.json", "--out", "x", "--methods"];
    fails(&[&eval[..], &["kar3:frobs=3"]].concat(), &["kar3:frobs=3", "frobs"]);
    fails(&[&eval[..], &["kar3,kar3"]].concat(), &["named twice"]);
    fails(&[&eval[..], &["guess"]].concat(), &["no method `guess`", "choose from pike"]);
    fails(&[&eval[..], &["kar3", "--format", "squad"]].concat(), &["no format `squad`", "musique"]);
    fails(&[&eval[..], &["kar3", "--judge"]].concat(), &["no model to judge with"]);
}

/// A table of a paper on real questions, without a model: its figures appear beside ours.
#[test]
fn a_preset_shows_the_figures_of_the_paper_beside_ours() {
    let Some(data) = optional("data/multihop/hotpotqa.questions.jsonl") else { return };
    let data = data.parent().unwrap();
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    let beginning = |file: &str, lines: usize| -> String {
        let text = std::fs::read_to_string(data.join(file)).unwrap();
        text.split_inclusive('\n').take(lines).collect()
    };
    // Forecasts a whole table from the beginning of each data set.
    for set in ["hotpotqa", "musique", "2wiki"] {
        for part in ["questions", "corpus"] {
            let file = format!("{set}.{part}.jsonl");
            place.write(&format!("data/{file}"), beginning(&file, 40));
        }
    }
    let dry = ["eval", "--preset", "kar3-table-1", "--data", "data", "--dry-run"];
    let forecast = place.run_to(0, &dry).stdout;
    assert!(forecast.contains("musique") && forecast.contains("probtree"), "{forecast}");
    place.write("hotpotqa.jsonl", beginning("hotpotqa.questions.jsonl", 5));
    place.write("bread.jsonl", CORPUS);
    let eval: Vec<&str> =
        "--offline eval --json --preset kar3-table-8 --methods kar3:n=1,kar3:n=2 --out out \
         --questions hotpotqa.jsonl --corpus bread.jsonl"
            .split_whitespace()
            .collect();
    // A judged table needs a judge model.
    assert!(place.run_to(1, &eval).stderr.contains("no model to judge with"));
    let eval: Vec<&str> =
        "--offline eval --json --preset kar3-table-11 --methods kar3 --questions hotpotqa.jsonl \
         --corpus bread.jsonl"
            .split_whitespace()
            .collect();
    place.run_to(0, &eval);
    assert!(place.path("runs/kar3-table-11/report.html").exists());
    let eval: Vec<&str> =
        "--offline eval --json --methods kar3-paper --out out --questions hotpotqa.jsonl --corpus bread.jsonl"
            .split_whitespace()
            .collect();
    let report = place.run_to(0, &eval).json();
    let beside = report["report"]["beside"].as_array().unwrap();
    assert!(beside.iter().any(|b| b["theirs"]["table"] == "6" && b["theirs"]["value"] == 61.40));
}

/// A forecast learns from questions on another base and from those of the current run. After twenty
/// questions it is within a fifth of the actual cost.
#[test]
fn a_forecast_learns_from_earlier_questions() {
    let stub = good_stub();
    let place = Place::with(&stub);
    place.write_workload();
    place.run_to(0, &["--base", "base", "index", "corpus.jsonl"]);
    let methods = ["kar3", "adaptive", "ircot", "self-ask-hr", "naive-rag"];
    let listed = methods.join(",");
    let eval = |base: &str, more: &[&str]| {
        let all = [
            "--base",
            base,
            "--json",
            "eval",
            "--questions",
            "questions.jsonl",
            "--methods",
            &listed,
        ];
        place.run_to(0, &[&all[..], more].concat()).json()
    };
    let tokens = |forecast: &Value, method: &str| {
        let own = forecast["expected"].as_array().unwrap();
        let own = own.iter().find(|own| own["method"] == method).unwrap();
        let typical = &own["forecast"]["typical"];
        let sum =
            ["prompt_tokens", "completion_tokens"].map(|part| typical[part].as_f64().unwrap());
        (sum[0] + sum[1], own["forecast"]["learned_from"].as_u64().unwrap())
    };
    let before = eval("base", &["--dry-run"]);
    assert!(methods.iter().all(|method| tokens(&before, method).1 == 0), "{before:#}");
    // Asks twenty of the fifty questions; the forecast for all fifty begins with these rows.
    eval("base", &["--limit", "20", "--out", "few"]);
    std::fs::create_dir(place.path("all")).unwrap();
    std::fs::copy(place.path("few/rows.jsonl"), place.path("all/rows.jsonl")).unwrap();
    let learned = eval("base", &["--dry-run", "--out", "all"]);
    // Another base uses the earlier costs, too.
    place.run_to(0, &["--base", "other", "index", "corpus.jsonl"]);
    let elsewhere = eval("other", &["--dry-run", "--out", "none"]);
    let report = eval("base", &["--out", "whole"]);
    for method in methods {
        let summaries = report["report"]["overall"].as_array().unwrap();
        let own = summaries.iter().find(|own| own["method"] == method).unwrap();
        let mean = |part: &str| own[part]["mean"].as_f64().unwrap();
        let paid = 50.0 * (mean("prompt_tokens") + mean("completion_tokens"));
        let forecasts =
            [&before, &learned, &elsewhere].map(|forecast| tokens(forecast, method).0 / paid);
        println!("{method}: {paid:.0} tokens; forecasts as shares of them: {forecasts:.2?}");
        assert_eq!((tokens(&learned, method).1, tokens(&elsewhere, method).1), (25, 5));
        assert!((0.8..=1.2).contains(&forecasts[1]), "{method}: {forecasts:?}");
    }
}

/// Each preset on one question of each data set, with a model that answers from its prompts: all methods
/// have rows, no question fails, no reply is unreadable, and no prompt is unknown to the stub.
#[test]
fn every_preset_runs_to_its_end_on_the_stub() {
    let stub = Server::start(full_oracle, Faults::default(), Duration::ZERO);
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let place = Place::with(&stub);
    write_data_sets(&place.path("data"));
    let settings =
        "[index]\nwith = [\"graph\", \"tree\"]\n[methods]\nskr_examples = \"data/known.jsonl\"\n";
    let records = std::fs::read_to_string(format!("{examples}/maintenance/pikerag.toml")).unwrap();
    for preset in pikerag_engine::presets().unwrap() {
        let name = preset.name.as_str();
        // No table of a paper, and minutes of indexing.
        if name == "tables" {
            continue;
        }
        let (data, settings) = match name {
            "small-models" => (examples.to_owned(), ""),
            _ if name.starts_with("pike-l") => {
                (format!("{examples}/maintenance"), records.as_str())
            }
            _ => ("data".to_owned(), settings),
        };
        place.write("pikerag.toml", settings);
        let ran = ["--json", "eval", "--limit", "1", "--data", &data, "--preset", name];
        let report = place.run_to(0, &ran).json()["report"].clone();
        let rows: Vec<&str> = report["overall"]
            .as_array()
            .unwrap()
            .iter()
            .map(|summary| summary["method"].as_str().unwrap())
            .collect();
        assert_eq!(rows, preset.methods, "{name}: each method has its row");
        let answers = place.read(&format!("runs/{name}/answers.jsonl"));
        let unreadable = answers.lines().find(|line| line.contains("\"event\":\"unreadable\""));
        assert_eq!(unreadable, None, "{name}");
        assert_eq!(stub.received().kind("other"), 0, "{name}: {:?}", stub.received().kinds);
    }
}

/// Without the parts that they work on, methods are named before the first question and get no row.
#[test]
fn methods_that_the_base_cannot_serve_are_named_and_left_out() {
    let stub = good_stub();
    let place = Place::with(&stub);
    write_data_sets(&place.path("data"));
    let eval = ["--json", "eval", "--preset", "crp-rag-table-4", "--data", "data", "--limit", "1"];
    let methods = ["--methods", "naive-rag,raptor,graphrag-local,skr"];
    let ran = place.run_to(0, &[&eval[..], &methods[..]].concat());
    for part in
        ["left out raptor", "left out graphrag-local", "left out skr", "\"graph\"", "skr_examples"]
    {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let overall = ran.json()["report"]["overall"].clone();
    assert_eq!(
        (overall[0]["method"].as_str(), overall.as_array().unwrap().len()),
        (Some("naive-rag"), 1)
    );
    let none = ["--out", "none", "--methods", "raptor"];
    let ran = place.run_to(1, &[&eval[1..], &none[..]].concat());
    assert!(ran.stderr.contains("no method is left to measure"), "{}", ran.stderr);
    // KAR³ Table 13: the sentences that one of its rows searches are indexed for it.
    let eval = ["--json", "eval", "--preset", "kar3-table-13", "--data", "data", "--limit", "4"];
    let report = place.run_to(0, &eval).json()["report"].clone();
    assert_eq!(report["overall"][1]["method"], "kar3-sentences");
    assert!(0 < thousandths(&report, "/overall/1/final_recall/mean"), "{report:#}");
}

/// The levels beyond facts over the public example, without a model: figures by answered class, the
/// quality of forecasts, and what can be counted of ideas.
#[test]
fn the_levels_have_presets_of_their_own() {
    let place = Place::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/maintenance");
    let settings = std::fs::read_to_string(format!("{example}/pikerag.toml")).unwrap();
    place.write("pikerag.toml", settings);
    let report = |preset: &str, methods: &str| {
        let ran = ["--json", "eval", "--preset", preset, "--data", example, "--methods", methods];
        place.run_to(0, &ran).json()["report"].clone()
    };
    let levels = report("pike-levels", "pike,auto-rag");
    let pike = &levels["overall"][0]["further"];
    assert!(0.9 <= pike["routed"]["mean"].as_f64().unwrap(), "{pike}");
    assert_eq!(pike["diversity_proxy"]["mean"], 0.0, "there are no ideas without a model");
    let classes: Vec<&str> = levels["by_class"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    let all = pikerag_engine::knowledge::TaskClass::ALL.iter().map(|class| class.as_str());
    assert_eq!(classes, all.collect::<Vec<_>>());
    // Both methods answer the same questions.
    assert_eq!(levels["by_class"][3]["summaries"][0]["em"]["mean"], 1.0);
    assert_eq!(levels["by_class"][3]["summaries"][1]["em"]["mean"], 0.0);

    let ahead = report("pike-l3", "pike")["overall"][0]["further"].clone();
    assert_eq!((&ahead["routed"]["mean"], &ahead["covered"]["mean"]), (&1.0.into(), &1.0.into()));
    let error = ahead["error"]["mean"].as_f64().unwrap();
    assert!(0.0 < error && error < 0.3, "{ahead}");
    let nobody = place.run_to(1, &["eval", "--preset", "pike-l4", "--data", example]);
    assert!(nobody.stderr.contains("no model to judge with"), "{}", nobody.stderr);
}
