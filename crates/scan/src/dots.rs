//! Multiplies a row of codes with many queries, exactly and in integers, so that every machine
//! gives the same sums. At run time it selects the widest instructions that the machine has.

#![expect(
    clippy::inline_always,
    reason = "only inlined code is compiled for the dispatched instructions"
)]

#[cfg(target_arch = "x86_64")]
mod x86;

use pulp::NullaryFnOnce;

/// Codes that one step widens and multiplies.
#[cfg(target_arch = "x86_64")]
const STEP: usize = 16;

/// `Q` queries to multiply with a row while it is in registers; missing queries are zero.
pub(super) struct Packed<const Q: usize> {
    /// The first components of each query, then the next of each; zeros pad the last step.
    #[cfg(target_arch = "x86_64")]
    steps: Vec<[[i16; STEP]; Q]>,
    /// The same queries, one after the other.
    whole: [Vec<i8>; Q],
}

impl<const Q: usize> Packed<Q> {
    /// At most `Q` codes of one length.
    pub(super) fn new(codes: &[&[i8]]) -> Self {
        let mut whole = [const { Vec::new() }; Q];
        for (whole, code) in whole.iter_mut().zip(codes) {
            whole.extend_from_slice(code);
        }
        #[cfg(target_arch = "x86_64")]
        let steps = {
            let length = codes.first().map_or(0, |code| code.len());
            let mut steps = vec![[[0; STEP]; Q]; length.div_ceil(STEP)];
            for (place, code) in codes.iter().enumerate() {
                for (step, part) in steps.iter_mut().zip(code.chunks(STEP)) {
                    for (wide, code) in step.iter_mut().skip(place).take(1).flatten().zip(part) {
                        *wide = i16::from(*code);
                    }
                }
            }
            steps
        };
        Self {
            #[cfg(target_arch = "x86_64")]
            steps,
            whole,
        }
    }
}

/// A method to multiply rows with queries.
pub(super) trait Kernel: Copy {
    /// `Σ query·code` of a row with each query. |query| ≤ 127 and |code| ≤ 128, so sums of 130,000 components fit.
    fn sums<const Q: usize>(self, row: &[u8], queries: &Packed<Q>) -> [i32; Q];

    /// Compiles `work`, and what is inlined into it, for the instructions of this kernel.
    fn vectorize<W: NullaryFnOnce>(self, work: W) -> W::Output;
}

/// Work to run with the kernel of this machine. It is fast only if `with`, and all code between it
/// and [`Kernel::sums`], is `#[inline(always)]`.
pub(super) trait Job {
    type Output;

    fn with(self, kernel: impl Kernel) -> Self::Output;
}

/// Runs a job with the best kernel of this machine.
pub(super) fn run<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = pulp::x86::V3::try_new() {
        return match x86::Vnni::of(v3) {
            Some(vnni) => vnni.vectorize(Prepared(job, vnni)),
            None => v3.vectorize(Prepared(job, v3)),
        };
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = aarch64::DotProduct::try_new() {
        return neon.vectorize(Prepared(job, neon));
    }
    job.with(Plain)
}

struct Prepared<J, K>(J, K);

impl<J: Job, K: Kernel> NullaryFnOnce for Prepared<J, K> {
    type Output = J::Output;

    #[inline(always)]
    fn call(self) -> J::Output {
        self.0.with(self.1)
    }
}

/// `Σ query·code` of one query with each row of its length.
pub(super) fn each<'a>(query: &[i8], rows: impl Iterator<Item = &'a [u8]>) -> Vec<i32> {
    run(Each { query: Packed::new(&[query]), rows })
}

struct Each<R> {
    query: Packed<1>,
    rows: R,
}

impl<'a, R: Iterator<Item = &'a [u8]>> Job for Each<R> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn with(self, kernel: impl Kernel) -> Vec<i32> {
        let mut sums = Vec::with_capacity(self.rows.size_hint().0);
        for row in self.rows {
            sums.extend(kernel.sums(row, &self.query));
        }
        sums
    }
}

/// A plain loop, left to the compiler.
#[derive(Clone, Copy)]
struct Plain;

impl Kernel for Plain {
    #[inline(always)]
    fn sums<const Q: usize>(self, row: &[u8], queries: &Packed<Q>) -> [i32; Q] {
        let mut sums = [0; Q];
        for (sum, query) in sums.iter_mut().zip(&queries.whole) {
            for (a, b) in query.iter().zip(row) {
                *sum += i32::from(*a) * i32::from(b.cast_signed());
            }
        }
        sums
    }

    #[inline(always)]
    fn vectorize<W: NullaryFnOnce>(self, work: W) -> W::Output {
        work.call()
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::{Kernel, NullaryFnOnce, Packed, Plain};

    pulp::simd_type! {
        /// NEON with byte products that are added in groups of four; the compiler uses them for
        /// [`Plain`].
        pub(super) struct DotProduct {
            neon: "neon",
            dotprod: "dotprod",
        }
    }

    impl Kernel for DotProduct {
        #[inline(always)]
        fn sums<const Q: usize>(self, row: &[u8], queries: &Packed<Q>) -> [i32; Q] {
            Plain.sums(row, queries)
        }

        #[inline(always)]
        fn vectorize<W: NullaryFnOnce>(self, work: W) -> W::Output {
            Self::vectorize(self, work)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All kernels that this machine can run, by name.
    struct AllKernels<'a, const Q: usize> {
        packed: &'a Packed<Q>,
        rows: &'a [Vec<u8>],
    }

    impl<const Q: usize> AllKernels<'_, Q> {
        fn sums(&self) -> Vec<(&'static str, Vec<[i32; Q]>)> {
            let mut all = vec![("plain", Plain.vectorize(|| self.with(Plain)))];
            #[cfg(target_arch = "x86_64")]
            if let Some(v3) = pulp::x86::V3::try_new() {
                all.push(("AVX2", Kernel::vectorize(v3, || self.with(v3))));
                if let Some(vnni) = x86::Vnni::of(v3) {
                    all.push(("VNNI", vnni.vectorize(|| self.with(vnni))));
                }
            }
            #[cfg(target_arch = "aarch64")]
            if let Some(neon) = aarch64::DotProduct::try_new() {
                all.push(("NEON", Kernel::vectorize(neon, || self.with(neon))));
            }
            all
        }

        fn with(&self, kernel: impl Kernel) -> Vec<[i32; Q]> {
            self.rows.iter().map(|row| kernel.sums(row, self.packed)).collect()
        }
    }

    fn check<const Q: usize>(queries: &[Vec<i8>], rows: &[Vec<u8>]) {
        let packed = Packed::<Q>::new(&queries.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let exact: Vec<[i32; Q]> = rows
            .iter()
            .map(|row| {
                std::array::from_fn(|place| {
                    let query = queries.get(place).map_or(&[][..], Vec::as_slice);
                    let product = |(a, b): (&i8, &u8)| i64::from(*a) * i64::from(b.cast_signed());
                    i32::try_from(query.iter().zip(row).map(product).sum::<i64>()).unwrap()
                })
            })
            .collect();
        for (name, sums) in (AllKernels { packed: &packed, rows }).sums() {
            assert_eq!(sums, exact, "{name}, {Q}, {:?}", rows.first().map(Vec::len));
        }
    }

    /// Lengths that end within a step, sums that exceed 16 bits, signs that cancel out.
    #[test]
    fn every_kernel_is_exact() {
        for length in [1, 7, 15, 16, 17, 31, 33, 100, 383, 384, 1024, 4096] {
            let mut state = length as u64;
            let mut random = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 33) % 255) as i16 - 127
            };
            let mut codes = vec![vec![127i8; length], vec![-127; length]];
            codes.push((0..length).map(|place| [127, -127][place % 2]).collect());
            codes.push((0..length).map(|place| [-127, 0, 127, 1][place % 4]).collect());
            codes.extend((0..4).map(|_| (0..length).map(|_| random() as i8).collect()));
            let mut rows: Vec<Vec<u8>> = codes
                .iter()
                .map(|code: &Vec<i8>| code.iter().map(|code| code.cast_unsigned()).collect())
                .collect();
            // We never write this code, but a file may contain the byte.
            rows.push(vec![128; length]);
            for n in 1..=8 {
                check::<8>(&codes[..n], &rows);
            }
            check::<4>(&codes[..3], &rows);
            check::<4>(&codes[4..], &rows);
            for code in &codes {
                check::<1>(std::slice::from_ref(code), &rows);
            }
        }
        check::<8>(&[], &[]);
    }

    #[test]
    fn the_selected_kernel_is_exact() {
        let (query, rows) = ([127i8; 40], [[129u8; 40], [127; 40]]);
        assert_eq!(each(&query, rows.iter().map(<[u8; 40]>::as_slice)), [-645_160, 645_160]);
        assert!(each(&query, std::iter::empty()).is_empty());
    }
}
