//! How are bytes unpacked and decoded, before anybody knows which document they make? Within limits:
//! whatever a stranger's file claims, nothing here takes more than that.

pub(crate) mod archive;
pub(crate) mod encoding;
pub(crate) mod image_header;
pub(crate) mod xml;
