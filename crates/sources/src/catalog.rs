//! Lists the tables of a database with their columns, comments and keys.

use pikerag_indexing::DatabaseFault;
use tokio_postgres::{Error, Row};

use crate::connect::Connected;

/// A table of the database, or a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relation {
    /// Its identifier in the catalogue.
    pub(crate) oid: u32,
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) comment: Option<String>,
    /// Whether it is a table of its own data and not of an extension.
    pub(crate) is_plain: bool,
    /// Whether the account may read at least one of its columns.
    pub(crate) is_readable: bool,
    /// In the order of the table; empty until [`describe`] reads them.
    pub(crate) columns: Vec<Column>,
    /// The columns of the primary key, in its order.
    pub(crate) primary_key: Vec<String>,
    pub(crate) foreign_keys: Vec<ForeignKey>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type as SQL writes it, without a length; for a domain, the type under it.
    pub(crate) type_name: String,
    pub(crate) is_array: bool,
    /// The type with its length or precision.
    pub(crate) full_type: String,
    pub(crate) comment: Option<String>,
    /// Whether the account may read it.
    pub(crate) is_readable: bool,
}

/// Columns whose values are the key of a row of another table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignKey {
    pub(crate) columns: Vec<String>,
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) referenced: Vec<String>,
}

/// Partitions are read through their table. Tables in schemas that the account cannot use are not
/// readable, whatever the rights on the table. The functions of privileges see the present, not the
/// snapshot: they give NULL for a table that was removed meanwhile.
const RELATIONS: &str = "
    SELECT c.oid, n.nspname::text, c.relname::text, obj_description(c.oid, 'pg_class'),
        c.relkind IN ('r', 'p') AND NOT EXISTS (
            SELECT FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'),
        coalesce(has_schema_privilege(n.oid, 'USAGE')
            AND has_any_column_privilege(c.oid, 'SELECT'), false)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
    ORDER BY n.nspname::text COLLATE \"C\", c.relname::text COLLATE \"C\"";

/// The modifier -1 gives types of any length: without it, `character` means that of length 1.
const COLUMNS: &str = "
    SELECT a.attname::text,
        format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, -1),
        t.typcategory = 'A', col_description(a.attrelid, a.attnum),
        coalesce(has_column_privilege(a.attrelid, a.attnum, 'SELECT'), false),
        format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = $1 AND 0 < a.attnum AND NOT a.attisdropped
    ORDER BY a.attnum";

const PRIMARY_KEY: &str = "
    SELECT a.attname::text
    FROM pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS part(attnum, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = part.attnum
    WHERE k.conrelid = $1 AND k.contype = 'p'
    ORDER BY part.place";

const FOREIGN_KEYS: &str = "
    SELECT
        (SELECT array_agg(a.attname::text ORDER BY part.place)
         FROM unnest(k.conkey) WITH ORDINALITY AS part(attnum, place)
             JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = part.attnum),
        n.nspname::text, c.relname::text,
        (SELECT array_agg(a.attname::text ORDER BY part.place)
         FROM unnest(k.confkey) WITH ORDINALITY AS part(attnum, place)
             JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = part.attnum)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE k.conrelid = $1 AND k.contype = 'f'
    ORDER BY k.conname::text COLLATE \"C\"";

/// All tables and views by schema and name, without their columns. System schemas and partitions are
/// left out.
pub(crate) async fn relations(connected: &mut Connected) -> Result<Vec<Relation>, DatabaseFault> {
    let rows = connected.query(RELATIONS, &[]).await?;
    let relation = |row: &Row| -> Result<Relation, Error> {
        Ok(Relation {
            oid: row.try_get(0)?,
            schema: row.try_get(1)?,
            table: row.try_get(2)?,
            comment: row.try_get(3)?,
            is_plain: row.try_get(4)?,
            is_readable: row.try_get(5)?,
            ..Relation::default()
        })
    };
    let found: Result<Vec<Relation>, Error> = rows.iter().map(relation).collect();
    found.map_err(|error| unexpected(&error))
}

/// Reads the columns and keys of a table.
pub(crate) async fn describe(
    connected: &mut Connected,
    relation: &mut Relation,
) -> Result<(), DatabaseFault> {
    let columns = connected.query(COLUMNS, &[&relation.oid]).await?;
    let column = |row: &Row| -> Result<Column, Error> {
        Ok(Column {
            name: row.try_get(0)?,
            type_name: row.try_get(1)?,
            is_array: row.try_get(2)?,
            comment: row.try_get(3)?,
            is_readable: row.try_get(4)?,
            full_type: row.try_get(5)?,
        })
    };
    let columns: Result<Vec<Column>, Error> = columns.iter().map(column).collect();
    relation.columns = columns.map_err(|error| unexpected(&error))?;
    let key = connected.query(PRIMARY_KEY, &[&relation.oid]).await?;
    let key: Result<Vec<String>, Error> = key.iter().map(|row| row.try_get(0)).collect();
    relation.primary_key = key.map_err(|error| unexpected(&error))?;
    let keys = connected.query(FOREIGN_KEYS, &[&relation.oid]).await?;
    let foreign_key = |row: &Row| -> Result<ForeignKey, Error> {
        Ok(ForeignKey {
            columns: row.try_get(0)?,
            schema: row.try_get(1)?,
            table: row.try_get(2)?,
            referenced: row.try_get(3)?,
        })
    };
    let keys: Result<Vec<ForeignKey>, Error> = keys.iter().map(foreign_key).collect();
    relation.foreign_keys = keys.map_err(|error| unexpected(&error))?;
    Ok(())
}

/// Whether a table has the files that the snapshot knows. `TRUNCATE` and some changes of a table
/// replace them, and an older snapshot then sees no rows. `pg_relation_filenode` sees the present.
const HAS_SAME_FILES: &str = "
    SELECT NOT EXISTS (
        SELECT FROM pg_class c
        WHERE (c.oid = $1::oid OR c.oid IN (SELECT relid FROM pg_partition_tree($1::oid::regclass)))
            AND c.relfilenode <> 0
            AND pg_relation_filenode(c.oid) IS DISTINCT FROM c.relfilenode)";

/// Checks that a table which was just read was not emptied after the snapshot. Reading holds a lock,
/// so it is not emptied later.
///
/// # Errors
/// [`DatabaseFault::Vanished`], and those of the connection.
pub(crate) async fn check_files(connected: &mut Connected, oid: u32) -> Result<(), DatabaseFault> {
    let rows = connected.query(HAS_SAME_FILES, &[&oid]).await?;
    let is_same = rows.iter().map(|row| row.try_get::<_, bool>(0));
    match is_same.collect::<Result<Vec<bool>, Error>>().map_err(|error| unexpected(&error))?[..] {
        [true] => Ok(()),
        _ => Err(DatabaseFault::Vanished),
    }
}

/// The catalogue gives a column of another type than PostgreSQL documents.
fn unexpected(error: &Error) -> DatabaseFault {
    DatabaseFault::Failed { reason: error.to_string() }
}

#[cfg(test)]
impl Relation {
    /// A table without columns, for tests.
    pub(crate) fn sample(schema: &str, table: &str) -> Self {
        Self {
            schema: schema.to_owned(),
            table: table.to_owned(),
            is_plain: true,
            is_readable: true,
            ..Self::default()
        }
    }

    /// The same table with this column.
    pub(crate) fn with_column(mut self, name: &str, type_name: &str) -> Self {
        self.columns.push(Column {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            is_array: type_name.ends_with("[]"),
            full_type: type_name.to_owned(),
            comment: None,
            is_readable: true,
        });
        self
    }
}
