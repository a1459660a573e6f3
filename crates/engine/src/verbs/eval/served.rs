//! Leaves out the methods that a data set's base cannot serve, before the first question.

use pikerag_baselines::Method;
use pikerag_indexing::Params;
use pikerag_knowledge::{AtomKind, BaseSummary, Role, Structure};
use pikerag_methods::Ports;

use crate::error::Result;
use crate::notice::{Notice, Unmet};
use crate::verbs::progress::{OnProgress, Progress};

/// The parameters for indexing a run's own base. Sentences that a method searches are indexed whatever
/// the settings name, because they need no model (KAR³ Tables 3 and 13).
pub(super) fn indexing_for(params: &Params, methods: &[(String, Method)]) -> Params {
    let mut params = params.clone();
    let kind = AtomKind::Sentence;
    let is_needed = methods.iter().any(|(_, method)| method.needed_atoms() == Some(kind));
    if is_needed && !params.atoms.contains(&kind) {
        params.atoms.push(kind);
    }
    params
}

/// The methods that the base serves; the others are reported. They would fail on every question, or
/// answer without the base.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn served(
    data_set: &str,
    ports: &Ports,
    methods: &[(String, Method)],
    progress: OnProgress<'_>,
) -> Result<Vec<(String, Method)>> {
    let base = ports.base.summary().await?;
    let is_labelled = !ports.models.labelled.is_empty();
    // Without them the methods that search atoms walk along links instead.
    let has_models =
        [Role::Propose, Role::Select].iter().all(|role| ports.models.of(*role).is_some());
    let unmet = |method: &Method| {
        of_structure(method, &base)
            .or_else(|| {
                (method.needs_labelled_questions() && !is_labelled)
                    .then_some(Unmet::LabelledQuestions)
            })
            .or_else(|| of_atoms(method, &base).filter(|_| has_models))
    };
    Ok(split(data_set, methods, unmet, progress))
}

/// Reports the methods whose structures the settings do not build. A dry run has no base yet.
pub(super) fn report_unbuilt(
    data_set: &str,
    params: &Params,
    methods: &[(String, Method)],
    progress: OnProgress<'_>,
) {
    let built = |structure| usize::from(params.with.contains(&structure));
    let (entities, summaries) = (built(Structure::Graph), built(Structure::Tree));
    let base = BaseSummary { entities, summaries, ..BaseSummary::default() };
    split(data_set, methods, |method| of_structure(method, &base), progress);
}

fn split(
    data_set: &str,
    methods: &[(String, Method)],
    unmet: impl Fn(&Method) -> Option<Unmet>,
    progress: OnProgress<'_>,
) -> Vec<(String, Method)> {
    let mut left_out: Vec<(Unmet, Vec<String>)> = Vec::new();
    let mut served = Vec::new();
    for (label, method) in methods {
        match unmet(method) {
            None => served.push((label.clone(), *method)),
            Some(unmet) => match left_out.iter_mut().find(|(other, _)| *other == unmet) {
                Some((_, labels)) => labels.push(label.clone()),
                None => left_out.push((unmet, vec![label.clone()])),
            },
        }
    }
    for (unmet, methods) in left_out {
        let data_set = data_set.to_owned();
        progress(Progress::Notice(Notice::MethodsLeftOut { data_set, methods, unmet }));
    }
    served
}

fn of_structure(method: &Method, base: &BaseSummary) -> Option<Unmet> {
    match method.needed_structure()? {
        Structure::Graph => (base.entities == 0).then_some(Unmet::Graph),
        Structure::Tree => (base.summaries == 0).then_some(Unmet::Tree),
        Structure::Tags => None,
    }
}

fn of_atoms(method: &Method, base: &BaseSummary) -> Option<Unmet> {
    match method.needed_atoms()? {
        AtomKind::Question => (base.questions == 0).then_some(Unmet::Questions),
        AtomKind::Sentence => (base.sentences == 0).then_some(Unmet::Sentences),
        AtomKind::Statement => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(names: &[&str]) -> Vec<(String, Method)> {
        names.iter().map(|name| ((*name).to_owned(), name.parse().unwrap())).collect()
    }

    fn shown(all: &[(String, Method)]) -> Vec<&str> {
        all.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// KAR³ Tables 3 and 13: without their sentences `kar3-sentences` would answer from no passage.
    #[test]
    fn sentences_are_indexed_for_the_method_that_searches_them() {
        let questions = Params { atoms: vec![AtomKind::Question], ..Params::default() };
        let of = |names| indexing_for(&questions, &methods(names)).atoms;
        assert_eq!(of(&["kar3-paper", "kar3-sentences"]), [AtomKind::Question, AtomKind::Sentence]);
        assert_eq!(of(&["kar3-paper", "kar3"]), [AtomKind::Question]);
    }

    #[test]
    fn methods_without_their_part_of_the_base_are_named() {
        let reported = std::sync::Mutex::new(Vec::new());
        let progress = |event| {
            if let Progress::Notice(notice) = event {
                reported.lock().unwrap().push(notice.to_string());
            }
        };
        let all = methods(&["naive-rag", "graphrag-local", "raptor", "graphrag-global"]);
        let base = BaseSummary { summaries: 3, ..BaseSummary::default() };
        let served = split("nq", &all, |method| of_structure(method, &base), &progress);
        assert_eq!(shown(&served), ["naive-rag", "raptor"]);
        let line = "nq: left out graphrag-local, graphrag-global: the base has no entity graph";
        assert_eq!(*reported.lock().unwrap(), [line]);
        report_unbuilt("nq", &Params::default(), &all, &progress);
        assert_eq!(reported.lock().unwrap().len(), 3);
        let atoms = |base: &BaseSummary| {
            let all = methods(&["kar3", "kar3-paper", "kar3-sentences", "kar3-chunk-retriever"]);
            all.iter().map(|(_, method)| of_atoms(method, base)).collect::<Vec<_>>()
        };
        let none = atoms(&BaseSummary::default());
        assert_eq!(none, [None, Some(Unmet::Questions), Some(Unmet::Sentences), None]);
        let sentences = BaseSummary { sentences: 9, ..BaseSummary::default() };
        assert_eq!(atoms(&sentences), [None, Some(Unmet::Questions), None, None]);
    }
}
