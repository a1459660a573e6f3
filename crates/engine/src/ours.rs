//! What do we say ourselves, in every prompt? The templates of all steps: a line of theirs is no sign of a document.

/// The templates, by their files. Steps keep them to themselves; who forgets has to know all.
pub(crate) const OURS: [&str; 75] = [
    include_str!("../../methods/src/decompose/prompts/inquire.md"),
    include_str!("../../methods/src/decompose/prompts/propose.md"),
    include_str!("../../methods/src/decompose/prompts/select_atom.md"),
    include_str!("../../methods/src/decompose/prompts/select_chunk.md"),
    include_str!("../../indexing/src/stages/prompts/describe.md"),
    include_str!("../../indexing/src/stages/prompts/figure.md"),
    include_str!("../../indexing/src/stages/prompts/report.md"),
    include_str!("../../indexing/src/stages/prompts/source.md"),
    include_str!("../../indexing/src/stages/prompts/summary.md"),
    include_str!("../../indexing/src/stages/prompts/table.md"),
    include_str!("../../methods/src/prompts/classify.md"),
    include_str!("../../methods/src/prompts/compare.md"),
    include_str!("../../methods/src/prompts/coordinate.md"),
    include_str!("../../methods/src/prompts/critique.md"),
    include_str!("../../methods/src/prompts/crp_abstract.md"),
    include_str!("../../methods/src/prompts/crp_conclude.md"),
    include_str!("../../methods/src/prompts/crp_evaluate.md"),
    include_str!("../../methods/src/prompts/crp_integrate.md"),
    include_str!("../../methods/src/prompts/crp_interfere.md"),
    include_str!("../../methods/src/prompts/crp_merge.md"),
    include_str!("../../methods/src/prompts/crp_reason.md"),
    include_str!("../../methods/src/prompts/crp_rewrite.md"),
    include_str!("../../methods/src/prompts/crp_step.md"),
    include_str!("../../baselines/src/prompts/direct.md"),
    include_str!("../../methods/src/prompts/ideas.md"),
    include_str!("../../baselines/src/prompts/ircot.md"),
    include_str!("../../baselines/src/prompts/ircot_demonstrations.md"),
    include_str!("../../baselines/src/prompts/least_to_most.md"),
    include_str!("../../methods/src/prompts/look.md"),
    include_str!("../../baselines/src/prompts/map.md"),
    include_str!("../../methods/src/prompts/perspectives.md"),
    include_str!("../../baselines/src/prompts/probtree_children.md"),
    include_str!("../../baselines/src/prompts/probtree_closed.md"),
    include_str!("../../baselines/src/prompts/probtree_open.md"),
    include_str!("../../baselines/src/prompts/probtree_tree.md"),
    include_str!("../../methods/src/prompts/ra_isf_decompose.md"),
    include_str!("../../methods/src/prompts/ra_isf_know.md"),
    include_str!("../../methods/src/prompts/ra_isf_relevant.md"),
    include_str!("../../methods/src/prompts/ra_isf_sufficient.md"),
    include_str!("../../baselines/src/prompts/replug.md"),
    include_str!("../../baselines/src/prompts/searchain.md"),
    include_str!("../../baselines/src/prompts/searchain_consistent.md"),
    include_str!("../../baselines/src/prompts/self_ask.md"),
    include_str!("../../baselines/src/prompts/self_ask_demonstrations.md"),
    include_str!("../../baselines/src/prompts/self_rag_relevant.md"),
    include_str!("../../baselines/src/prompts/self_rag_retrieve.md"),
    include_str!("../../baselines/src/prompts/self_rag_supported.md"),
    include_str!("../../baselines/src/prompts/self_rag_useful.md"),
    include_str!("../../methods/src/prompts/summary_part.md"),
    include_str!("../../methods/src/prompts/summary_whole.md"),
    include_str!("../../baselines/src/prompts/think_then_act.md"),
    include_str!("../../baselines/src/prompts/think_then_act_rewrite.md"),
    include_str!("../../baselines/src/prompts/tree_of_thought.md"),
    include_str!("../../baselines/src/prompts/tree_of_thought_value.md"),
    include_str!("../../methods/src/prompts/zero_shot_cot.md"),
    include_str!("../../methods/src/prompts/grade.md"),
    include_str!("../../methods/src/prompts/standalone.md"),
    include_str!("../../methods/src/prompts/tag_rewrite.md"),
    include_str!("../../eval/src/prompts/consistent.md"),
    include_str!("../../eval/src/prompts/criteria.md"),
    include_str!("../../eval/src/prompts/judge.md"),
    include_str!("../../extract/src/prompts/atomize.md"),
    include_str!("../../extract/src/prompts/chunk_end.md"),
    include_str!("../../extract/src/prompts/entities.md"),
    include_str!("../../extract/src/prompts/forward.md"),
    include_str!("../../records/src/prompts/records.md"),
    include_str!("../../records/src/prompts/schema.md"),
    include_str!("../../extract/src/prompts/statements.md"),
    include_str!("../../extract/src/prompts/tag_chunk.md"),
    include_str!("../../extract/src/prompts/tag_classes.md"),
    include_str!("../../extract/src/prompts/tag_factors.md"),
    include_str!("../../extract/src/prompts/tag_pairs.md"),
    include_str!("../../extract/src/prompts/tag_question.md"),
    include_str!("../../reason/src/prompts/answer.md"),
    include_str!("../../reason/src/prompts/combine.md"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn no_template_is_missing() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = BTreeSet::new();
        for entry in walkdir::WalkDir::new(crates) {
            let path = entry.unwrap().into_path();
            let folder = path.parent().and_then(Path::file_name);
            let is_template = folder.is_some_and(|it| it == "prompts")
                && path.extension().is_some_and(|it| it == "md");
            if is_template && path.components().any(|it| it.as_os_str() == "src") {
                found.insert(fs::read_to_string(path).unwrap());
            }
        }
        assert!(50 < found.len());
        assert!(found.iter().map(String::as_str).eq(BTreeSet::from(OURS)), "see `OURS`");
    }
}
