//! Computes a linear layer in whole numbers, the same to four digits. Weights and inputs are
//! rounded to about eleven bits, each by a scale of its own, so that no sum exceeds 32 bits.
//! Products of whole numbers are exact, so that every processor gives the same sums. The widest
//! available instructions are detected at run time.

#![expect(
    clippy::inline_always,
    reason = "only inlined code is compiled for the dispatched instructions"
)]

use pulp::{Arch, NullaryFnOnce};

use super::tensors::Tensors;
use super::{WeightsError, math};

/// Outputs that are computed at once, and rows of inputs: as many as fit the registers of AVX2.
const COLUMNS: usize = 16;
const ROWS: usize = 6;
/// Two inputs of a row, or the two weights for them: one instruction sums both products.
type Pair = [i16; 2];
/// The weights of two inputs for some outputs.
type Step = [Pair; COLUMNS];
/// Two inputs of some rows.
type Inputs = [Pair; ROWS];

/// y = x·W + b
pub(super) struct Linear {
    /// By panel of [`COLUMNS`] outputs, a step for each two inputs; zeros after the last ones.
    steps: Vec<Step>,
    /// By panel, the value of one unit of an output's rounded weights.
    scales: Vec<[f32; COLUMNS]>,
    /// By panel.
    bias: Vec<[f32; COLUMNS]>,
    inputs: usize,
    outputs: usize,
}

/// Inputs in whole numbers, by blocks of [`ROWS`] rows.
#[derive(Default)]
pub(super) struct Rounded {
    blocks: Vec<Inputs>,
    /// The value of one unit of a row's rounded inputs.
    scales: Vec<[f32; ROWS]>,
}

impl Linear {
    /// Reads layers of equal size and puts their outputs side by side. A file stores `[outputs,
    /// inputs]`.
    pub(super) fn read(
        tensors: &impl Tensors,
        names: &[String],
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, WeightsError> {
        let mut rows = Vec::new();
        let mut bias = Vec::new();
        for name in names {
            rows.extend(tensors.get(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(tensors.get(&format!("{name}.bias"), &[outputs])?);
        }
        Ok(Self::new(&rows, &bias, inputs))
    }

    /// Takes a row of weights for each output.
    fn new(rows: &[f32], bias: &[f32], inputs: usize) -> Self {
        let (inputs, outputs) = (inputs.max(1), bias.len());
        let (n_steps, n_panels) = (inputs.div_ceil(2), outputs.div_ceil(COLUMNS));
        let mut steps = vec![[[0; 2]; COLUMNS]; n_panels * n_steps];
        let mut scales = vec![[0.0; COLUMNS]; n_panels];
        let panels = steps.chunks_exact_mut(n_steps).zip(&mut scales);
        for (rows, (panel, scales)) in rows.chunks(COLUMNS * inputs).zip(panels) {
            for (column, (row, scale)) in rows.chunks_exact(inputs).zip(scales).enumerate() {
                let places = panel.iter_mut().filter_map(|step| step.get_mut(column));
                *scale = round(row, levels(inputs), places);
            }
        }
        let padded = |part: &[f32]| {
            let mut panel = [0.0; COLUMNS];
            for (to, from) in panel.iter_mut().zip(part) {
                *to = *from;
            }
            panel
        };
        let bias = bias.chunks(COLUMNS).map(padded).collect();
        Self { steps, scales, bias, inputs, outputs }
    }

    /// y ← x·W + b
    pub(super) fn set(&self, x: &[f32], rounded: &mut Rounded, y: &mut Vec<f32>) {
        y.clear();
        y.resize(x.len() / self.inputs * self.outputs, 0.0);
        self.add_to(x, rounded, y);
    }

    /// y ← y + x·W + b. A row of y is the same, bit for bit, with any other rows.
    pub(super) fn add_to(&self, x: &[f32], rounded: &mut Rounded, y: &mut [f32]) {
        Arch::new().dispatch(Rounding { x, inputs: self.inputs, rounded });
        run(Product { linear: self, x: rounded, y });
    }
}

struct Rounding<'a> {
    x: &'a [f32],
    inputs: usize,
    rounded: &'a mut Rounded,
}

impl NullaryFnOnce for Rounding<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.rounded.round(self.x, self.inputs);
    }
}

impl Rounded {
    #[inline(always)]
    fn round(&mut self, x: &[f32], inputs: usize) {
        let n_steps = inputs.div_ceil(2);
        let n_blocks = (x.len() / inputs).div_ceil(ROWS);
        self.blocks.clear();
        self.blocks.resize(n_blocks * n_steps, [[0; 2]; ROWS]);
        self.scales.clear();
        self.scales.resize(n_blocks, [0.0; ROWS]);
        let blocks = self.blocks.chunks_exact_mut(n_steps).zip(&mut self.scales);
        for (rows, (block, scales)) in x.chunks(ROWS * inputs).zip(blocks) {
            for (place, (row, scale)) in rows.chunks_exact(inputs).zip(scales).enumerate() {
                let places = block.iter_mut().filter_map(|inputs| inputs.get_mut(place));
                *scale = round(row, levels(inputs), places);
            }
        }
    }
}

/// The greatest whole number whose square fits 32 bits when summed once for each product of a sum.
fn levels(inputs: usize) -> f32 {
    let products = 2 * inputs.div_ceil(2).min(DEPTH);
    let most = (f64::from(i32::MAX) / products as f64).sqrt().floor();
    most.min(f64::from(i16::MAX)) as f32
}

/// Rounds a row to whole numbers of at most `levels`, two to a place, and returns the value of one
/// unit.
#[inline(always)]
fn round<'a>(row: &[f32], levels: f32, places: impl Iterator<Item = &'a mut Pair>) -> f32 {
    /// 1.5·2²³: adding it rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let scale = math::largest(row) / levels;
    // A row of zeros, or with a number that is not finite, has nothing to round.
    let inverse = if scale.is_normal() { 1.0 / scale } else { 0.0 };
    let whole = |value: f32| (value * inverse + ROUND).to_bits() as i16;
    let (pairs, rest) = row.as_chunks();
    let last = rest.first().map(|last| [*last, 0.0]);
    for ([one, other], place) in pairs.iter().copied().chain(last).zip(places) {
        *place = [whole(one), whole(other)];
    }
    scale
}

/// A strategy for multiplying.
trait Kernel: Copy {
    /// Rows times columns: exact, because both are within [`levels`].
    fn tile(self, rows: &[Inputs], columns: &[Step]) -> [[i32; COLUMNS]; ROWS];
}

/// The sums of a layer with all rows.
struct Product<'a> {
    linear: &'a Linear,
    x: &'a Rounded,
    y: &'a mut [f32],
}

/// Pairs of inputs that are summed in whole numbers: that many steps of a panel, and the inputs of
/// a block, stay in the first-level cache.
const DEPTH: usize = 192;

impl Product<'_> {
    #[inline(always)]
    fn with(self, kernel: impl Kernel) {
        let Linear { steps, scales, bias, inputs, outputs } = self.linear;
        let n_steps = inputs.div_ceil(2);
        for y in self.y.chunks_exact_mut((*outputs).max(1)) {
            for (y, bias) in y.chunks_mut(COLUMNS).zip(bias) {
                for (y, bias) in y.iter_mut().zip(bias) {
                    *y += bias;
                }
            }
        }
        for start in (0..n_steps).step_by(DEPTH) {
            let within = start..n_steps.min(start + DEPTH);
            for (nth, (panel, scales)) in steps.chunks_exact(n_steps).zip(scales).enumerate() {
                let Some(panel) = panel.get(within.clone()) else { continue };
                let blocks = self.x.blocks.chunks_exact(n_steps).zip(&self.x.scales);
                for (y, (block, x_scales)) in self.y.chunks_mut((ROWS * outputs).max(1)).zip(blocks)
                {
                    let Some(block) = block.get(within.clone()) else { continue };
                    let sums = kernel.tile(block, panel);
                    let rows = y.chunks_exact_mut(*outputs).zip(sums.iter().zip(x_scales));
                    for (y, (sums, x_scale)) in rows {
                        let Some(y) = y.get_mut(nth * COLUMNS..) else { continue };
                        // With a known length, the compiler handles many at once.
                        match y.first_chunk_mut::<COLUMNS>() {
                            Some(whole) => add(whole, sums, scales, *x_scale),
                            None => add(y, sums, scales, *x_scale),
                        }
                    }
                }
            }
        }
    }
}

/// y ← y + sums, scaled back; up to the end of y.
#[inline(always)]
fn add<'a>(
    y: impl IntoIterator<Item = &'a mut f32>,
    sums: &[i32; COLUMNS],
    scales: &[f32; COLUMNS],
    x_scale: f32,
) {
    for ((y, sum), scale) in y.into_iter().zip(sums).zip(scales) {
        *y += *sum as f32 * (scale * x_scale);
    }
}

/// Multiplies with the best kernel that this machine can run.
fn run(product: Product<'_>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return match x86::vnni() {
            Some(vnni) => vnni.vectorize(Prepared(product, v3)),
            None => v3.vectorize(Prepared(product, v3)),
        };
    }
    Arch::new().dispatch(Prepared(product, Portable));
}

struct Prepared<'a, K>(Product<'a>, K);

impl<K: Kernel> NullaryFnOnce for Prepared<'_, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.with(self.1);
    }
}

/// A portable loop, vectorised by the compiler.
#[derive(Clone, Copy)]
struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn tile(self, rows: &[Inputs], columns: &[Step]) -> [[i32; COLUMNS]; ROWS] {
        let mut sums = [[0; COLUMNS]; ROWS];
        for (rows, step) in rows.iter().zip(columns) {
            for (sums, [x, other_x]) in sums.iter_mut().zip(rows) {
                for (sum, [weight, other]) in sums.iter_mut().zip(step) {
                    *sum += i32::from(*x) * i32::from(*weight);
                    *sum += i32::from(*other_x) * i32::from(*other);
                }
            }
        }
        sums
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::__m256i;

    use pulp::x86::V3;

    use super::{COLUMNS, Inputs, Kernel, ROWS, Step};

    impl Kernel for V3 {
        #[inline(always)]
        fn tile(self, rows: &[Inputs], columns: &[Step]) -> [[i32; COLUMNS]; ROWS] {
            let mut sums = [[self.avx._mm256_setzero_si256(); 2]; ROWS];
            for (rows, step) in rows.iter().zip(columns) {
                let [low, high]: [__m256i; 2] = pulp::cast(*step);
                for ([to_low, to_high], x) in sums.iter_mut().zip(rows) {
                    let x = self.avx._mm256_set1_epi32(pulp::cast(*x));
                    let (low, high) =
                        (self.avx2._mm256_madd_epi16(x, low), self.avx2._mm256_madd_epi16(x, high));
                    *to_low = self.avx2._mm256_add_epi32(*to_low, low);
                    *to_high = self.avx2._mm256_add_epi32(*to_high, high);
                }
            }
            pulp::cast(sums)
        }
    }

    pulp::simd_type! {
        /// AVX-512, where the compiler may fuse the products of [`V3`]'s kernel with their sums
        /// (`vpdpwssd`).
        pub(super) struct Vnni {
            avx2: "avx2",
            fma: "fma",
            bmi1: "bmi1",
            bmi2: "bmi2",
            avx512f: "avx512f",
            avx512bw: "avx512bw",
            avx512vl: "avx512vl",
            avx512vnni: "avx512vnni",
        }
    }

    pub(super) fn vnni() -> Option<Vnni> {
        // pulp 0.22 checks AVX-512F under the name `avx512vl`.
        if std::arch::is_x86_feature_detected!("avx512vl") { Vnni::try_new() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums that exceed 16 bits, and sizes that end within a panel, a pair and a block.
    #[test]
    fn every_kernel_is_exact() {
        for (n_rows, inputs, outputs) in [(1, 1, 1), (6, 2, 16), (7, 33, 17), (100, 384, 40)] {
            let mut state = 7_u64;
            let mut random = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 40) as f32 / 16_777_216.0 - 0.5) * 8.0
            };
            let mut rows = |n: usize| (0..n * inputs).map(|_| random()).collect::<Vec<f32>>();
            let (x, weights) = (rows(n_rows), rows(outputs));
            let linear = Linear::new(&weights, &vec![0.25; outputs], inputs);
            let mut rounded = Rounded::default();
            rounded.round(&x, inputs);
            let product = |kernel: &dyn Fn(Product<'_>)| {
                let mut y = vec![1.0; n_rows * outputs];
                kernel(Product { linear: &linear, x: &rounded, y: &mut y });
                y
            };
            let portable = product(&|product| product.with(Portable));
            assert_eq!(product(&|product| run(product)), portable, "the chosen kernel");
            #[cfg(target_arch = "x86_64")]
            if let Some(v3) = pulp::x86::V3::try_new() {
                let v3 = product(&|product| v3.vectorize(Prepared(product, v3)));
                assert_eq!(v3, portable, "AVX2");
            }
            for (row, y) in x.chunks(inputs).zip(portable.chunks(outputs)) {
                for (weights, y) in weights.chunks(inputs).zip(y) {
                    let exact: f32 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
                    let largest = math::largest(row) * math::largest(weights) * inputs as f32;
                    assert!((y - exact - 1.25).abs() < 1e-3 * largest, "{y} for {exact}");
                }
            }
        }
    }

    #[test]
    fn no_sum_exceeds_32_bits() {
        for inputs in [1, 2, 3, 384, 1536, 4096, 100_001] {
            let row = vec![-3.5; inputs];
            let linear = Linear::new(&row, &[0.0], inputs);
            let mut y = Vec::new();
            linear.set(&row, &mut Rounded::default(), &mut y);
            let exact = 12.25 * inputs as f32;
            assert!((y[0] / exact - 1.0).abs() < 1e-5, "{inputs}: {} for {exact}", y[0]);
        }
    }

    #[test]
    fn rows_of_nan_do_not_affect_others() {
        let linear = Linear::new(&[1.0, 2.0], &[0.5], 2);
        let x = [0.0, 0.0, f32::NAN, 1.0, f32::INFINITY, 1.0, 1.0, 1.0, 1e-44, 0.0];
        let mut y = Vec::new();
        linear.set(&x, &mut Rounded::default(), &mut y);
        assert_eq!((y[0], y.len()), (0.5, 5));
        assert!((y[3] - 3.5).abs() < 1e-3 && (y[4] - 0.5).abs() < 1e-3, "{y:?}");
        linear.set(&[], &mut Rounded::default(), &mut y);
        assert!(y.is_empty());
    }
}
