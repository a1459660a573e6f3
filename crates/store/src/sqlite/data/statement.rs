//! Runs a person's `SELECT` over the tables by their names. It uses a connection of its own that
//! can only read, through views that hold what the caller may see.
//!
//! A statement is prepared twice. First, in an empty database that has tables of these names and
//! nothing else, so that any other name is unknown. Then beside the base, where the same names are
//! views. SQLite's authorizer watches both times.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{DataError, SqlLimits, SqlRows, StoreError};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement};

use super::catalogue::Entry;
use super::plan::{is_stopped, limited};
use super::values::value;
use crate::error::Context;
use crate::sqlite::locks::locked;

const DOING: &str = "running a statement over tables";

/// Limits of a statement, whatever the caller's limits: bytes of its text and of a value, patterns
/// that match slowly, depth, terms, instructions of its program.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_LENGTH, 16 << 20),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// The allowed functions: they depend on their arguments only or, as dates do, on the clock.
const FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "contains",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "dense_rank",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "is_date",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "median",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "percent_rank",
    "power",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "time",
    "timediff",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "upper",
];

/// Runs a statement on a connection that is used for nothing else. `admitted` are the chunks whose
/// rows are visible; `None` admits all.
pub(in crate::sqlite) fn run_statement(
    connection: &Connection,
    tables: &[Entry],
    admitted: Option<&HashSet<u64>>,
    statement: &str,
    limits: SqlLimits,
) -> Result<SqlRows, StoreError> {
    let known: Vec<String> = tables.iter().map(|viewed| viewed.table.name.clone()).collect();
    let named = named(tables, statement);
    let bad = |reason: String| DataError::BadStatement { reason, known: known.clone() };
    let explain = |error: rusqlite::Error, denied: &Denied| match locked(denied).take() {
        Some(reason) => DataError::NotAllowed { reason, known: known.clone() },
        None => bad(message(&error)),
    };

    let empty = empty(&named).context(DOING)?;
    let denied = watched(&empty, &named).context(DOING)?;
    let checked = empty.prepare(statement).map_err(|error| explain(error, &denied))?;
    if checked.is_explain() != 0 || checked.column_count() == 0 || !checked.readonly() {
        let reason = "it is not a SELECT".to_owned();
        return Err(DataError::NotAllowed { reason, known }.into());
    }

    views(connection, &named, admitted).context(DOING)?;
    let denied = watched(connection, &named).context(DOING)?;
    let ran = limited(connection, limits.seconds, || {
        let mut prepared = connection.prepare(statement)?;
        read(&mut prepared, limits)
    });
    match ran {
        Ok(rows) => Ok(rows),
        Err(error) if is_stopped(&error) => {
            Err(DataError::TooLong { seconds: limits.seconds }.into())
        }
        Err(error) => Err(explain(error, &denied).into()),
    }
}

/// The tables that a statement may name.
pub(in crate::sqlite) fn named<'a>(tables: &'a [Entry], statement: &str) -> Vec<&'a Entry> {
    let lower = statement.to_lowercase();
    tables.iter().filter(|viewed| lower.contains(&viewed.table.name)).collect()
}

fn read(statement: &mut Statement<'_>, limits: SqlLimits) -> rusqlite::Result<SqlRows> {
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let (width, mut bytes) = (columns.len(), 0);
    let mut found = SqlRows { columns, ..SqlRows::default() };
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut cells = Vec::with_capacity(width);
        for place in 0..width {
            let cell = row.get_ref(place)?;
            bytes += 8 + cell.as_bytes_or_null().ok().flatten().map_or(0, <[u8]>::len);
            if limits.bytes < bytes {
                break;
            }
            cells.push(value(cell));
        }
        if limits.rows <= found.rows.len() || limits.bytes < bytes {
            found.is_cut = true;
            break;
        }
        found.rows.push(cells);
    }
    Ok(found)
}

/// A database that has tables of these names without rows, and nothing else.
fn empty(tables: &[&Entry]) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    super::functions::add(&connection)?;
    for Entry { table, .. } in tables {
        let columns: Vec<String> = table.columns.iter().map(|column| name(&column.sql)).collect();
        let sql = format!("CREATE TEMP TABLE {} ({})", name(&table.name), columns.join(", "));
        connection.execute_batch(&sql)?;
    }
    restrict(&connection)?;
    Ok(connection)
}

/// Makes views of these names beside the base.
fn views(
    connection: &Connection,
    tables: &[&Entry],
    admitted: Option<&HashSet<u64>>,
) -> rusqlite::Result<()> {
    // Data that is sorted or gathered may be larger than memory.
    connection.execute_batch("PRAGMA temp_store = FILE; BEGIN;")?;
    let mut seen = "";
    if let Some(admitted) = admitted {
        seen = " WHERE chunk IN temp.\"admitted chunks\"";
        connection
            .execute_batch("CREATE TEMP TABLE \"admitted chunks\" (chunk INTEGER PRIMARY KEY)")?;
        let mut insert = connection.prepare("INSERT INTO temp.\"admitted chunks\" VALUES (?1)")?;
        let mut sorted: Vec<i64> = admitted.iter().map(|chunk| chunk.cast_signed()).collect();
        sorted.sort_unstable();
        for chunk in sorted {
            insert.execute([chunk])?;
        }
    }
    for Entry { id, table, .. } in tables {
        let column = |(place, sql): (usize, &String)| format!("c{place} AS {}", name(sql));
        let columns: Vec<String> =
            table.columns.iter().map(|column| &column.sql).enumerate().map(column).collect();
        connection.execute_batch(&format!(
            "CREATE TEMP VIEW {} AS SELECT {} FROM main.data_{id}{seen}",
            name(&table.name),
            columns.join(", ")
        ))?;
    }
    restrict(connection)
}

fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA query_only = ON")?;
    LIMITS.iter().try_for_each(|(limit, most)| connection.set_limit(*limit, *most).map(drop))
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Why we refused the statement, if we did.
type Denied = Arc<Mutex<Option<String>>>;

/// From now on, the connection can only `SELECT` from these tables.
fn watched(connection: &Connection, tables: &[&Entry]) -> rusqlite::Result<Denied> {
    let names: HashSet<String> = tables.iter().map(|viewed| viewed.table.name.clone()).collect();
    let denied = Denied::default();
    let note = Arc::clone(&denied);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        match refused(&context, &names) {
            None => Authorization::Allow,
            Some(reason) => {
                locked(&note).get_or_insert(reason);
                Authorization::Deny
            }
        }
    }))?;
    Ok(denied)
}

/// Why an action is refused; `None` if it is allowed.
fn refused(context: &AuthContext<'_>, names: &HashSet<String>) -> Option<String> {
    match context.action {
        AuthAction::Select | AuthAction::Recursive => None,
        AuthAction::Function { function_name } => {
            let is_known = FUNCTIONS.contains(&function_name.to_ascii_lowercase().as_str());
            (!is_known).then(|| format!("there is no function `{function_name}`"))
        }
        AuthAction::Read { table_name, column_name } => {
            let is_view = |name: &str| names.contains(&name.to_lowercase());
            let is_own = is_view(table_name) || context.accessor.is_some_and(is_view);
            // A table of which no column is read, or one that the statement itself defines
            // (`WITH`).
            let begins = ["sqlite_", "pragma_", "dbstat"];
            let is_named = column_name.is_empty()
                && !begins.iter().any(|begin| table_name.to_ascii_lowercase().starts_with(begin));
            (!is_own && !is_named).then(|| format!("`{table_name}` is not one of the tables"))
        }
        _ => Some("it is not read-only".to_owned()),
    }
}

/// SQLite's error message, without the statement.
fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        error => error.to_string(),
    }
}
