//! Reads PDFs.
//!
//! Each page is interpreted into words, rules and pictures with their places. Layout analysis turns
//! them into pieces, and the pieces of all pages form the document.

mod about;
mod collector;
mod draw;
mod guard;
mod picture;
mod place;
mod scan;
#[cfg(test)]
mod tests;
mod write;

use pikerag_knowledge::ProblemFact;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_interpret::hayro_syntax::content::TypedIter;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Affine;
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent, interpret, interpret_page,
};
use pikerag_knowledge::{Area, Document};
use pikerag_layout::frame::Frame;
use pikerag_layout::marks::PageMarks;
use pikerag_layout::page;
use pikerag_layout::piece::{Body, Piece, Sheet};

use crate::document::file::Input;
use crate::{ParseError, Unavailable};
use pikerag_unpack::Problems;

pub(crate) use draw::draw;

use collector::{Collector, PageContent, Weights};
use picture::{Picture, PictureBudget};

/// Reads a PDF. A page that cannot be read is a problem; the others are kept.
pub(crate) fn read(input: &Input<'_>, problems: &mut Problems) -> Result<Document, ParseError> {
    let pdf = Pdf::new(input.bytes.to_vec()).map_err(|error| refused(input, error))?;
    let n_pages = pdf.pages().len();
    if n_pages == 0 {
        return Err(input.malformed("PDF", "it has no pages"));
    }
    let limit = input.limits.max_pages;
    if limit < n_pages {
        let from = limit + 1;
        problems.add("", ProblemFact::PagesSkipped { most: limit, from, to: n_pages });
    }
    let cache = InterpreterCache::new();
    let mut reader = Reader {
        input,
        pdf: &pdf,
        budget: PictureBudget::new(),
        weights: Weights::new(),
        pieces: Vec::new(),
        pictures: None,
        n_unread: 0,
        failed: Vec::new(),
    };
    for (number, page) in (1..).zip(pdf.pages().iter().take(limit)) {
        // A page that fails does not lose the file.
        let read = catch_unwind(AssertUnwindSafe(|| reader.page(number, page, &cache, problems)));
        if read.is_err() {
            reader.failed.push((number, PageFault::Broken));
        }
        for (number, reason) in reader.failed.iter().filter(|(of, _)| *of == number) {
            problems.add(format!("page {number}"), reason.fact());
        }
    }
    reader.document(n_pages, problems)
}

/// The reason why a page is left out.
#[derive(Clone, Copy)]
enum PageFault {
    /// Its content breaks the rules of PDF.
    Broken,
    /// Its drawing instructions exceed the size limit.
    TooLong,
}

impl PageFault {
    fn fact(self) -> ProblemFact {
        match self {
            Self::Broken => ProblemFact::BrokenPage,
            Self::TooLong => ProblemFact::LongPage,
        }
    }

    /// The words for the error of a file whose pages are all left out.
    fn words(self) -> &'static str {
        match self {
            Self::Broken => "its content breaks the rules of PDF",
            Self::TooLong => "its drawing instructions exceed the size limit",
        }
    }
}

/// The reason why the file does not open.
fn refused(input: &Input<'_>, error: LoadPdfError) -> ParseError {
    let unsupported = |seen: &str, hint: &str| ParseError::Unsupported {
        name: input.name.to_owned(),
        seen: seen.to_owned(),
        hint: hint.to_owned(),
    };
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => unsupported(
            "an encrypted PDF that opens with a password only",
            "open it with its password and save a copy without one",
        ),
        LoadPdfError::Decryption(_) => unsupported(
            "a PDF whose encryption is damaged or of an unknown kind",
            "open it in a viewer and save or print a copy without encryption",
        ),
        LoadPdfError::Invalid => {
            input.malformed("PDF", "its structure is damaged and no page can be found")
        }
    }
}

struct Reader<'a> {
    input: &'a Input<'a>,
    pdf: &'a Pdf,
    budget: PictureBudget,
    weights: Weights,
    pieces: Vec<Piece>,
    /// The last reason why pages that are pictures were not read.
    pictures: Option<Unavailable>,
    n_unread: usize,
    /// Skipped pages and the reasons.
    failed: Vec<(u32, PageFault)>,
}

impl<'a> Reader<'a> {
    fn page(
        &mut self,
        number: u32,
        page: &'a Page<'a>,
        cache: &InterpreterCache<'a>,
        problems: &mut Problems,
    ) {
        let (width, height) = page.render_dimensions();
        let area = Area { left: 0.0, top: 0.0, right: width, bottom: height };
        let to_page = Affine::new(page.initial_transform(true).as_coeffs());
        let whole =
            hayro_interpret::kurbo::Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let settings = InterpreterSettings {
            render_content: RenderContent::ANNOTATIONS,
            ..InterpreterSettings::default()
        };
        let mut state = Context::new(to_page, whole, cache, self.pdf.xref(), settings);
        let mut collector = Collector::new(area, &mut self.budget, &mut self.weights);
        // The page's own cache would keep the content of all pages, of any size.
        match guard::content(page) {
            Some(content) => {
                let operations = TypedIter::new(&content);
                interpret(operations, page.resources(), &mut state, &mut collector);
            }
            None => {
                self.failed.push((number, PageFault::TooLong));
            }
        }
        interpret_page(page, &mut state, &mut collector); // This draws the page's annotations.
        let mut content = collector.finish();
        let links = about::links(page, to_page);
        let targets: Vec<String> = links.iter().map(|(_, target)| target.clone()).collect();
        for word in content.words.iter_mut().filter(|_| !links.is_empty()) {
            let place = Frame::new(word.angle).back(word.area());
            let (x, y) =
                (f32::midpoint(place.left, place.right), f32::midpoint(place.top, place.bottom));
            word.link = links.iter().position(|(area, _)| {
                area.left <= x && x <= area.right && area.top - 1.0 <= y && y <= area.bottom + 1.0
            });
        }
        let place = || format!("page {number}");
        if 0 < content.unknown {
            let characters = content.unknown;
            problems.add(place(), ProblemFact::UnknownCharacters { characters });
        }
        if 0 < content.left_out {
            problems.add(place(), ProblemFact::WordsSkipped { words: content.left_out });
        }
        self.lay_out(Sheet { number, area }, content, &targets, problems);
        let lost = self.budget.next_page();
        if 0 < lost {
            problems.add(place(), ProblemFact::PicturesLost { pictures: lost });
        }
    }

    fn lay_out(
        &mut self,
        sheet: Sheet,
        mut content: PageContent,
        targets: &[String],
        problems: &mut Problems,
    ) {
        let place = format!("page {}", sheet.number);
        if scan::is_scan(&content, sheet.area) {
            let pictures = std::mem::take(&mut content.pictures);
            let scan = scan::read(sheet, &pictures, self.input.tools, &mut self.budget);
            self.pieces.extend(scan.pieces);
            if let Some(reason) = scan.problem {
                problems.add(&place, reason);
            }
            if let Some(failure) = scan.failure {
                let reason = failure.to_string();
                problems.add(&place, ProblemFact::NotRecognized { reason });
                self.pictures = Some(failure);
                self.n_unread += 1;
            }
        }
        let PageContent { words, rules, fills, pictures, .. } = content;
        let images = pictures.iter().map(|picture| picture.area).collect();
        let budget = &mut self.budget;
        let mut compose = |places: &[usize], area: Area| {
            let members: Vec<&Picture> =
                places.iter().filter_map(|place| pictures.get(*place)).collect();
            let (image, _) = picture::compose(&members, area)?;
            picture::kept(image, budget)
        };
        let marks = PageMarks { words, rules, fills, images };
        let pieces = page::pieces(sheet, marks, targets, &mut compose);
        let hidden = pieces.iter().filter(|piece| piece.hidden).count();
        if 0 < hidden {
            problems.add(&place, ProblemFact::HiddenPassages { passages: hidden });
        }
        self.pieces.extend(pieces);
    }

    fn document(self, n_pages: usize, problems: &mut Problems) -> Result<Document, ParseError> {
        let has_text = self.pieces.iter().any(|piece| !matches!(piece.body, Body::Figure(_)));
        if let Some(Unavailable(hint)) = self.pictures.filter(|_| !has_text) {
            let seen = format!(
                "a scanned PDF ({} of {n_pages} pages are pictures, and no page has text)",
                self.n_unread
            );
            return Err(ParseError::Unsupported { name: self.input.name.to_owned(), seen, hint });
        }
        if let (Some((number, reason)), true) = (self.failed.first(), self.pieces.is_empty()) {
            return Err(self.input.malformed("PDF", format!("page {number}: {}", reason.words())));
        }
        let (writing, heading) = write::write(self.pieces, n_pages, self.input.limits.max_cells);
        if writing.cut {
            problems.add("", ProblemFact::CellsSkipped);
        }
        let (title, mut metadata) = about::about(self.pdf);
        metadata.insert("pages".to_owned(), n_pages.to_string());
        let mut document = self.input.document(title.or(heading), writing);
        document.metadata = metadata;
        Ok(document)
    }
}
