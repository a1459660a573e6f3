//! Runs BERT (Devlin et al. 2019) over a ragged batch: tokens in, one unit vector per text out.
//!
//! The tokens of all texts form one matrix, one below the other, without padding. Linear layers and
//! norms work on that matrix; only attention handles each text by itself.

use std::ops::Range;

use pikerag_knowledge::Vector;
use rayon::prelude::*;

use super::blocks::Words;
use super::config::{Activation, Pooling, Shape};
use super::gemm::{Matrix, MatrixMut, OutOfBounds, multiply};
use super::linear::{Linear, Rounded};
use super::math::add;
use super::tensors::Tensors;
use super::{WeightsError, math};

pub(super) struct Model {
    pub(super) shape: Shape,
    words: Words,
    /// Position vectors, each with the vector of token type 0 added: all tokens of a single text
    /// have that type.
    positions: Vec<f32>,
    /// The difference to token type 1, the second text of a pair; empty if there is one type only.
    second_type: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Query, key and value side by side: one product instead of three.
    query_key_value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    widen: Linear,
    narrow: Linear,
    output_norm: Norm,
}

struct Norm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

/// Why a batch could not be embedded: tokenizer and weights belong to different models, or a bug.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForwardError {
    #[error("the tokenizer's token {token} at position {position} has no row in the weights")]
    Token { token: u32, position: usize },
    #[error("the weights do not fit together")]
    Shape(#[from] OutOfBounds),
    #[error("the vocabulary's vectors can no longer be read")]
    Unreadable(#[from] std::io::Error),
}

/// Buffers that are reused from batch to batch.
#[derive(Default)]
pub(super) struct Scratch {
    hidden: Vec<f32>,
    query_key_value: Vec<f32>,
    attended: Vec<f32>,
    wide: Vec<f32>,
    scores: Vec<f32>,
    pub(super) rounded: Rounded,
}

impl Model {
    /// Reads weights; the tensors must have the sizes of `shape`.
    pub(super) fn read(tensors: &impl Tensors, shape: Shape) -> Result<Self, WeightsError> {
        let (hidden, wide) = (shape.hidden, shape.intermediate);
        let table = |name: &str| tensors.get(name, &[tensors.rows(name), hidden]);
        let types = table("embeddings.token_type_embeddings.weight")?;
        let (first_type, others) = types.split_at(hidden.min(types.len()));
        let second_type = others.iter().zip(first_type).map(|(second, first)| second - first);
        let second_type = second_type.take(hidden).collect();
        let mut positions = table("embeddings.position_embeddings.weight")?;
        for row in positions.chunks_exact_mut(hidden) {
            add(row, &types);
        }
        let before = shape.first_position.saturating_mul(hidden).min(positions.len());
        positions.drain(..before);
        // Most of the time goes into rounding, so all layers are read in parallel.
        let layer = |i: usize| -> Result<Layer, WeightsError> {
            let at = |name: &str| format!("encoder.layer.{i}.{name}");
            let linear =
                |name: &str, inputs, outputs| Linear::read(tensors, &[at(name)], inputs, outputs);
            let parts = ["query", "key", "value"].map(|part| at(&format!("attention.self.{part}")));
            Ok(Layer {
                query_key_value: Linear::read(tensors, &parts, hidden, hidden)?,
                attention_output: linear("attention.output.dense", hidden, hidden)?,
                attention_norm: Norm::read(tensors, &at("attention.output.LayerNorm"), hidden)?,
                widen: linear("intermediate.dense", hidden, wide)?,
                narrow: linear("output.dense", wide, hidden)?,
                output_norm: Norm::read(tensors, &at("output.LayerNorm"), hidden)?,
            })
        };
        let layers: Vec<_> = (0..shape.layers).into_par_iter().map(layer).collect();
        // In order: of several errors, always the first is reported.
        let layers = layers.into_iter().collect::<Result<_, _>>()?;
        let words = tensors.words(hidden)?;
        let norm = Norm::read(tensors, "embeddings.LayerNorm", hidden)?;
        Ok(Self { shape, words, positions, second_type, norm, layers })
    }

    /// The limit at which texts are cut: at most the number of positions.
    pub(super) fn max_tokens(&self) -> usize {
        self.shape.max_tokens.get().min(self.positions.len() / self.shape.hidden)
    }

    /// One vector per text, in order, not yet of length 1: the sum over its tokens, or the first
    /// token's, as the model pools; zeros for a text without tokens. Also, for each span of a
    /// text's tokens, the sum over the span; zeros for an empty span.
    ///
    /// A text's vector is the same, bit for bit, in any batch: each row of a product is computed in
    /// the same order of steps, and no other step crosses texts.
    pub(super) fn embed(
        &self,
        texts: &[&[u32]],
        spans: &[Vec<Range<usize>>],
        scratch: &mut Scratch,
    ) -> Result<Vec<(Vector, Vec<Vector>)>, ForwardError> {
        self.run(texts, &[], scratch)?;
        let hidden = self.shape.hidden;
        let mut rest = scratch.hidden.as_slice();
        let mut vectors = Vec::with_capacity(texts.len());
        for (text, spans) in texts.iter().zip(spans) {
            let (rows, after) = rest.split_at(text.len() * hidden);
            let of_span = |span: &Range<usize>| match span.is_empty() {
                true => Vector::new(),
                false => sum(rows.get(span.start * hidden..span.end * hidden), hidden),
            };
            vectors.push((self.pool(rows), spans.iter().map(of_span).collect()));
            rest = after;
        }
        Ok(vectors)
    }

    /// Passes the tokens of all texts through all layers; their rows are then in `scratch`. From
    /// the places `seconds` on, the tokens of a text are of type 1; texts without such a place have
    /// none.
    pub(super) fn run(
        &self,
        texts: &[&[u32]],
        seconds: &[usize],
        scratch: &mut Scratch,
    ) -> Result<(), ForwardError> {
        self.look_up(texts, seconds, &mut scratch.hidden)?;
        for layer in &self.layers {
            self.attend(layer, texts, scratch)?;
            self.feed_forward(layer, scratch);
        }
        Ok(())
    }

    /// The rows of the first tokens, one below the other, after [`Model::run`]; zeros for a text
    /// without tokens.
    pub(super) fn first_rows(&self, texts: &[&[u32]], scratch: &Scratch) -> Vec<f32> {
        let hidden = self.shape.hidden;
        let mut firsts = Vec::with_capacity(texts.len() * hidden);
        let mut start = 0;
        for text in texts {
            match scratch.hidden.get(start..start + hidden).filter(|_| !text.is_empty()) {
                Some(row) => firsts.extend_from_slice(row),
                None => firsts.resize(firsts.len() + hidden, 0.0),
            }
            start += text.len() * hidden;
        }
        firsts
    }

    /// x ← norm(word + position + type)
    fn look_up(
        &self,
        texts: &[&[u32]],
        seconds: &[usize],
        x: &mut Vec<f32>,
    ) -> Result<(), ForwardError> {
        let hidden = self.shape.hidden;
        let row = |table: &[f32], i: usize| -> Option<Range<usize>> {
            let start = i.checked_mul(hidden)?;
            let end = start.checked_add(hidden)?;
            (end <= table.len()).then_some(start..end)
        };
        x.clear();
        for (nth, text) in texts.iter().enumerate() {
            let second = seconds.get(nth).copied().unwrap_or(usize::MAX);
            for (position, &token) in text.iter().enumerate() {
                let start = x.len();
                let has_word = self.words.append(token, hidden, x)?;
                let place = row(&self.positions, position).and_then(|at| self.positions.get(at));
                let Some(place) = place.filter(|_| has_word) else {
                    return Err(ForwardError::Token { token, position });
                };
                add(x.get_mut(start..).unwrap_or_default(), place);
                if second <= position {
                    add(x.get_mut(start..).unwrap_or_default(), &self.second_type);
                }
            }
        }
        self.norm.apply(x, self.shape.epsilon);
        Ok(())
    }

    /// x ← norm(x + (softmax(q·kᵀ / √d)·v)·W + b), for each text and head.
    fn attend(
        &self,
        layer: &Layer,
        texts: &[&[u32]],
        scratch: &mut Scratch,
    ) -> Result<(), OutOfBounds> {
        let Scratch { hidden: x, query_key_value, attended, scores, rounded, .. } = scratch;
        let (hidden, stride) = (self.shape.hidden, 3 * self.shape.hidden);
        let per_head = hidden / self.shape.heads;
        let scale = 1.0 / (per_head as f32).sqrt();

        layer.query_key_value.set(x, rounded, query_key_value);
        attended.resize(x.len(), 0.0);
        let mut rows = query_key_value.as_slice();
        let mut into = attended.as_mut_slice();
        for text in texts {
            let n = text.len();
            let (own, others) = rows.split_at(n * stride);
            let (own_into, others_into) = into.split_at_mut(n * hidden);
            (rows, into) = (others, others_into);
            scores.resize(n * n, 0.0);
            for head in 0..self.shape.heads {
                let start = head * per_head;
                let part = |offset: usize| {
                    let values = own.get(offset + start..).unwrap_or_default();
                    Matrix::new(values, [n, per_head], stride)
                };
                let (query, key, value) = (part(0)?, part(hidden)?, part(2 * hidden)?);
                let to_scores = &mut MatrixMut::new(scores, [n, n], n)?;
                multiply(scale, query, key.transposed(), 0.0, to_scores)?;
                math::softmax_rows(scores, n);
                let own_into = own_into.get_mut(start..).unwrap_or_default();
                let to_head = &mut MatrixMut::new(own_into, [n, per_head], hidden)?;
                multiply(1.0, Matrix::new(scores, [n, n], n)?, value, 0.0, to_head)?;
            }
        }
        layer.attention_output.add_to(attended, rounded, x);
        layer.attention_norm.apply(x, self.shape.epsilon);
        Ok(())
    }

    /// x ← norm(x + activation(x·W₁ + b₁)·W₂ + b₂)
    fn feed_forward(&self, layer: &Layer, scratch: &mut Scratch) {
        let Scratch { hidden: x, wide, rounded, .. } = scratch;
        layer.widen.set(x, rounded, wide);
        match self.shape.activation {
            Activation::Gelu => math::gelu(wide),
            Activation::GeluTanh => math::gelu_tanh(wide),
            Activation::Relu => math::relu(wide),
        }
        layer.narrow.add_to(wide, rounded, x);
        layer.output_norm.apply(x, self.shape.epsilon);
    }

    /// The token vectors of one text → the direction of its vector. (The sum has the direction of
    /// the mean.)
    fn pool(&self, rows: &[f32]) -> Vector {
        match self.shape.pooling {
            Pooling::Mean => sum(Some(rows), self.shape.hidden),
            Pooling::First => sum(rows.get(..self.shape.hidden), self.shape.hidden),
        }
    }
}

impl Norm {
    fn read(tensors: &impl Tensors, name: &str, size: usize) -> Result<Self, WeightsError> {
        let gain = tensors.get(&format!("{name}.weight"), &[size])?;
        let shift = tensors.get(&format!("{name}.bias"), &[size])?;
        Ok(Self { gain, shift })
    }

    fn apply(&self, rows: &mut [f32], epsilon: f32) {
        math::layer_norm_rows(rows, &self.gain, &self.shift, epsilon);
    }
}

fn sum(rows: Option<&[f32]>, hidden: usize) -> Vector {
    let mut sum = vec![0.0; hidden];
    for row in rows.unwrap_or_default().chunks_exact(hidden) {
        add(&mut sum, row);
    }
    sum
}
