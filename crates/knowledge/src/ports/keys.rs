//! The port to the store of access keys: what each key may do, and the money that is reserved and spent with it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::StoreError;
use crate::filter::Filter;
use crate::time::Millis;

/// Money in millionths of a millionth of a US dollar.
pub type Picodollars = u64;

/// What a key may be used for; each includes those before it.
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
    /// Bring documents in, take them out, say what is right.
    Write,
    /// Forget for good, export, look at what others asked and at the audit log.
    Admin,
}

impl Scope {
    /// Its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a key is to be good for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyParams {
    /// Whose it is, or what for.
    pub name: String,
    /// What it may be used for.
    pub scope: Scope,
    /// The bases that it opens, by the names that the server gives them; all, if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<String>,
    /// What of them it shows: conditions such as `folder=law`, all of which must fit.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// US dollars that may be spent with it over all its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub cap_usd: Option<f64>,
    /// Requests in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>, minimum = 1)]
    pub per_minute: Option<NonZeroU32>,
    /// From when on it opens nothing, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub expires: Option<Millis>,
}

/// A key without its secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Tells it apart; part of the key itself.
    pub id: String,
    /// BLAKE3 of the whole key, in hexadecimal.
    pub digest: String,
    /// When it was made.
    pub made: Millis,
    /// What it is good for.
    #[serde(flatten)]
    pub params: KeyParams,
}

impl Key {
    /// Whether it is good for a base of that name.
    pub fn opens(&self, base: &str) -> bool {
        self.params.bases.is_empty() || self.params.bases.iter().any(|own| own == base)
    }

    /// Whether it opens nothing any more.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.params.expires.is_some_and(|expires| expires <= now)
    }
}

/// A key, and what was done with it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyUse {
    /// The key.
    pub key: Key,
    /// When it was last used, to about a minute; none if never.
    pub used: Option<Millis>,
    /// Money that was spent with it.
    pub spent: Picodollars,
    /// Money that is reserved for calls whose price is not known yet: those under way, and those that a process left behind.
    pub reserved: Picodollars,
}

/// A call that is about to be made and paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCharge {
    /// The digest of the key that pays.
    pub digest: String,
    /// The most that the call can cost.
    pub money: Picodollars,
    /// Names the base whose ledger gets the call.
    pub base: String,
    /// The keys of that ledger's records; empty where nothing is recorded.
    pub calls: Vec<String>,
}

/// Whether the money for a call is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// It is, under this number.
    Yes(i64),
    /// Other calls under way hold the money; some may come back.
    Later {
        /// The cap of the key.
        cap: Picodollars,
        /// What is spent and reserved.
        held: Picodollars,
    },
    /// The call does not fit under the cap.
    Over {
        /// The cap of the key.
        cap: Picodollars,
        /// What is spent for good.
        held: Picodollars,
    },
    /// The key is revoked or has expired.
    NoKey,
}

/// How a call ended for which money was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeEnd {
    /// It cost this.
    Cost(Picodollars),
    /// It was not made, or cost nothing.
    Nothing,
    /// Nobody knows: it counts at what was reserved, until the ledger of the base shows its price.
    Unknown,
}

/// A reservation that no process will settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// Its number.
    pub id: i64,
    /// Names the base.
    pub base: String,
    /// The keys of the ledger's records.
    pub calls: Vec<String>,
}

/// Keeps access keys for all processes that use them at once. Each change is a transaction: it happens as a whole or not at
/// all, and what one process has changed the next call of any other sees.
pub trait KeyStore: Send + Sync {
    /// Whether any key was ever made. From then on a request needs a key, even if none is left.
    ///
    /// # Errors
    /// The store cannot be read, or was removed while this process had it open. Nobody may be let in then.
    fn were_made(&self) -> Result<bool, StoreError>;

    /// All keys that are not revoked, the oldest first.
    ///
    /// # Errors
    /// As [`KeyStore::were_made`].
    fn list(&self) -> Result<Vec<KeyUse>, StoreError>;

    /// The key of a digest, or of the one that a rotation replaced and that is still good; revoked keys are none.
    ///
    /// # Errors
    /// As [`KeyStore::were_made`].
    fn find(&self, digest: &str, now: Millis) -> Result<Option<Key>, StoreError>;

    /// Adds a key, and revokes those of the ids in `instead_of` in the same transaction.
    ///
    /// # Errors
    /// The store cannot be written.
    fn add(&self, key: &Key, instead_of: &[String], now: Millis) -> Result<(), StoreError>;

    /// Revokes a key; `None` where there is none.
    ///
    /// # Errors
    /// The store cannot be written.
    fn revoke(&self, id: &str, now: Millis) -> Result<Option<Key>, StoreError>;

    /// Gives a key another digest. The one of before stays good until `until`.
    ///
    /// # Errors
    /// The store cannot be written.
    fn rotate(&self, id: &str, digest: &str, until: Millis) -> Result<Option<Key>, StoreError>;

    /// Notes that a key was used.
    ///
    /// # Errors
    /// The store cannot be written.
    fn note_use(&self, id: &str, now: Millis) -> Result<(), StoreError>;

    /// Reserves the most that a call can cost under the cap of its key.
    ///
    /// # Errors
    /// The store cannot be written: the call must not be made.
    fn reserve(&self, charge: &KeyCharge, now: Millis) -> Result<Reserved, StoreError>;

    /// Ends a reservation. One that is not there any more stays as it ended.
    ///
    /// # Errors
    /// The store cannot be written: the reservation keeps counting.
    fn close(&self, reservation: i64, end: ChargeEnd) -> Result<(), StoreError>;

    /// Reservations of calls whose outcome nobody knows, and of processes that are gone.
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
