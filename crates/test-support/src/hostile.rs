//! Generates hostile files: bombs, loops, external entities, false sizes, hidden words. No hostile
//! file is stored in the repository.

mod bomb;
mod office;
mod pdf;
mod text;

/// Words in hidden content; no reader may keep them.
pub const CANARY: &str = "CANARY-6407";
/// Hidden words within the visible text: a reader may keep them only marked as hidden.
pub const HIDDEN: &str = "OBEY-8213";
/// Ports that the files try to make a reader call.
pub const TRAPS: [u16; 2] = [59_994, 59_995];
/// Files that a reader must read in full: they are unusual, or harmless.
pub const FINE: [&str; 7] = [
    "fine.docx",
    "fine.xlsx",
    "fine.pdf",
    "hidden.html",
    "zero-width.md",
    "gb18030.txt",
    "utf16.txt",
];

/// A file: its name and its bytes.
pub type File = (String, Vec<u8>);

/// All hostile files.
#[must_use]
pub fn all() -> Vec<File> {
    let mut files = texts();
    files.extend(pdf::files());
    files.extend(office::files());
    files
}

/// The hostile text files.
#[must_use]
pub fn texts() -> Vec<File> {
    text::files()
}
