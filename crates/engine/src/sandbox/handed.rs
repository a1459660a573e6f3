//! Receives the files that a child hands over.

use async_trait::async_trait;

/// Receives files that a child hands over.
#[async_trait]
pub(crate) trait TakesFiles: Send {
    /// Takes a file under a name that the child chose; `Err` has the reason if it is refused.
    async fn take(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String>;
}

/// Receives from children that have nothing to hand over.
pub(super) struct Nowhere;

#[async_trait]
impl TakesFiles for Nowhere {
    async fn take(&mut self, _: &str, _: Vec<u8>) -> Result<(), String> {
        Err("no file is taken here".to_owned())
    }
}

#[async_trait]
impl TakesFiles for Option<Vec<u8>> {
    async fn take(&mut self, _: &str, bytes: Vec<u8>) -> Result<(), String> {
        *self = Some(bytes);
        Ok(())
    }
}
