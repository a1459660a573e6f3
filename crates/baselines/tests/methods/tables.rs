//! Tests that rules and a scripted model together answer questions over a table.

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::tables::By;
use pikerag_knowledge::worked::{Forecast, Known};
use pikerag_knowledge::{
    ChatModels, ChatRequest, ClassifiedBy, Event, ModelError, Note, Question, Reason, Statement,
};
use pikerag_methods::{Ports, pike};
use serde_json::{Value as Json, json};

use super::fixture::hashes;
use crate::common::{Answered, Files, Shelf, solve, solve_within};

const ORDERS: &str = "date,region,product,amount\n2021-01-05,North,Pump,400\n2021-03-02,South,Valve,1200\n\
                      2021-07-19,North,Valve,900\n2022-02-11,North,Filter,250\n2022-05-30,South,Pump,1600\n\
                      2022-11-08,East,Pump,350\n";

/// The model's replies, in turn: plans, then choices between readings.
async fn ask(question: &str, plans: &[Json], choices: &[&str]) -> (Answered, Arc<ScriptedChat>) {
    ask_over(ORDERS, question, plans, choices).await
}

async fn ask_over(
    orders: &str,
    question: &str,
    plans: &[Json],
    choices: &[&str],
) -> (Answered, Arc<ScriptedChat>) {
    ask_within(None, orders, question, plans, choices).await
}

/// The same with a model that may read this number of tokens at a time.
async fn ask_within(
    reads_at_most: Option<u32>,
    orders: &str,
    question: &str,
    plans: &[Json],
    choices: &[&str],
) -> (Answered, Arc<ScriptedChat>) {
    let choices: Vec<String> = choices.iter().map(|&choice| choice.to_owned()).collect();
    let plans = plans.to_vec();
    let (mut plans, mut choices) = (plans.into_iter(), choices.into_iter());
    let (mut plan, mut choice) = (Json::Null, "none".to_owned());
    let reply = std::sync::Mutex::new(move |request: &ChatRequest| {
        let asked = prompt(request).unwrap();
        if asked.contains("\n# Tables\n") {
            plan = plans.next().unwrap_or_else(|| plan.clone());
            return plan.to_string();
        }
        if asked.contains("\n# Readings\n") {
            choice = choices.next().unwrap_or_else(|| choice.clone());
            return json!({"thinking": "", "choice": choice}).to_string();
        }
        json!({"answer": "Nothing is known.", "class": "bridging", "sufficient": true, "facts": [], "missing": []}).to_string()
    });
    let chat = Arc::new(ScriptedChat::by_turn(move |_, request| {
        Ok::<_, ModelError>(reply.lock().unwrap()(request))
    }));
    let shelf = Shelf::empty();
    let files: Files =
        [("orders.csv", orders), ("memo.md", "# Memo\n\nThe lift was painted blue.\n")]
            .into_iter()
            .collect();
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    let models = ChatModels { default: Some(chat.clone() as _), ..ChatModels::default() };
    let ports = Ports::new(shelf.base.clone(), Some(hashes()), models.into());
    let method = Method::Pike(pike::Params::default());
    let asked = Question::new("q", question);
    let answered = solve_within(&ports, &asked, method, reads_at_most).await.unwrap();
    (answered, chat)
}

/// The reply with an aggregate of a column, under conditions.
fn plan(aggregate: &str, holds: &str) -> Json {
    let holds = if holds.is_empty() { String::new() } else { format!(" WHERE {holds}") };
    json!({"sql": format!("SELECT {aggregate} FROM orders{holds}")})
}

fn no_table() -> Json {
    json!({"sql": ""})
}

fn text(answered: &Answered) -> &str {
    &answered.answer.text
}

#[tokio::test]
async fn agreement_of_rules_and_model_is_the_answer() {
    let same = plan("sum(amount)", "region = 'North'");
    let (answered, chat) = ask("What is the total amount in the North?", &[same], &[]).await;
    assert_eq!(text(&answered), "1550 (sum of amount in orders; region = North)");
    assert_eq!(chat.prompts().len(), 1);
}

#[tokio::test]
async fn differences_are_decided_by_the_model_in_both_orders() {
    let question = "What is the total amount in the North?";
    let other = || [plan("avg(amount)", "region = 'North'")];
    let differs = |answered: &Answered| {
        answered.events.iter().any(|event| {
            matches!(event, Event::Noted { note } if matches!(note, Statement::Fact(Note::ReadingsDiffer { .. })))
        })
    };
    // The rules' reading is the first, then the second.
    for (choices, expected) in [
        (["A", "B"], "1550 (sum of amount in orders; region = North)"),
        (["B", "A"], "516.6667 (mean of amount in orders; region = North)"),
        (["A", "A"], "1550 (sum of amount in orders; region = North)"),
    ] {
        let (answered, chat) = ask(question, &other(), &choices).await;
        assert_eq!(text(&answered), expected);
        assert!(differs(&answered));
        assert_eq!(chat.prompts().len(), 3);
    }
    let (answered, _) = ask(question, &other(), &["none", "none"]).await;
    assert!(answered.answer.refused && !text(&answered).contains("550"), "{}", text(&answered));
    assert!(
        text(&answered).contains("sum of amount") && text(&answered).contains("mean of amount")
    );
}

/// No rule knows these words: the model alone reads the question, and confirms or rejects its
/// reading.
#[tokio::test]
async fn the_model_reads_questions_without_rules() {
    let question = "北方地区的订单一共卖了多少钱？";
    let read = || [plan("sum(amount)", "region = 'north'")];
    let (answered, _) = ask(question, &read(), &["A"]).await;
    assert_eq!(text(&answered), "1550（orders：总和：amount；region = North）");
    assert_eq!(answered.answer.citations.len(), 3);
    let (answered, _) = ask(question, &read(), &["none"]).await;
    assert!(answered.answer.refused && !text(&answered).contains("550"), "{}", text(&answered));
}

/// A figure computed from two others, in words that no rule knows.
#[tokio::test]
async fn figures_of_two_others_are_computed() {
    let half = |region: &str| format!("sum(CASE WHEN region = '{region}' THEN amount END)");
    let question = "By what amount did purchases by North beat those of the East, in orders?";
    let read = plan(&format!("{} - {}", half("North"), half("East")), "");
    let (answered, _) = ask(question, &[read], &["A"]).await;
    assert!(text(&answered).starts_with("1200 (1550 − 350)"), "{}", text(&answered));
    let question = "Purchases by North were how many times those of the East, in orders?";
    let read = plan(&format!("1.0 * {} / {}", half("North"), half("East")), "");
    let (answered, _) = ask(question, &[read], &["A"]).await;
    assert!(text(&answered).starts_with("4.4286 (1550 / 350)"), "{}", text(&answered));
}

#[tokio::test]
async fn lost_conditions_give_no_figure() {
    let question = "In 2021, how much money came in through purchases by North, in orders?";
    let lost = plan("sum(amount)", "region = 'North'");
    let (answered, _) = ask(question, &[lost], &["A"]).await;
    assert!(answered.answer.refused, "{}", text(&answered));
    let whole = plan("sum(amount)", "region = 'North' AND date = '2021'");
    let (answered, _) = ask(question, &[whole], &["A"]).await;
    assert!(text(&answered).starts_with("1300 ("), "{}", text(&answered));
}

#[tokio::test]
async fn failing_plans_are_requested_once_more() {
    let question = "What is the total amount in the North?";
    let wrong = plan("sum(turnover)", "");
    let right = plan("sum(amount)", "region = 'North'");
    let (answered, chat) = ask(question, &[wrong.clone(), right], &[]).await;
    assert!(text(&answered).starts_with("1550 ("), "{}", text(&answered));
    let prompts = chat.prompts();
    assert!(prompts[1].contains("no table of the query has a column `turnover`"), "{}", prompts[1]);
    // The rules' reading stays if the model gives no working plan.
    let (answered, chat) = ask(question, &[wrong], &[]).await;
    assert!(text(&answered).starts_with("1550 ("), "{}", text(&answered));
    assert_eq!(chat.prompts().len(), 2);
}

#[tokio::test]
async fn documents_are_read_if_no_table_fits() {
    let none = no_table();
    let question = "Who painted the lift of the North orders?";
    let (answered, chat) = ask(question, &[none], &[]).await;
    assert!(text(&answered).contains("Nothing is known"), "{}", text(&answered));
    assert!(1 < chat.prompts().len());
}

/// A question for no figure is not refused because the model doubts its own query.
#[tokio::test]
async fn documents_are_read_if_the_model_rejects_its_query() {
    let products = || [plan("product", "region = 'North'")];
    let question = "Who painted the lift of the North orders?";
    let (answered, chat) = ask(question, &products(), &["none"]).await;
    assert_eq!(text(&answered), "Nothing is known.");
    assert!(chat.prompts()[1].contains("\n# Readings\n"), "{}", chat.prompts()[1]);
    let is_rejected = |event: &Event| matches!(event, Event::Noted { note } if matches!(note, Statement::Fact(Note::ReadingRejected { .. })));
    assert!(answered.events.iter().any(is_rejected));
}

/// A model with time for one call reads passages in it.
#[tokio::test]
async fn a_slow_model_makes_no_query() {
    let shows_tables =
        |chat: &ScriptedChat| chat.prompts().iter().any(|prompt| prompt.contains("\n# Tables\n"));
    let (fact, figure) =
        ("Who painted the lift of the North orders?", "What is the total amount in the North?");
    for (question, limit, expected) in
        [(fact, None, true), (fact, Some(500), false), (figure, Some(500), false)]
    {
        let (_, chat) = ask_within(limit, ORDERS, question, &[no_table()], &[]).await;
        assert_eq!(shows_tables(&chat), expected, "{question} {limit:?}");
        assert!(limit.is_none() || chat.prompts().len() < 2, "{question}");
    }
    // What rules are sure of needs no second reading.
    let question = "Which product has the amount 1600?";
    let (answered, chat) = ask_within(Some(500), ORDERS, question, &[no_table()], &[]).await;
    assert!(text(&answered).starts_with("Pump"), "{}", text(&answered));
    assert_eq!(chat.prompts().len(), 0);
}

/// The model sees a table that a search finds, although no rule applies and other tables come
/// before it.
#[tokio::test]
async fn tables_found_by_search_are_shown() {
    let shelf = Shelf::empty();
    let rota = "duty,minutes\nfeeding the grey pelican at noon,20\nsweeping the yard,15\n";
    let mut files: Files = [("rota.csv", rota)].into_iter().collect();
    for name in ["alder", "birch", "cedar", "elm", "fir", "larch", "maple", "oak"] {
        let rows = format!("{name},felled\nold {name},3\nyoung {name},4\n");
        files.0.insert(format!("{name}.csv"), rows);
    }
    shelf.index(&files, None, Some(hashes()), &IngestParams::default()).await;
    let chat = Arc::new(ScriptedChat::by_turn(|_, _| {
        Ok::<_, ModelError>(json!({"sql": "", "answer": "20", "class": "bridging"}).to_string())
    }));
    let models = ChatModels { default: Some(chat.clone() as _), ..ChatModels::default() };
    let ports = Ports::new(shelf.base.clone(), Some(hashes()), models.into());
    let question = Question::new("q", "How many visitors may feed a pelican?");
    solve(&ports, &question, Method::Pike(pike::Params::default())).await.unwrap();
    let shown = &chat.prompts()[0];
    assert!(shown.contains("# Tables") && shown.contains("feeding the grey pelican"), "{shown}");
}

/// The found rows are not all rows, so a model's count of them is not accepted.
#[tokio::test]
async fn counts_of_some_rows_are_not_accepted() {
    let none = || [no_table()];
    let row = |n: usize| format!("2021-01-{:02},North,Pump {n},{n}00\n", n % 28 + 1);
    let many: String = std::iter::once("date,region,product,amount\n".to_owned())
        .chain((1..200).map(row))
        .collect();
    let question = "How many orders of the North did the buyers praise most?";
    let (answered, _) = ask_over(&many, question, &none(), &[]).await;
    let refusal = answered.answer.worked.as_ref().and_then(|worked| worked.refusal.clone());
    let Some(Reason::TableExcerpt { table, read, rows, .. }) = refusal else {
        panic!("{:?}: {}", refusal, text(&answered));
    };
    assert!(answered.answer.refused && table == "orders" && 0 < read && read < rows);
    assert_eq!(rows, 199);
    // A value of one row is not a figure over the table; a count is valid if all rows were read.
    let (answered, _) = ask_over(&many, "Who praised the orders of the North?", &none(), &[]).await;
    assert_eq!(text(&answered), "Nothing is known.");
    let (answered, _) = ask(question, &none(), &[]).await;
    assert_eq!(text(&answered), "Nothing is known.");
}

/// The event with the class names the reader of the question: rules, model or both.
#[tokio::test]
async fn the_trace_names_the_reader_of_the_question() {
    let by = |answered: &Answered| {
        answered.events.iter().find_map(|event| match event {
            Event::Classified { by, reasons, .. } => {
                let is_table = reasons
                    .iter()
                    .any(|why| matches!(why, Statement::Fact(Reason::TablesAnswer { .. })));
                Some((*by, is_table))
            }
            _ => None,
        })
    };
    let read = || [plan("sum(amount)", "region = 'North'")];
    let (answered, _) = ask("What is the total amount in the North?", &read(), &[]).await;
    assert_eq!(by(&answered), Some((ClassifiedBy::Rules, true)));
    let (answered, _) =
        ask("How much money came in through purchases by North, in orders?", &read(), &["A"]).await;
    assert_eq!(by(&answered), Some((ClassifiedBy::Model, true)));
}

/// Two years of orders, a North and a South one each month; the last month has one of the two.
fn months() -> String {
    let rows = (0..24).flat_map(|month| {
        let day = format!("{}-{:02}", 2021 + month / 12, month % 12 + 1);
        let north = format!("{day}-05,North,Pump,{}\n", 100 + 10 * month);
        let south = format!("{day}-20,South,Pump,{}\n", 50);
        if month == 23 { vec![north] } else { vec![north, south] }
    });
    std::iter::once("date,region,product,amount\n".to_owned()).chain(rows).collect()
}

fn forecasts(answered: &Answered) -> Vec<Forecast> {
    let worked = answered.answer.worked.as_ref().unwrap();
    worked.forecast.iter().chain(&worked.forecasts).cloned().collect()
}

fn periods(forecast: &Forecast) -> (String, String, Vec<String>) {
    let past = |at: Option<&Known>| at.map(|known| known.period.clone()).unwrap();
    let points = forecast.points.iter().map(|point| point.period.clone()).collect();
    (past(forecast.past.first()), past(forecast.past.last()), points)
}

/// The values of a column, not the number of its rows, are forecast; an incomplete month is left
/// out.
#[tokio::test]
async fn the_values_of_a_column_are_forecast() {
    let question = "What will the total amount be in January 2023?";
    let (answered, chat) = ask_over(&months(), question, &[no_table()], &[]).await;
    assert_eq!(chat.prompts().len(), 0);
    let [forecast] = forecasts(&answered).try_into().unwrap();
    let (first, last, points) = periods(&forecast);
    assert_eq!((first.as_str(), last.as_str()), ("2021-01", "2022-11"));
    assert_eq!(
        (points, forecast.partial),
        (vec!["2022-12".to_owned(), "2023-01".to_owned()], vec!["2022-12".to_owned()])
    );
    assert_eq!(forecast.past.last().unwrap().value, Some(370.0));
    let expected = forecast.points.last().unwrap().value;
    assert!((360.0..420.0).contains(&expected), "{expected}");
    assert!(text(&answered).starts_with("2023-01: "), "{}", text(&answered));
    assert!(
        text(&answered).ends_with("(sum of amount in orders; for each month of date)"),
        "{}",
        text(&answered)
    );
    assert!(!answered.answer.citations.is_empty());
    // Past periods get a figure, not a forecast.
    let question = "What will the total amount be in January 2022?";
    let (answered, _) = ask_over(&months(), question, &[no_table()], &[]).await;
    assert!(text(&answered).starts_with("270 ("), "{}", text(&answered));
}

#[tokio::test]
async fn each_group_has_its_own_forecast() {
    let question = "Forecast the total amount for each region in the next two months.";
    let (answered, _) = ask_over(&months(), question, &[no_table()], &[]).await;
    let found = forecasts(&answered);
    let groups: Vec<Option<&str>> = found.iter().map(|of| of.group.as_deref()).collect();
    assert_eq!(groups, [Some("North"), Some("South")]);
    assert!(text(&answered).starts_with("North – 2023-01: "), "{}", text(&answered));
    assert!(text(&answered).contains("; South – 2023-01: 50 "), "{}", text(&answered));
}

/// No rule knows these words: the model names the past figures.
#[tokio::test]
async fn the_model_names_the_figures_to_forecast() {
    let sql =
        "SELECT strftime('%Y-%m', date), SUM(amount) FROM orders WHERE region = 'North' GROUP BY 1";
    let read = json!({"sql": sql, "class": "predictive"});
    let question = "How much money will northern customers bring us in the next two months?";
    let (answered, chat) = ask_over(&months(), question, std::slice::from_ref(&read), &[]).await;
    assert!(chat.prompts().iter().any(|prompt| prompt.contains("a figure for each period")));
    let [forecast] = forecasts(&answered).try_into().unwrap();
    assert_eq!(forecast.past.first().unwrap().value, Some(100.0));
    assert_eq!(periods(&forecast).2.last().unwrap(), "2023-02");
    // The first plan lists rows, and is requested once more.
    let wrong = json!({"sql": "SELECT region, product FROM orders", "class": "predictive"});
    let (answered, chat) = ask_over(&months(), question, &[wrong, read], &[]).await;
    assert!(chat.prompts().iter().any(|prompt| prompt.contains("it gives no period")));
    assert_eq!(forecasts(&answered).len(), 1);
}

/// A past that is too short is reported, and no count replaces the forecast.
#[tokio::test]
async fn too_few_figures_are_reported() {
    let question = "What will the total amount be in 2023?";
    let (answered, _) = ask(question, &[no_table()], &[]).await;
    let refusal = answered.answer.worked.as_ref().and_then(|worked| worked.refusal.clone());
    assert_eq!(refusal, Some(Reason::TooFewPeriods { least: 5, known: 2, period: By::Year }));
}

/// A region without further orders has sums of 0, up to the last month of the table.
#[tokio::test]
async fn a_series_reaches_as_far_as_its_table() {
    let orders: String = months()
        .lines()
        .filter(|row| !row.contains("South") || row < &"2022-04")
        .flat_map(|row| [row, "\n"])
        .collect();
    let question = "What will the total amount in the South be next month?";
    let (answered, _) = ask_over(&orders, question, &[no_table()], &[]).await;
    let [forecast] = forecasts(&answered).try_into().unwrap();
    assert_eq!(periods(&forecast).1, "2022-12");
    assert_eq!(forecast.past.last().unwrap().value, Some(0.0));
    assert_eq!(periods(&forecast).2, ["2023-01"]);
}

/// A plan may limit the past; no period after it is added.
#[tokio::test]
async fn a_limited_past_ends_at_its_limit() {
    let sql = "SELECT strftime('%Y-%m', date), SUM(amount) FROM orders WHERE date < '2022-07-01' GROUP BY 1";
    let read = json!({"sql": sql, "class": "predictive"});
    let question =
        "How much money will customers bring us in the next two months, going by orders so far?";
    let (answered, _) = ask_over(&months(), question, &[read], &[]).await;
    let [forecast] = forecasts(&answered).try_into().unwrap();
    let (_, last, points) = periods(&forecast);
    assert_eq!(
        (last.as_str(), points),
        ("2022-06", vec!["2022-07".to_owned(), "2022-08".to_owned()])
    );
}

#[tokio::test]
async fn all_periods_within_longer_ones_are_forecast() {
    let question = "Forecast the monthly total amount for the next two years.";
    let (answered, _) = ask_over(&months(), question, &[no_table()], &[]).await;
    let [forecast] = forecasts(&answered).try_into().unwrap();
    assert_eq!(periods(&forecast).2.last().unwrap(), "2024-12");
    assert!(text(&answered).starts_with("2023-01: "), "{}", text(&answered));
    assert_eq!(text(&answered).matches("80 % interval").count(), 24);
}
