//! Tests the levels above facts from the command line, without a model where none is needed.

use std::collections::BTreeMap;
use std::time::Duration;

use pikerag_test_support::{Faults, OracleReply, Server, optional};
use serde_json::{Value, json};

use crate::common::Place;

const SETTINGS: &str = r#"
[embed]
kind = "none"

[[records]]
name = "drug_approval"
key = ["drug"]
fields = [
    { name = "drug", columns = ["brand_name", "title"] },
    { name = "approved", type = "date", columns = ["approval_date"] },
    { name = "company" },
    { name = "formulation", columns = ["Biosimilar or new formulation?"] },
]
"#;

/// The public table, and the monthly counts of its corpus file; `None` if the data is absent.
fn approvals() -> Option<(Place, BTreeMap<String, usize>)> {
    let csv = optional("data/tabular/fda_novel_drug_approvals_2010_2019.csv")?;
    let corpus = optional("data/tabular/fda_novel_drug_approvals_2010_2019.corpus.jsonl")?;
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    std::fs::copy(csv, place.path("approvals.csv")).unwrap();
    place.run_to(0, &["index", "approvals.csv"]);
    let mut per_month = BTreeMap::new();
    for line in std::fs::read_to_string(corpus).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let date: Vec<u32> = record["approval_date"]
            .as_str()
            .unwrap()
            .split('/')
            .map(|part| part.parse().unwrap())
            .collect();
        let month = format!("20{:02}-{:02}", date[2], date[0]);
        *per_month.entry(month).or_default() += 1;
    }
    Some((place, per_month))
}

fn ask(place: &Place, question: &str) -> Value {
    place.run_to(0, &["--json", "ask", question]).json()["answer"].clone()
}

/// Counts for each of ten years and for all of them at once, in both languages, equal a plain count
/// of the corpus file.
#[test]
fn a_year_is_counted_exactly_in_either_language() {
    let Some((place, per_month)) = approvals() else { return };
    let mut per_year = BTreeMap::<&str, usize>::new();
    let mut per_quarter = BTreeMap::<String, usize>::new();
    for (month, count) in &per_month {
        *per_year.entry(&month[..4]).or_default() += count;
        let quarter = month[5..].parse::<usize>().unwrap().div_ceil(3);
        *per_quarter.entry(format!("{}-Q{quarter}", &month[..4])).or_default() += count;
    }
    for (year, count) in &per_year {
        for question in [
            format!("How many drugs were approved in {year}?"),
            format!("{year}年批准了多少种药物？"),
            format!("What was the number of approvals in {year}?"),
        ] {
            let answer = ask(&place, &question);
            assert_eq!(answer["text"], count.to_string(), "{question}");
            let figures = &answer["worked"]["figures"];
            assert_eq!(figures["records"].as_array().unwrap().len(), *count);
        }
    }
    for (question, expected) in [
        ("How many drugs were approved per year?", rows(&per_year)),
        ("每年批准了多少种药物？", rows(&per_year)),
        ("How many drugs were approved per quarter?", rows(&per_quarter)),
        ("每个季度批准了多少种药物？", rows(&per_quarter)),
    ] {
        assert_eq!(figures(&ask(&place, question)), expected, "{question}");
    }
}

fn rows<K: ToString + Ord>(counts: &BTreeMap<K, usize>) -> BTreeMap<String, f64> {
    counts.iter().map(|(key, count)| (key.to_string(), *count as f64)).collect()
}

fn figures(answer: &Value) -> BTreeMap<String, f64> {
    let rows = answer["worked"]["figures"]["rows"].as_array().unwrap();
    let row = |row: &Value| {
        (row["key"][0].as_str().unwrap_or_default().to_owned(), row["value"].as_f64().unwrap())
    };
    rows.iter().map(row).collect()
}

/// Counts by the values of a column equal the counts that this test makes of the listed records.
#[test]
fn companies_and_kinds_are_counted_exactly() {
    let Some((place, _)) = approvals() else { return };
    let listed = place.run_to(0, &["--json", "records"]).json();
    for (field, questions) in [
        ("company", ["How many drugs were approved per company?", "每家公司获批了多少种药物？"]),
        (
            "formulation",
            ["How many drugs were approved by formulation?", "How many approvals per formulation?"],
        ),
    ] {
        let mut counts = BTreeMap::<String, f64>::new();
        for record in listed.as_array().unwrap() {
            let fields = record["fields"].as_array().unwrap();
            let value = fields.iter().find(|held| held["name"] == field);
            let value = value.map_or("", |held| held["raw"].as_str().unwrap());
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            *counts.entry(value).or_default() += 1.0;
        }
        for question in questions {
            let shown: BTreeMap<String, f64> = figures(&ask(&place, question))
                .into_iter()
                .map(|(key, value)| (key.to_lowercase(), value))
                .collect();
            assert_eq!(shown, counts, "{question}");
        }
    }
    let most = ask(&place, "Which company had the most approvals?");
    assert_eq!(most["text"], "Genentech (14); Novartis (14)");
}

/// A forecast shows its models, the naive one among them, and its interval. A question about a past
/// year is answered by counting.
#[test]
fn a_future_year_is_forecast_and_a_past_year_is_counted() {
    let Some((place, _)) = approvals() else { return };
    let answer = ask(&place, "How many drugs will be approved in 2020?");
    let forecast = &answer["worked"]["forecast"];
    assert_eq!(answer["worked"]["class"], "predictive");
    assert_eq!(forecast["points"][0]["period"], "2020");
    let tried: Vec<&str> = forecast["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tried| tried["model"].as_str().unwrap())
        .collect();
    assert!(tried.contains(&"naive") && tried.contains(&"combination"), "{tried:?}");
    let number = |key: &str| forecast["points"][0][key].as_f64().unwrap();
    assert!(number("low") <= number("value") && number("value") <= number("high"));
    let past = ask(&place, "How many drugs will be approved in 2018?");
    assert_eq!(
        (past["text"].as_str(), past["worked"]["class"].as_str()),
        (Some("58"), Some("quantitative"))
    );
    // The chart of a forecast.
    let ran = place.run_to(
        0,
        &["ask", "How many drugs will be approved next quarter?", "--chart", "next.svg"],
    );
    assert!(ran.stdout.contains("2020-Q1"), "{}", ran.stdout);
    let svg = place.read("next.svg");
    assert!(svg.starts_with("<svg"), "{svg}");
    assert!(svg.contains("2020-Q1") && svg.contains("<polygon"));
}

const HARBOUR: &str = r#"
[embed]
kind = "none"

[[records]]
name = "repair"
description = "a repair of a crane"
key = ["order"]
fields = [
    { name = "order" },
    { name = "day", type = "date" },
    { name = "crane" },
    { name = "fault" },
    { name = "downtime", type = "number" },
]
"#;

const REPAIRS: &str = "order,day,crane,fault,downtime\n\
    R-1,2024-01-03,40-117,brake wear,12.5 h\nR-2,2024-02-03,62-019,gearbox leak,3 h\n\
    R-3,2024-02-20,40-117,brake wear,90 min\nR-4,2024-03-02,62-021,brake wear,2 h\n\
    R-5,2024-04-09,40-117,cable,5 h\nR-6,2024-05-05,62-019,brake wear,\n";

/// The same words ask for a fact, a figure or reading, depending on what the base contains.
#[test]
fn the_class_depends_on_the_contents_of_the_base() {
    let place = Place::new();
    place.write("pikerag.toml", HARBOUR);
    place.write("repairs.csv", REPAIRS);
    place.write("note.md", "# Note\n\nCrane 40-117 was built in 1997 by Norrick Steel.\n");
    place.run_to(0, &["index", "repairs.csv", "note.md"]);
    let class = |question: &str| {
        let shown = place.run(&["--json", "ask", question]).json();
        let trace = shown["answer"]["trace"].as_array().unwrap();
        let classified = trace.iter().find(|event| event["event"] == "classified").unwrap();
        classified["class"].as_str().unwrap().to_owned()
    };
    let list = "Which repairs were done in February 2024?";
    let count = "How many repairs did crane 40-117 have?";
    let next = "How many repairs will there be in June 2024?";
    assert_eq!([list, count, next].map(class), ["factual", "quantitative", "predictive"]);
    place.run_to(0, &["delete", "repairs.csv"]);
    assert_eq!([list, count].map(class), ["bridging", "factual"]);
    assert_eq!(class(next), "predictive");
    let refusal = place.run_to(3, &["ask", next]).stdout;
    assert!(refusal.contains("A forecast needs records with dates"), "{refusal}");
}

/// Figures show units, conditions and coverage; options force a level.
#[test]
fn figures_show_units_conditions_and_coverage() {
    let place = Place::new();
    place.write("pikerag.toml", HARBOUR);
    place.write("repairs.csv", REPAIRS);
    place.write("note.md", "# Note\n\nCrane 40-117 was built in 1997 by Norrick Steel.\n");
    place.run_to(0, &["index", "repairs.csv", "note.md"]);
    let shown =
        place.run_to(0, &["ask", "--quiet", "What was the total downtime per crane?"]).stdout;
    insta::assert_snapshot!(shown, @r"
    40-117: 19 h; 62-019: 3 h; 62-021: 2 h [1][2][3][4][5]

      40-117  ████████████████████████████████████████ 19 h
      62-019  ██████ 3 h
      62-021  ████ 2 h

    Sum: `downtime` in `repair`, grouped by `crane`. 6 of 6 things match; 6 records from 1 of 2 visible documents. 1 has no such record (no matching table, line or field, and no model reads texts). Left out, because they have no value of the measured field: 1.

    [1] repairs.csv, bytes 39–118 of its text ✓ “order: R-1; day: 2024-01-03; crane: 40-117; fault: brake wear; downtime: 12.5 h”
    [2] repairs.csv, bytes 198–277 of its text ✓ “order: R-3; day: 2024-02-20; crane: 40-117; fault: brake wear; downtime: 90 min”
    [3] repairs.csv, bytes 355–426 of its text ✓ “order: R-5; day: 2024-04-09; crane: 40-117; fault: cable; downtime: 5 h”
    [4] repairs.csv, bytes 119–197 of its text ✓ “order: R-2; day: 2024-02-03; crane: 62-019; fault: gearbox leak; downtime: 3 h”
    [5] repairs.csv, bytes 278–354 of its text ✓ “order: R-4; day: 2024-03-02; crane: 62-021; fault: brake wear; downtime: 2 h”

    no language model wrote this: it was computed from records; 0 calls, 0 + 0 tokens
    ");
    let shown = place.run_to(0, &["ask", "--quiet", "停机超过2小时的维修有多少次？"]).stdout;
    insta::assert_snapshot!(shown, @r"
    3 [1][2][3]

    计数： `repair`，条件：`downtime` > 2 h。6 项中有 3 项符合；共 6 条记录，来自可见的 2 份文档中的 1 份。1 份没有此类记录（没有符合的表格、行或字段，且没有模型阅读正文）。因无法判断是否符合条件而未计入：1。

    [1] repairs.csv, bytes 39–118 of its text ✓ “order: R-1; day: 2024-01-03; crane: 40-117; fault: brake wear; downtime: 12.5 h”
    [2] repairs.csv, bytes 119–197 of its text ✓ “order: R-2; day: 2024-02-03; crane: 62-019; fault: gearbox leak; downtime: 3 h”
    [3] repairs.csv, bytes 355–426 of its text ✓ “order: R-5; day: 2024-04-09; crane: 40-117; fault: cable; downtime: 5 h”

    no language model wrote this: it was computed from records; 0 calls, 0 + 0 tokens
    ");
    let shown =
        place.run_to(0, &["ask", "--quiet", "Which fault is most likely to occur next?"]).stdout;
    insta::assert_snapshot!(shown, @r"
    brake wear (67 %, 80 % interval 41 to 85 %); cable (17 %, 80 % interval 5 to 43 %); gearbox leak (17 %, 80 % interval 5 to 43 %) [1][2][3][4][5][6]

      brake wear    ████████████████████████████████████████ 4
      cable         ██████████ 1
      gearbox leak  ██████████ 1

    Counted: things in `repair`, grouped by `fault`. The shares are those of 6 cases; the interval is Wilson's. The first kind's share in the later half of them is 0 points higher than in the earlier half. The forecast assumes that future cases are like the recorded ones. 6 of 6 things match; 6 records from 1 of 2 visible documents. 1 has no such record (no matching table, line or field, and no model reads texts).

    [1] repairs.csv, bytes 39–118 of its text ✓ “order: R-1; day: 2024-01-03; crane: 40-117; fault: brake wear; downtime: 12.5 h”
    [2] repairs.csv, bytes 198–277 of its text ✓ “order: R-3; day: 2024-02-20; crane: 40-117; fault: brake wear; downtime: 90 min”
    [3] repairs.csv, bytes 278–354 of its text ✓ “order: R-4; day: 2024-03-02; crane: 62-021; fault: brake wear; downtime: 2 h”
    [4] repairs.csv, bytes 427–488 of its text ✓ “order: R-6; day: 2024-05-05; crane: 62-019; fault: brake wear”
    [5] repairs.csv, bytes 355–426 of its text ✓ “order: R-5; day: 2024-04-09; crane: 40-117; fault: cable; downtime: 5 h”
    [6] repairs.csv, bytes 119–197 of its text ✓ “order: R-2; day: 2024-02-03; crane: 62-019; fault: gearbox leak; downtime: 3 h”

    no language model wrote this: it was computed from records; 0 calls, 0 + 0 tokens
    ");
    let shown = place.run_to(0, &["ask", "--quiet", "Which was earlier, R-2 or R-3?"]).stdout;
    insta::assert_snapshot!(shown, @r"
    R-2 [1][2]

      day
        R-2: 2024-02-03 [1]
        R-3: 2024-02-20 [2]

    Compared by `day` of the records of `repair`.

    [1] repairs.csv, bytes 119–197 of its text ✓ “order: R-2; day: 2024-02-03; crane: 62-019; fault: gearbox leak; downtime: 3 h”
    [2] repairs.csv, bytes 198–277 of its text ✓ “order: R-3; day: 2024-02-20; crane: 40-117; fault: brake wear; downtime: 90 min”

    no language model wrote this: it was computed from records; 0 calls, 0 + 0 tokens
    ");
    let refused = place
        .run_to(3, &["ask", "--quiet", "How could we reduce the downtime of our cranes?"])
        .stdout;
    insta::assert_snapshot!(refused, @r"
    Ideas need a language model (`reason`), and none is set: set `[roles.reason]` or `[chat]` in pikerag.toml. Without a model, ask for the facts, figures and forecasts behind such ideas.

    no language model wrote this: it was computed from records; 0 calls, 0 + 0 tokens
    ");
    let question = "How many repairs did crane 40-117 have?";
    let above = place.run_to(3, &["ask", "--quiet", "--level", "1", question]).stdout;
    assert!(above.contains("it needs level L2, and the level is set to L1"), "{above}");
    let forced = place.run_to(0, &["ask", "--quiet", "--class", "factual", question]).stdout;
    assert!(forced.contains("it quotes its evidence"), "{forced}");
    let error = place.run_to(2, &["ask", "--class", "factual", "--method", "kar3", "Who?"]).stderr;
    insta::assert_snapshot!(error, @"error: `kar3` does not use the class or level of a question; `pike` does; leave out `--method`, or `--class` and `--level`");
}

/// Replies like those of the agents of `pike`, with long ideas, so that caps are reached.
fn agent_reply(prompt: &str) -> OracleReply {
    let who = prompt.split_once("from one perspective: ").map(|(_, rest)| rest);
    let who = who.and_then(|rest| rest.split_once('.')).map(|(who, _)| who);
    let text = match who {
        None if prompt.contains("{\"perspectives\":") => json!({"perspectives": [
            {"name": "cost", "about": "a"}, {"name": "safety", "about": "b"}, {"name": "heat", "about": "c"}
        ]}),
        Some(_) if prompt.contains("{\"questions\":") => json!({"questions": []}),
        Some(_) if prompt.contains("\"judgements\"") => {
            json!({"judgements": [
                {"idea": 1, "fit": 4, "feasibility": 4, "novelty": 4, "against": ""}
            ]})
        }
        Some(who) => json!({"ideas": [{
            "title": format!("{who} first"), "idea": format!("{who} {}", "and so on ".repeat(40)),
            "evidence": [{"passage": 1, "quote": "Crane 40-117 was built in 1997"}],
            "missing": "m", "next_step": "n"
        }]}),
        None => json!({
            "ideas": [{"title": "All of it", "idea": "Together.", "from": [1]}], "why": "w", "answer": "All of it."
        }),
    };
    OracleReply { kind: "agents", text: text.to_string() }
}

/// The cost stays below each cap, to the millionth of a dollar. With a large budget all agents
/// finish; with a smaller one the run shows the failed ones. With too small a budget there is no
/// answer, and the exit code says why.
#[test]
fn agents_never_exceed_the_budget() {
    let stub = Server::start(agent_reply, Faults::default(), Duration::from_millis(1));
    let question = "How could we keep crane 40-117 from stopping?";
    let mut ends = Vec::new();
    for (cap, calls) in [("1.00", None), ("0.020", None), ("0.004", None), ("1.00", Some("5"))] {
        let place = Place::new().set("OPENAI_BASE_URL", &stub.url()).set("OPENAI_MODEL", "agents");
        let prices = "[prices.agents]\nprompt = 1.0\ncompletion = 4.0\n";
        place.write("pikerag.toml", format!("{HARBOUR}\n{prices}"));
        place.write("note.md", "# Note\n\nCrane 40-117 was built in 1997 by Norrick Steel.\n");
        place.run_to(0, &["--offline", "index", "note.md"]);
        let mut arguments = vec!["--json", "--budget", cap];
        arguments.extend(calls.iter().flat_map(|calls| ["--budget-calls", calls]));
        arguments.extend(["ask", "--class", "creative", question]);
        let ran = place.run(&arguments);
        let run = place.run_to(0, &["--json", "runs"]).json()[0].clone();
        let paid = run["cost"]["paid"]["by_role"].as_object().unwrap().clone();
        let (mut usd, mut made) = (0.0, 0);
        for part in paid.values() {
            let (count, usage) = (part[0].as_u64().unwrap(), &part[1]);
            made += count;
            usd += usage["prompt_tokens"].as_f64().unwrap() * 1e-6
                + usage["completion_tokens"].as_f64().unwrap() * 4e-6;
        }
        assert!(usd <= cap.parse::<f64>().unwrap(), "{usd} of {cap}");
        assert!(calls.is_none_or(|most| made <= most.parse::<u64>().unwrap()), "{made}");
        let ideas = (ran.code == Some(0))
            .then(|| ran.json()["answer"]["worked"]["ideas"].as_array().map_or(0, Vec::len));
        let over = place.run_to(0, &["runs", "show", run["id"].as_str().unwrap()]).stdout;
        let failed =
            |line: &&str| line.contains("The coordinator failed: ") || line.contains("” failed: ");
        let failed = over.lines().filter(failed).count();
        ends.push((cap, calls, ran.code.unwrap(), ideas, failed));
    }
    let shown: Vec<String> = ends.iter().map(|end| format!("{end:?}")).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ("1.00", None, 0, Some(4), 0)
    ("0.020", None, 0, Some(1), 6)
    ("0.004", None, 4, None, 7)
    ("1.00", Some("5"), 0, Some(2), 6)
    "#);
}
