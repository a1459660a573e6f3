//! Tests that each embedder gets its prefixes, shares nothing with embedders of the same name, and
//! is loaded only when needed.

use crate::common::Place;
use crate::talker::Talker;

const PAGE: &str = "# KX-40\n\nThe KX-40 crane was built by Ilse Brandt. It lifts forty tons.\n";

#[test]
fn queries_and_documents_go_out_with_their_prefixes() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("a.md", PAGE);
    let settings = "[embed]\nquery_prefix = \"Q: \"\ndocument_prefix = \"D: \"\n[index]\natoms = [\"sentences\"]\n";
    place.write("pikerag.toml", settings);
    place.run_to(0, &["index", "a.md"]);
    let documents = talker.embedded();
    assert!(
        !documents.is_empty() && documents.iter().all(|text| text.starts_with("D: ")),
        "{documents:?}"
    );
    talker.reset();
    place.run_to(0, &["search", "--by", "meaning", "Who built it?"]);
    assert_eq!(talker.embedded(), ["Q: Who built it?"]);
    // Other prefixes make other vectors, which are not compared with the stored ones.
    place.write("pikerag.toml", settings.replace("D: ", "E: "));
    let ran = place.run(&["search", "--by", "meaning", "Who built it?"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    place.run_to(0, &["index", "a.md"]);
    place.run_to(0, &["search", "--by", "meaning", "Who built it?"]);
}

/// Two servers offer models with the same names.
#[test]
fn endpoints_with_equal_model_names_share_nothing() {
    let (one, other) = (Talker::start(), Talker::start());
    let (place, elsewhere) = (one.place(), other.place());
    place.write("a.md", PAGE);
    let base = place.path("base").display().to_string();
    place.run_to(0, &["--base", &base, "index", "a.md"]);
    let ask = ["--base", base.as_str(), "ask", "--method", "naive-rag", "Who built the KX-40?"];
    place.run_to(0, &ask);
    let paid = one.received().requests();
    let ran = elsewhere.run_to(0, &ask);
    assert!(0 < other.received().chats, "the reply of another server was used: {}", ran.stdout);
    assert_eq!(other.embedded(), [""; 0], "a query for the vectors of another server");
    place.run_to(0, &ask);
    assert_eq!(one.received().requests(), paid);
}

/// Files that pass for weights until they are loaded.
fn write_empty_weights(place: &Place, folder: &str) {
    let config = r#"{"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
        "intermediate_size": 4, "max_position_embeddings": 8}"#;
    place.write(&format!("{folder}/config.json"), config);
    place.write(&format!("{folder}/tokenizer.json"), "{");
    place.write(&format!("{folder}/model.safetensors"), [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']);
}

/// The language of the documents decides between two local models, and the base keeps the chosen
/// one.
#[test]
fn documents_choose_between_available_models() {
    let chinese = "# 起重机\n\n这台起重机由伊尔莎设计，每年春天都要在码头上检查一次。";
    for (text, chosen, other) in [
        (PAGE, "all-MiniLM-L6-v2", "multilingual-e5-small-q4"),
        (chinese, "multilingual-e5-small-q4", "all-MiniLM-L6-v2"),
    ] {
        let place = Place::new();
        for model in [chosen, other] {
            write_empty_weights(&place, &format!("cache/pikerag/{model}"));
        }
        let cache = place.path("cache").display().to_string();
        let place = place.set("XDG_CACHE_HOME", &cache);
        place.write("a.md", text);
        let ran = place.run(&["index", "a.md"]);
        assert!(ran.stderr.contains(chosen) && !ran.stderr.contains(other), "{}", ran.stderr);
        let embedder = place.run_to(0, &["--json", "status"]).json()["embedder"].clone();
        assert!(embedder.as_str().unwrap().starts_with(chosen), "{embedder}");
    }
}

/// If only an English model is available, documents in another language cause a warning.
#[test]
fn documents_in_an_unknown_language_cause_a_warning() {
    let place = Place::new();
    write_empty_weights(&place, "cache/pikerag/all-MiniLM-L6-v2");
    let cache = place.path("cache").display().to_string();
    let place = place.set("XDG_CACHE_HOME", &cache);
    place.write(
        "a.md",
        "Der Kran steht am Hafen und wird in jedem Jahr im Herbst von zwei Leuten geprüft.",
    );
    let warning = "all-MiniLM-L6-v2 is made for English";
    let ran = place.run(&["index", "a.md"]);
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    place.write(
        "a.md",
        "The crane stands at the harbour and is inspected each year by two people in autumn.",
    );
    let ran = place.run(&["index", "a.md"]);
    assert!(!ran.stderr.contains(warning), "{}", ran.stderr);
}

/// Broken weights do not matter to a command that embeds nothing.
#[test]
fn a_search_by_words_loads_no_weights() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("a.md", PAGE);
    let base = place.path("base").display().to_string();
    place.run_to(0, &["--base", &base, "index", "a.md"]);
    write_empty_weights(&place, "weights");
    let weights = place.path("weights").display().to_string();
    let local = Place::new().set("PIKERAG_WEIGHTS", &weights);
    let ran = local.run_to(0, &["--base", &base, "search", "--by", "words", "crane"]);
    assert!(ran.stdout.contains("KX-40"), "{}", ran.stdout);
    let ran = local.run_to(1, &["--base", &base, "search", "--by", "meaning", "crane"]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

/// Vectors of another length are made again and never compared with the earlier ones.
#[test]
fn another_dimension_makes_new_vectors() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("a.md", PAGE);
    let search = ["--json", "search", "--by", "meaning", "Who built it?"];
    place.run_to(0, &["index", "a.md"]);
    let long = place.run_to(0, &search).json()[0]["score"].clone();
    place.write("pikerag.toml", "[embed]\nextra = { dimensions = 4 }\n");
    assert_ne!(place.run(&search).code, Some(0), "searched with vectors of another length");
    let report = place.run_to(0, &["--json", "index", "a.md"]).json()["report"].clone();
    assert!(0 < report["vectors"].as_u64().unwrap(), "{report}");
    assert_ne!(place.run_to(0, &search).json()[0]["score"], long);
    // The first vectors are recorded, so nothing is paid again.
    place.write("pikerag.toml", "");
    talker.reset();
    place.run_to(0, &["index", "a.md"]);
    assert_eq!(talker.received().embeddings, 0);
}
