//! Does each embedder get what it was trained on, is it told from others of its name, and is it loaded only
//! where it is needed?

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
    // Other prefixes, other vectors: what is there is not compared with them.
    place.write("pikerag.toml", settings.replace("D: ", "E: "));
    let ran = place.run(&["search", "--by", "meaning", "Who built it?"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    place.run_to(0, &["index", "a.md"]);
    place.run_to(0, &["search", "--by", "meaning", "Who built it?"]);
}

/// Two servers whose models bear the same names.
#[test]
fn endpoints_that_call_a_model_by_one_name_share_nothing() {
    let (one, other) = (Talker::start(), Talker::start());
    let (place, elsewhere) = (one.place(), other.place());
    place.write("a.md", PAGE);
    let base = place.path("base").display().to_string();
    place.run_to(0, &["--base", &base, "index", "a.md"]);
    let ask = ["--base", base.as_str(), "ask", "--method", "naive-rag", "Who built the KX-40?"];
    place.run_to(0, &ask);
    let paid = one.heard().requests();
    let ran = elsewhere.run_to(0, &ask);
    assert!(0 < other.heard().chats, "the reply of another server was taken: {}", ran.stdout);
    assert_eq!(other.embedded(), [""; 0], "a query for the vectors of another server");
    place.run_to(0, &ask);
    assert_eq!(one.heard().requests(), paid);
}

/// Weights that cannot be loaded are no matter for whoever embeds nothing.
#[test]
fn a_search_by_words_loads_no_weights() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("a.md", PAGE);
    let base = place.path("base").display().to_string();
    place.run_to(0, &["--base", &base, "index", "a.md"]);
    let config = r#"{"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
        "intermediate_size": 4, "max_position_embeddings": 8}"#;
    place.write("weights/config.json", config);
    place.write("weights/tokenizer.json", "{");
    place.write("weights/model.safetensors", [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']);
    let weights = place.path("weights").display().to_string();
    let local = Place::new().set("PIKERAG_WEIGHTS", &weights);
    let ran = local.run_to(0, &["--base", &base, "search", "--by", "words", "crane"]);
    assert!(ran.stdout.contains("KX-40"), "{}", ran.stdout);
    let ran = local.run_to(1, &["--base", &base, "search", "--by", "meaning", "crane"]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

/// Vectors of another length are others: made anew, and never compared with those of before.
#[test]
fn a_dimension_that_is_asked_for_makes_vectors_of_their_own() {
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
    // The first are on record: nothing is paid again.
    place.write("pikerag.toml", "");
    talker.reset();
    place.run_to(0, &["index", "a.md"]);
    assert_eq!(talker.heard().embeddings, 0);
}
