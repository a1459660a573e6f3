//! How is a number of 16 bits read, of either kind?

/// The upper half of an `f32`.
pub(super) fn from_bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// Moves exponent and fraction into place; the factor 2¹¹² makes up for the exponents' offsets, and
/// is exact for subnormal numbers too.
pub(super) fn from_f16(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let sign = (bits & 0x8000) << 16;
    let magnitude = (bits & 0x7fff) << 13;
    let is_finite = magnitude < 0x0f80_0000;
    let magnitude = if is_finite {
        f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)
    } else {
        f32::from_bits(magnitude | 0x7f80_0000) // Infinity, or not a number.
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
