//! Tests that bases can be copied to other places, and that a base in a database gives the same as
//! one in a folder.

use pikerag_test_support::absent;

use crate::common::Place;

const SETTINGS: &str = "[embed]\nkind = \"none\"\n";
const RULES: &str = "# Harbour rules\n\nEvery crane of the harbour is inspected in spring.\n\n港口的起重机每年春天检查一次。\n";
const ORDERS: &str = "order,region,amount\nA-1,north,5\nA-2,south,7\nA-3,north,9\n";
const STATEMENT: &str = "SELECT region, sum(amount) FROM orders GROUP BY region ORDER BY 2 DESC";

/// A folder with documents that are indexed into the base `base`.
fn indexed() -> Place {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write("docs/rules.md", RULES);
    place.write("docs/orders.csv", ORDERS);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    place
}

#[test]
fn a_base_is_copied_to_a_folder_without_one() {
    let place = indexed();
    let copied = place.run_to(0, &["--json", "migrate", "base", "other"]).json();
    assert_eq!((&copied["files"], &copied["to"]), (&2.into(), &"other".into()));
    assert_eq!(place.export("other"), place.export("base"));
    let taken = place.run_to(1, &["migrate", "base", "other"]);
    assert!(taken.stderr.contains("already contains a knowledge base"), "{}", taken.stderr);
    let missing = place.run_to(1, &["migrate", "none", "third"]);
    assert!(missing.stderr.contains("there is no knowledge base yet"), "{}", missing.stderr);
    assert!(!place.path("third").exists());
}

#[test]
fn no_message_shows_the_password_of_an_address() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    // No server listens on this port.
    let address = "postgres://ada:secret@127.0.0.1:9/pikerag?base=law";
    for arguments in [["--base", address, "status"], ["--base", address, "files"]] {
        let ran = place.run_to(1, &arguments);
        assert!(ran.stderr.contains("cannot be reached"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    let wrong = place.run_to(1, &["--base", "postgres://ada:secret@db/x?port=none", "status"]);
    assert!(wrong.stderr.contains("is not an address"), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("secret"), "{}", wrong.stderr);
}

/// `PIKERAG_TEST_POSTGRES` is the address of a database. The test leaves its bases there.
#[test]
fn a_base_in_a_database_equals_one_in_a_folder() {
    let Ok(server) = std::env::var("PIKERAG_TEST_POSTGRES") else {
        absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
        return;
    };
    let place = indexed();
    let own = place.path("").display().to_string();
    let own: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
    let sign = if server.contains('?') { '&' } else { '?' };
    let address = |name: &str| format!("{server}{sign}base={name}-{own}");
    let (read, copied) = (address("read"), address("copied"));
    place.run_to(0, &["--base", &read, "index", "docs"]);
    place.run_to(0, &["migrate", "base", &copied]);
    place.run_to(0, &["migrate", &copied, "back"]);
    let exported = place.export("base");
    for base in [read.as_str(), copied.as_str(), "back"] {
        assert_eq!(place.export(base), exported, "{base}");
        let rows = |base| place.run_to(0, &["--base", base, "--json", "sql", STATEMENT]).json();
        assert_eq!(rows(base), rows("base"), "{base}");
        let search = ["--base", base, "search", "--by", "words", "起重机"];
        let found = place.run_to(0, &search);
        assert!(found.stdout.contains("docs/rules.md"), "{}", found.stdout);
        assert_eq!(place.run_to(0, &["--base", base, "--json", "check"]).json()["sound"], true);
    }
    let taken = place.run_to(1, &["migrate", "base", &copied]);
    assert!(taken.stderr.contains("already contains a knowledge base"), "{}", taken.stderr);
}
