//! Groups the readers of paged files without plain text: PDF, pictures, scans.

pub(crate) mod image;
pub(crate) mod pdf;
mod recognize;
