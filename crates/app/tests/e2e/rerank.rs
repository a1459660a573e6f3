//! Tests that a configured reranker orders the hits of searches, that this is shown and paid once,
//! and that scores are never guessed.

use pikerag_test_support::{Fault, Server};
use serde_json::Value;

use crate::common::{Place, good_stub};

const QUERY: &str = "crane tons";

/// Three chunks. A search by words ranks the first highest, and the stub's reranker (shorter is
/// better) the last.
const PAGES: [(&str, &str); 3] = [
    (
        "docs/a.md",
        "# Crane\n\nThe crane lifts forty tons. Forty tons is what the crane lifts, tons and tons.\n",
    ),
    (
        "docs/b.md",
        "# Mill\n\nBeside the mill stands a crane that lifts some twenty tons of grain.\n",
    ),
    ("docs/c.md", "# Dock\n\nA crane of nine tons.\n"),
];

/// A place with the pages indexed by words alone, and settings that name the stub as reranker.
fn place(stub: &Server, more: &str) -> Place {
    let place = Place::new();
    for (path, text) in PAGES {
        place.write(path, text);
    }
    let settings = format!(
        "[embed]\nkind = \"none\"\n[rerank]\nbase_url = \"{}\"\nmodel = \"stub-reranker\"\n{more}",
        stub.url()
    );
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place.write("pikerag.toml", settings);
    place
}

fn search(place: &Place, more: &[&str]) -> Value {
    let search = ["--base", "base", "--json", "search", "--by", "words"];
    place.run_to(0, &[&search[..], more, &[QUERY]].concat()).json()
}

fn titles(hits: &Value) -> Vec<&str> {
    hits.as_array().unwrap().iter().map(|hit| hit["chunk"]["title"].as_str().unwrap()).collect()
}

#[test]
fn hits_have_the_order_and_the_scores_of_the_reranker() {
    let stub = good_stub();
    let place = place(&stub, "");
    let plain = search(&place, &["--rerank", "0"]);
    assert_eq!(stub.received().rerankings, 0);
    assert_eq!(titles(&plain), ["Crane", "Dock", "Mill"]);
    assert!(plain[0]["parts"].get("rerank").is_none(), "{plain:#}");

    let reranked = search(&place, &[]);
    assert_eq!(titles(&reranked), ["Dock", "Mill", "Crane"]);
    let (first, parts) = (&reranked[0], &reranked[0]["parts"]);
    assert_eq!(first["score"], parts["rerank"]);
    assert_eq!((&parts["search"], &parts["search_rank"]), (&plain[1]["score"], &2.0.into()));
    assert_eq!(parts["bm25"], plain[1]["parts"]["bm25"]);
    // The best two of all three hits, and a reranking of the first two only.
    assert_eq!(titles(&search(&place, &["-k", "2"])), ["Dock", "Mill"]);
    assert_eq!(titles(&search(&place, &["--rerank", "2"])), ["Dock", "Crane", "Mill"]);

    let shown = place.run_to(0, &["--base", "base", "search", "--by", "words", QUERY]).stdout;
    assert!(shown.contains("reranker 0.") && shown.contains("search rank 2 ("), "{shown}");
}

#[test]
fn nothing_is_reranked_without_a_setting() {
    let stub = good_stub();
    let place = place(&stub, "");
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    assert_eq!(titles(&search(&place, &[])), ["Crane", "Dock", "Mill"]);
    let ran = place.run_to(1, &["--base", "base", "search", "--rerank", "5", QUERY]);
    assert!(ran.stderr.contains("there is no reranker; set `[rerank]`"), "{}", ran.stderr);
    assert_eq!(stub.received().requests(), 0);
}

/// Methods use the reranked order of searches.
#[test]
fn methods_read_the_best_reranked_passages() {
    let stub = good_stub();
    let place = place(&stub, "");
    for method in ["naive-rag", "hybrid-rag", "layers-rag", "hop-rag"] {
        let ask = ["--base", "base", "--json", "ask", "--method", method, QUERY];
        let answer = place.run_to(0, &ask).json();
        let trace = answer["answer"]["trace"].to_string();
        assert!(trace.contains("\"rerank\":") && trace.contains("\"search_rank\":"), "{trace}");
        let first = trace.find("\"title\":\"Dock\"").unwrap();
        let others = [trace.find("\"title\":\"Mill\""), trace.find("\"title\":\"Crane\"")];
        assert!(others.into_iter().flatten().all(|other| first < other), "{method}: {trace}");
    }
    assert!(0 < stub.received().rerankings);
}

#[test]
fn a_reranking_is_paid_once_and_replayed() {
    let stub = good_stub();
    let place = place(&stub, "[prices.stub-reranker]\nprompt = 1.0\n");
    let first = search(&place, &[]);
    assert_eq!((stub.received().rerankings, search(&place, &[])), (1, first.clone()));
    let ask = ["--base", "base", "ask", "--method", "naive-rag", QUERY];
    place.run_to(0, &ask);
    // The same three chunks in the same order: the search and the method share a call.
    assert_eq!(stub.received().rerankings, 1);
    drop(stub);
    assert_eq!(search(&place, &["--replay"]), first);
    let other = ["--base", "base", "--replay", "search", "--by", "words", "crane grain"];
    let ran = place.run_to(1, &other);
    assert!(ran.stderr.contains("`rerank` request"), "{}", ran.stderr);
}

/// Forgetting a document removes its rerankings from the ledger; a plain delete keeps them.
#[test]
fn forgotten_documents_leave_no_recorded_reranking() {
    let stub = good_stub();
    let place = place(&stub, "");
    search(&place, &[]);
    for delete in [&["delete"][..], &["delete", "--forget"]] {
        search(&place, &["--replay"]);
        place.run_to(0, &[&["--base", "base"], delete, &["docs/a.md"]].concat());
        place.run_to(0, &["--base", "base", "index", "docs"]);
    }
    let again = ["--base", "base", "--replay", "search", "--by", "words", QUERY];
    let ran = place.run_to(1, &again);
    assert!(ran.stderr.contains("never recorded"), "{}", ran.stderr);
}

/// Offline, the reranker is not called, and a notice says so.
#[test]
fn offline_hits_keep_the_order_of_the_search() {
    let stub = good_stub();
    let place = place(&stub, "");
    let ran = place
        .run_to(0, &["--base", "base", "--offline", "--json", "search", "--by", "words", QUERY]);
    assert_eq!(titles(&ran.json()), ["Crane", "Dock", "Mill"]);
    assert!(ran.stderr.contains("offline: reranker stub-reranker skipped"), "{}", ran.stderr);
    assert_eq!(stub.received().requests(), 0);
}

/// An invalid reply ends the search with an error. The order of the search is not presented as the
/// model's.
#[test]
fn an_invalid_reranking_is_an_error() {
    let stub = good_stub();
    let place = place(&stub, "");
    let ask = ["--base", "base", "ask", "--method", "naive-rag", QUERY];
    let search = ["--base", "base", "search", "--by", "words", QUERY];
    for (fault, says) in [
        (Fault::MissingScore, "has no score for document"),
        (Fault::DoubleScore, "has two scores for document"),
        (Fault::ForeignScore, "has a score for document 1000000, and 3 were sent"),
        (Fault::NoScore, "has no number as the score of document"),
        (Fault::Html, "cannot be read"),
        (Fault::Refused, "The content filter said no"),
        (Fault::Unauthorized, "refuses every request"),
    ] {
        stub.spoil_rerankings("crane", fault);
        for command in [&search[..], &ask[..]] {
            let ran = place.run_to(1, command);
            let shown = &ran.stderr;
            assert!(shown.contains(says) && shown.contains("stub-reranker"), "{fault:?}: {shown}");
            assert!(shown.contains("`first = 0` in `[rerank]`"), "{fault:?}: {shown}");
            assert!(!shown.contains("panicked") && ran.stdout.is_empty(), "{fault:?}: {shown}");
        }
        stub.stop_faults();
    }
    // No invalid reply was recorded, so the next search asks again.
    stub.reset();
    place.run_to(0, &search);
    assert_eq!((stub.received().rerankings, stub.received().repeated_rerankings), (1, 0));
}

#[test]
fn a_spent_budget_asks_no_reranker() {
    let stub = good_stub();
    let place = place(&stub, "");
    let search = ["--base", "base", "--budget-calls", "0", "search", "--by", "words", QUERY];
    let ran = place.run(&search);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stderr.contains("the budget of 0 calls is spent"), "{}", ran.stderr);
    assert_eq!(stub.received().rerankings, 0);
}

/// A key is sent only to the address that it was given with, and is never shown.
#[test]
fn a_key_goes_to_its_own_address_and_is_never_shown() {
    const KEY: &str = "sk-of-the-reranker";
    let stub = good_stub();
    let place = place(&stub, "api_key_env = \"MY_KEY\"\n").set("MY_KEY", KEY);
    let search = ["--base", "base", "search", "--by", "words", QUERY];
    place.run_to(0, &search);
    let sent = format!("authorization: Bearer {KEY}");
    let heads: Vec<String> = stub.heads().iter().map(|head| head.to_lowercase()).collect();
    assert!(!heads.is_empty() && heads.iter().all(|head| head.contains(&sent.to_lowercase())));
    stub.spoil_rerankings("grain", Fault::Unauthorized);
    let ran = place.run_to(1, &["--base", "base", "-vv", "search", "--by", "words", "crane grain"]);
    assert!(
        !ran.stderr.contains(KEY) && ran.stderr.contains("refuses every request"),
        "{}",
        ran.stderr
    );
    // The key of the chat model is not sent to the reranker.
    let other = good_stub();
    let place =
        place.set("OPENAI_API_KEY", "sk-of-the-chat").set("PIKERAG_RERANK_BASE_URL", &other.url());
    place.run(&search);
    let heads = other.heads();
    assert!(!heads.is_empty() && heads.iter().all(|head| !head.contains("sk-")), "{heads:?}");
}

/// A dry run shows the cost of the reranker in advance: one search for each question.
#[test]
fn a_forecast_counts_the_reranker() {
    let stub = good_stub();
    let place = place(&stub, "first = 10\n[prices.stub-reranker]\nprompt = 0.0\nsearch = 2.0\n");
    place.write_workload();
    let forecast = ["--json", "eval", "--methods", "naive-rag,hop-rag", "--dry-run"];
    let ran = place.run_to(0, &[&forecast[..], &["--questions", "questions.jsonl"]].concat());
    let shown = ran.json();
    let of = |name: &str| {
        let all = shown["expected"].as_array().unwrap().iter();
        all.clone().find(|forecast| forecast["method"] == name).cloned()
    };
    let rerank = of("(rerank)").unwrap_or_else(|| panic!("{shown:#}"));
    assert_eq!(rerank["forecast"]["typical"]["calls"], 100);
    assert!((rerank["usd"]["typical"].as_f64().unwrap() - 0.2).abs() < 1e-9, "{rerank:#}");
    assert!(of("naive-rag").is_some() && stub.received().requests() == 0);
}
