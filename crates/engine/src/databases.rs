//! Opens the databases that a request names, and reads their tables beside files.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_indexing::{DatabaseFault, FileError, FileReader, ReadFile};
use pikerag_knowledge::uri::{RELATION, is_relation};
use pikerag_knowledge::{FileRecord, KnowledgeWriter};
use pikerag_sources::{Choice, DatabaseReader, DatabaseUrl, ReadLimits, Snapshot};

use crate::engine::Session;
use crate::notice::Notice;
use crate::settings::DatabaseSettings;

/// The databases of a request, each in one state.
#[derive(Default)]
pub(crate) struct Databases {
    snapshots: Vec<Snapshot>,
    /// The tables to index, by their names in the base.
    pub(crate) tables: Vec<String>,
    /// Databases, tables and patterns that cannot be read.
    pub(crate) left_out: Vec<(String, FileError)>,
    pub(crate) notices: Vec<Notice>,
}

impl Databases {
    /// Connects to the databases. One that cannot be read is left out, with the reason.
    pub(crate) async fn open(session: &Session, typed: &[DatabaseUrl]) -> Self {
        let mut databases = Self::default();
        let mut opened: BTreeMap<String, &DatabaseUrl> = BTreeMap::new();
        for url in typed {
            if url.has_password() && !databases.notices.contains(&Notice::PasswordTyped) {
                databases.notices.push(Notice::PasswordTyped);
            }
            match url.identity() {
                Ok(identity) => {
                    opened.entry(identity).or_insert(url);
                }
                // The address is not shown, because it may hold a password.
                Err(fault) => databases.left_out.push((RELATION.to_owned(), fault.into())),
            }
        }
        for (identity, url) in opened {
            if session.settings().offline {
                databases.left_out.push((identity, DatabaseFault::Offline.into()));
                continue;
            }
            let plan = Plan::of(&identity, url, &session.settings().databases);
            match Snapshot::open(&plan.url, &plan.choices, plan.limits).await {
                Ok(snapshot) => databases.take(snapshot),
                Err(fault) => databases.left_out.push((identity, fault.into())),
            }
        }
        databases
    }

    fn take(&mut self, snapshot: Snapshot) {
        self.tables.extend_from_slice(snapshot.names());
        let left_out = snapshot.left_out().iter();
        self.left_out
            .extend(left_out.map(|(name, fault)| (name.clone(), FileError::from(fault.clone()))));
        self.snapshots.push(snapshot);
    }

    /// The tables on record that these databases no longer have, or that the settings no longer
    /// choose.
    pub(crate) fn gone(&self, records: &[FileRecord]) -> Vec<String> {
        let is_gone = |record: &&FileRecord| {
            self.snapshots.iter().any(|snapshot| snapshot.is_gone(&record.path))
        };
        records.iter().filter(is_gone).map(|record| record.path.clone()).collect()
    }

    /// The tables, then these files: connections end once the last table is read.
    pub(crate) fn before(&self, files: Vec<String>) -> Vec<String> {
        self.tables.iter().cloned().chain(files).collect()
    }

    /// A reader of these tables and of files.
    pub(crate) fn reader(
        self,
        files: Arc<dyn FileReader>,
        base: Option<Arc<dyn KnowledgeWriter>>,
    ) -> SourceReader {
        SourceReader { files, tables: DatabaseReader::new(self.snapshots, base) }
    }
}

/// The address and the choices for one database.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    url: DatabaseUrl,
    choices: Vec<Choice>,
    limits: ReadLimits,
}

impl Plan {
    /// The settings of this database count, whichever account they name. Their address replaces a
    /// typed one without a password. Without settings, all tables are taken.
    fn of(identity: &str, typed: &DatabaseUrl, settings: &[DatabaseSettings]) -> Self {
        let is_meant = |set: &&DatabaseSettings| {
            let url = set.url.as_ref().and_then(|url| url.identity().ok());
            url.is_some_and(|url| url == identity)
        };
        let set: Vec<&DatabaseSettings> = settings.iter().filter(is_meant).collect();
        let known = set.first().and_then(|set| set.url.clone());
        let url = known.filter(|_| !typed.has_password()).unwrap_or_else(|| typed.clone());
        let mut choices: Vec<Choice> = set.iter().map(|set| set.choice.clone()).collect();
        if choices.is_empty() {
            choices.push(Choice::default());
        }
        // One session reads all tables, so the highest limits count.
        let limits = set.iter().map(|set| set.limits).reduce(|one, other| ReadLimits {
            rows: one.rows.max(other.rows),
            mib: one.mib.max(other.mib),
            statement: one.statement.max(other.statement),
        });
        Self { url, choices, limits: limits.unwrap_or_default() }
    }
}

/// A reader of files and of tables of databases.
pub(crate) struct SourceReader {
    files: Arc<dyn FileReader>,
    tables: DatabaseReader,
}

impl SourceReader {
    fn of(&self, path: &str) -> &dyn FileReader {
        if is_relation(path) { &self.tables } else { self.files.as_ref() }
    }
}

#[async_trait]
impl FileReader for SourceReader {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        self.of(path).hash(path).await
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        self.of(path).parse(path).await
    }

    async fn finish(&self) {
        self.tables.finish().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> DatabaseUrl {
        DatabaseUrl::of(text).unwrap()
    }

    fn set(address: Option<&str>, tables: &[&str], rows: u64) -> DatabaseSettings {
        let tables = tables.iter().map(|pattern| pattern.parse().unwrap()).collect();
        DatabaseSettings {
            url_variable: "SHOP".to_owned(),
            url: address.map(url),
            choice: Choice { tables, ..Choice::default() },
            limits: ReadLimits { rows, ..ReadLimits::default() },
        }
    }

    #[test]
    fn tables_are_read_before_files() {
        let tables = vec!["postgres://h/shop/public.orders".to_owned()];
        let databases = Databases { tables, ..Databases::default() };
        let all = databases.before(vec!["a.md".to_owned()]);
        assert_eq!(all, ["postgres://h/shop/public.orders", "a.md"]);
    }

    #[test]
    fn settings_of_the_same_database_count_whatever_the_account() {
        let known = "postgres://reader:secret@db.example/shop";
        let settings = [
            set(None, &["none"], 1),
            set(Some("postgres://reader:secret@db.example/other"), &["other"], 2),
            set(Some(known), &["orders"], 30),
            set(Some("postgres://db.example/shop"), &["hr.*"], 4),
        ];
        let identity = "postgres://db.example/shop";
        let plan = Plan::of(identity, &url(identity), &settings);
        assert_eq!(plan.url, url(known));
        assert_eq!(plan.choices, [settings[2].choice.clone(), settings[3].choice.clone()]);
        assert_eq!(plan.limits.rows, 30);
        let typed = url("postgres://other:typed@db.example/shop");
        assert_eq!(Plan::of(identity, &typed, &settings).url, typed);
        let unknown = Plan::of(identity, &typed, &settings[..2]);
        assert_eq!(
            (unknown.choices, unknown.limits),
            (vec![Choice::default()], ReadLimits::default())
        );
    }
}
