//! Multiplies codes with AVX2, and with AVX-512 VNNI if the processor has it.

use std::arch::x86_64::{__m128i, __m256i};

use pulp::NullaryFnOnce;
use pulp::x86::V3;

use super::{Kernel, Packed, STEP};

// Bytes are widened to 16 bits and multiplied in pairs, because `vpmaddubsw`, which takes bytes,
// saturates.
impl Kernel for V3 {
    #[inline(always)]
    fn sums<const Q: usize>(self, row: &[u8], queries: &Packed<Q>) -> [i32; Q] {
        let mut lanes = [self.avx._mm256_setzero_si256(); Q];
        let (whole, rest) = row.as_chunks::<STEP>();
        for (codes, queries) in whole.iter().zip(&queries.steps) {
            add(self, &mut lanes, codes, queries);
        }
        if !rest.is_empty()
            && let Some(queries) = queries.steps.get(whole.len())
        {
            let mut codes = [0; STEP];
            for (code, rest) in codes.iter_mut().zip(rest) {
                *code = *rest;
            }
            add(self, &mut lanes, &codes, queries);
        }
        let mut sums = [0; Q];
        for (sums, lanes) in sums.chunks_mut(4).zip(lanes.chunks(4)) {
            let mut four = [self.avx._mm256_setzero_si256(); 4];
            for (one, lanes) in four.iter_mut().zip(lanes) {
                *one = *lanes;
            }
            for (sum, of_lanes) in sums.iter_mut().zip(sums_of_lanes(self, four)) {
                *sum = of_lanes;
            }
        }
        sums
    }

    #[inline(always)]
    fn vectorize<W: NullaryFnOnce>(self, work: W) -> W::Output {
        Self::vectorize(self, work)
    }
}

#[inline(always)]
fn add<const Q: usize>(
    simd: V3,
    lanes: &mut [__m256i; Q],
    codes: &[u8; STEP],
    queries: &[[i16; STEP]; Q],
) {
    let codes = simd.avx2._mm256_cvtepi8_epi16(pulp::cast::<_, __m128i>(*codes));
    for (lanes, query) in lanes.iter_mut().zip(queries) {
        let products = simd.avx2._mm256_madd_epi16(codes, pulp::cast(*query));
        *lanes = simd.avx2._mm256_add_epi32(*lanes, products);
    }
}

#[inline(always)]
fn sums_of_lanes(simd: V3, [a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
    let (ab, cd) = (simd.avx2._mm256_hadd_epi32(a, b), simd.avx2._mm256_hadd_epi32(c, d));
    let halves = simd.avx2._mm256_hadd_epi32(ab, cd);
    let (low, high) =
        (simd.avx._mm256_castsi256_si128(halves), simd.avx2._mm256_extracti128_si256::<1>(halves));
    pulp::cast(simd.sse2._mm_add_epi32(low, high))
}

pulp::simd_type! {
    /// AVX-512 with an instruction that multiplies and adds at once.
    struct Avx512Vnni {
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

/// The kernel of [`V3`], compiled so that the compiler may fuse products and sums (`vpdpwssd`).
#[derive(Clone, Copy)]
pub(super) struct Vnni(V3, Avx512Vnni);

impl Vnni {
    pub(super) fn of(v3: V3) -> Option<Self> {
        // pulp 0.22 tests AVX-512F where its name says `avx512vl`.
        let is_complete = std::arch::is_x86_feature_detected!("avx512vl");
        let vnni = if is_complete { Avx512Vnni::try_new() } else { None };
        vnni.map(|vnni| Self(v3, vnni))
    }
}

impl Kernel for Vnni {
    #[inline(always)]
    fn sums<const Q: usize>(self, row: &[u8], queries: &Packed<Q>) -> [i32; Q] {
        self.0.sums(row, queries)
    }

    #[inline(always)]
    fn vectorize<W: NullaryFnOnce>(self, work: W) -> W::Output {
        self.1.vectorize(work)
    }
}
