//! Chooses how many calls a question gets by what its model can read in time.

use pikerag_methods::pike::{self, L2};

use crate::Method;

/// The tokens of one reading round of `adaptive`: its prompt and 1,500 tokens of passages.
const A_ROUND: u32 = 2000;

impl Method {
    /// The method for a model that may read this number of tokens at a time: one that cannot read a
    /// whole round in time gets one call, whose passages are found along links (`hop-rag`), instead of
    /// several rounds. Only `l2 = "auto"` of `pike` gives this choice. F1 with and without this rule
    /// was not compared yet.
    #[must_use]
    pub fn within(self, reads_at_most: Option<u32>) -> Self {
        match self {
            Self::Pike(params)
                if params.l2 == L2::Auto && reads_at_most.is_some_and(|most| most < A_ROUND) =>
            {
                Self::Pike(pike::Params { l2: L2::HopRag, ..params })
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str) -> Method {
        name.parse().unwrap()
    }

    fn l2(method: Method) -> L2 {
        let Method::Pike(params) = method else { panic!("{method}") };
        params.l2
    }

    #[test]
    fn a_slow_model_gets_one_call() {
        let pike = method("pike");
        assert_eq!(l2(pike.within(Some(500))), L2::HopRag);
        assert_eq!(l2(pike.within(Some(4000))), L2::Auto);
        assert_eq!(l2(pike.within(None)), L2::Auto);
        assert_eq!(method("adaptive").within(Some(500)), method("adaptive"));
        for l2 in [L2::Adaptive, L2::NaiveRag] {
            let own = Method::Pike(pike::Params { l2, ..pike::Params::default() });
            assert_eq!(own.within(Some(500)), own);
        }
    }

    /// The trace does not take the rule for a user's setting.
    #[test]
    fn the_rule_is_no_users_parameter() {
        for at_once in [None, Some(true), Some(false)] {
            assert_eq!(method("pike").reading(at_once).within(Some(500)).to_string(), "pike");
        }
    }
}
