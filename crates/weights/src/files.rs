//! Reads a file by position, so that several threads can share it.

use std::fs::File;
use std::io;

/// Fills `bytes` with the content that begins at a position of a file.
///
/// # Errors
/// The file cannot be read, or ends too early.
#[cfg(unix)]
pub(super) fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, place)
}

/// As above; reading moves the file's own position, which no other code uses.
#[cfg(windows)]
pub(super) fn read_at(file: &File, mut bytes: &mut [u8], mut place: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, place)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => (bytes, place) = (bytes.get_mut(n..).unwrap_or_default(), place + n as u64),
        }
    }
    Ok(())
}

/// The bytes of a range.
///
/// # Errors
/// As [`read_at`].
pub(super) fn read_range(file: &File, range: &std::ops::Range<u64>) -> io::Result<Vec<u8>> {
    let length =
        usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    read_at(file, &mut bytes, range.start)?;
    Ok(bytes)
}
