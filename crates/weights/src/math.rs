//! Computes GELU, softmax and layer normalisation on slices, in plain arithmetic that the compiler
//! turns into the widest vectors of the machine (`pulp` picks them at run time).

#![expect(
    clippy::inline_always,
    reason = "only inlined code is compiled for the dispatched instructions; closures are not always"
)]

use pulp::{Arch, NullaryFnOnce};

/// GELU with the error function: ½x·(1 + erf(x/√2)), to 3e-7·(1 + |x|).
pub(super) fn gelu(values: &mut [f32]) {
    Arch::new()
        .dispatch(Each(values, |x| x * erf(x * std::f32::consts::FRAC_1_SQRT_2).mul_add(0.5, 0.5)));
}

/// GELU with tanh (`gelu_new`): ½x·(1 + tanh u) = x·(1 − 1/(e²ᵘ + 1)).
pub(super) fn gelu_tanh(values: &mut [f32]) {
    const TWICE_SQRT_2_OVER_PI: f32 = 1.595_769;
    Arch::new().dispatch(Each(values, |x| {
        let twice_u = TWICE_SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x);
        x - x / (exp(twice_u) + 1.0)
    }));
}

/// Applies a function to each number.
struct Each<'a, F>(&'a mut [f32], F);

impl<F: Fn(f32) -> f32> NullaryFnOnce for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for value in self.0 {
            *value = (self.1)(*value);
        }
    }
}

pub(super) fn relu(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

/// Turns each row into probabilities.
pub(super) fn softmax_rows(values: &mut [f32], columns: usize) {
    Arch::new().dispatch(Softmax { values, columns });
}

struct Softmax<'a> {
    values: &'a mut [f32],
    columns: usize,
}

impl NullaryFnOnce for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for row in self.values.chunks_exact_mut(self.columns.max(1)) {
            let highest = max(row);
            for value in &mut *row {
                *value = exp(*value - highest);
            }
            let scale = 1.0 / sum(row, |value| value);
            for value in row {
                *value *= scale;
            }
        }
    }
}

/// Brings each row to mean 0 and variance 1, then scales and shifts it; `gain` is one row long.
pub(super) fn layer_norm_rows(values: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) {
    Arch::new().dispatch(LayerNorm { values, gain, shift, epsilon });
}

struct LayerNorm<'a> {
    values: &'a mut [f32],
    gain: &'a [f32],
    shift: &'a [f32],
    epsilon: f32,
}

impl NullaryFnOnce for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { values, gain, shift, epsilon } = self;
        for row in values.chunks_exact_mut(gain.len().max(1)) {
            let n = row.len() as f32;
            let mean = sum(row, |value| value) / n;
            let variance = sum(row, |value| (value - mean) * (value - mean)) / n;
            let scale = 1.0 / (variance + epsilon).sqrt();
            for ((value, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
                *value = (*value - mean) * scale * gain + shift;
            }
        }
    }
}

/// a ← a + b
pub(super) fn add(a: &mut [f32], b: &[f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

/// Scales a vector to length 1; a vector of zeros stays.
pub(super) fn normalize(vector: &mut [f32]) {
    let length = sum(vector, |value| value * value).sqrt().max(1e-12);
    for value in vector {
        *value /= length;
    }
}

/// Numbers summed side by side: float addition is not associative, so the compiler may not do it.
const LANES: usize = 16;

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            *lane += of(value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|&value| of(value)).sum::<f32>()
}

#[inline(always)]
fn max(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::MIN; LANES];
    for block in blocks {
        for (lane, &value) in lanes.iter_mut().zip(block) {
            *lane = if *lane < value { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f32::MIN, |highest, &value| highest.max(value))
}

/// The largest magnitude; 0 for an empty slice.
#[inline(always)]
pub(super) fn largest(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            let value = value.abs();
            *lane = if *lane < value { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |largest, value| largest.max(value.abs()))
}

/// 1.5·2²³: a float this large has no fraction.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, so that n·ln 2 loses no digits.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// eˣ within 3e-7 of its value; x is limited to [−87, 88], where a float can hold the result.
///
/// Cephes: eˣ = 2ⁿ·eʳ with |r| ≤ ½ ln 2, and a polynomial for eʳ. Adding `ROUND` rounds to the
/// integer n and puts it into the low bits; a shift then moves it to the exponent.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let p = 1.987_569_1e-4_f32;
    let p = p.mul_add(r, 1.398_2e-3);
    let p = p.mul_add(r, 8.333_452e-3);
    let p = p.mul_add(r, 4.166_579_6e-2);
    let p = p.mul_add(r, 0.166_666_65);
    let p = p.mul_add(r, 0.5);
    let p = (p * r).mul_add(r, r) + 1.0;
    f32::from_bits(p.to_bits().wrapping_add(rounded.to_bits() << 23))
}

/// erf(x) within 4e-7: the rational function of Eigen and XLA, odd over even powers up to |x| = 4.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let s = x * x;
    let p = -2.726_142_3e-10_f32;
    let p = p.mul_add(s, 2.770_681_5e-8);
    let p = p.mul_add(s, -2.101_024e-6);
    let p = p.mul_add(s, -5.692_506_4e-5);
    let p = p.mul_add(s, -7.349_906_3e-4);
    let p = p.mul_add(s, -2.954_6e-3);
    let p = p.mul_add(s, -1.609_603_3e-2);
    let q = -1.456_607_2e-5_f32;
    let q = q.mul_add(s, -2.133_740_6e-4);
    let q = q.mul_add(s, -1.682_827e-3);
    let q = q.mul_add(s, -7.373_329e-3);
    let q = q.mul_add(s, -1.426_473_9e-2);
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    /// erf by its Taylor series, in double precision.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut total) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            total += term / f64::from(2 * n + 1);
        }
        total * std::f64::consts::FRAC_2_SQRT_PI
    }

    /// Every 1/512 from −8 to 8.
    fn grid() -> impl Iterator<Item = f32> {
        (-4096..=4096_i16).map(|step| f32::from(step) / 512.0)
    }

    #[test]
    fn erf_and_gelu_are_exact_enough() {
        let mut worst = [0.0_f64; 2];
        for x in grid() {
            let exact = if x.abs() < 4.5 { erf_series(x.into()) } else { f64::from(x).signum() };
            worst[0] = worst[0].max((f64::from(erf(x)) - exact).abs());
            let exact = erf_series(f64::from(x.clamp(-6.0, 6.0)) / 2.0_f64.sqrt());
            let mut value = [x];
            gelu(&mut value);
            let exact = f64::from(x) * 0.5 * (1.0 + exact);
            worst[1] =
                worst[1].max((f64::from(value[0]) - exact).abs() / (1.0 + f64::from(x.abs())));
        }
        println!("erf off by {:e}, gelu by {:e}", worst[0], worst[1]);
        assert!(worst[0] < 4e-7, "erf is off by {:e}", worst[0]);
        assert!(worst[1] < 3e-7, "gelu is off by {:e}", worst[1]);
    }

    #[test]
    fn exp_is_exact_enough() {
        for x in grid().map(|x| x * 10.0) {
            let exact = f64::from(x).exp();
            let off = (f64::from(exp(x)) / exact - 1.0).abs();
            assert!(off < 3e-7, "exp({x}) is off by {off:e}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(1000.0).is_finite());
    }

    #[test]
    fn gelu_tanh_follows_its_definition() {
        for x in grid() {
            let x64 = f64::from(x);
            let u = (2.0 / std::f64::consts::PI).sqrt() * (x64 + 0.044_715 * x64.powi(3));
            let mut value = [x];
            gelu_tanh(&mut value);
            let exact = 0.5 * x64 * (1.0 + u.tanh());
            assert!((f64::from(value[0]) - exact).abs() < 2e-6, "at {x}");
        }
    }

    #[test]
    fn rows_become_probabilities_and_norms() {
        let mut rows = [0.0, 2.0_f32.ln(), 0.0, 0.0, -1e30, -1e30];
        softmax_rows(&mut rows, 3);
        for (value, expected) in rows.iter().zip([0.25, 0.5, 0.25, 1.0, 0.0, 0.0]) {
            assert!((value - expected).abs() < 1e-6, "{rows:?}");
        }
        let mut row = [1.0, 3.0];
        layer_norm_rows(&mut row, &[2.0, 1.0], &[0.0, 5.0], 0.0);
        let (mut vector, mut zeros) = ([3.0, 4.0], [0.0; 2]);
        normalize(&mut vector);
        normalize(&mut zeros);
        for (value, expected) in row.iter().chain(&vector).zip([-2.0, 6.0, 0.6, 0.8]) {
            assert!((value - expected).abs() < 1e-6, "{row:?} {vector:?}");
        }
        assert!(zeros.iter().all(|value| *value == 0.0), "no direction, but no NaN either");
    }
}
