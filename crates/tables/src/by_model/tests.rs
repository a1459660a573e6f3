//! Reads statements as models write them, over the tables of the other tests.

use super::{PlanFault, Room, outline, read_statement, shown};
use crate::reading::{Computation, Form, Reading};
use crate::tests::{catalog, plan};

fn read(statement: &str) -> Result<Option<Reading>, PlanFault> {
    read_statement(statement, &catalog(), &[0, 1, 2])
}

/// A statement and its reading, in two lines.
fn outcome(statement: &&str) -> String {
    let reading = match read(statement) {
        Ok(None) => return format!("{statement}\n  no table fits"),
        Ok(Some(reading)) => reading,
        Err(fault) => return format!("{statement}\n  {fault}"),
    };
    let kind = match &reading.computation {
        Computation::One(_) => "",
        Computation::Difference(..) => "second minus first: ",
        Computation::Growth(..) => "growth: ",
        Computation::Share(..) => "percent: ",
        Computation::Ratio(..) => "ratio: ",
        Computation::Compare { .. } => "greater: ",
    };
    let plans: Vec<String> = reading.computation.plans().into_iter().map(plan).collect();
    let form = if reading.form == Form::Exists { "exists: " } else { "" };
    let nth = reading.nth.map(|nth| format!(" #{nth}")).unwrap_or_default();
    let joined = if reading.tables.len() == 1 { "" } else { " (joined)" };
    format!("{statement}\n  {form}{kind}{}{nth}{joined}", plans.join("; "))
}

fn outcomes(statements: &[&str]) -> String {
    statements.iter().map(outcome).collect::<Vec<_>>().join("\n")
}

#[test]
fn statements_are_read_as_plans() {
    let outcomes = outcomes(&[
        "",
        "SELECT COUNT(*) FROM repairs WHERE machine = 'press';",
        "SELECT machine FROM repairs GROUP BY machine ORDER BY SUM(cost) DESC LIMIT 1 OFFSET 1",
        "SELECT strftime('%Y', date) AS year, SUM(cost) AS total FROM repairs GROUP BY year ORDER BY total DESC",
        "SELECT date FROM repairs WHERE c5 >= 7 AND engineer IS NULL AND date = '2022-Q2' AND date < '2022-06-01'",
        "SELECT AVG(r.cost) FROM repairs r JOIN suppliers AS s ON r.c3 = s.c0 WHERE s.城市 NOT IN ('上海市', '广州市')",
        "SELECT COUNT(*) FROM suppliers JOIN repairs ON suppliers.c0 = repairs.c3 WHERE 城市 = '上海市'",
        "SELECT 名称 FROM suppliers WHERE 成立年份 BETWEEN 1980 AND 1999 AND 名称 LIKE '华东%'",
        "SELECT COUNT(DISTINCT machine) FROM repairs WHERE substr(date, 1, 4) = '2022' AND strftime('%m', date) = '05'",
        "SELECT COUNT(*) FROM repairs WHERE strftime('%m', date) >= '10' AND CAST(strftime('%m', date) AS INTEGER) < 12",
        "SELECT COUNT(*) FROM repairs WHERE month(date) BETWEEN 4 AND 6 AND month(date) NOT IN (5)",
        "SELECT COUNT(*) FROM repairs WHERE date IN ('2022-04', '2022-05')",
        "SELECT machine FROM repairs WHERE cost = (SELECT MAX(cost) FROM repairs)",
        "SELECT machine, MAX(cost) FROM repairs",
        "SELECT machine FROM repairs WHERE cost > (SELECT AVG(cost) FROM repairs) OR 1 = 1 AND cost > 1",
        "SELECT COUNT(*) FROM repairs WHERE cost > (SELECT AVG(cost) FROM repairs) AND CAST(date AS TEXT) LIKE '2022-0%'",
        "SELECT COUNT(*) FROM repairs WHERE machine = 'Press' OR LOWER(machine) = \"crane\"",
        "SELECT DISTINCT fault FROM repairs WHERE NOT machine = 'Crane' AND c2 LIKE '%o%'",
        "SELECT EXISTS (SELECT 1 FROM repairs WHERE engineer = 'Brandt')",
        "SELECT product FROM sales WHERE \"January 2023\" > \"February 2023\"",
        "SELECT COUNT(*), SUM(cost), MEDIAN(cost) FROM repairs",
        "SELECT machine, fault FROM repairs ORDER BY date DESC LIMIT 3",
        "SELECT SUM(cost * downtime), AVG(cost / downtime) FROM repairs",
        "SELECT product FROM sales ORDER BY c3 - c2 DESC LIMIT 1",
        "SELECT product, c3 - c2 AS d FROM sales ORDER BY d LIMIT 2",
        "SELECT c3 - c2 FROM sales WHERE product = 'Pump'",
        "SELECT COUNT(*) FROM repairs LEFT JOIN suppliers ON c3 = suppliers.c0",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn figures_of_two_are_read() {
    let outcomes = outcomes(&[
        "SELECT (SELECT SUM(cost) FROM repairs WHERE machine = 'Press') - (SELECT SUM(cost) FROM repairs WHERE machine = 'Crane')",
        "SELECT SUM(CASE WHEN machine = 'Press' THEN cost ELSE 0 END) - SUM(CASE WHEN machine = 'Crane' THEN cost END) AS d FROM repairs",
        "SELECT (SELECT c4 FROM repairs WHERE date = '2021-01-10') - (SELECT c4 FROM repairs WHERE date = '2021-03-02')",
        "SELECT ROUND(100.0 * SUM(CASE WHEN machine = 'Press' THEN 1 ELSE 0 END) / COUNT(*), 1) FROM repairs",
        "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM repairs) FROM repairs WHERE machine = 'Press'",
        "SELECT AVG(machine = 'Press') * 100 FROM repairs WHERE date >= '2022'",
        "SELECT SUM(cost) * 1.0 / COUNT(DISTINCT machine) FROM repairs",
        "SELECT (SUM(CASE WHEN strftime('%Y', date) = '2022' THEN cost END) - SUM(CASE WHEN strftime('%Y', date) = '2021' THEN cost END)) * 100.0 / SUM(CASE WHEN strftime('%Y', date) = '2021' THEN cost END) FROM repairs",
        "SELECT ((SELECT SUM(cost) FROM repairs WHERE date = '2022') * 1.0 / (SELECT SUM(cost) FROM repairs WHERE date = '2021') - 1) * 100",
        "SELECT ABS(MAX(cost) - MIN(cost)) FROM repairs",
        "SELECT COUNT(*) FILTER (WHERE cost > 500) FROM repairs",
        "SELECT ROUND(COALESCE(SUM(cost), 0), 2) FROM repairs",
        "SELECT ABS(SUM(cost)) FROM repairs",
        "SELECT AVG(COALESCE(cost, 0)) FROM repairs",
        "SELECT SUM(ROUND(cost)) FROM repairs WHERE ROUND(downtime) > 3",
        "SELECT SUM(cost) / 1000 FROM repairs",
        "SELECT SUM(cost * downtime * 2) FROM repairs",
        "SELECT SUM(cost) + COUNT(*) FROM repairs",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn conditions_on_groups_and_figures_over_them_are_read() {
    let outcomes = outcomes(&[
        "SELECT machine FROM repairs GROUP BY machine HAVING COUNT(*) > 2",
        "SELECT machine, SUM(cost) AS total FROM repairs GROUP BY machine HAVING total >= 100 AND 3 > COUNT(*) ORDER BY total DESC LIMIT 1",
        "SELECT machine, COUNT(*) FROM repairs WHERE cost > 5 GROUP BY machine HAVING AVG(downtime) BETWEEN 2 AND 4",
        "SELECT COUNT(*) FROM (SELECT machine FROM repairs GROUP BY machine HAVING COUNT(*) > 2)",
        "SELECT COUNT(*) FROM (SELECT DISTINCT machine FROM repairs)",
        "SELECT ROUND(AVG(n), 2) FROM (SELECT machine, COUNT(*) AS n FROM repairs GROUP BY machine) AS t",
        "WITH t AS (SELECT strftime('%Y-%m', date) AS month, SUM(cost) AS total FROM repairs GROUP BY month) SELECT MAX(t.total) FROM t",
        "SELECT COUNT(machine) FROM (SELECT machine, SUM(cost) AS n, COUNT(*) AS m FROM repairs GROUP BY machine) WHERE n > 1000 AND m = 1",
        "SELECT 100.0 * (SELECT COUNT(*) FROM (SELECT machine FROM repairs GROUP BY machine HAVING COUNT(*) > 1)) / (SELECT COUNT(DISTINCT machine) FROM repairs)",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn figures_with_conditions_of_their_own_are_read() {
    let outcomes = outcomes(&[
        "SELECT machine, 100.0 * SUM(CASE WHEN cost > 500 THEN 1 ELSE 0 END) / COUNT(*) AS share FROM repairs GROUP BY machine ORDER BY share DESC LIMIT 1",
        "SELECT machine, ROUND(AVG(CASE WHEN cost > 500 THEN 1.0 ELSE 0 END) * 100, 1) FROM repairs GROUP BY machine",
        "SELECT machine, COUNT(*), COUNT(CASE WHEN engineer IS NULL THEN 1 END) FROM repairs GROUP BY machine",
        "SELECT COUNT(*) FILTER (WHERE cost > 500), SUM(cost) FROM repairs",
        "SELECT machine FROM repairs GROUP BY machine HAVING 100.0 * COUNT(CASE WHEN cost > 500 THEN 1 END) / NULLIF(COUNT(*), 0) > 50",
        "SELECT machine FROM repairs GROUP BY machine HAVING 1.0 * COUNT(CASE WHEN cost > 500 THEN 1 END) / NULLIF(COUNT(*), 0) > 0.5",
        "SELECT machine, SUM(cost) / COUNT(*) FROM repairs GROUP BY machine",
        "SELECT AVG(share) FROM (SELECT machine, AVG(cost > 500) AS share FROM repairs GROUP BY machine)",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn conditions_over_two_columns_and_two_tables_are_read() {
    let outcomes = outcomes(&[
        "SELECT AVG(julianday(date) - julianday(date)) FROM repairs",
        "SELECT COUNT(*) FROM repairs WHERE julianday(date) - julianday(date) > 30",
        "SELECT machine, CAST(julianday(date) - julianday(date) AS INTEGER) AS days FROM repairs ORDER BY days DESC LIMIT 1",
        "SELECT COUNT(*) FROM repairs WHERE cost * downtime BETWEEN 10 AND 20",
        "SELECT COUNT(*) FROM repairs WHERE 100 <= cost / downtime",
        "SELECT machine FROM repairs WHERE machine = 'Press' OR cost > 300",
        "SELECT machine FROM repairs WHERE machine = 'Press' OR machine = 'Crane' OR engineer IS NULL",
        "SELECT COUNT(*) FROM suppliers WHERE c0 NOT IN (SELECT c3 FROM repairs WHERE cost > 100)",
        "SELECT 名称 FROM suppliers WHERE NOT (c0 IN (SELECT c3 FROM repairs))",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn a_statement_that_names_what_is_not_there_says_so() {
    let outcomes = outcomes(&[
        "SELECT COUNT(*) FROM machines",
        "SELECT price FROM repairs",
        "SELECT COUNT(*) FROM repairs WHERE strftime('%Y', day) = '2021'",
        "SELECT COUNT(*) FROM repairs WHERE strftime('%Y', cost) = '2021'",
        "SELECT COUNT(*) FROM sales JOIN repairs ON sales.c0 = repairs.c1",
        "SELECT COUNT(*) FROM repairs, suppliers",
        "SELECT COUNT(*) FROM repairs WHERE machine = 'Crane of Hamburg'",
        "SELECT COUNT(*) FROM repairs WHERE machine > 'Crane'",
        "SELECT COUNT(*) FROM repairs WHERE cost > 'much'",
        "SELECT COUNT(*) FROM repairs WHERE cost LIKE '%4%'",
        "SELECT COUNT(*) FROM repairs WHERE date = 'last year'",
        "SELECT COUNT(*) FROM repairs WHERE strftime('%m', date) = '13'",
        "SELECT COUNT(*) FROM repairs WHERE cost = ''",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn a_statement_that_no_plan_holds_says_what_may_be_written() {
    let outcomes = outcomes(&[
        "How many repairs?",
        "DELETE FROM repairs",
        "SELECT 1; SELECT 2",
        "WITH t AS (SELECT * FROM repairs) SELECT machine FROM t",
        "WITH t AS (SELECT machine, COUNT(*) AS n FROM repairs GROUP BY machine) SELECT machine FROM t WHERE n > 2",
        "SELECT c1 FROM repairs UNION SELECT c1 FROM suppliers",
        "SELECT COUNT(*) FROM (SELECT machine, cost FROM repairs LIMIT 3)",
        "SELECT AVG(downtime) FROM (SELECT machine, SUM(cost) AS n FROM repairs GROUP BY machine)",
        "SELECT machine FROM repairs GROUP BY machine HAVING COUNT(*) > 2 OR SUM(cost) > 3",
        "SELECT COUNT(*) FROM repairs HAVING COUNT(*) > 2",
        "SELECT machine, cost, COUNT(*) FROM repairs",
        "SELECT machine, ROW_NUMBER() OVER (ORDER BY cost) FROM repairs",
        "SELECT COUNT(*) FROM repairs WHERE cost = (SELECT MAX(cost) FROM repairs)",
        "SELECT machine FROM repairs WHERE machine = 'Press' AND fault = 'oil' OR cost > 3",
        "SELECT machine FROM repairs WHERE cost = (SELECT MAX(cost) FROM repairs WHERE machine = 'Press')",
        "SELECT machine FROM repairs WHERE machine IN (SELECT c1 FROM suppliers LIMIT 3)",
        "SELECT machine FROM repairs WHERE machine IN (SELECT c1, c0 FROM suppliers)",
        "SELECT machine FROM repairs LIMIT 3 OFFSET 3",
        "SELECT COUNT(*) FROM repairs WHERE date > CURRENT_DATE",
        "SELECT SUM(DISTINCT cost) FROM repairs",
        "SELECT COUNT(*) FROM repairs a JOIN repairs b ON 1 JOIN repairs c ON 1 JOIN repairs d ON 1 JOIN repairs e ON 1",
        "SELECT COUNT(*) FROM repairs a JOIN repairs b ON a.c3 = b.c3",
    ]);
    insta::assert_snapshot!(outcomes);
}

#[test]
fn tables_are_shown_within_their_room() {
    let catalog = catalog();
    let shown = |tables: &[usize], room: Room| shown("How many repairs?", &catalog, tables, room);
    let full = Room { tables: 5, full: 10_000, brief: 0 };
    let (whole, n_shown) = shown(&[0, 1, 2], full);
    insta::assert_snapshot!(whole);
    assert_eq!(n_shown, 3);
    let (part, n_shown) = shown(&[0, 1, 2], Room { full: 450, ..full });
    assert!(n_shown < 3 && whole.starts_with(&part), "{part}");
    assert_eq!(shown(&[0], Room { full: 20, ..full }).0.len(), 20);
    let (brief, n_shown) = shown(&[0, 1, 2], Room { tables: 1, brief: 1_000, ..full });
    assert_eq!(n_shown, 3);
    assert!(whole.starts_with(&brief[..brief.find("-- Further").unwrap()]));
    insta::assert_snapshot!(&brief[brief.find("-- Further").unwrap()..]);
    assert!(shown(&[0, 1, 2], Room { tables: 1, brief: 100, ..full }).1 < 3);
}

#[test]
fn an_outline_lists_asked_tables_first_within_its_room() {
    let catalog = catalog();
    insta::assert_snapshot!(outline("How many repairs?", &catalog, 1_000), @r"
    - repairs (6 rows): Date, Machine, Fault, Supplier code, Cost, Downtime, Engineer
    - 供应商 (4 rows): 供应商代码, 名称, 城市, 成立年份, 员工人数
    - sales (3 rows): Product, Sector, January 2023, February 2023
    ");
    let sales = outline("Which product sold best?", &catalog, 1_000);
    assert!(sales.starts_with("- sales"), "{sales}");
    assert_eq!(outline("How many repairs?", &catalog, 10), "");
}

#[test]
fn a_long_statement_is_refused() {
    let sum = |n: usize| format!("SELECT COUNT(*){} FROM repairs", "+1".repeat(n));
    assert!(matches!(read(&sum(140)), Err(PlanFault::Unsupported { .. })));
    assert!(matches!(read(&sum(900)), Err(PlanFault::TooLong { .. })));
    assert!(matches!(read(&sum(9_000)), Err(PlanFault::TooLong { .. })));
    let deep = format!("SELECT {}1{} FROM repairs", "(".repeat(120), ")".repeat(120));
    assert!(matches!(read(&deep), Err(PlanFault::NoSql(_))));
}

proptest::proptest! {
    /// Any text gives a plan over the shown tables, or a fault.
    #[test]
    fn no_statement_breaks_the_reader(words in proptest::collection::vec(
        "SELECT|FROM|WHERE|GROUP BY|ORDER BY|LIMIT|repairs|sales|machine|cost|date|count|max|[(*),=<>+/-]|'a'|\"x\"|[0-9]{1,3}|CASE|WHEN|THEN|END|AND|OR|NOT|IN|LIKE|AS|[é价%.;]", 0..24,
    )) {
        let _ = read(&words.join(" "));
        let _ = read(&format!("SELECT {} FROM repairs", words.join(" ")));
        let _ = read(&format!("SELECT COUNT(*) FROM repairs WHERE {}", words.join(" ")));
    }
}
