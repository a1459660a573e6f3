//! Clusters texts by meaning: fits a Gaussian mixture to vectors on their main axes, and chooses the number
//! of clusters by the Bayesian information criterion. A text may be in several clusters. Clusters too long
//! for one prompt are split again (RAPTOR §3).
//!
//! Differs from RAPTOR: it uses main axes (PCA) instead of UMAP, and one variance per axis instead of full
//! covariances. Both are small, exact and the same on every run.

use pikerag_knowledge::Seeded;

/// The parameters of clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Params {
    /// The number of axes that vectors are reduced to (RAPTOR: 10).
    pub(crate) axes: usize,
    /// The most clusters of one split (RAPTOR: 50).
    pub(crate) max_clusters: usize,
    /// A node belongs to each cluster of at least this probability (RAPTOR: 0.1).
    pub(crate) min_probability: f64,
    /// The most tokens of a cluster (RAPTOR: 3500). Only a single longer node has more.
    pub(crate) tokens: u64,
    /// Up to this many nodes make one cluster if their tokens fit.
    pub(crate) few_nodes: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { axes: 10, max_clusters: 50, min_probability: 0.1, tokens: 3500, few_nodes: 10 }
    }
}

/// The most rounds of fitting the mixture.
const ROUNDS: usize = 40;
/// The rounds of finding the axes.
const AXIS_ROUNDS: usize = 12;
/// The number of consecutive failures to improve after which no larger number of clusters is tried.
const WORSE: usize = 3;
/// The most levels of splits.
const DEPTH: usize = 12;
/// The least variance of a cluster, as a share of the mean variance of all points.
const NARROWEST: f64 = 1e-3;

type Point = Vec<f64>;

/// Groups of nodes, each a sorted list of positions. A node is in at least one group, and in several if it
/// is between them.
pub(crate) fn clusters(
    vectors: &[Vec<f32>],
    tokens: &[u64],
    params: Params,
    seed: u64,
) -> Vec<Vec<usize>> {
    let mut random = Seeded::new(seed);
    let mut found = Vec::new();
    let everything: Vec<usize> = (0..vectors.len()).collect();
    split(vectors, tokens, params, &everything, 0, &mut random, &mut found);
    found
}

fn split(
    vectors: &[Vec<f32>],
    tokens: &[u64],
    params: Params,
    nodes: &[usize],
    depth: usize,
    random: &mut Seeded,
    found: &mut Vec<Vec<usize>>,
) {
    let size = |nodes: &[usize]| -> u64 { nodes.iter().filter_map(|at| tokens.get(*at)).sum() };
    let fits = size(nodes) <= params.tokens;
    if nodes.len() < 2 || (fits && nodes.len() <= params.few_nodes) {
        found.extend((!nodes.is_empty()).then(|| nodes.to_vec()));
        return;
    }
    let points: Vec<Point> = nodes
        .iter()
        .filter_map(|at| vectors.get(*at))
        .map(|vector| vector.iter().map(|x| f64::from(*x)).collect())
        .collect();
    let points = reduced(&points, params.axes.min(nodes.len() - 1), random);
    let mixture = best_fit(&points, params.max_clusters.min(nodes.len() / 2).max(1), random);
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); mixture.parts.len()];
    for (at, point) in nodes.iter().zip(&points) {
        let probabilities = mixture.probabilities(point);
        let most = probabilities.iter().copied().fold(0.0, f64::max);
        for (group, probability) in groups.iter_mut().zip(probabilities) {
            if params.min_probability.min(most) <= probability {
                group.push(*at);
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    let splits = groups.iter().all(|group| group.len() < nodes.len()) && depth < DEPTH;
    if !splits && fits {
        found.push(nodes.to_vec());
    } else if !splits {
        cut(tokens, params, nodes, &points, found);
    } else {
        for group in groups {
            match size(&group) <= params.tokens {
                true => found.push(group),
                false => split(vectors, tokens, params, &group, depth + 1, random, found),
            }
        }
    }
}

/// Cuts nodes that no mixture splits along their first axis, into pieces that fit.
fn cut(
    tokens: &[u64],
    params: Params,
    nodes: &[usize],
    points: &[Point],
    found: &mut Vec<Vec<usize>>,
) {
    let first = |point: &Point| point.first().copied().unwrap_or_default();
    let mut along: Vec<(f64, usize)> =
        points.iter().zip(nodes).map(|(point, at)| (first(point), *at)).collect();
    along.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut piece, mut left) = (Vec::new(), params.tokens);
    for (_, at) in along {
        let size = tokens.get(at).copied().unwrap_or_default();
        if left < size && !piece.is_empty() {
            piece.sort_unstable();
            found.push(std::mem::take(&mut piece));
            left = params.tokens;
        }
        left = left.saturating_sub(size);
        piece.push(at);
    }
    piece.sort_unstable();
    found.extend((!piece.is_empty()).then_some(piece));
}

/// The points on the axes on which they differ most (principal components, by orthogonal iteration).
fn reduced(points: &[Point], axes: usize, random: &mut Seeded) -> Vec<Point> {
    let width = points.first().map_or(0, Vec::len);
    let mut mean = vec![0.0; width];
    for point in points {
        add(&mut mean, point, 1.0 / points.len() as f64);
    }
    let mut centred = points.to_vec();
    for point in &mut centred {
        add(point, &mean, -1.0);
    }
    let mut basis: Vec<Point> = (0..axes.min(width))
        .map(|_| (0..width).map(|_| random.fraction() - 0.5).collect())
        .collect();
    orthonormal(&mut basis);
    for _ in 0..AXIS_ROUNDS {
        for axis in &mut basis {
            let mut next = vec![0.0; width];
            for point in &centred {
                add(&mut next, point, dot(point, axis));
            }
            *axis = next;
        }
        orthonormal(&mut basis);
    }
    centred.iter().map(|point| basis.iter().map(|axis| dot(point, axis)).collect()).collect()
}

/// Makes axes orthogonal unit vectors, and drops those that depend on the others.
fn orthonormal(basis: &mut Vec<Point>) {
    let mut done: Vec<Point> = Vec::with_capacity(basis.len());
    for mut axis in std::mem::take(basis) {
        for other in &done {
            let along = dot(&axis, other);
            add(&mut axis, other, -along);
        }
        let length = dot(&axis, &axis).sqrt();
        if 1e-9 < length {
            for x in &mut axis {
                *x /= length;
            }
            done.push(axis);
        }
    }
    *basis = done;
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], what: &[f64], times: f64) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

/// A Gaussian with its own variance on each axis, and its share of the points.
#[derive(Clone, Debug)]
struct Part {
    share: f64,
    mean: Point,
    variance: Point,
}

impl Part {
    /// The logarithm of share times density.
    fn log_density(&self, point: &[f64]) -> f64 {
        let mut sum = self.share.ln();
        for ((x, mean), variance) in point.iter().zip(&self.mean).zip(&self.variance) {
            let (off, spread) = (x - mean, std::f64::consts::TAU * variance);
            sum -= 0.5 * (spread.ln() + off * off / variance);
        }
        sum
    }
}

struct Mixture {
    parts: Vec<Part>,
}

impl Mixture {
    /// The probability of each part for a point.
    fn probabilities(&self, point: &[f64]) -> Vec<f64> {
        let logs: Vec<f64> = self.parts.iter().map(|part| part.log_density(point)).collect();
        let all = log_sum(&logs);
        logs.into_iter().map(|log| (log - all).exp()).collect()
    }

    fn log_likelihood(&self, points: &[Point]) -> f64 {
        let of = |point: &Point| {
            let logs: Vec<f64> = self.parts.iter().map(|part| part.log_density(point)).collect();
            log_sum(&logs)
        };
        points.iter().map(of).sum()
    }

    /// The Bayesian information criterion; lower is better.
    fn bic(&self, points: &[Point]) -> f64 {
        let axes = points.first().map_or(0, Vec::len);
        let free = self.parts.len() * (2 * axes + 1) - 1;
        free as f64 * (points.len() as f64).ln() - 2.0 * self.log_likelihood(points)
    }
}

fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
}

/// The best mixture of at most `most` parts.
fn best_fit(points: &[Point], most: usize, random: &mut Seeded) -> Mixture {
    let mut best = fit(points, 1, random);
    let mut least = best.bic(points);
    let (mut parts, mut worse) = (1, 0);
    while worse < WORSE {
        parts = (parts + 1).max(parts * 5 / 4);
        if most < parts {
            break;
        }
        let mixture = fit(points, parts, random);
        let bic = mixture.bic(points);
        if bic < least {
            (best, least, worse) = (mixture, bic, 0);
        } else {
            worse += 1;
        }
    }
    best
}

/// Fits a mixture by expectation maximisation, from well-separated starting points.
fn fit(points: &[Point], parts: usize, random: &mut Seeded) -> Mixture {
    let axes = points.first().map_or(0, Vec::len);
    let whole = spread(points, &vec![1.0; points.len()], axes);
    let floor = whole.variance.iter().sum::<f64>() / (axes.max(1) as f64) * NARROWEST;
    let floor = floor.max(1e-12);
    let variance: Point = whole.variance.iter().map(|variance| variance.max(floor)).collect();
    let share = 1.0 / parts as f64;
    let begin = |mean: Point| Part { share, mean, variance: variance.clone() };
    let mut mixture =
        Mixture { parts: starting_points(points, parts, random).into_iter().map(begin).collect() };
    let mut before = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let probabilities: Vec<Vec<f64>> =
            points.iter().map(|point| mixture.probabilities(point)).collect();
        for (at, part) in mixture.parts.iter_mut().enumerate() {
            let weights: Vec<f64> =
                probabilities.iter().map(|of| of.get(at).copied().unwrap_or_default()).collect();
            let total: f64 = weights.iter().sum();
            if 1e-6 < total {
                *part = spread(points, &weights, axes);
                part.share = total / points.len() as f64;
                part.variance.iter_mut().for_each(|variance| *variance = variance.max(floor));
            }
        }
        let now = mixture.log_likelihood(points);
        if now - before <= 1e-6 * now.abs() {
            break;
        }
        before = now;
    }
    mixture
}

/// Mean and variances of weighted points.
fn spread(points: &[Point], weights: &[f64], axes: usize) -> Part {
    let all: f64 = weights.iter().sum();
    let (mut mean, mut variance) = (vec![0.0; axes], vec![0.0; axes]);
    for (point, weight) in points.iter().zip(weights) {
        add(&mut mean, point, weight / all);
    }
    for (point, weight) in points.iter().zip(weights) {
        for ((sum, x), mean) in variance.iter_mut().zip(point).zip(&mean) {
            *sum += weight / all * (x - mean) * (x - mean);
        }
    }
    Part { share: 1.0, mean, variance }
}

/// Points that are far from each other (k-means++).
fn starting_points(points: &[Point], parts: usize, random: &mut Seeded) -> Vec<Point> {
    let mut far = vec![f64::INFINITY; points.len()];
    let mut next = (random.bits() % points.len().max(1) as u64) as usize;
    let mut chosen: Vec<Point> = Vec::with_capacity(parts);
    while let Some(point) = points.get(next).filter(|_| chosen.len() < parts) {
        for (far, other) in far.iter_mut().zip(points) {
            let mut off = other.clone();
            add(&mut off, point, -1.0);
            *far = far.min(dot(&off, &off));
        }
        chosen.push(point.clone());
        let mut left = random.fraction() * far.iter().sum::<f64>();
        next = 0;
        for (at, far) in far.iter().enumerate() {
            left -= far;
            next = at;
            if left <= 0.0 {
                break;
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Points around three corners in turn.
    fn three_groups(n: usize) -> Vec<Vec<f32>> {
        let mut random = Seeded::new(1);
        let corners = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let near = |corner: &[f32; 4], random: &mut Seeded| {
            corner.iter().map(|x| x + 0.05 * (random.fraction() as f32 - 0.5)).collect()
        };
        (0..n).map(|at| near(&corners[at % 3], &mut random)).collect()
    }

    #[test]
    fn separate_groups_are_found() {
        let found = clusters(&three_groups(30), &[10; 30], Params::default(), 7);
        assert_eq!(found.len(), 3, "{found:?}");
        for group in &found {
            assert!(group.iter().all(|at| at % 3 == group[0] % 3), "{found:?}");
        }
        assert_eq!(found, clusters(&three_groups(30), &[10; 30], Params::default(), 7));
    }

    #[test]
    fn few_nodes_are_one_cluster() {
        assert_eq!(clusters(&three_groups(4), &[10; 4], Params::default(), 7), [[0, 1, 2, 3]]);
        assert_eq!(clusters(&[], &[], Params::default(), 7), Vec::<Vec<usize>>::new());
        // Equal nodes are split if they are too long for one prompt.
        let same = vec![vec![1.0, 0.0]; 6];
        let found = clusters(&same, &[1000; 6], Params::default(), 7);
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4, 5]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Every node is in a group, and every group fits into a prompt, unless it is a single longer node.
        #[test]
        fn any_vectors_are_grouped(
            nodes in prop::collection::vec((prop::collection::vec(-1.0_f32..1.0, 5), 0_u64..3000), 0..40),
            seed in any::<u64>(),
        ) {
            let (vectors, tokens): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
            let found = clusters(&vectors, &tokens, Params::default(), seed);
            for at in 0..vectors.len() {
                prop_assert!(found.iter().any(|group| group.contains(&at)));
            }
            for group in &found {
                prop_assert!(group.is_sorted());
                let size: u64 = group.iter().map(|at| tokens[*at]).sum();
                prop_assert!(size <= 3500 || group.len() == 1, "{size}");
            }
        }
    }
}
