//! Tests that questions over undeclared tables get the right figure with its interpretation, or no
//! figure.

use serde_json::Value;

use crate::common::Place;

const TICKETS: &str = "id,opened,status,priority,product,revenue\n\
    1,2025-01-03,open,critical,Pump,100.5\n\
    2,2025-01-09,closed,low,Valve,40\n\
    3,2025-02-11,open,low,Pump,60\n\
    4,2025-02-20,closed,critical,Motor,300\n\
    5,2025-03-01,closed,critical,Valve,20\n\
    6,2024-03-05,open,low,Motor,10\n\
    7,2024-11-30,closed,low,Pump,\n";
const REPAIRS: &str = "日期,设备,维修费用,评级\n\
    2025-01-04,数控车床,1200,A\n\
    2025-03-09,数控车床,800,B\n\
    2024-07-01,铣床,500,A\n\
    2025-05-30,铣床,2600,A\n\
    2025-06-02,磨床,,B\n";

fn example_base() -> Place {
    let place = Place::new();
    place.write("docs/tickets.csv", TICKETS);
    place.write("docs/维修记录.csv", REPAIRS);
    place.write("docs/letter.md", "# Letter\n\nThe harbour office moved to Quay Street in 1998.\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    place
}

fn answer(place: &Place, question: &str) -> Value {
    place.run(&["--offline", "--json", "ask", question]).json()["answer"].clone()
}

/// The figure or thing at the start of an answer, before the interpretation.
fn lead(place: &Place, question: &str) -> String {
    let answer = answer(place, question);
    assert_eq!(answer["refused"], false, "{question}: {answer}");
    let text = answer["text"].as_str().unwrap();
    let end = text.find([' ', '（']).unwrap_or(text.len());
    text[..end].trim_end_matches(&[';', ','][..]).to_owned()
}

#[test]
fn figures_over_plain_tables_are_right_in_both_languages() {
    let place = example_base();
    for (question, figure) in [
        ("How many tickets are open?", "3"),
        ("How many critical tickets are open?", "1"),
        ("How many tickets were opened in 2025?", "5"),
        ("What is the total revenue of the product Pump?", "160.5"),
        ("What is the average revenue of tickets in 2025?", "104.1"),
        ("For how many tickets is the revenue missing?", "1"),
        ("2025年数控车床一共维修了多少次？", "2"),
        ("维修费用一共多少？", "5100"),
        ("哪个设备的维修费用总和最高？", "铣床"),
        ("Which product has the highest total revenue?", "Motor"),
        ("2025年铣床的维修费用总共是多少？", "2600"),
    ] {
        assert_eq!(lead(&place, question), figure, "{question}");
    }
}

/// The interpretation follows the figure, the rows are cited, and the trace has the statement.
#[test]
fn an_answer_shows_its_interpretation_and_cites_its_rows() {
    let place = example_base();
    let answer = answer(&place, "How many critical tickets are closed?");
    assert_eq!(
        answer["text"],
        "2 (number of rows in tickets; priority = critical; status = closed)"
    );
    let quotes: Vec<&str> = answer["citations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|citation| citation["quote"].as_str().unwrap())
        .collect();
    assert_eq!(quotes.len(), 2, "{answer:#}");
    assert!(quotes.iter().all(|quote| quote.contains("critical") && quote.contains("closed")));
    let trace = answer["trace"].to_string();
    assert!(trace.contains("\"event\":\"queried\"") && trace.contains("SELECT"), "{trace}");
}

#[test]
fn an_answer_shows_its_interpretation_once() {
    let place = example_base();
    for (question, interpretation) in [
        (
            "How many critical tickets are closed?",
            "number of rows in tickets; priority = critical; status = closed",
        ),
        ("维修费用一共多少？", "维修记录：总和：维修费用"),
    ] {
        let shown = place.run_to(0, &["--offline", "ask", question]).stdout;
        assert_eq!(shown.matches(interpretation).count(), 1, "{shown}");
        assert_eq!(answer(&place, question)["rationale"], "");
    }
}

#[test]
fn figures_of_groups_are_drawn_and_a_single_figure_gets_a_reason() {
    let place = example_base();
    let draw = |language: &str, question: &str| {
        let ask = ["--lang", language, "--offline", "ask", question, "--chart", "chart.svg"];
        place.run_to(0, &ask).stderr
    };
    for (language, question, groups) in [
        ("en", "What is the total revenue for each product?", ["Motor", "Pump", "160.5"]),
        ("zh", "各设备的维修费用总和是多少？", ["数控车床", "铣床", "3100"]),
    ] {
        let noted = draw(language, question);
        let svg = place.read("chart.svg");
        assert!(groups.iter().all(|group| svg.contains(group)), "{noted}{svg}");
    }
    let noted = draw("en", "How many tickets are open?");
    assert!(noted.contains("no chart was drawn: the answer is one figure"), "{noted}");
    let noted = draw("zh", "When did the harbour office move?");
    assert!(noted.contains("没有绘制图表：回答中没有算出的数字"), "{noted}");
}

/// If a word is not understood, the answer quotes rows instead of giving a figure.
#[test]
fn a_question_with_an_unknown_word_gets_no_figure() {
    let place = example_base();
    let answer = answer(&place, "How many tickets were escalated to the board?");
    assert_ne!(answer["written_by"]["kind"], "reckoning", "{answer}");
}

/// If one word is not understood, the answer shows the nearest reading with its statement.
#[test]
fn a_nearly_understood_question_gets_the_nearest_reading() {
    let place = example_base();
    let answer = answer(&place, "How many critical tickets were escalated?");
    assert_eq!(answer["written_by"]["kind"], "quotation", "{answer}");
    let advice = answer["rationale"].as_str().unwrap();
    assert!(advice.contains("not understood: escalated."), "{advice}");
    let statement = advice.split(['[', ']']).nth(1).unwrap();
    assert!(statement.starts_with("SELECT count(*) FROM tickets"), "{advice}");
    assert_eq!(place.run_to(0, &["sql", statement]).stdout.lines().last(), Some("       3"));
}

/// Two tables fit equally well and contain different values: the answer gives neither.
#[test]
fn tables_that_contradict_each_other_leave_a_question_undecided() {
    let place = Place::new();
    place.write("docs/catalogue.csv", "product,price,stock\nPump,12,3\nValve,20,5\n");
    place.write("docs/offers.csv", "product,price\nPump,10\nValve,20\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    let differ = answer(&place, "What is the price of the Pump?");
    let text = differ["text"].as_str().unwrap();
    assert_eq!(differ["refused"], true, "{differ}");
    assert!(text.contains("in catalogue") && text.contains("in offers"), "{text}");
    let agree = answer(&place, "What is the price of the Valve?");
    assert!(agree["text"].as_str().unwrap().starts_with("20 ("), "{agree}");
}

/// If tables in both languages fit, the answer uses the one in the language of the question.
#[test]
fn a_table_in_the_language_of_the_question_is_preferred() {
    let place = Place::new();
    place.write("docs/repairs.csv", "order,date,hours\nA1,2024-01-05,7\nA2,2024-02-08,2\n");
    place.write(
        "docs/维修.csv",
        "工单,日期,小时\nB1,2024-03-04,3\nB2,2024-03-05,3\nB3,2024-03-06,4\n",
    );
    place.run_to(0, &["--offline", "index", "docs"]);
    let english = answer(&place, "How many repairs were there in 2024?");
    assert!(english["text"].as_str().unwrap().starts_with("2 ("), "{english}");
    let chinese = answer(&place, "2024年有多少次维修？");
    assert!(chinese["text"].as_str().unwrap().starts_with("3（"), "{chinese}");
}

/// Questions about texts are answered from texts.
#[test]
fn questions_about_texts_are_not_taken_for_tables() {
    let place = example_base();
    let answer = answer(&place, "Where did the harbour office move in 1998?");
    assert!(answer["text"].as_str().unwrap().contains("Quay Street"), "{answer}");
}
