//! How do marks on a page become lines, columns and tables in reading order? (PIKE-RAG §5.1.1)
//!
//! Layout analysis for whatever has a page: a PDF, whose words and rules are drawn, and a picture or
//! scan, whose words were recognised and whose rules are found in its pixels. No file format is known
//! here, and no picture is decoded.
//!
//! - A page of a PDF: [`marks::PageMarks`] → [`page::pieces`]; the pieces of all pages →
//!   [`pages::elements`].
//! - A picture: [`raster::Grey`] → [`raster::strokes::find`], [`raster::clean::without_frames`]; the
//!   words that a program recognised on it, [`ocr::Recognized`] → [`ocr::lay_out`].
//!
//! Coordinates are points (for a picture whatever unit its caller chose), from the upper left corner
//! of the page, y downwards. What is asked of the page is bounded everywhere: a hostile page of
//! millions of marks is read as a drawing, not analysed.

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
