//! Draws a page as a picture, for people who check the place of a citation.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use hayro_interpret::InterpreterSettings;
use hayro_interpret::hayro_syntax::Pdf;

use super::{guard, refused};
use crate::document::file::Input;
use crate::{PagePicture, ParseError};

/// The most pixels of the longer side.
const LONGEST: f32 = 6000.0;

/// Draws page `number`, from 1, as a PNG about `width` pixels wide.
pub(crate) fn draw(input: &Input<'_>, number: u32, width: u32) -> Result<PagePicture, ParseError> {
    let pdf = Pdf::new(input.bytes.to_vec()).map_err(|error| refused(input, error))?;
    let (place, pages) = ((number as usize).checked_sub(1), pdf.pages().len() as u32);
    let Some(page) = place.and_then(|place| pdf.pages().get(place)) else {
        return Err(ParseError::NoPage { name: input.name.to_owned(), page: number, pages });
    };
    let broken = || input.malformed("PDF", format!("page {number} cannot be drawn"));
    let (points_wide, points_high) = page.render_dimensions();
    let longest = points_wide.max(points_high);
    let scale = (width as f32 / points_wide).min(LONGEST / longest);
    // Also false if a page has no size.
    if !(1.0 <= points_wide * scale && 1.0 <= points_high * scale) {
        return Err(broken());
    }
    // Pages with too many drawing instructions are not drawn either.
    guard::content(page).ok_or_else(broken)?;
    let drawn = catch_unwind(AssertUnwindSafe(|| {
        let pixels = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
        let (cache, how) = (RenderCache::new(), InterpreterSettings::default());
        render(page, &cache, &how, &RenderSettings::default(), &pixels).into_png()
    }));
    match drawn {
        Ok(Ok(png)) => Ok(PagePicture { png, points: (points_wide, points_high), pages }),
        _ => Err(broken()),
    }
}
