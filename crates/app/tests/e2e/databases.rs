//! Tests that tables of a PostgreSQL database are indexed, followed and deleted, through an account
//! that may only read. They need a server, which `PIKERAG_TEST_POSTGRES` names.

use std::sync::atomic::{AtomicUsize, Ordering};

use pikerag_engine::parts::DatabaseUrl;
use pikerag_test_support::absent;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use crate::common::Place;

/// The variable that holds the address of a server, with an account that may make schemas and roles.
const SERVER: &str = "PIKERAG_TEST_POSTGRES";
/// The password of the account that reads.
const PASSWORD: &str = "canary-of-the-reader";

/// A schema of its own on the server, and an account that may read some of it.
struct Database {
    runtime: Runtime,
    client: Client,
    /// The address for the account that reads.
    reader: String,
    /// `postgres://host/database`
    identity: String,
    schema: String,
}

impl Database {
    /// `None`, with a report, if there is no server.
    fn begin() -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Ok(url) = std::env::var(SERVER) else {
            absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
            return None;
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("pikerag{}x{number}", std::process::id());
        let runtime = Runtime::new().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            tokio::spawn(async { drop(connection.await) });
            client
        });
        let identity = DatabaseUrl::of(&url).unwrap().identity().unwrap();
        // The same address with another account.
        let (_, rest) = url.split_once("://").unwrap();
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        let reader = format!("postgres://{schema}:{PASSWORD}@{rest}");
        let database = Self { runtime, client, reader, identity, schema };
        database.run(&format!(
            "CREATE SCHEMA $S; CREATE ROLE $S LOGIN PASSWORD '{PASSWORD}';
             GRANT USAGE ON SCHEMA $S TO $S"
        ));
        Some(database)
    }

    /// Runs statements, with the name of the schema and of the account in place of `$S`.
    fn run(&self, statements: &str) {
        self.try_run(statements).unwrap();
    }

    fn try_run(&self, statements: &str) -> Result<(), tokio_postgres::Error> {
        let named = statements.replace("$S", &self.schema);
        self.runtime.block_on(self.client.batch_execute(&named))
    }

    /// The name of a table in a base.
    fn name(&self, table: &str) -> String {
        format!("{}/{}.{table}", self.identity, self.schema)
    }

    /// A folder whose settings choose tables of the schema.
    fn place(&self, settings: &str) -> Place {
        let place = Place::new().set("SHOP_URL", &self.reader);
        let settings = settings.replace("$S", &self.schema);
        place.write(
            "pikerag.toml",
            format!(
                "[embed]\nkind = \"none\"\n[[sources.database]]\nurl_variable = \"SHOP_URL\"\n{settings}"
            ),
        );
        place
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A test that fails must still show its own reason.
        drop(self.try_run("DROP SCHEMA $S CASCADE; DROP OWNED BY $S; DROP ROLE $S"));
    }
}

const SHOP: &str = "
    CREATE TABLE $S.dept (id int PRIMARY KEY, name text NOT NULL);
    COMMENT ON TABLE $S.dept IS 'Departments of the plant in Kiruna';
    INSERT INTO $S.dept VALUES (7, '研发'), (8, 'Sales');
    CREATE TABLE $S.\"员\"\"工\" (
        姓名 text, id bigint PRIMARY KEY, dept int REFERENCES $S.dept (id), hours numeric,
        photo bytea, tags text[], about jsonb, updated_at timestamptz NOT NULL);
    COMMENT ON COLUMN $S.\"员\"\"工\".hours IS 'hours worked in the year';
    INSERT INTO $S.\"员\"\"工\" VALUES
        ('Ada Lovelace', 1, 7, 12.5, '\\x00ff', '{red,blue}', '{\"floor\": 3}', '2026-01-01 10:00+02'),
        ('Grace' || chr(10) || 'Hopper', 2, 7, 30, NULL, NULL, NULL, '2026-01-02'),
        ('王芳', 3, NULL, 12345678901234567890, NULL, '{}', 'null', '2026-01-03');
    GRANT SELECT ON ALL TABLES IN SCHEMA $S TO $S;
    CREATE TABLE $S.salaries (id int PRIMARY KEY, eur int);
    INSERT INTO $S.salaries VALUES (1, 90000)";

#[test]
fn tables_are_read_with_their_comments_and_rows() {
    let Some(database) = Database::begin() else { return };
    database.run(SHOP);
    let place = database.place("tables = [\"$S.*\"]\n");
    let estimated = place.run(&["estimate", &database.identity]);
    assert!(!estimated.stdout.is_empty(), "{}", estimated.stderr);
    let ran = place.run(&["index", &database.identity]);
    assert!(ran.stdout.contains("2 files read, 0 unchanged, 1 left out"), "{}", ran.stdout);
    let forbidden = format!("left out: {}: the account may not read it", database.name("salaries"));
    assert!(ran.stderr.contains(&forbidden), "{}", ran.stderr);
    for part in ["column photo", "binary values were skipped, in 1 cells"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let staff = format!("{}_员_工", database.schema);
    let sql = |what: &str| place.run_to(0, &["sql", &format!("SELECT {what} FROM {staff}")]).stdout;
    let shown = sql("姓名, tags, about");
    for part in ["Ada Lovelace", "Grace Hopper", "王芳", "red, blue", "{\"floor\": 3}"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // A number with more digits than a floating-point number is kept as it is.
    assert!(sql("*").contains("12345678901234567890"), "{}", sql("*"));
    let found = place.run_to(0, &["--offline", "search", "plant in Kiruna"]).stdout;
    assert!(found.contains(&database.name("dept")), "{found}");
    // Nothing of the account is kept.
    for entry in walkdir::WalkDir::new(place.path("")).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let is_kept = bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
            assert!(!is_kept, "{}", entry.path().display());
        }
    }
    let json = place.run(&["--json", "index", &database.identity]);
    assert!(!json.stdout.contains(PASSWORD) && !json.stderr.contains(PASSWORD));
    place.run_to(0, &["delete", &database.name("dept")]);
    assert!(!place.run_to(0, &["files"]).stdout.contains("dept"));
}

/// With a column that changes with its row, and without one.
#[test]
fn changes_are_followed_and_deleted_rows_go() {
    for follow in ["changed = \"updated_at\"\n", ""] {
        let Some(database) = Database::begin() else { return };
        database.run(
            "CREATE TABLE $S.orders (id int PRIMARY KEY, amount int, updated_at timestamp);
             INSERT INTO $S.orders SELECT n, 10, '2026-01-01' FROM generate_series(1, 500) n;
             GRANT SELECT ON ALL TABLES IN SCHEMA $S TO $S",
        );
        let place = database.place(&format!("tables = [\"$S.*\"]\n{follow}"));
        let index = || place.run_to(0, &["index", &database.identity]).stdout;
        let sum = || {
            let sql = format!("SELECT count(*), sum(amount) FROM {}_orders", database.schema);
            let shown = place.run_to(0, &["--json", "sql", &sql]).json();
            (shown["rows"][0][0].as_i64().unwrap(), shown["rows"][0][1].as_i64().unwrap())
        };
        let chunks = || place.run_to(0, &["--json", "files"]).json()["files"][0]["chunks"].clone();
        assert!(index().contains("1 file read, 0 unchanged, 0 left out"), "{follow}");
        assert_eq!(sum(), (500, 5_000));
        let before = chunks();
        let again = index();
        assert!(again.contains("0 files read, 1 unchanged, 0 left out; 0 chunks new"), "{again}");
        database.run("UPDATE $S.orders SET amount = 11, updated_at = '2026-01-02' WHERE id = 77");
        let updated = index();
        assert!(updated.contains("1 file read"), "{updated}");
        // Only the chunks around the changed row are new.
        let new = updated.split("; ").nth(1).unwrap().split(' ').next().unwrap();
        let (new, all) = (new.parse::<u64>().unwrap(), before.as_u64().unwrap());
        assert!(0 < new && new * 4 < all, "{new} of {all}");
        assert_eq!(sum(), (500, 5_001));
        database.run(
            "DELETE FROM $S.orders WHERE id <= 10;
             INSERT INTO $S.orders VALUES (501, 100, '2025-01-01')",
        );
        assert!(index().contains("1 file read"), "{follow}");
        assert_eq!(sum(), (491, 5_001 - 100 + 100));
    }
}

/// Keys of types with a length, without an equality, and of whom one is the beginning of another.
#[test]
fn changed_rows_are_found_whatever_the_type_of_their_key() {
    for (columns, key) in [
        ("code char(3) PRIMARY KEY", ""),
        ("code bit varying PRIMARY KEY", ""),
        ("code bit(3) PRIMARY KEY", ""),
        ("code json", "key = [\"code\"]\n"),
    ] {
        let Some(database) = Database::begin() else { return };
        let insert = |values: &str| {
            database.run(&format!("INSERT INTO $S.codes VALUES {values}"));
        };
        database.run(&format!("CREATE TABLE $S.codes ({columns}, n int, at timestamp)"));
        database.run("GRANT SELECT ON ALL TABLES IN SCHEMA $S TO $S");
        match columns.contains("bit") {
            true => insert("('100', 1, '2026-01-01'), ('010', 2, '2026-01-01')"),
            false => insert("('1', 1, '2026-01-01'), ('2', 2, '2026-01-01')"),
        }
        let place = database.place(&format!("tables = [\"$S.*\"]\nchanged = \"at\"\n{key}"));
        place.run_to(0, &["index", &database.identity]);
        match columns.contains("bit") {
            true => insert("('101', 5, '2026-01-02')"),
            false => insert("('12', 5, '2026-01-02')"),
        }
        place.run_to(0, &["index", &database.identity]);
        let sql = format!("SELECT count(*), sum(n) FROM {}_codes", database.schema);
        let shown = place.run_to(0, &["--json", "sql", &sql]).json();
        assert_eq!(shown["rows"][0].to_string(), "[3,8]", "{columns}: {shown}");
    }
}

#[test]
fn tables_that_vanish_are_named_and_pruned() {
    let Some(database) = Database::begin() else { return };
    database.run(
        "CREATE TABLE $S.a (id int PRIMARY KEY); INSERT INTO $S.a VALUES (1), (2);
         CREATE TABLE $S.b (id int PRIMARY KEY, other int); INSERT INTO $S.b VALUES (1, 5);
         GRANT SELECT ON ALL TABLES IN SCHEMA $S TO $S",
    );
    let place = database.place("tables = [\"$S.*\"]\n");
    place.run_to(0, &["index", &database.identity]);
    database.run("DROP TABLE $S.b");
    // A run without the database knows nothing about its tables.
    place.write("note.md", "# Note\nA note.\n");
    let other = place.run_to(0, &["index", "--prune", "note.md"]);
    assert!(!other.stderr.contains("missing"), "{}", other.stderr);
    let named = place.run_to(0, &["index", &database.identity]);
    let missing = format!("missing in its database: {}", database.name("b"));
    assert!(named.stderr.contains(&missing), "{}", named.stderr);
    let pruned = place.run_to(0, &["index", "--prune", &database.identity]).stdout;
    assert!(pruned.contains(&format!("removed {}", database.name("b"))), "{pruned}");
    let files = place.run_to(0, &["files"]).stdout;
    assert!(files.contains(&database.name("a")) && !files.contains(&database.name("b")), "{files}");
}

#[test]
fn limits_keys_and_patterns_are_enforced() {
    let Some(database) = Database::begin() else { return };
    database.run(
        "CREATE TABLE $S.a (id int, n int); INSERT INTO $S.a VALUES (1, 1), (1, 2);
         GRANT SELECT ON ALL TABLES IN SCHEMA $S TO $S",
    );
    for (settings, message) in [
        ("tables = [\"$S.*\"]\nrows = 1\n", "it has more than 1 rows"),
        ("tables = [\"$S.*\"]\nkey = [\"id\"]\n", "several rows have the same key (id)"),
        ("tables = [\"$S.none\"]\n", "no table of the database fits"),
    ] {
        let ran = database.place(settings).run_to(3, &["index", &database.identity]);
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    let (server, _) = database.identity.trim_start_matches("postgres://").split_once('/').unwrap();
    let wrong = format!("postgres://{}:{PASSWORD}@{server}/no_such_database", database.schema);
    let place = Place::new();
    let ran = place.run_to(3, &["index", &wrong]);
    let named = format!("left out: postgres://{server}/no_such_database: ");
    assert!(ran.stderr.contains(&named) && !ran.stderr.contains(PASSWORD), "{}", ran.stderr);
}

#[test]
fn a_server_out_of_reach_is_reported_without_the_password() {
    let place = Place::new();
    place.write("pikerag.toml", "[embed]\nkind = \"none\"\n");
    let url = "postgres://reader:canary@127.0.0.1:1/shop";
    let ran = place.run_to(3, &["index", url]);
    let problem = "left out: postgres://127.0.0.1:1/shop: no connection to 127.0.0.1:1: ";
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    assert!(ran.stderr.contains("the password of the database is on the command line"));
    let offline = place.run_to(3, &["--offline", "index", url]);
    assert!(offline.stderr.contains("runs offline"), "{}", offline.stderr);
    let chinese = place.run_to(3, &["--lang", "zh", "index", "postgres://127.0.0.1:1/shop"]);
    assert!(chinese.stderr.contains("无法连接 127.0.0.1:1"), "{}", chinese.stderr);
    for ran in [ran, offline, chinese] {
        assert!(!ran.stderr.contains("canary") && !ran.stdout.contains("canary"), "{}", ran.stderr);
    }
    let bad = place.run_to(3, &["index", "postgres://reader:canary@h:canary/shop"]);
    assert!(bad.stderr.contains("the address of the database cannot be used"), "{}", bad.stderr);
    assert!(!bad.stderr.contains("canary"), "{}", bad.stderr);
}
