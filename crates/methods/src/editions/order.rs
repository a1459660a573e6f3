//! Decides whether one document replaces another. It is right or silent: any two signs that
//! disagree, or a kind of document that replaces nothing, end without a decision.

use std::cmp::Ordering;

use super::edition::{Edition, Replacing};
use super::kinds::Kind;
use super::marks::{CalendarDay, are_of_one_kind};

/// The least share of the words of the shorter text that the other one has, and the same if a
/// sentence says that one document replaces the other.
const ALIKE: f32 = 0.5;
const ALIKE_IF_STATED: f32 = 0.3;
/// Texts of fewer words are not compared.
const FEWEST: usize = 5;

/// [`Ordering::Greater`] if the first document replaces the second, [`Ordering::Less`] if the second
/// replaces the first; `None` without certainty.
pub(super) fn order(one: &Edition, other: &Edition) -> Option<Ordering> {
    if !have_one_name(one, other) || one.is_draft || other.is_draft {
        return None;
    }
    let kinds = [one.kind, other.kind];
    if kinds.contains(&Some(Kind::Record)) {
        return None;
    }
    let stated = match (states_newer(one, other), states_newer(other, one)) {
        (true, true) => return None,
        (true, false) => Some(Ordering::Greater),
        (false, true) => Some(Ordering::Less),
        (false, false) => None,
    };
    let are_apart = one.is_for_one_year || other.is_for_one_year || one.product != other.product;
    if stated.is_none() && are_apart {
        return None;
    }
    let least = if stated.is_some() { ALIKE_IF_STATED } else { ALIKE };
    if common_share(one, other) < least {
        return None;
    }
    let both = |a: Option<CalendarDay>, b: Option<CalendarDay>| {
        let (a, b) = a.zip(b)?;
        Some(a.as_exact_as(b).cmp(&b.as_exact_as(a)))
    };
    let valid = both(one.valid_from, other.valid_from).filter(|order| order.is_ne());
    let dated = both(one.dated, other.dated).filter(|order| order.is_ne());
    let version = one.version.as_ref().zip(other.version.as_ref());
    let version = version.filter(|(a, b)| are_of_one_kind(a, b));
    let version = version.map(|(a, b)| compare(a, b)).filter(|order| order.is_ne());
    let is_rule = kinds.contains(&Some(Kind::Rule));
    // Versions of two years' files may be versions of two texts.
    if !is_rule && stated.is_none() && valid.is_none() && (version.is_none() || dated.is_some()) {
        return None;
    }
    let mut signs: Vec<Ordering> = [stated, valid, dated, version].into_iter().flatten().collect();
    if signs.is_empty() {
        signs.extend(both(one.stated, other.stated).filter(|order| order.is_ne()));
    }
    let first = signs.first().copied()?;
    signs.iter().all(|sign| *sign == first).then_some(first)
}

/// Whether two documents have the same name, and titles that do not contradict it.
fn have_one_name(one: &Edition, other: &Edition) -> bool {
    if one.name != other.name {
        return false;
    }
    if one.title == other.title {
        return !one.title.is_empty() || !one.name.is_empty();
    }
    let (one_title, other_title) = (one.title.replace(' ', ""), other.title.replace(' ', ""));
    !one.name.is_empty() && (one_title.contains(&other_title) || other_title.contains(&one_title))
}

/// Whether a text says that `newer` replaces `older`.
fn states_newer(newer: &Edition, older: &Edition) -> bool {
    let mut active = newer.replacing.iter().filter(|sentence| !sentence.is_passive);
    let mut passive = older.replacing.iter().filter(|sentence| sentence.is_passive);
    active.any(|sentence| names(sentence, newer, older))
        || passive.any(|sentence| names(sentence, older, newer))
}

/// Whether a sentence of `own` names `other`: its version, its date, or the previous version where
/// the sentence names no third one.
fn names(sentence: &Replacing, own: &Edition, other: &Edition) -> bool {
    if let Some(version) = &other.version
        && own.version.as_ref() != Some(version)
        && sentence.versions.contains(version)
    {
        return true;
    }
    let own_days = [own.valid_from, own.dated];
    let is_own_year = |year: u32| own_days.iter().flatten().any(|day| day.year == year);
    let is_of_other = |day: &CalendarDay| {
        [other.valid_from, other.dated].into_iter().flatten().any(|theirs| {
            let is_same = theirs == *day && !own_days.contains(&Some(*day));
            let is_same_year = theirs.year == day.year
                && (day.is_year() || theirs.is_year())
                && !is_own_year(day.year);
            is_same || is_same_year
        })
    };
    if sentence.dates.iter().any(is_of_other) {
        return true;
    }
    let names_third = sentence.dates.iter().any(|day| !is_own_year(day.year))
        || sentence.versions.iter().any(|version| own.version.as_ref() != Some(version));
    sentence.names_earlier && !sentence.is_passive && !names_third
}

fn common_share(one: &Edition, other: &Edition) -> f32 {
    let fewest = one.words.len().min(other.words.len());
    if fewest < FEWEST {
        return 0.0;
    }
    one.words.intersection(&other.words).count() as f32 / fewest as f32
}

/// Compares versions number by number; a missing number is 0.
fn compare(one: &[u32], other: &[u32]) -> Ordering {
    let length = one.len().max(other.len());
    let number = |version: &[u32], at: usize| version.get(at).copied().unwrap_or(0);
    let mut orders = (0..length).map(|at| number(one, at).cmp(&number(other, at)));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
