//! How is read what has pages and no text that could be taken as it stands: PDF, pictures, scans?

pub(crate) mod image;
pub(crate) mod pdf;
mod recognize;
