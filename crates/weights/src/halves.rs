//! Reads numbers that are stored in 32 bits, or in 16 bits of either kind.

use safetensors::Dtype;

/// The storage format of numbers.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    F32,
    F16,
    BF16,
}

impl Kind {
    pub(super) fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::F32 => Some(Self::F32),
            Dtype::F16 => Some(Self::F16),
            Dtype::BF16 => Some(Self::BF16),
            _ => None,
        }
    }

    /// Bytes per number.
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
        }
    }

    /// Appends the numbers that these bytes encode.
    pub(super) fn append(self, bytes: &[u8], into: &mut Vec<f32>) {
        match self {
            Self::F32 => into.extend(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b))),
            Self::F16 => into.extend(bytes.as_chunks().0.iter().map(|b| from_f16(*b))),
            Self::BF16 => into.extend(bytes.as_chunks().0.iter().map(|b| from_bf16(*b))),
        }
    }
}

/// A bf16 number is the upper half of an `f32`.
fn from_bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// Moves exponent and fraction into place; the factor 2¹¹² corrects the exponents' offsets, and is
/// exact for subnormal numbers too.
pub(super) fn from_f16(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let sign = (bits & 0x8000) << 16;
    let magnitude = (bits & 0x7fff) << 13;
    let is_finite = magnitude < 0x0f80_0000;
    let magnitude = if is_finite {
        f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)
    } else {
        f32::from_bits(magnitude | 0x7f80_0000) // infinity, or not a number
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_are_exact() {
        let check = |bits: u16| from_f16(bits.to_le_bytes());
        let expected = [
            (0x3c00, 1.0_f32),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x8000, -0.0),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in expected {
            assert_eq!(check(bits).to_bits(), value.to_bits(), "{bits:x}");
        }
        assert!(check(0x7e00).is_nan());
        assert_eq!(from_bf16(0xbf80_u16.to_le_bytes()).to_bits(), (-1.0_f32).to_bits());
    }
}
