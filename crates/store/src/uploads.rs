//! Defines how a database keeps uploaded files for all servers that use it. A base in a folder keeps
//! them in a folder beside it instead.

use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{Millis, StoreError};

/// The bytes of a piece of an upload in a database, at most.
pub const UPLOAD_PIECE: usize = 1 << 20;
/// How long an upload belongs to a sender that stores nothing.
pub const SENDER_KEPT: Duration = Duration::from_mins(1);

/// A complete upload. A later upload of the same name has another number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUpload {
    /// No other upload of the database ever has it.
    pub number: i64,
    /// The name that it was uploaded under.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// An incomplete upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// The name under which it is sent.
    pub name: String,
    /// The bytes that are stored.
    pub bytes: u64,
    /// The time of the last piece, by the clock of the database.
    pub changed: Millis,
}

/// The beginning or continuation of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BegunUpload {
    /// The upload with this number belongs to the sender now.
    Ours(i64),
    /// Another request is sending it.
    UnderWay,
    /// The next piece must begin at another byte.
    OutOfOrder {
        /// The bytes that are stored.
        held: u64,
    },
}

/// The end of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishedUpload {
    /// It is complete, and has replaced an earlier file of its name.
    Complete,
    /// A file has the name of a folder above it, or it has the name of such a folder.
    NameTaken,
    /// Another request is sending it, or it was removed.
    NotOurs,
}

/// The uploads of a base in a database. Names are valid: [`StoredUploads`] does not check them.
///
/// # Errors
/// The database cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait StoredUploads: Send + Sync {
    /// The complete uploads, by name.
    async fn uploads(&self) -> Result<Vec<StoredUpload>, StoreError>;

    /// The complete upload of a name.
    async fn upload(&self, name: &str) -> Result<Option<StoredUpload>, StoreError>;

    /// The bytes of an upload from a byte on: at most [`UPLOAD_PIECE`], empty at its end. `None` if the
    /// upload was replaced or removed meanwhile.
    async fn upload_piece(&self, number: i64, from: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The incomplete uploads, in no order.
    async fn upload_parts(&self) -> Result<Vec<StoredPart>, StoreError>;

    /// The stored bytes of an incomplete upload; 0 if there is none.
    async fn upload_held(&self, name: &str, part: &str) -> Result<u64, StoreError>;

    /// Begins an upload, or continues it at `from`, for a sender; 0 discards earlier bytes. The upload
    /// belongs to the sender until [`SENDER_KEPT`] after its last piece.
    async fn begin_upload(
        &self,
        name: &str,
        part: &str,
        from: u64,
        sender: &str,
    ) -> Result<BegunUpload, StoreError>;

    /// Stores the next bytes, at most [`UPLOAD_PIECE`]. False if the upload does not belong to the sender
    /// any more, or does not end at `from`; then nothing is stored.
    async fn add_to_upload(
        &self,
        number: i64,
        sender: &str,
        from: u64,
        bytes: Vec<u8>,
    ) -> Result<bool, StoreError>;

    /// Lets other senders continue the upload.
    async fn release_upload(&self, number: i64, sender: &str) -> Result<(), StoreError>;

    /// Whether a file has the name of a folder above `name`, or `name` is such a folder.
    async fn is_upload_name_taken(&self, name: &str) -> Result<bool, StoreError>;

    /// Makes an upload the complete file of its name, in one step.
    async fn finish_upload(&self, number: i64, sender: &str) -> Result<FinishedUpload, StoreError>;

    /// Deletes an incomplete upload of the sender.
    async fn discard_upload(&self, number: i64, sender: &str) -> Result<(), StoreError>;

    /// Deletes the complete file of a name. Returns whether there was one.
    async fn remove_upload(&self, name: &str) -> Result<bool, StoreError>;

    /// Deletes the incomplete uploads that nobody is sending: those of a name, or all of which no piece
    /// came for this time. Returns their number.
    async fn drop_upload_parts(&self, which: DroppedParts<'_>) -> Result<usize, StoreError>;
}

/// The incomplete uploads to delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedParts<'a> {
    /// Those of a name.
    Of(&'a str),
    /// Those of which no piece came for longer than this time.
    OlderThan(Duration),
}
