//! Unpacks and decodes the bytes of a file within limits, whatever the file declares.

pub(crate) mod archive;
pub(crate) mod encoding;
pub(crate) mod image_header;
pub(crate) mod xml;
