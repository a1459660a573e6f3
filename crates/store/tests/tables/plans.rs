//! Tests that plans over random tables give the results of plain loops over the rows, with a filter
//! and without.

use pikerag_contract::tables::{NaiveTable, evaluate};
use pikerag_knowledge::tables::By;
use pikerag_knowledge::{
    Aggregate, Arithmetic, ChunkId, ColumnRef, DataTable, DataTables, DataValue, Filter,
    GroupFilter, NumberRange, OrderBy, PlanRow, Snapshots, SqlLimits, TableFilter, TableGroup,
    TableJoin, TableMeasure, TableOrder, TablePlan, TableTerm, TableTest,
};
use proptest::prelude::*;

use super::shelf::{base, columns, file_column, filter, index, put, put_rows, read, spans};

const ORDERS: &[&str] = &[
    "id:identifier",
    "region:category",
    "customer:identifier",
    "amount:integer",
    "price:real",
    "day:date",
    "due:date",
    "year:year",
    "paid:boolean",
];
const CUSTOMERS: &[&str] = &["customer:identifier", "city:category", "credit:real"];

const CELLS: &[&[&str]] = &[
    &["x"],
    &["", "north", "South", "north east", "地区"],
    &["", "c1", "c2", "c3", "C1"],
    &["", "1", "2", "3", "-4", "n/a", "1"],
    &["", "0.5", "2.25", "10", "many", "2.25"],
    &["", "2013", "2013-07", "2013-07-05", "2014-01-02 10:00:00", "soon", "2013-11"],
    &["", "2013", "2013-08", "2013-07-05", "2014-02", "2013-07-06"],
    &["", "2013", "2014", "2015"],
    &["", "yes", "no", "maybe"],
];

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn orders(most: usize) -> impl Strategy<Value = Vec<Vec<String>>> {
    let row = prop::collection::vec(any::<prop::sample::Index>(), CELLS.len());
    prop::collection::vec(row, 2..most).prop_map(|rows| {
        let cell = |(options, at): (&&[&str], &prop::sample::Index)| {
            options[at.index(options.len())].to_owned()
        };
        let row = |(nth, row): (usize, Vec<prop::sample::Index>)| {
            let mut cells: Vec<String> = CELLS.iter().zip(&row).map(cell).collect();
            cells[0] = format!("o{nth}");
            cells
        };
        rows.into_iter().enumerate().map(row).collect()
    })
}

fn customers() -> impl Strategy<Value = Vec<Vec<String>>> {
    let row = (
        prop::sample::select(vec!["", "c1", "c2", "C1", "c9"]),
        prop::sample::select(vec!["", "Rome", "Oslo"]),
        prop::sample::select(vec!["", "1", "2.5", "none"]),
    );
    prop::collection::vec(row, 2..6)
        .prop_map(|rows| rows.into_iter().map(|(a, b, c)| header(&[a, b, c])).collect())
}

fn own(column: &str) -> ColumnRef {
    ColumnRef { table: "orders".to_owned(), column: column.to_owned() }
}

fn any_column() -> impl Strategy<Value = ColumnRef> {
    let own_ones = ["id", "region", "customer", "amount", "price", "day", "due", "year", "paid"];
    let theirs =
        |column: &str| ColumnRef { table: "customers".to_owned(), column: column.to_owned() };
    let all = own_ones.map(own).into_iter().chain(["city", "credit"].map(theirs));
    prop::sample::select(all.collect::<Vec<_>>())
}

fn numeric() -> impl Strategy<Value = ColumnRef> {
    prop::sample::select(["amount", "price", "year", "paid"].map(own).to_vec())
}

fn text(text: &str) -> DataValue {
    DataValue::Text(text.to_owned())
}

fn condition() -> impl Strategy<Value = TableFilter> {
    let of = |column: ColumnRef, test: TableTest| TableFilter { column, test };
    let any_of = prop::collection::vec(simple_condition(), 1..4).prop_map(move |filters| {
        let column = filters[0].column.clone();
        of(column, TableTest::AnyOf(filters))
    });
    let combined = (term(), range())
        .prop_map(move |((column, with), range)| of(column, TableTest::Combined { with, range }));
    let their_filters = prop_oneof![
        Just(Vec::new()),
        prop::sample::select(vec!["Rome", "Oslo"]).prop_map(move |city| {
            let column = ColumnRef { table: "customers".to_owned(), column: "city".to_owned() };
            vec![of(column, TableTest::Is(vec![text(city)]))]
        }),
    ];
    let among = (
        prop::sample::select([("customer", "customer"), ("price", "credit")].to_vec()),
        their_filters,
        any::<bool>(),
    )
        .prop_map(move |((ours, theirs), filters, is_in)| {
            let column = ColumnRef { table: "customers".to_owned(), column: theirs.to_owned() };
            of(own(ours), TableTest::Among { column, filters, is_in })
        });
    prop_oneof![6 => simple_condition(), 1 => any_of, 1 => combined, 1 => among]
}

/// Two columns of a row that make a number together.
fn term() -> impl Strategy<Value = (ColumnRef, TableTerm)> {
    use Arithmetic::{DaysSince, Minus, Over, Plus, Times};
    let days = prop::sample::select(vec![("day", "due"), ("due", "day"), ("day", "day")]);
    prop_oneof![
        (numeric(), prop::sample::select(vec![Plus, Minus, Times, Over]), numeric())
            .prop_map(|(one, by, column)| (one, TableTerm { by, column })),
        days.prop_map(|(one, other)| (own(one), TableTerm { by: DaysSince, column: own(other) })),
    ]
}

fn range() -> impl Strategy<Value = NumberRange> {
    let end = || prop::option::of(prop::sample::select(vec![-1.0, 0.0, 1.0, 2.25, 4.0, 365.0]));
    (end(), any::<bool>(), end(), any::<bool>()).prop_map(
        |(from, from_included, to, to_included)| NumberRange {
            from,
            from_included,
            to,
            to_included,
        },
    )
}

fn simple_condition() -> impl Strategy<Value = TableFilter> {
    let values = || {
        let words = ["north", "South", "c1", "n/a", "2013-07", "Rome"].map(text);
        let numbers = [DataValue::Integer(1), DataValue::Integer(2013), DataValue::Real(2.25)];
        prop::collection::vec(
            prop::sample::select([words.to_vec(), numbers.to_vec()].concat()),
            0..3,
        )
    };
    let between = |ends: Vec<DataValue>| {
        let end = prop::option::of(prop::sample::select(ends));
        (end.clone(), any::<bool>(), end, any::<bool>()).prop_map(
            |(from, from_included, to, to_included)| TableTest::Between {
                from,
                from_included,
                to,
                to_included,
            },
        )
    };
    let numbers = vec![
        DataValue::Integer(1),
        DataValue::Real(2.25),
        DataValue::Integer(2013),
        DataValue::Integer(-4),
    ];
    let dates = vec![
        text("2013"),
        text("2013-07"),
        text("2013-07-05"),
        text("2014-01-01"),
        DataValue::Integer(2013),
    ];
    let by_day = || prop::sample::select(["day", "due"].map(own).to_vec());
    let of = |column: ColumnRef, test: TableTest| TableFilter { column, test };
    prop_oneof![
        (any_column(), values())
            .prop_map(move |(column, values)| of(column, TableTest::Is(values))),
        (any_column(), values())
            .prop_map(move |(column, values)| of(column, TableTest::IsNot(values))),
        any_column().prop_map(move |column| of(column, TableTest::IsEmpty)),
        any_column().prop_map(move |column| of(column, TableTest::IsFilled)),
        prop::sample::select(vec!["NORTH", "区", "o1", ""])
            .prop_map(move |words| of(own("region"), TableTest::Contains(words.to_owned()))),
        (numeric(), between(numbers)).prop_map(move |(column, test)| of(column, test)),
        (by_day(), between(dates)).prop_map(move |(column, test)| of(column, test)),
        (by_day(), prop::sample::select(vec!["2013", "2013-07", "2013-07-05", "2013-Q3", "2014"]))
            .prop_map(move |(column, period)| of(column, TableTest::Within(period.to_owned()))),
        Just(of(own("year"), TableTest::Within("2014".to_owned()))),
        (by_day(), prop::collection::btree_set(1..13_u8, 1..4)).prop_map(
            move |(column, months)| {
                of(column, TableTest::InMonths(months.into_iter().collect()))
            }
        ),
        (numeric(), numeric()).prop_map(move |(one, other)| of(one, TableTest::MoreThan(other))),
        Just(of(own("due"), TableTest::MoreThan(own("day")))),
        (prop::sample::select(["amount", "price"].map(own).to_vec()), any::<bool>())
            .prop_map(move |(column, above)| of(column, TableTest::BesideMean { above })),
    ]
}

fn measure() -> impl Strategy<Value = TableMeasure> {
    let only = prop::collection::vec(condition(), 1..3);
    prop_oneof![
        4 => plain_measure(),
        1 => (plain_measure(), only, any::<bool>()).prop_map(|(measure, only, is_share)| {
            // A share is one of numbers.
            let is_share = is_share && !is_date(&measure);
            TableMeasure { only, is_share, ..measure }
        }),
    ]
}

/// Whether a measure gives a date.
fn is_date(measure: &TableMeasure) -> bool {
    let column = measure.column.as_ref().filter(|_| measure.with.is_none());
    matches!(measure.function, Aggregate::Least | Aggregate::Greatest)
        && column.is_some_and(|it| matches!(it.column.as_str(), "day" | "due"))
}

fn plain_measure() -> impl Strategy<Value = TableMeasure> {
    use Aggregate::{Count, Distinct, Greatest, Least, Mean, Median, Sum};
    let of = |function, column| TableMeasure { function, column, ..TableMeasure::default() };
    prop_oneof![
        Just(of(Count, None)),
        (prop::sample::select(vec![Count, Distinct]), any_column())
            .prop_map(move |(function, column)| of(function, Some(column))),
        (prop::sample::select(vec![Sum, Mean, Median, Least, Greatest]), numeric())
            .prop_map(move |(function, column)| of(function, Some(column))),
        (
            prop::sample::select(vec![Least, Greatest]),
            prop::sample::select(["day", "due"].map(own).to_vec())
        )
            .prop_map(move |(function, column)| of(function, Some(column))),
        (prop::sample::select(vec![Count, Sum, Mean, Median, Least, Greatest]), term()).prop_map(
            |(function, (column, with))| TableMeasure {
                function,
                column: Some(column),
                with: Some(with),
                ..TableMeasure::default()
            }
        ),
    ]
}

fn group() -> impl Strategy<Value = TableGroup> {
    let by = prop::sample::select(vec![By::Value, By::Year, By::Quarter, By::Month]);
    prop_oneof![
        any_column().prop_map(|column| TableGroup { column, by: By::Value }),
        (prop::sample::select(["day", "due"].map(own).to_vec()), by)
            .prop_map(|(column, by)| TableGroup { column, by }),
        Just(TableGroup { column: own("year"), by: By::Year }),
    ]
}

fn plan() -> impl Strategy<Value = TablePlan> {
    (
        prop::collection::vec(condition(), 0..3),
        prop::collection::vec(group(), 0..3),
        prop::collection::vec(measure(), 0..3),
        prop::collection::vec(any_column(), 1..4),
        prop::option::of((any::<prop::sample::Index>(), any::<bool>())),
        prop::option::of(0..4_usize),
        prop::collection::vec((measure(), range()), 0..2),
        prop::option::weighted(0.2, any_function()),
    )
        .prop_map(|(filters, group, measures, show, order, limit, having, over)| {
            let over = over.filter(|_| !measures.is_empty());
            // The least and the greatest date are compared with no number.
            let having = having.into_iter().filter(|(measure, _)| !is_date(measure));
            let having = having.map(|(measure, range)| GroupFilter { measure, range });
            // The figure of all groups has no order.
            let (order, limit) = if over.is_some() { (None, None) } else { (order, limit) };
            let group = if measures.is_empty() { Vec::new() } else { group };
            let mut choices = Vec::new();
            match measures.is_empty() {
                true => choices.extend(show.iter().cloned().map(OrderBy::Column)),
                false => {
                    choices.push(OrderBy::Measure);
                    choices.extend(group.iter().map(|group| OrderBy::Column(group.column.clone())));
                }
            }
            let order = order
                .map(|(at, descending)| TableOrder { by: at.get(&choices).clone(), descending });
            let join = TableJoin {
                from: own("customer"),
                to: ColumnRef { table: "customers".to_owned(), column: "customer".to_owned() },
            };
            TablePlan {
                table: "orders".to_owned(),
                joins: vec![join],
                filters,
                group,
                measures,
                having: having.collect(),
                over,
                show,
                order,
                limit,
            }
        })
}

fn any_function() -> impl Strategy<Value = Aggregate> {
    use Aggregate::{Count, Distinct, Greatest, Least, Mean, Median, Sum};
    prop::sample::select(vec![Count, Distinct, Sum, Mean, Median, Least, Greatest])
}

fn is_like(a: &DataValue, b: &DataValue) -> bool {
    let number = |value: &DataValue| match value {
        DataValue::Integer(number) => Some(*number as f64),
        DataValue::Real(number) => Some(*number),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    }
}

fn naive(
    name: &str,
    head: &[&str],
    files: &[(&str, &[Vec<String>])],
    has_file: bool,
) -> NaiveTable {
    let mut typed = columns(&header(head));
    let mut rows = Vec::new();
    for (file, cells) in files {
        for row in *cells {
            let value =
                |(column, cell): (&pikerag_knowledge::DataColumn, &String)| read(column.kind, cell);
            let mut values: Vec<DataValue> = typed.iter().zip(row).map(value).collect();
            values.extend(has_file.then(|| text(file)));
            rows.push(values);
        }
    }
    typed.extend(has_file.then(file_column));
    let table = DataTable { name: name.to_owned(), columns: typed, ..DataTable::default() };
    NaiveTable { table, rows }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_equal_plain_loops(
        here in orders(12), there in orders(5), customers in customers(),
        plans in prop::collection::vec(plan(), 24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_folder, base) = base();
            put_rows(&base, "a/orders.csv", &header(ORDERS), &here).await;
            put_rows(&base, "b/orders.csv", &header(ORDERS), &there).await;
            put_rows(&base, "a/customers.csv", &header(CUSTOMERS), &customers).await;
            index(&base).await;
            let part = base.snapshot(&filter("folder=a"), &Filter::default()).await.unwrap();
            let whole = [("a/orders.csv", here.as_slice()), ("b/orders.csv", &there)];
            let theirs = naive("customers", CUSTOMERS, &[("", &customers)], false);
            let here_spans = spans(&here).into_iter();
            let all_spans: Vec<_> = here_spans.chain(spans(&there)).collect();
            for plan in &plans {
                for (files, is_whole) in [(&whole[..], true), (&whole[..1], false)] {
                    let tables = [naive("orders", ORDERS, files, true), theirs.clone()];
                    let wanted = evaluate(&tables, plan);
                    let found = match is_whole {
                        true => base.run_plan(plan).await,
                        false => part.run_plan(plan).await,
                    }.unwrap();
                    let context = format!("{plan:#?}\n{}\n{found:?}\n{wanted:?}\n{here:?}\n{there:?}\n{customers:?}", found.sql);
                    assert_eq!((found.matched, found.rows.len()), (wanted.matched, wanted.rows.len()), "{context}");
                    assert_eq!(found.unmeasured, wanted.unmeasured, "{context}");
                    for (PlanRow { cells, origins }, (values, places)) in found.rows.iter().zip(&wanted.rows) {
                        assert_eq!(cells.len(), values.len(), "{context}");
                        assert!(cells.iter().zip(values).all(|(a, b)| is_like(a, b)), "{context}");
                        let at: Vec<_> = places.iter().map(|place| all_spans[*place]).collect();
                        let own: Vec<_> = origins.iter().map(|origin| origin.span).collect();
                        assert_eq!(own, at, "{context}");
                        assert!(origins.iter().all(|origin| origin.chunk != ChunkId(0)));
                    }
                    if is_whole {
                        same_for_people(&base, plan, &found.rows, &customers).await;
                    }
                }
            }
        });
    }
}

/// The statement that people see gives the same rows, if each key occurs once and no row equals the
/// last one.
async fn same_for_people(
    base: &pikerag_store::Base,
    plan: &TablePlan,
    rows: &[PlanRow],
    customers: &[Vec<String>],
) {
    let found = base.run_plan(plan).await.unwrap();
    let limits = SqlLimits { rows: 9_999, seconds: 5, bytes: 1 << 20 };
    let ran = base.run_sql(&found.sql, limits).await;
    let ran = ran.unwrap_or_else(|error| panic!("{}: {error}", found.sql));
    let mut keys: Vec<&String> = customers.iter().map(|row| &row[0]).collect();
    keys.sort();
    keys.dedup();
    if keys.len() == customers.len() && plan.limit.is_none() {
        assert_eq!(ran.rows.len(), rows.len(), "{}", found.sql);
    }
}

/// A quarter is no month: as text it would sort behind all months of its year.
#[tokio::test]
async fn quarters_are_compared_by_their_months() {
    let (_folder, base) = base();
    let rows =
        &["state:category, day:date", "a, 2010-Q4", "b, 2011-Q1", "c, 2011-Q4", "d, 2011-08"];
    put(&base, "rates.csv", rows).await;
    let day = || ColumnRef { table: "rates".to_owned(), column: "day".to_owned() };
    let ends = |from: Option<&str>, to: Option<&str>, is_in: bool| TableTest::Between {
        from: from.map(text),
        from_included: is_in,
        to: to.map(text),
        to_included: is_in,
    };
    for (test, expected) in [
        (TableTest::Within("2011-Q4".to_owned()), "c"),
        (TableTest::Within("2011-Q3".to_owned()), "d"),
        (TableTest::Within("2011".to_owned()), "b c d"),
        (ends(Some("2011-07"), None, true), "c d"),
        (ends(None, Some("2011-03"), true), "a b"),
        (ends(Some("2011-Q2"), None, false), "c d"),
        (ends(None, Some("2011-Q4"), false), "a b d"),
    ] {
        let plan = TablePlan {
            table: "rates".to_owned(),
            filters: vec![TableFilter { column: day(), test: test.clone() }],
            show: vec![ColumnRef { table: "rates".to_owned(), column: "state".to_owned() }],
            ..TablePlan::default()
        };
        let rows = base.run_plan(&plan).await.unwrap().rows;
        let states: Vec<String> = rows.iter().map(|row| row.cells[0].to_string()).collect();
        assert_eq!(states.join(" "), expected, "{test:?}");
    }
    let plan = TablePlan {
        table: "rates".to_owned(),
        group: vec![TableGroup { column: day(), by: By::Quarter }],
        measures: vec![TableMeasure::default()],
        ..TablePlan::default()
    };
    let rows = base.run_plan(&plan).await.unwrap().rows;
    let quarters: Vec<String> = rows.iter().map(|row| row.cells[0].to_string()).collect();
    assert_eq!(quarters.join(" "), "2010-Q4 2011-Q1 2011-Q3 2011-Q4");
}
