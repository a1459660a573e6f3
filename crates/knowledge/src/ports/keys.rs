//! The port to the store of access keys: their permissions, and the money reserved and spent with
//! each.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::StoreError;
use crate::filter::Filter;
use crate::time::Millis;

/// Money in millionths of a millionth of a US dollar.
pub type Picodollars = u64;

/// The operations that a key allows; each scope includes those before it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    /// Search, ask, look.
    Read,
    /// Add and delete documents, judge answers.
    Write,
    /// Forget documents, export, read other callers' runs and the audit log.
    Admin,
}

impl Scope {
    /// Its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The permissions of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyParams {
    /// The owner or the purpose of the key.
    pub name: String,
    /// The operations that it allows.
    pub scope: Scope,
    /// The bases that it opens, by the server's names; all, if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<String>,
    /// The filter on the bases: conditions such as `folder=law`, all of which must match.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// US dollars that may be spent with it over its whole life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cap_usd: Option<f64>,
    /// The largest number of requests in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub per_minute: Option<NonZeroU32>,
    /// When it expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub expires: Option<Millis>,
}

/// A key without its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Its identifier; part of the key itself.
    pub id: String,
    /// BLAKE3 of the whole key, in hexadecimal.
    pub digest: String,
    /// When it was made.
    pub made: Millis,
    /// Its permissions.
    #[serde(flatten)]
    pub params: KeyParams,
}

impl Key {
    /// Whether it opens the base of that name.
    pub fn opens(&self, base: &str) -> bool {
        self.params.bases.is_empty() || self.params.bases.iter().any(|own| own == base)
    }

    /// Whether it has expired.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.params.expires.is_some_and(|expires| expires <= now)
    }
}

/// A key and its use.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyUse {
    /// The key.
    pub key: Key,
    /// When it was last used, to about a minute; none if never.
    pub used: Option<Millis>,
    /// Money that was spent with it.
    pub spent: Picodollars,
    /// Money that is reserved for calls of unknown price: running ones, and those that an ended
    /// process left.
    pub reserved: Picodollars,
}

/// A paid call before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCharge {
    /// The digest of the key that pays.
    pub digest: String,
    /// The largest cost of the call.
    pub money: Picodollars,
    /// The base whose ledger records the call.
    pub base: String,
    /// The keys of that ledger's records; empty if nothing is recorded.
    pub calls: Vec<String>,
}

/// The result of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The money is reserved under this number.
    Yes(i64),
    /// Other running calls hold the money; some of it may be released.
    Later {
        /// The cap of the key.
        cap: Picodollars,
        /// The money spent and reserved.
        held: Picodollars,
    },
    /// The call exceeds the cap.
    Over {
        /// The cap of the key.
        cap: Picodollars,
        /// The money spent.
        held: Picodollars,
    },
    /// The key is revoked or has expired.
    NoKey,
}

/// How a call with reserved money ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeEnd {
    /// It cost this.
    Cost(Picodollars),
    /// It was not made, or cost nothing.
    Nothing,
    /// Unknown: it counts at the reserved price until the ledger of the base shows the real one.
    Unknown,
}

/// A reservation that no process will settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// Its number.
    pub id: i64,
    /// The base of the call.
    pub base: String,
    /// The keys of the ledger's records.
    pub calls: Vec<String>,
}

/// Keeps access keys for all processes that use them concurrently. Each change is an atomic
/// transaction, and the next call of any process sees it.
pub trait KeyStore: Send + Sync {
    /// Whether any key was ever made. From then on a request needs a key, even if none is left.
    ///
    /// # Errors
    /// The store cannot be read, or was removed while this process had it open. Every request must
    /// then be refused.
    fn were_made(&self) -> Result<bool, StoreError>;

    /// All keys that are not revoked, the oldest first.
    ///
    /// # Errors
    /// As [`KeyStore::were_made`].
    fn list(&self) -> Result<Vec<KeyUse>, StoreError>;

    /// The key of a digest, or of a replaced digest that is still valid; revoked keys are excluded.
    ///
    /// # Errors
    /// As [`KeyStore::were_made`].
    fn find(&self, digest: &str, now: Millis) -> Result<Option<Key>, StoreError>;

    /// Adds a key, and revokes those of the ids in `instead_of` in the same transaction.
    ///
    /// # Errors
    /// The store cannot be written.
    fn add(&self, key: &Key, instead_of: &[String], now: Millis) -> Result<(), StoreError>;

    /// Revokes a key; `None` if there is none.
    ///
    /// # Errors
    /// The store cannot be written.
    fn revoke(&self, id: &str, now: Millis) -> Result<Option<Key>, StoreError>;

    /// Gives a key another digest. The previous one stays valid until `until`.
    ///
    /// # Errors
    /// The store cannot be written.
    fn rotate(&self, id: &str, digest: &str, until: Millis) -> Result<Option<Key>, StoreError>;

    /// Records that a key was used.
    ///
    /// # Errors
    /// The store cannot be written.
    fn note_use(&self, id: &str, now: Millis) -> Result<(), StoreError>;

    /// Reserves the largest cost of a call under the cap of its key.
    ///
    /// # Errors
    /// The store cannot be written: the call must not be made.
    fn reserve(&self, charge: &KeyCharge, now: Millis) -> Result<Reserved, StoreError>;

    /// Ends a reservation. A reservation that has ended already is unchanged.
    ///
    /// # Errors
    /// The store cannot be written: the reservation stays.
    fn close(&self, reservation: i64, end: ChargeEnd) -> Result<(), StoreError>;

    /// Reservations of calls with an unknown outcome, and of ended processes.
    ///
    /// # Errors
    /// As [`KeyStore::were_made`].
    fn left_behind(&self, now: Millis) -> Result<Vec<LeftBehind>, StoreError>;

    /// Reads the whole store and compares its checksums or structure.
    ///
    /// # Errors
    /// The store is damaged.
    fn verify(&self) -> Result<(), StoreError>;
}
