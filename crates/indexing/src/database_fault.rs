//! Defines the reasons why a database, or a table of it, cannot be read.

/// Why a database or a table of it cannot be read. No message contains a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant explains its fields")]
pub enum DatabaseFault {
    /// The address is no address of a database.
    #[error("the address of the database cannot be used: {reason}")]
    BadUrl { reason: &'static str },
    /// pikerag uses no network.
    #[error("pikerag runs offline and connects to no database")]
    Offline,
    /// No server answers at this address.
    #[error("no connection to {server}: {reason}")]
    Unreachable { server: String, reason: String },
    /// The certificate of the server is not trusted, or it speaks no TLS.
    #[error("no secure connection to {server}: {reason}")]
    Insecure { server: String, reason: String },
    /// The password is wrong or missing, or the server does not let the account in.
    #[error("{server} refuses the account `{user}`: {reason}")]
    Denied { server: String, user: String, reason: String },
    /// The server has no such database.
    #[error("{server} has no database `{database}`")]
    NoDatabase { server: String, database: String },
    /// No table fits the patterns, or the account can read none.
    #[error("the database has no table that the settings choose and the account may read")]
    NoTable,
    /// A pattern fits no table.
    #[error("no table of the database fits `{pattern}`")]
    UnusedPattern { pattern: String },
    /// The account has no right to read it.
    #[error("the account may not read it")]
    NoPermission,
    /// The table, or a column of it, was removed meanwhile.
    #[error("it was removed or changed while it was read")]
    Vanished,
    /// Several rows have the same values in the columns that the settings name as key.
    #[error("several rows have the same key ({columns})")]
    RepeatedKey { columns: String },
    /// The table has more rows than the limit; nothing was read.
    #[error("it has more than {most} rows")]
    TooManyRows { most: u64 },
    /// The texts of the table are larger than the limit; nothing was stored.
    #[error("its rows have more than {mib} MiB of text")]
    TooMuchText { mib: u64 },
    /// A statement took longer than the limit, or waited too long for a lock.
    #[error("a statement took longer than the limit")]
    TooSlow,
    /// The connection ended while tables were read.
    #[error("the connection to the database ended: {reason}")]
    Lost { reason: String },
    /// The server reports another error.
    #[error("the database reports an error: {reason}")]
    Failed { reason: String },
}

impl DatabaseFault {
    /// A short name of the fault for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadUrl { .. } => "database-bad-address",
            Self::Offline => "database-offline",
            Self::Unreachable { .. } => "database-unreachable",
            Self::Insecure { .. } => "database-insecure",
            Self::Denied { .. } => "database-denied",
            Self::NoDatabase { .. } => "database-missing",
            Self::NoTable => "database-without-tables",
            Self::UnusedPattern { .. } => "table-missing",
            Self::NoPermission => "table-not-permitted",
            Self::Vanished => "table-removed",
            Self::RepeatedKey { .. } => "table-key-repeats",
            Self::TooManyRows { .. } => "table-too-many-rows",
            Self::TooMuchText { .. } => "table-too-large",
            Self::TooSlow => "table-too-slow",
            Self::Lost { .. } => "database-lost",
            Self::Failed { .. } => "database-failed",
        }
    }
}
