//! Unpacks and decodes the bytes of a file within limits, whatever the file declares: archives,
//! encodings of text, XML, and the headers of pictures.

pub mod archive;
pub mod encoding;
mod error;
pub mod image_header;
mod problems;
pub mod xml;

pub use error::ParseError;
pub use problems::Problems;
