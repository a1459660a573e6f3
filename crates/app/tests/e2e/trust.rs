//! Tests that a stranger's settings file does no harm, and that a key goes only to its own address.

use std::os::unix::fs::PermissionsExt;

use pikerag_test_support::{Fault, Server, When};

use crate::common::{Place, stub};
use crate::talker::Talker;

const KEY: &str = "sk-environment-4711";
const OTHER_KEY: &str = "cloud-secret-0815";
const FILES_KEY: &str = "sk-of-the-file-2342";

/// Refuses each request; the server notes its head.
fn refuse() -> Vec<(Fault, When)> {
    vec![(Fault::Unauthorized, When::Always)]
}

/// The heads of all requests since the last call.
fn take_heads(trap: &Server) -> Vec<String> {
    let heads = trap.heads();
    trap.reset();
    heads
}

/// An untrusted folder, such as an unpacked archive: documents, a program, settings.
fn untrusted_folder(settings: &str) -> Place {
    let place = Place::untrusted().set("OPENAI_API_KEY", KEY).set("CLOUD_SECRET", OTHER_KEY);
    place.write("in/a.md", "# Cranes\n\nFirm Ada makes cranes in Port Brandt.\n");
    place
        .write("in/scan.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04\x08\0\0\0\0");
    place.write(
        "in/old.doc",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0",
    );
    let program =
        format!("#!/bin/sh\ntouch {}\necho List; echo eng\n", place.path("RAN").display());
    for name in ["tool", "tessdata.sh"] {
        place.write(name, &program);
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.write("pikerag.toml", settings);
    place
}

/// Hostile files: the aim, whether the user has an endpoint and no model is set, the settings, and
/// the names that reveal them. `THERE` is an address of the stranger's.
const HOSTILE: [(&str, bool, &str, &[&str]); 16] = [
    (
        "another base of the user's, and a file of the user's in a prompt",
        true,
        "base = \"../private\"\n[methods]\nskr_examples = \"/etc/passwd\"\n",
        &["base", "methods.skr_examples"],
    ),
    (
        "the documents to a database of its own",
        true,
        "base = \"postgres://ada@db.example/pikerag\"\n",
        &["base"],
    ),
    (
        "a budget for a document that expands without end",
        true,
        "[limits]\nmemory_mib = 1000000\nwall_seconds = 1000000\n",
        &["limits"],
    ),
    ("the loss of the user's runs", true, "[runs]\nkeep = 0\n", &["runs"]),
    (
        "the key and the documents to an address of its own",
        false,
        "[chat]\nbase_url = \"THERE\"\nmodel = \"m\"\n",
        &["chat.base_url", "chat.model"],
    ),
    (
        "another secret of the environment",
        false,
        "[chat]\nbase_url = \"THERE\"\nmodel = \"m\"\napi_key_env = \"CLOUD_SECRET\"\n",
        &["chat.api_key_env"],
    ),
    (
        "the same for one role",
        false,
        "[roles.answer]\nbase_url = \"THERE\"\nmodel = \"m\"\napi_key_env = \"OPENAI_API_KEY\"\n",
        &["roles.answer.base_url", "roles.answer.api_key_env"],
    ),
    (
        "the documents for embedding",
        false,
        "[embed]\nkind = \"openai\"\nbase_url = \"THERE\"\nmodel = \"e\"\napi_key_env = \"OPENAI_API_KEY\"\n",
        &["embed.base_url", "embed.model", "embed.api_key_env"],
    ),
    (
        "the documents to the user's own endpoint, at the user's cost",
        true,
        "[chat]\nmodel = \"the-dearest\"\n",
        &["chat.model"],
    ),
    (
        "a key of its own, so that its account reads along",
        true,
        "[chat]\nmodel = \"m\"\napi_key = \"sk-of-the-file-2342\"\n",
        &["chat.api_key"],
    ),
    (
        "headers to the user's own endpoint",
        true,
        "[chat]\nmodel = \"m\"\n[chat.headers]\nX-Forward-To = \"THERE\"\n",
        &["chat.headers"],
    ),
    (
        "fields in every request",
        true,
        "[chat]\nmodel = \"m\"\nextra = { store = true, max_tokens = 100000 }\n",
        &["chat.extra"],
    ),
    (
        "a program of its own for pictures",
        false,
        "[tools]\ntesseract = \"./tool\"\n",
        &["tools.tesseract"],
    ),
    (
        "a program of its own for old documents",
        false,
        "[tools]\nsoffice = \"./tool\"\n",
        &["tools.soffice"],
    ),
    (
        "a language model of its own for Tesseract",
        false,
        "[tools]\nlanguages = [\"../../in/evil\"]\n",
        &["tools.languages"],
    ),
    (
        "weights of its own, and prices under which no budget is ever spent",
        false,
        "[embed]\nweights = \"in\"\n[prices.m]\nprompt = 0\n",
        &["embed.weights", "prices"],
    ),
];

#[test]
fn untrusted_settings_send_nothing_start_nothing_and_show_nothing() {
    let (there, mine) = (stub(refuse()), stub(refuse()));
    for (tries, has_endpoint, settings, names) in HOSTILE {
        let mut place = untrusted_folder(&settings.replace("THERE", &there.url()));
        if has_endpoint {
            place = place.set("OPENAI_BASE_URL", &mine.url());
        }
        for arguments in [
            &["doctor"][..],
            &["--base", "base", "index", "in"],
            &["--base", "base", "ask", "Who makes cranes?"],
            &["--base", "base", "--json", "search", "cranes"],
            &["-vv", "parse", "in/scan.png"],
            &["parse", "in/old.doc"],
        ] {
            let ran = place.run(arguments);
            let output = format!("{}{}", ran.stdout, ran.stderr);
            let sent = [take_heads(&there), take_heads(&mine)].concat();
            assert!(sent.is_empty(), "{tries}: {arguments:?} sent {sent:?}");
            assert!(!place.path("RAN").exists(), "{tries}: {arguments:?} ran it");
            for key in [KEY, OTHER_KEY, FILES_KEY] {
                assert!(!output.contains(key), "{tries}: {arguments:?} shows {key}: {output}");
            }
            assert_eq!(ran.code, Some(1), "{tries}: {arguments:?}: {output}");
            assert!(output.contains("`pikerag trust`"), "{tries}: {output}");
            for name in names {
                assert!(output.contains(name), "{tries}: {name} is not named: {output}");
            }
        }
        assert!(!place.path("base").exists(), "{tries}");
    }
}

#[test]
fn a_file_is_trusted_by_its_place_and_its_content() {
    let talker = Talker::start();
    let settings = format!("[chat]\nbase_url = \"{}\"\nmodel = \"m\"\n", talker.url());
    let place = untrusted_folder(&settings);
    let index = ["--base", "base", "index", "in/a.md"];
    place.run_to(1, &index);
    let trusted = place.run_to(0, &["trust"]).stdout;
    assert!(trusted.contains("sets chat.base_url, chat.model"), "{trusted}");
    place.run_to(0, &index);
    assert!(0 < talker.received().chats);
    // The trust is stored with the user, not in the folder.
    let kept = std::fs::read_dir(place.own_path("pikerag/trusted")).unwrap().count();
    assert_eq!(kept, 1);
    assert!(!place.path(".local").exists());

    // Changed content is not trusted; the earlier content still is.
    place.write("pikerag.toml", format!("{settings}in_flight = 2\n"));
    let changed = place.run_to(1, &index).stderr;
    assert!(changed.contains("has changed since it was trusted"), "{changed}");
    let listed = place.run_to(0, &["--json", "trust", "--list"]).json();
    assert_eq!(listed[0]["state"], "changed");
    place.write("pikerag.toml", &settings);
    place.run_to(0, &index);
    // The same content in another place is not trusted.
    place.write("elsewhere/pikerag.toml", &settings);
    let elsewhere = place
        .command(&["--base", "base", "doctor"])
        .current_dir(place.path("elsewhere"))
        .output()
        .unwrap();
    assert_eq!(elsewhere.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&elsewhere.stderr).contains("is not trusted"));

    // The trust is removed. A file that `--config` names needs none.
    place.run_to(0, &["trust", "--remove"]);
    place.run_to(1, &["trust", "--remove", "pikerag.toml"]);
    place.run_to(1, &index);
    place.run_to(0, &["--config", "pikerag.toml", "--base", "other", "index", "in/a.md"]);
    // Harmless settings need no trust.
    place.write("pikerag.toml", "base = \"plain\"\n[index]\nmax_tokens = 100\n");
    place.run_to(0, &["index", "in/a.md"]);
    assert!(place.path("plain").exists());
    assert_eq!(place.run_to(0, &["trust", "--list"]).stdout, "");
}

#[test]
fn init_trusts_what_it_wrote() {
    let place = Place::untrusted();
    place.run_to(0, &["init"]);
    let listed = place.run_to(0, &["--json", "trust", "--list"]).json();
    assert_eq!(listed[0]["state"], "trusted");
    assert!(listed[0]["path"].as_str().unwrap().ends_with("pikerag.toml"), "{listed}");
    place.run_to(0, &["doctor"]);
}

/// A key of the environment goes only to the environment's address. A file with an address of its
/// own has to name the key.
#[test]
fn a_key_of_the_environment_does_not_follow_an_address_of_the_file() {
    let (there, mine) = (stub(refuse()), stub(refuse()));
    let settings = format!("[chat]\nbase_url = \"{}\"\nmodel = \"m\"\n", there.url());
    let place = untrusted_folder(&settings);
    place.run_to(0, &["trust"]);
    let ran = place.run_to(1, &["-vv", "doctor"]);
    let heads = take_heads(&there);
    assert!(!heads.is_empty() && heads.iter().all(|head| !head.contains(KEY)), "{heads:?}");
    assert!(ran.stdout.contains("not sent here") && ran.stdout.contains("OPENAI_API_KEY"));
    for n in 0..20 {
        place.write(&format!("in/{n}.md"), format!("Firm {n} makes cranes."));
    }
    take_heads(&there);
    // The problem concerns no single document, so it is not reported for each.
    let asked = place.run_to(3, &["--base", "base", "--in-flight", "2", "index", "in"]);
    assert!(asked.stderr.contains("for another address: OPENAI_API_KEY"), "{}", asked.stderr);
    assert!((1..=4).contains(&take_heads(&there).len()), "every call is refused alike");

    place.write("pikerag.toml", format!("{settings}api_key_env = \"OPENAI_API_KEY\"\n"));
    place.run_to(0, &["trust"]);
    place.run_to(1, &["doctor"]);
    let heads = take_heads(&there);
    assert!(!heads.is_empty() && heads.iter().all(|head| head.contains(KEY)), "{heads:?}");

    // A key of the file does not go to the address of the environment.
    place.write("pikerag.toml", format!("{settings}api_key = \"{FILES_KEY}\"\n"));
    place.run_to(0, &["trust"]);
    place.run_to(1, &["doctor"]);
    let heads = take_heads(&there);
    assert!(!heads.is_empty() && heads.iter().all(|head| head.contains(FILES_KEY)), "{heads:?}");
    assert!(heads.iter().all(|head| !head.contains(KEY)), "{heads:?}");
    let place = place.set("OPENAI_BASE_URL", &mine.url());
    place.run_to(1, &["doctor"]);
    let heads = take_heads(&mine);
    assert!(!heads.is_empty() && take_heads(&there).is_empty());
    assert!(heads.iter().all(|head| head.contains(KEY) && !head.contains(FILES_KEY)), "{heads:?}");
}

/// The TOML parser's message would show the line; ours gives only its position.
#[test]
fn a_mistake_in_the_file_does_not_show_its_keys() {
    let place = Place::new();
    for (line, column, mistake) in [
        (3, 11, format!("api_key = {FILES_KEY}")),
        (3, 0, format!("api_key = \"{FILES_KEY}")),
        (3, 0, format!("api_key = \"{FILES_KEY}\" 1")),
        (3, 9, format!("api_key {FILES_KEY}")),
        (3, 11, format!("api_key = [\"{FILES_KEY}\"]")),
        (3, 11, format!("headers = \"{FILES_KEY}\"")),
        (3, 13, format!("in_flight = \"{FILES_KEY}\"")),
        (3, 14, format!("structured = \"{FILES_KEY}\"")),
        (4, 0, format!("api_key = \"{FILES_KEY}\"\napi_key = \"{FILES_KEY}\"")),
        (3, 1, format!("apikey = \"{FILES_KEY}\"")),
        (3, 29, format!("headers = {{ authorization = {FILES_KEY} }}")),
    ] {
        place.write("pikerag.toml", format!("# mine\n[chat]\n{mistake}\n"));
        let stderr = place.run_to(1, &["status"]).stderr;
        assert!(!stderr.contains(FILES_KEY), "{stderr}");
        let at = match column {
            0 => format!("pikerag.toml, line {line}, "),
            _ => format!("pikerag.toml, line {line}, column {column}: "),
        };
        assert!(stderr.contains(&at), "{mistake}: {stderr}");
        println!("{stderr}");
    }
}

/// A call whose reply may cost more than the budget is not made. Extra fields that no budget can
/// count are refused.
#[test]
fn a_budget_holds_whatever_extra_says() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("in/a.md", "# Cranes\n\nFirm Ada makes cranes in Port Brandt.\n");
    let index = ["--base", "base", "--budget-tokens", "50000", "index", "in"];
    for extra in ["max_tokens = 100000", "options = { num_predict = 100000 }"] {
        place.write("pikerag.toml", format!("[chat]\nextra = {{ {extra} }}\n"));
        place.run_to(4, &index);
        assert_eq!(talker.received().chats, 0, "{extra}");
    }
    for extra in ["n", "best_of", "tools"] {
        place.write("pikerag.toml", format!("[chat]\nextra = {{ {extra} = 8 }}\n"));
        let output = place.run_to(1, &index).stderr;
        assert!(output.contains(&format!("`{extra}` cannot be an extra field")), "{output}");
        assert_eq!(talker.received().chats, 0, "{extra}");
    }
    place.write("pikerag.toml", "[chat]\nextra = { max_tokens = 1000 }\n");
    place.run_to(0, &index);
    assert!(0 < talker.received().chats);
}
