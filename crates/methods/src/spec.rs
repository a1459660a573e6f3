//! Describes a method beside its function: its names, parameters, needs and cost. The catalogue, the
//! settings, the cost estimate, the help and the documentation are made from it.

use std::num::NonZeroU32;

use pikerag_knowledge::{AtomKind, Role, Structure};
use pikerag_narrate::{InWords, Language, Words};
use pikerag_retrieve::{AutoParams, HopParams, LayerParams, SearchParams};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantNames;
use utoipa::ToSchema;

use crate::tag_use::TagUse;
use crate::verified_use::VerifiedUse;

/// Weights of retrieval, shared by all methods that use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// The weights of the lists of `auto`.
    pub auto: AutoParams,
    /// The weights of hops.
    pub hops: HopParams,
    /// The weights of layers.
    pub layers: LayerParams,
    /// What a question's tags are used for.
    pub tags: TagUse,
    /// Whether verified answers serve methods other than `pike`, which has a parameter for it.
    #[serde(default = "VerifiedUse::unnamed", skip_serializing_if = "VerifiedUse::is_unnamed")]
    pub verified: VerifiedUse,
}

impl Weights {
    /// The weights of searches.
    pub fn searches(&self) -> SearchParams {
        SearchParams { auto: self.auto, hops: self.hops, layers: self.layers }
    }
}

/// Parameters of a method, with the description of the method.
pub trait MethodParams: Clone + Copy + Default + PartialEq + std::fmt::Debug + 'static {
    /// The description of the method.
    const SPEC: MethodSpec<Self>;

    /// Takes over the shared weights of retrieval; few methods use them.
    fn weigh(&mut self, _weights: &Weights) {}

    /// The kind of atoms without which it finds nothing; `None` where it searches something else too.
    fn needed_atoms(&self) -> Option<AtomKind> {
        None
    }

    /// Its weights; the default ones where it uses none.
    fn weights(&self) -> Weights {
        Weights::default()
    }
}

/// The description of a method.
pub struct MethodSpec<P: 'static> {
    /// Its names: the method itself first, then the variants with a name of their own. Each name is unique.
    pub variants: &'static [Variant<P>],
    /// What a user may set, by the papers' names.
    pub parameters: &'static [Parameter<P>],
    /// The roles of models that it asks, in the order of the first call. They include roles that it asks only
    /// if they have a model.
    pub roles: &'static [Role],
    /// How it behaves without a model.
    pub without_model: WithoutModel,
    /// The structure of the base that it works on; none for chunks and atoms, which every base has.
    pub needs: Option<Structure>,
    /// What one question costs.
    pub cost: fn(&P) -> Cost,
}

/// A name of a method.
pub struct Variant<P> {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// A short description; for a variant, how it differs. No final dot.
    pub summary: &'static str,
    /// Its place in the papers, or "ours".
    pub source: &'static str,
    /// Changes the default parameters to those of the variant.
    pub set: fn(&mut P),
}

impl<P> Variant<P> {
    /// A name with its description.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        source: &'static str,
        set: fn(&mut P),
    ) -> Self {
        Self { name, summary, source, set }
    }
}

/// How a method behaves if no language model is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WithoutModel {
    /// It decides by hop retrieval, and quotes.
    HopRetrieval,
    /// It retrieves as usual, and quotes.
    Quotes,
    /// It ends with an error that names the role.
    Fails,
}

/// A parameter of a method.
pub struct Parameter<P> {
    /// Its name in settings, and in a method's name for a comparison (`kar3:n=3`).
    pub name: &'static str,
    /// What it means. No final dot.
    pub meaning: &'static str,
    /// The values that it may have.
    pub range: Range,
    /// Its value; null where none is set.
    pub get: fn(&P) -> Value,
    /// Sets it; `None` for a value that is not of its kind.
    pub set: fn(&mut P, &Value) -> Option<()>,
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// A whole number, both ends included.
    Whole((u64, u64)),
    /// A number, both ends included; null for no end.
    #[schema(value_type = (Option<f64>, Option<f64>))]
    Number((f64, f64)),
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl Range {
    /// A number of things, from 1.
    pub const COUNT: Self = Self::Whole((1, 1000));
    /// Tokens of a prompt.
    pub const TOKENS: Self = Self::Whole((1, 1_000_000));

    /// A variant of an enum, by its name.
    pub const fn of<T: VariantNames>() -> Self {
        Self::OneOf(T::VARIANTS)
    }

    /// Whether a value lies within.
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::Whole((least, most)) => {
                value.as_u64().is_some_and(|number| (least..=most).contains(&number))
            }
            Self::Number((least, most)) => {
                value.as_f64().is_some_and(|number| (least..=most).contains(&number))
            }
            Self::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

impl InWords for Range {
    fn words(&self) -> Words {
        match self {
            Self::Whole((least, most)) => {
                Words::new(format!("{least} to {most}"), format!("{least} 至 {most}"))
            }
            Self::Number((least, most)) if *most == f64::INFINITY => {
                Words::new(format!("{least} and above"), format!("不小于 {least}"))
            }
            Self::Number((least, most)) => {
                Words::new(format!("{least} to {most}"), format!("{least} 至 {most}"))
            }
            Self::OneOf(words) => Words::new(words.join(", "), words.join("、")),
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.in_words(Language::English))
    }
}

/// Reads a value as a parameter's type; `None` where it is not of that type.
pub fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// Makes a parameter of a field, or of a field's field: its name (or the name that users see), its meaning, its range.
#[macro_export]
macro_rules! field {
    ($field:ident, $meaning:literal, $range:expr) => {
        $crate::field!($field as (stringify!($field)), $meaning, $range)
    };
    ($($field:ident).+ as $name:expr, $meaning:literal, $range:expr) => {
        $crate::spec::Parameter {
            name: $name,
            meaning: $meaning,
            range: $range,
            get: |params| $crate::spec::json!(params.$($field).+),
            set: |params, value| $crate::spec::put(&mut params.$($field).+, value),
        }
    };
}
pub use crate::field;
pub use serde_json::json;

/// Puts a value into a field; `None` where it is not of the field's type.
pub fn put<T: DeserializeOwned>(field: &mut T, value: &Value) -> Option<()> {
    *field = read(value)?;
    Some(())
}

/// The calls of one question, and the contents of their prompts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Calls in the usual case.
    pub calls: f64,
    /// Calls where every loop runs to its end and every reply is readable at once.
    pub most_calls: u64,
    /// Chunks in the prompt of one call, on the average.
    pub chunks: f64,
    /// Chunks in the prompt of one call at most.
    pub most_chunks: u64,
    /// Tokens of all chunks in the prompt of one call at most, where a method counts them.
    pub most_chunk_tokens: Option<NonZeroU32>,
    /// Rounds whose replies may appear in later prompts, at most.
    pub rounds: u64,
    /// Tokens of instructions, demonstrations and question in a prompt, on the average.
    pub fixed: u64,
    /// Tokens of a reply, on the average.
    pub reply: u64,
    /// Where the numbers come from.
    pub basis: &'static str,
}

impl Cost {
    /// The cost of a method that asks once.
    pub const fn of_one_call(basis: &'static str) -> Self {
        Self {
            calls: 1.0,
            most_calls: 1,
            chunks: 0.0,
            most_chunks: 0,
            most_chunk_tokens: None,
            rounds: 1,
            fixed: 330,
            reply: 100,
            basis,
        }
    }
}

/// A method's name with its description, whatever its parameters are.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MethodDescription)]
pub struct Description {
    /// The name of the method or of the variant.
    pub name: &'static str,
    /// The first name of its family: `kar3` for `kar3-hops`.
    pub family: &'static str,
    /// See [`Variant`].
    pub summary: &'static str,
    /// See [`Variant`].
    pub source: &'static str,
    /// See [`MethodSpec`].
    pub roles: &'static [Role],
    /// See [`MethodSpec`].
    pub without_model: WithoutModel,
    /// See [`MethodSpec`].
    #[schema(required)]
    pub needs: Option<Structure>,
    /// What a user may set.
    pub parameters: Vec<Described>,
}

/// A parameter with the value that it has under a method's name.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = MethodParameter)]
pub struct Described {
    /// See [`Parameter`].
    pub name: &'static str,
    /// See [`Parameter`].
    pub meaning: &'static str,
    /// See [`Parameter`].
    pub range: Range,
    /// Its value if it is not set; null for none.
    pub default: Value,
}

/// A method's names, each with its description and parameters.
pub fn describe<P: MethodParams>() -> Vec<(Description, P)> {
    let family = P::SPEC.variants.first().map_or("", |first| first.name);
    let mut all = Vec::new();
    for Variant { name, summary, source, set } in P::SPEC.variants {
        let mut params = P::default();
        set(&mut params);
        let described = P::SPEC.parameters.iter().map(|parameter| Described {
            name: parameter.name,
            meaning: parameter.meaning,
            range: parameter.range,
            default: (parameter.get)(&params),
        });
        let description = Description {
            name,
            family,
            summary,
            source,
            roles: P::SPEC.roles,
            without_model: P::SPEC.without_model,
            needs: P::SPEC.needs,
            parameters: described.collect(),
        };
        all.push((description, params));
    }
    all
}

/// Values by name, without those that are not set.
pub fn values<P: MethodParams>(params: &P) -> impl Iterator<Item = (&'static str, Value)> {
    P::SPEC
        .parameters
        .iter()
        .map(|parameter| (parameter.name, (parameter.get)(params)))
        .filter(|(_, value)| !value.is_null())
}

/// Sets a parameter. False if there is none of this name, or the value is not valid.
pub fn set<P: MethodParams>(params: &mut P, name: &str, value: &Value) -> bool {
    let Some(parameter) = P::SPEC.parameters.iter().find(|known| known.name == name) else {
        return false;
    };
    // Invalid values are refused where settings are read.
    parameter.range.admits(value) && (parameter.set)(params, value).is_some()
}
