//! Tests that a filter follows changes that other processes make, such as one of an earlier version
//! during an upgrade.

use pikerag_contract::Shelf;
use pikerag_knowledge::{Filter, Snapshots as _, Which};
use tokio_postgres::{Client, NoTls};

use crate::RUNTIME;
use crate::server::{Fresh, documents};

/// The tables that filters read, with the columns that decide.
const READ: [(&str, &[&str]); 8] = [
    ("sources", &["uri", "metadata"]),
    ("chunks", &["source", "section"]),
    ("sections", &["parent"]),
    ("tag_classes", &["key", "name", "origin"]),
    ("chunk_tags", &["chunk", "class", "key"]),
    ("tag_examples", &["chunk", "class"]),
    ("records", &["chunk", "schema", "origin", "declared", "fields"]),
    ("structured", &["hash"]),
];

/// Another process in the database of the tests.
async fn other_process() -> Client {
    let address = std::env::var("PIKERAG_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The number that tells a process that what it keeps of filters is out of date.
async fn filterable(client: &Client, base: i32) -> i64 {
    let sql = "SELECT coalesce((SELECT value::bigint FROM pikerag.meta
         WHERE base = $1 AND key = 'filterable'), 0)";
    client.query_one(sql, &[&base]).await.unwrap().get(0)
}

#[test]
fn each_change_of_what_filters_read_is_counted_once() {
    RUNTIME.block_on(async {
        let Some(fresh) = Fresh::new().await else { return };
        let client = other_process().await;
        let base = fresh.database.find(fresh.location.base()).await.unwrap().unwrap();
        let mut before = filterable(&client, base).await;
        let mut grows = async |statements: &str| {
            client.batch_execute(statements).await.unwrap();
            let now = filterable(&client, base).await;
            (now - std::mem::replace(&mut before, now)).cast_unsigned()
        };
        let within = |statements: &str| {
            format!("BEGIN; SET LOCAL pikerag.base = {base}; {statements} COMMIT")
        };
        // A statement counts even if it finds no row.
        for (table, columns) in READ {
            let mut statements = vec![
                format!("INSERT INTO pikerag.{table} (base) SELECT {base} WHERE false;"),
                format!("DELETE FROM pikerag_base.{table} WHERE false;"),
            ];
            statements.extend(columns.iter().map(|column| {
                format!("UPDATE pikerag_base.{table} SET {column} = {column} WHERE false;")
            }));
            for statement in &statements {
                assert_eq!(grows(&within(statement)).await, 1, "{statement}");
            }
            assert_eq!(grows(&within(&statements.concat())).await, 1, "{table}");
        }
        let other = "UPDATE pikerag_base.chunks SET generation = generation WHERE false;";
        assert_eq!(grows(&within(other)).await, 0);
        // By hand, without a base.
        assert_eq!(grows("DELETE FROM pikerag.chunks WHERE false").await, 1);
        fresh.remove().await;
        assert_eq!(filterable(&client, base).await, 0, "a removed base leaves no number");
    });
}

#[test]
fn a_kept_filter_follows_another_process() {
    RUNTIME.block_on(async {
        let Some(fresh) = Fresh::new().await else { return };
        let shelf = Shelf { store: fresh.base.clone(), documents };
        shelf.put("law/a.md", "# Crane\n\nThe crane is big.").await;
        let law = Filter { conditions: vec!["folder=law".parse().unwrap()] };
        let everything = Filter::default();
        let seen = async || {
            let mut counts = Vec::new();
            for (visible, filter) in [(&everything, &law), (&law, &everything), (&law, &law)] {
                let part = fresh.base.snapshot(visible, filter).await.unwrap();
                counts.push(part.sources(Which::All).await.unwrap().len());
            }
            counts
        };
        assert_eq!(seen().await, [1, 1, 1]);
        let client = other_process().await;
        let base = fresh.database.find(fresh.location.base()).await.unwrap().unwrap();
        let moved = format!(
            "BEGIN; SET LOCAL pikerag.base = {base};
             UPDATE pikerag_base.sources SET uri = 'tea/a.md'; COMMIT"
        );
        client.batch_execute(&moved).await.unwrap();
        assert_eq!(seen().await, [0, 0, 0]);
        fresh.remove().await;
    });
}
