//! Compresses half a gigabyte of one byte without building it: one compressed block is repeated,
//! and the checksums are computed.

use flate2::{Compress, Compression, Crc, FlushCompress};

const MIB: usize = 1 << 20;

/// Compressed bytes: `before`, then `mib` MiB of one byte, then `after`.
pub(super) struct Packed {
    /// A raw deflate stream.
    pub(super) deflated: Vec<u8>,
    /// CRC-32 of the decompressed bytes.
    pub(super) crc: u32,
    /// The number of decompressed bytes.
    pub(super) size: u64,
}

impl Packed {
    pub(super) fn new(before: &[u8], byte: u8, mib: usize, after: &[u8]) -> Self {
        let block = vec![byte; MIB];
        let mut deflated = deflated(before, FlushCompress::Full);
        deflated.extend(self::deflated(&block, FlushCompress::Full).repeat(mib));
        deflated.extend(self::deflated(after, FlushCompress::Finish));
        let of = |bytes: &[u8]| {
            let mut crc = Crc::new();
            crc.update(bytes);
            crc
        };
        let (mut crc, block_crc) = (of(before), of(&block));
        for _ in 0..mib {
            crc.combine(&block_crc);
        }
        crc.combine(&of(after));
        let size = (before.len() + mib * MIB + after.len()) as u64;
        Self { deflated, crc: crc.sum(), size }
    }
}

/// `mib` MiB of one byte as a zlib stream.
pub(super) fn zlib(byte: u8, mib: usize) -> Vec<u8> {
    let packed = Packed::new(&[], byte, mib, &[]);
    let mut stream = vec![0x78, 0xDA];
    stream.extend(packed.deflated);
    stream.extend(adler(byte, packed.size).to_be_bytes());
    stream
}

/// Adler-32 of `n` times the same byte: a = 1 + b·n, and the sum of all intermediate a.
fn adler(byte: u8, n: u64) -> u32 {
    const MODULUS: u128 = 65_521;
    let (byte, n) = (u128::from(byte), u128::from(n));
    let a = (1 + byte * n) % MODULUS;
    let b = (n + byte * (n * (n + 1) / 2)) % MODULUS;
    (b << 16 | a) as u32
}

/// A part of a raw stream that does not depend on the parts before it.
fn deflated(bytes: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut packer = Compress::new(Compression::best(), false);
    let mut out = Vec::with_capacity(bytes.len() / 2 + 1024);
    packer.compress_vec(bytes, &mut out, flush).unwrap();
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Packed, zlib};

    #[test]
    fn a_bomb_unpacks_to_its_declared_size_and_checksum() {
        let packed = Packed::new(b"<a>", b' ', 2, b"</a>");
        let mut text = Vec::new();
        flate2::read::DeflateDecoder::new(&*packed.deflated).read_to_end(&mut text).unwrap();
        assert_eq!(text.len() as u64, packed.size);
        assert!(text.starts_with(b"<a>   ") && text.ends_with(b"  </a>"));
        let mut crc = flate2::Crc::new();
        crc.update(&text);
        assert_eq!(crc.sum(), packed.crc);
        // The decoder checks Adler-32.
        text.clear();
        flate2::read::ZlibDecoder::new(&*zlib(7, 3)).read_to_end(&mut text).unwrap();
        assert_eq!((text.len(), text.iter().all(|byte| *byte == 7)), (3 << 20, true));
    }
}
