//! Tests each branch of `adaptive`: the number of reading rounds, the facts it keeps, and the
//! handling of weak models.

use pikerag_baselines::Method;
use pikerag_knowledge::Role;
use pikerag_methods::adaptive::{Ends, Params, Reader, Reads};
use pikerag_methods::{Models, Ports};

use crate::common::Shelf;
use crate::methods::fixture::*;

const BORN: &str =
    "How many inhabitants does the birthplace of the designer of the KX-40 crane have?";
/// One chunk at first, and one for a sub-question, so that the library is not read at once.
fn few(params: Params) -> Method {
    Method::Adaptive(Params { chunks: 1, found: 1, ..params })
}

const DESIGNER: &str = r#"{"thinking": "The designer first.", "facts": [{"passage": 1, "fact": "The KX-40 crane was designed by Ilse Brandt."}],
    "sufficient": false, "missing": ["Where was Ilse Brandt born?"], "answer": ""}"#;
const PORT: &str = r#"{"thinking": "Then the port.", "facts": ["Ilse Brandt was born in Varnsund. [2]"],
    "sufficient": false, "missing": ["How many inhabitants does Varnsund have?"], "answer": "15000"}"#;
const COUNT: &str = r#"{"thinking": "It has 41000.", "facts": [{"passage": 3, "fact": "Varnsund has 41000 inhabitants."}],
    "sufficient": true, "missing": [], "answer": "41000"}"#;
const PLAIN: &str = r#"{"rationale": "So it says.", "answer": "41000", "lacking": null, "citations": [{"passage": 1, "quote": "designed by Ilse Brandt"}]}"#;

async fn trace(params: Params, replies: &[(Role, &[&str])]) -> String {
    trace_of(&ask_with(few(params), BORN, &script(replies)).await)
}

/// Facts keep the numbers of their passages, and each becomes a citation.
#[tokio::test]
async fn three_rounds_lead_to_an_answer() {
    let replies: &[(Role, &[&str])] = &[(Role::Look, &[DESIGNER, PORT, COUNT])];
    insta::assert_snapshot!(trace(Params::default(), replies).await, @r"
    adaptive (own parameters): How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    gathers: KX-40 crane
    look 1 reads: [1] The KX-40 crane was designed by Ilse Brandt. -> 
    Sufficient false by Verdict: How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    hop 1 proposes: Where was Ilse Brandt born?
    hop 1 finds:
      Atoms 1.00: Where was Ilse Brandt born? -> Ilse Brandt
    look 2 reads: [1] The KX-40 crane was designed by Ilse Brandt. | [2] Ilse Brandt was born in Varnsund. -> 15000
    Sufficient false by Verdict: How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    hop 2 proposes: How many inhabitants does Varnsund have?
    hop 2 finds:
      Atoms 1.00: How many inhabitants does Varnsund have? -> Varnsund
    look 3 reads: [1] The KX-40 crane was designed by Ilse Brandt. | [2] Ilse Brandt was born in Varnsund. | [3] Varnsund has 41000 inhabitants. -> 41000
    Sufficient true by Verdict: How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    answer: 41000
    cites crane.md: The KX-40 crane was designed by Ilse Brandt.
    cites brandt.md: Ilse Brandt was born in Varnsund.
    cites varnsund.md: Varnsund has 41000 inhabitants.
    calls: 3 look
    ");
}

/// A later round sees the facts so far, the earlier queries, and new passages alone, counted from 1.
#[tokio::test]
async fn a_round_sees_facts_and_new_passages() {
    let chat = script(&[(Role::Look, &[DESIGNER, PORT, COUNT])]);
    ask_with(few(Params::default()), BORN, &chat).await;
    let prompts = prompts(&chat);
    let third = &prompts[2];
    insta::assert_snapshot!(section(third, "# Context").trim(), @r"
    [1] Varnsund
     # Varnsund

    Varnsund has 41000 inhabitants.
    ");
    insta::assert_snapshot!(section(third, "# Facts so far").trim(), @r"
    These count too; do not repeat them.
    - The KX-40 crane was designed by Ilse Brandt. (KX-40 crane)
    - Ilse Brandt was born in Varnsund. (Ilse Brandt)
    ");
    insta::assert_snapshot!(section(third, "# Looked up before").trim(), @r"
    - Where was Ilse Brandt born?
    - How many inhabitants does Varnsund have?
    ");
    assert!(!prompts[0].contains("# Facts so far") && !prompts[0].contains("# Looked up"));
    assert_eq!(section(third, "# Question").trim(), BORN);
}

/// Kept runs of earlier versions read whole passages, those with facts again, under the numbers of the trace.
#[tokio::test]
async fn whole_passages_are_read_again_if_set() {
    let whole = Params {
        reads: Reads::Passages,
        ends: Ends::Sufficient,
        passage_tokens: 1,
        ..Params::default()
    };
    let chat = script(&[(Role::Look, &[DESIGNER, PORT, COUNT])]);
    let trace = trace_of(&ask_with(few(whole), BORN, &chat).await);
    assert_eq!(trace.lines().filter(|line| line.starts_with("look ")).count(), 3, "{trace}");
    let third = &prompts(&chat)[2];
    insta::assert_snapshot!(section(third, "# Context").trim(), @r"
    [1] KX-40 crane
     # KX-40 crane

    The KX-40 crane was designed by Ilse Brandt. It lifts forty tons.

    [2] Ilse Brandt
     # Ilse Brandt

    Ilse Brandt was born in Varnsund.

    [3] Varnsund
     # Varnsund

    Varnsund has 41000 inhabitants.
    ");
    insta::assert_snapshot!(section(third, "# Facts so far").trim(), @r"
    These count too; do not repeat them.
    - The KX-40 crane was designed by Ilse Brandt. [1]
    - Ilse Brandt was born in Varnsund. [2]
    ");
}

/// A long passage is cut to the sentences that fit best; a fact from it is cited at its very place.
#[tokio::test]
async fn a_part_of_a_passage_is_cited_like_the_whole() {
    let short = Params { passage_tokens: 12, looks: 1.try_into().unwrap(), ..Params::default() };
    let designer = DESIGNER.replace(r#""sufficient": false"#, r#""sufficient": true"#);
    let designer = designer.replace(r#""answer": """#, r#""answer": "Ilse Brandt""#);
    let chat = script(&[(Role::Look, &[designer.as_str()])]);
    let trace = trace_of(&ask_with(few(short), BORN, &chat).await);
    let prompts = prompts(&chat);
    let context = section(&prompts[0], "# Context").trim().to_owned();
    assert_eq!(context, "[1] KX-40 crane\n… The KX-40 crane was designed by Ilse Brandt. …");
    assert!(
        trace.contains("cites crane.md: The KX-40 crane was designed by Ilse Brandt."),
        "{trace}"
    );
}

/// An answer that a passage with a fact holds needs no further call, even if a fact is missing; what is missing goes
/// with it. A kept run of an earlier version makes the call.
#[tokio::test]
async fn an_answer_that_a_passage_holds_is_not_read_again() {
    let no_more = PORT.replace(r#"["How many inhabitants does Varnsund have?"]"#, "[]");
    let no_more = no_more.replace("15000", "Varnsund");
    let elsewhere = no_more.replace(r#""answer": "Varnsund""#, r#""answer": "Oslo""#);
    for (last, ends, calls, missing) in [
        (&no_more, Ends::Answered, 2, 1),
        (&no_more, Ends::Sufficient, 3, 0),
        (&elsewhere, Ends::Answered, 3, 0),
    ] {
        let chat = script(&[(Role::Look, &[DESIGNER, last.as_str()]), (Role::Answer, &[PLAIN])]);
        let answered = ask_with(few(Params { ends, ..Params::default() }), BORN, &chat).await;
        assert_eq!(answered.spent.calls(), calls, "{ends:?} {last}");
        assert_eq!(answered.answer.missing.len(), missing, "{ends:?} {last}");
    }
}

/// Two rounds in a row that bring neither a fact nor another answer end the reading.
#[tokio::test]
async fn rounds_without_news_end() {
    let asking = |question: &str| {
        serde_json::json!({"thinking": "", "facts": [], "sufficient": false, "missing": [question], "answer": "Oslo"})
            .to_string()
    };
    let questions = [
        "Where was Ilse Brandt born?",
        "How many inhabitants does Varnsund have?",
        "Where was Jon Hale born?",
    ];
    let replies = questions.map(asking);
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let chat = script(&[(Role::Look, replies.as_slice()), (Role::Answer, &[PLAIN])]);
    let trace = trace_of(&ask_with(few(Params::default()), BORN, &chat).await);
    assert!(trace.contains("hop 3 stops: NothingFound"), "{trace}");
    assert!(!trace.contains("look 4"), "{trace}");
}

/// The prompt of the last round says that it is the last; the facts still missing go with the
/// answer.
#[tokio::test]
async fn the_last_round_answers_or_reports_missing_facts() {
    let replies: &[(Role, &[&str])] = &[(Role::Look, &[DESIGNER, PORT])];
    let two = Params { looks: 2.try_into().unwrap(), reader: Reader::AtOnce, ..Params::default() };
    let chat = script(replies);
    let answer = ask_with(few(two), BORN, &chat).await;
    assert_eq!((answer.answer.text.as_str(), answer.refused), ("15000", false));
    assert_eq!(answer.missing, ["How many inhabitants does Varnsund have?"]);
    let last: Vec<bool> =
        prompts(&chat).iter().map(|p| p.contains("This is the last round")).collect();
    assert_eq!(last, [false, true]);
}

/// If the queries find nothing new, no further round is paid, and the passages are read once more.
#[tokio::test]
async fn rounds_without_new_passages_are_not_paid() {
    let all = Method::Adaptive(Params { chunks: 6, ..Params::default() });
    let chat = script(&[(Role::Look, &[DESIGNER]), (Role::Answer, &[PLAIN])]);
    insta::assert_snapshot!(trace_of(&ask_with(all, BORN, &chat).await), @r"
    adaptive (own parameters): How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    gathers: KX-40 crane | Ilse Brandt | Varnsund | Oslo | Jon Hale | Tea
    look 1 reads: [1] The KX-40 crane was designed by Ilse Brandt. -> 
    Sufficient false by Verdict: How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    hop 1 proposes: Where was Ilse Brandt born?
    hop 1 finds:
      Atoms 1.00: Where was Ilse Brandt born? -> Ilse Brandt
      Atoms 0.60: Where was Jon Hale born? -> Jon Hale
      Chunks: Varnsund: # Varnsund Varnsund has 41000 inhabitants. -> Varnsund
    hop 1 stops: NothingFound
    answer: 41000
    cites crane.md: designed by Ilse Brandt
    calls: 1 answer | 1 look
    ");
    let again = DESIGNER.replace("Where was Ilse Brandt born?", "Who?");
    let again = again.as_str();
    let replies: &[(Role, &[&str])] = &[(Role::Look, &[again, again]), (Role::Answer, &[PLAIN])];
    let trace = trace(Params::default(), replies).await;
    assert!(trace.contains("look 2 ") && trace.contains("hop 2 stops: NothingProposed"), "{trace}");
}

/// A model that cannot collect and answer at once: sentences, dots or invented facts are no answer.
#[tokio::test]
async fn implausible_answers_are_read_once_more() {
    let look = |answer: &str, fact: &str| {
        serde_json::json!({"thinking": "", "facts": [{"passage": 1, "fact": fact}], "sufficient": true, "missing": [], "answer": answer})
            .to_string()
    };
    let supported = "The KX-40 crane was designed by Ilse Brandt.";
    let mut calls = Vec::new();
    for (answer, fact) in [
        ("41000", supported),
        ("...", supported),
        ("", supported),
        ("41000", "Nobody wrote this down."),
        (
            "The birthplace of the designer of the KX-40 crane, which is Varnsund, has 41000 inhabitants in all",
            supported,
        ),
    ] {
        let reply = look(answer, fact);
        let chat = script(&[(Role::Look, &[reply.as_str()]), (Role::Answer, &[PLAIN])]);
        let shelf = shelve(&LIBRARY, Some(hashes())).await;
        let mut asked = question("q", BORN);
        asked.form = pikerag_knowledge::AnswerForm::Short;
        let answered = solve(&ports(&shelf, Some(hashes()), &chat), &asked, few(Params::default()))
            .await
            .unwrap();
        calls.push((answered.answer.text.clone(), answered.spent.calls()));
    }
    let once_more = ("41000".to_owned(), 2);
    assert_eq!(calls[0], ("41000".to_owned(), 1));
    assert!(calls[1..].iter().all(|call| *call == once_more), "{calls:?}");
}

/// In two steps: a round is not asked for an answer, and the plain prompt reads the first passages
/// and those with facts.
#[tokio::test]
async fn weak_models_collect_facts_and_then_read() {
    let collected = DESIGNER.replace(r#", "answer": """#, "");
    let enough = r#"{"thinking": "", "facts": [], "sufficient": true, "missing": []}"#;
    let set = few(Params { reader: Reader::InTwo, ..Params::default() });
    for method in [set, few(Params::default()).reading(Some(false))] {
        let chat = script(&[(Role::Look, &[&collected, enough]), (Role::Answer, &[PLAIN])]);
        let shelf = shelve(&LIBRARY, Some(hashes())).await;
        let ports = ports(&shelf, Some(hashes()), &chat);
        let answered = solve(&ports, &question("q", BORN), method).await.unwrap();
        assert_eq!((answered.answer.text.as_str(), answered.spent.calls()), ("41000", 3));
        let prompts = prompts(&chat);
        assert!(prompts[..2].iter().all(|prompt| !prompt.contains("\"answer\"")), "{prompts:?}");
        let titles: Vec<String> =
            answered.context.chunks.iter().map(|held| held.chunk.title.clone()).collect();
        assert_eq!(titles, ["KX-40 crane", "Ilse Brandt"]);
    }
}

/// An unreadable round counts as sufficient: the plain prompt reads the passages so far.
#[tokio::test]
async fn an_unreadable_round_ends_the_rounds() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Look, &["Well.", "Well."]), (Role::Answer, &[PLAIN])];
    insta::assert_snapshot!(trace(Params::default(), replies).await, @r"
    adaptive (own parameters): How many inhabitants does the birthplace of the designer of the KX-40 crane have?
    gathers: KX-40 crane
    unreadable look: no JSON object with `sufficient` was found in it
    hop 1 stops: Unreadable
    answer: 41000
    cites crane.md: designed by Ilse Brandt
    calls: 1 answer | 2 look
    ");
}

/// Without a model there is one round: the passages of `auto-rag`, quoted.
#[tokio::test]
async fn without_a_model_it_quotes() {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let trace = |name: &'static str| {
        let ports = Ports::new(shelf.base.clone(), Some(hashes()), Models::default());
        async move {
            let trace = trace_of(&solve(&ports, &question("q", BORN), method(name)).await.unwrap());
            trace.split_once('\n').unwrap().1.to_owned()
        }
    };
    assert_eq!(trace("adaptive").await, trace("auto-rag").await);
    assert!(trace("adaptive").await.ends_with("calls: none"));
}

#[tokio::test]
async fn the_prompt_reports_an_empty_base() {
    let shelf = Shelf::empty();
    let nothing =
        r#"{"thinking": "", "facts": [], "sufficient": false, "missing": ["Who?"], "answer": ""}"#;
    let unknown =
        r#"{"rationale": "", "answer": "unknown", "lacking": "all of it", "citations": []}"#;
    let chat = script(&[(Role::Look, &[nothing]), (Role::Answer, &[unknown])]);
    let answered = solve(&ports(&shelf, None, &chat), &question("q", "Who?"), method("adaptive"))
        .await
        .unwrap();
    assert_eq!((answered.answer.text.as_str(), answered.missing.len()), ("unknown", 1));
    assert!(prompts(&chat)[0].contains("(no passages were found)"));
}

/// The test of the model decides if the user has not, and does not change the method's name.
#[test]
fn the_reading_mode_is_not_a_users_parameter() {
    let plain = method("adaptive");
    for at_once in [None, Some(true), Some(false)] {
        assert_eq!(plain.reading(at_once).to_string(), "adaptive");
    }
    let set = Method::Adaptive(Params { reader: Reader::InTwo, ..Params::default() });
    assert_eq!(set.reading(Some(true)), set);
    assert_eq!(method("kar3").reading(Some(true)), method("kar3"));
}
