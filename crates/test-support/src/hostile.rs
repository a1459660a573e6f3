//! Which files are written to do harm? Bombs, loops, entities that reach out, lying sizes, hidden words:
//! all generated, so that no hostile file lies in the repository.

mod bomb;
mod office;
mod pdf;
mod text;

/// Words that only somebody sees who reads what a page hides; nothing may keep them.
pub const CANARY: &str = "CANARY-6407";
/// Words that no reader sees, set within the text: they may be kept only where they are marked as hidden.
pub const HIDDEN: &str = "OBEY-8213";
/// Where the files would have a reader call.
pub const TRAPS: [u16; 2] = [59_994, 59_995];
/// Files that a reader must read in full: they are odd, or harmless beside the others.
pub const FINE: [&str; 7] = [
    "fine.docx",
    "fine.xlsx",
    "fine.pdf",
    "hidden.html",
    "zero-width.md",
    "gb18030.txt",
    "utf16.txt",
];

/// A file: its name and what is in it.
pub type File = (String, Vec<u8>);

/// All of them.
#[must_use]
pub fn all() -> Vec<File> {
    let mut files = texts();
    files.extend(pdf::files());
    files.extend(office::files());
    files
}

/// Those that are text.
#[must_use]
pub fn texts() -> Vec<File> {
    text::files()
}
