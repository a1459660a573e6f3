//! Turns the marks on a page into lines, columns and tables in reading order (PIKE-RAG §5.1.1).
//!
//! A page is either a page of a PDF, with drawn words and rules, or a picture or scan, with
//! recognised words and with rules found in its pixels. This crate knows no file format and decodes
//! no picture.
//!
//! - A page of a PDF: [`marks::PageMarks`] → [`page::pieces`]; the pieces of all pages →
//!   [`pages::elements`].
//! - A picture: [`raster::Grey`] → [`raster::strokes::find`], [`raster::clean::without_frames`]; the
//!   words that a program recognised on it, [`ocr::Recognized`] → [`ocr::lay_out`].
//!
//! Coordinates are points (for a picture, the caller's unit) from the upper left corner of the
//! page, y downwards. All work per page is bounded: a hostile page with millions of marks is read
//! as a drawing, without analysis.

mod disjoint_sets;
pub mod figures;
pub mod frame;
pub mod marks;
pub mod ocr;
pub mod order;
pub mod page;
pub mod pages;
pub mod piece;
pub mod raster;
pub mod tables;
pub mod text;
