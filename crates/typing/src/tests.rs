//! Tests kinds and values of whole columns.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn typed(header: &str, cells: &[&str]) -> TypedColumn {
    let mut guess = ColumnGuess::new(header);
    for cell in cells {
        guess.see(cell);
    }
    guess.settle()
}

/// Kind, unit, and the value of each cell: `·` for a missing one, in quotes where it is unread.
fn shown(header: &str, cells: &[&str]) -> String {
    let typed = typed(header, cells);
    let is_text = !typed.column.kind.is_measure()
        && !matches!(typed.column.kind, ColumnKind::Year | ColumnKind::Boolean | ColumnKind::Date);
    let values: Vec<String> = cells
        .iter()
        .map(|cell| match typed.read(cell) {
            DataValue::Empty => "·".to_owned(),
            DataValue::Text(text)
                if !is_text && text == cell.trim() && typed.column.kind != ColumnKind::Date =>
            {
                format!("“{text}”")
            }
            value => shown_value(value),
        })
        .collect();
    let unit = typed.column.unit.map_or(String::new(), |unit| format!(" {unit}"));
    format!("{:?}{unit}: {}", typed.column.kind, values.join(", "))
}

fn check(table: &[(&str, &[&str], &str)]) {
    for (header, cells, expected) in table {
        assert_eq!(shown(header, cells), *expected, "{header} {cells:?}");
    }
}

#[test]
fn numbers() {
    check(&[
        ("n", &["1", "2", "30"], "Integer: 1, 2, 30"),
        ("x", &["1", "2.5"], "Real: 1, 2.5"),
        ("x", &["1.0", "2.0", ""], "Integer: 1, 2, ·"),
        ("x", &["1,234", "5,678", "12"], "Integer: 1234, 5678, 12"),
        ("x", &["1,234.5", "1,234"], "Real: 1234.5, 1234"),
        ("x", &["1,234", "3,5"], "Real: 1.234, 3.5"),
        ("x", &["1.234.567", "1.234"], "Integer: 1234567, 1234"),
        ("x", &["1.234,56", "1.234"], "Real: 1234.56, 1234"),
        ("x", &["1.234", "2.345"], "Real: 1.234, 2.345"),
        ("x", &["850", "1.234", "12.345", "2.000", "7"], "Integer: 850, 1234, 12345, 2000, 7"),
        ("x", &["0,123", "1,234"], "Real: 0.123, 1.234"),
        ("x", &["315,70", "1315,20"], "Real: 315.7, 1315.2"),
        ("x", &["1 234", "12 345 678"], "Integer: 1234, 12345678"),
        ("x", &["1'234", "5"], "Integer: 1234, 5"),
        ("x", &["(1,234)", "−5", "-6"], "Integer: -1234, -5, -6"),
        ("x", &["1.5e3", "2"], "Real: 1500, 2"),
        ("数", &["１２３", "４"], "Integer: 123, 4"),
        ("人口", &["1.5万", "3200"], "Integer: 15000, 3200"),
        ("x", &["9223372036854775807", "1"], "Text: 9223372036854775807, 1"),
    ]);
}

#[test]
fn units_come_from_cells_and_headers() {
    check(&[
        ("Weight (kg)", &["5", "6.5"], "Real kg: 5, 6.5"),
        ("Price [EUR]", &["5,50", "€ 6,10"], "Real EUR: 5.5, 6.1"),
        ("重量（公斤）", &["5", "6"], "Integer 公斤: 5, 6"),
        ("body_mass_g", &["3750", "NA"], "Integer g: 3750, ·"),
        ("weight", &["5 kg", "6 kg"], "Integer kg: 5, 6"),
        ("weight", &["5 kg", "6 kilograms", "7"], "Integer kg: 5, 6, 7"),
        ("share", &["12 %", "12.5%"], "Real %: 12, 12.5"),
        ("share (%)", &["12 %", "13"], "Integer %: 12, 13"),
        ("share", &["12 %", "0.12"], "Text: 12 %, 0.12"),
        ("price", &["$1,234", "567", "8"], "Integer $: 1234, 567, 8"),
        ("price", &["USD 5", "$6", "US$ 7"], "Integer USD: 5, 6, 7"),
        ("金额", &["3.5万元", "200元"], "Integer 元: 35000, 200"),
        ("金额（万元）", &["3.5", "20"], "Real 万元: 3.5, 20"),
        ("Revenue ($ millions)", &["$5", "6"], "Integer $ millions: 5, 6"),
        ("金额（万元）", &["¥3.5", "¥20"], "Real 万元: 3.5, 20"),
        ("Weight (kg)", &["5 g", "6 g"], "Integer g: 5, 6"),
        ("size", &["5 kg", "6 m", "7 s"], "Identifier: 5 kg, 6 m, 7 s"),
        ("count", &["5 about", "6", "7", "8"], "Text: 5 about, 6, 7, 8"),
        ("Weight (kg)", &["heavy", "light"], "Identifier: heavy, light"),
    ]);
    assert_eq!(typed("Weight (kg)", &["5"]).column.name, "Weight");
    assert_eq!(typed("Weight (kg)", &["5 g"]).column.name, "Weight (kg)");
    assert_eq!(typed("Weight (kg)", &["heavy"]).column.name, "Weight (kg)");
    assert_eq!(typed("重量（公斤）", &["5"]).column.name, "重量");
    assert_eq!(typed("body_mass_g", &["5"]).column.name, "body_mass_g");
    assert_eq!(typed(" Body  mass\n(total) ", &["5"]).column.name, "Body mass (total)");
}

#[test]
fn five_of_a_hundred_cells_may_be_unread() {
    let mut cells = vec!["7"; 95];
    cells.extend(["seven"; 5]);
    let column = typed("x", &cells).column;
    assert_eq!((column.kind, column.filled, column.unread), (ColumnKind::Integer, 100, 5));
    cells.push("seven");
    assert_eq!(typed("x", &cells).column.kind, ColumnKind::Category);
    assert_eq!(typed("x", &["7"]).column.kind, ColumnKind::Integer);
    assert_eq!(typed("x", &["7", "seven"]).column.kind, ColumnKind::Identifier);
    check(&[(
        "x",
        &[
            "5", "6", "7", "8", "9", "5", "6", "7", "8", "9", "5", "6", "7", "8", "9", "5", "6",
            "7", "8", "x",
        ],
        "Integer: 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 5, 6, 7, 8, “x”",
    )]);
}

#[test]
fn years_need_a_header_or_a_mark() {
    check(&[
        ("year", &["1999", "2000"], "Year: 1999, 2000"),
        ("date", &["1999", "2000"], "Year: 1999, 2000"),
        ("Founded", &["1850", "1999.0"], "Year: 1850, 1999"),
        ("年份", &["2019", "2020年"], "Year: 2019, 2020"),
        ("", &["2019年", "2020年"], "Year: 2019, 2020"),
        ("year", &["-44", "476", "1066", "1492"], "Year: -44, 476, 1066, 1492"),
        ("flow", &["1120", "1160"], "Integer: 1120, 1160"),
        ("population", &["1999", "2000"], "Integer: 1999, 2000"),
        ("births per year", &["1999", "2000"], "Integer: 1999, 2000"),
        ("year", &["1", "2", "3"], "Integer: 1, 2, 3"),
        ("year", &["1,999", "2,000"], "Integer: 1999, 2000"),
    ]);
}

#[test]
fn dates_are_read_in_one_order() {
    check(&[
        ("d", &["2019-03-05", "2019/3/6"], "Date: 2019-03-05, 2019-03-06"),
        ("d", &["31.12.2025", "1.2.2025"], "Date: 2025-12-31, 2025-02-01"),
        ("d", &["31/12/2025", "3/4/2025"], "Date: 2025-12-31, 2025-04-03"),
        ("d", &["12/31/2025", "3/4/2025"], "Date: 2025-12-31, 2025-03-04"),
        ("d", &["3/4/2025", "5/6/2025"], "Date: 2025-03-04, 2025-05-06"),
        ("d", &["3.4.2025", "5.6.2025"], "Date: 2025-04-03, 2025-06-05"),
        (
            "d",
            &["01/02/2025", "01/03/2025", "01/04/2025"],
            "Date: 2025-02-01, 2025-03-01, 2025-04-01",
        ),
        (
            "d",
            &["02/01/2025", "03/01/2025", "04/01/2025"],
            "Date: 2025-02-01, 2025-03-01, 2025-04-01",
        ),
        ("d", &["Jan 2019", "March 2019"], "Date: 2019-01, 2019-03"),
        ("d", &["2019年3月5日", "2019年3月"], "Date: 2019-03-05, 2019-03"),
        ("d", &["2019-03", "2019"], "Date: 2019-03, 2019"),
        ("d", &["2019Q3", "Q4 2019", "-"], "Date: 2019-Q3, 2019-Q4, ·"),
        ("d", &["2013-07-05 14:30", "2013-07-06"], "Date: 2013-07-05 14:30:00, 2013-07-06"),
        ("d", &["2013-07-05 00:00:00", "2013-07-06 00:00:00"], "Date: 2013-07-05, 2013-07-06"),
        ("date", &["20190305", "20190306"], "Date: 2019-03-05, 2019-03-06"),
        ("n", &["20190305", "20190306"], "Integer: 20190305, 20190306"),
        ("month", &["201903", "201904"], "Date: 2019-03, 2019-04"),
        ("month", &["Jan", "Feb", "Mar"], "Category: Jan, Feb, Mar"),
        ("月份", &["1月", "2月"], "Category: 1月, 2月"),
        ("season", &["2018-19", "2019-20"], "Text: 2018-19, 2019-20"),
        ("time", &["14:30", "15:45"], "Text: 14:30, 15:45"),
    ]);
    let column = typed("d", &["31/12/2024", "3/4/2025"]).column;
    assert_eq!(column.least.as_deref(), Some("2024-12-31"));
    assert_eq!(column.greatest.as_deref(), Some("2025-04-03"));
}

#[test]
fn booleans_need_words_for_yes_and_no() {
    check(&[
        ("b", &["yes", "no", "n/a"], "Boolean: 1, 0, ·"),
        ("b", &["TRUE", "", ""], "Boolean: 1, ·, ·"),
        ("b", &["是", "否", "是"], "Boolean: 1, 0, 1"),
        ("b", &["有", "无"], "Boolean: 1, 0"),
        ("b", &["Y", "N", "-"], "Boolean: 1, 0, ·"),
        ("b", &["1", "0"], "Integer: 1, 0"),
        ("b", &["N", "N"], "Category: N, N"),
        ("sex", &["F", "F", "M"], "Category: F, F, M"),
        ("b", &["yes", "no", "maybe", "no"], "Category: yes, no, maybe, no"),
    ]);
}

#[test]
fn marks_are_missing_or_values_by_column() {
    check(&[
        (
            "x",
            &[
                "1", "n/a", "N/A", "NA", "null", "NaN", "-", "–", ".", "..", "?", "无", "暂无",
                "None",
            ],
            "Integer: 1, ·, ·, ·, ·, ·, ·, ·, ·, ·, ·, ·, ·, ·",
        ),
        ("code", &["DE", "NA", "FR"], "Identifier: DE, NA, FR"),
        ("n", &["01", "02", "NA"], "Identifier: 01, 02, ·"),
        ("continent", &["EU", "NA", "EU", "AS"], "Category: EU, NA, EU, AS"),
        ("sex", &["male", "NA", "female", "male"], "Category: male, ·, female, male"),
        ("name", &["Ann", "-", "Bob"], "Identifier: Ann, -, Bob"),
        ("name", &["Ann", "none", "Bob", "Ann"], "Category: Ann, none, Bob, Ann"),
        ("name", &["张三", "无", "李四"], "Identifier: 张三, ·, 李四"),
        ("x", &["-", "-", ""], "Text: ·, ·, ·"),
        ("x", &[], "Text: "),
    ]);
    let column = typed("continent", &["EU", "NA", "EU", "NA", "NA"]).column;
    assert_eq!((column.filled, column.distinct), (5, 2));
    assert_eq!(column.samples, ["NA", "EU"]);
}

#[test]
fn codes_are_identifiers() {
    check(&[
        ("zip", &["01234", "98765"], "Identifier: 01234, 98765"),
        ("plz_ort", &["01234", "98765"], "Identifier: 01234, 98765"),
        ("id", &["1", "2", "3"], "Identifier: 1, 2, 3"),
        ("customer_id", &["7", "7", "-"], "Identifier: 7, 7, ·"),
        ("编号", &["001", "002"], "Identifier: 001, 002"),
        ("ean", &["4006381333931", "4006381333948"], "Identifier: 4006381333931, 4006381333948"),
        (
            "barcodes",
            &["4006381333931", "4006381333948"],
            "Identifier: 4006381333931, 4006381333948",
        ),
        ("phone", &["+49 30 1234", "+49 30 5678"], "Identifier: +49 30 1234, +49 30 5678"),
        ("name", &["Ann", "Bob"], "Identifier: Ann, Bob"),
        ("Code length (mm)", &["5", "6"], "Integer mm: 5, 6"),
        ("No. of employees", &["5", "6"], "Integer: 5, 6"),
        ("month", &["01", "02", "01"], "Category: 01, 02, 01"),
        ("Invoice No.", &["2019-01", "2019-02"], "Identifier: 2019-01, 2019-02"),
        ("range", &["1-5", "6-9"], "Text: 1-5, 6-9"),
        ("remark", &["late", "", ""], "Text: late, ·, ·"),
    ]);
}

#[test]
fn categories_are_shared_by_rows() {
    let many: Vec<String> = (0..400).map(|row| format!("group {}", row % 60)).collect();
    let cells: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(typed("g", &cells).column.kind, ColumnKind::Category);
    assert_eq!(typed("g", &cells[..200]).column.kind, ColumnKind::Text);
    let prose =
        vec!["It is a long sentence about this row, longer than any name of a group is."; 9];
    assert_eq!(typed("g", &prose).column.kind, ColumnKind::Text);
}

#[test]
fn statistics_of_numbers() {
    let column = typed("x", &["1,500", "20", "1500", "", "20", "x20", "20", "3"]).column;
    assert_eq!(column.kind, ColumnKind::Category);
    let mut cells = vec!["20"; 40];
    cells.extend(["1,500", "1500", "3.5", "oops", ""]);
    let column = typed("Weight (kg)", &cells).column;
    assert_eq!(
        column,
        DataColumn {
            name: "Weight".to_owned(),
            sql: String::new(),
            kind: ColumnKind::Real,
            unit: Some("kg".to_owned()),
            filled: 44,
            unread: 1,
            distinct: 5,
            least: Some("3.5".to_owned()),
            greatest: Some("1500".to_owned()),
            samples: ["20", "1500", "3.5", "oops"].map(str::to_owned).to_vec(),
        }
    );
}

#[test]
fn memory_is_bounded() {
    let mut guess = ColumnGuess::new("x").with_most_distinct(100);
    for row in 0..5_000 {
        guess.see(&format!("value {row} {}", "long ".repeat(row % 50)));
    }
    let column = guess.settle().column;
    assert_eq!((column.filled, column.distinct, column.samples.len()), (5_000, 100, 12));
    assert!(column.samples.iter().all(|sample| sample.len() < 130));
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0_i64..3_000).prop_map(|number| number.to_string()),
        2 => (0_u32..9_000, 0_u32..1_000).prop_map(|(whole, part)| format!("{whole}.{part}")),
        1 => (1_u32..999, 0_u32..999).prop_map(|(whole, part)| format!("{whole},{part:03}")),
        2 => (1_u32..32, 1_u32..13, 1990_u32..2030).prop_map(|(a, b, year)| format!("{a}/{b}/{year}")),
        1 => (1_u32..13, 1990_u32..2030).prop_map(|(month, year)| format!("{year}-{month:02}")),
        2 => (0_u32..500).prop_map(|number| format!("{number} kg")),
        1 => (0_u32..500).prop_map(|number| format!("${number}")),
        1 => (0_u32..100).prop_map(|number| format!("{number} %")),
        1 => "[A-Z]{2}|yes|no|Y|N|[a-z]{1,9}|有",
        1 => "|-|NA|n/a|\\.\\.|无|None|\\?",
        1 => "\\PC{0,12}",
    ]
}

/// Mostly cells of one sort, so that each kind comes up.
fn column() -> impl Strategy<Value = Vec<String>> {
    let sorts = prop_oneof![
        Just("[0-9]{1,4}"),
        Just("[0-9]{1,3}(,[0-9]{3}){0,2}"),
        Just("[0-9]{1,3}(\\.[0-9]{3}){0,2}(,[0-9]{1,3})?"),
        Just("-?[0-9]{1,3}\\.[0-9]{1,3}"),
        Just("[0-9]{1,2}/[0-9]{1,2}/20[0-9]{2}"),
        Just("20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:00)?"),
        Just("20[0-9]{2}"),
        Just("20(19|20)(0[1-9]|1[0-2])1[0-9]"),
        Just("[0-9]{1,3} (kg|%|€)|[0-9]"),
        Just("yes|no"),
        Just("Y|N|有|无"),
        Just("0?[0-9]{4}"),
        Just("[A-Z]{2}"),
        Just("[a-d]"),
        Just("20[0-9]{2}(Q[1-4]|年)"),
    ];
    sorts.prop_flat_map(|sort| {
        let regular = proptest::collection::vec(sort, 0..60);
        let odd = proptest::collection::vec(cell(), 0..4);
        (regular, odd).prop_map(|(mut cells, odd)| {
            for (at, cell) in odd.into_iter().enumerate() {
                cells.insert((at * 17).min(cells.len()), cell);
            }
            cells
        })
    })
}

proptest! {
    /// What is settled from one pass is what a second pass finds.
    #[test]
    fn statistics_agree_with_the_values_that_are_read(
        cells in prop_oneof![3 => column(), 1 => proptest::collection::vec(cell(), 0..40)],
        header in "x|year|id|date|share \\(%\\)|Weight \\(kg\\)|price_usd|年份|编号",
    ) {
        let mut guess = ColumnGuess::new(&header);
        for cell in &cells {
            guess.see(cell);
        }
        let typed = guess.settle();
        let column = &typed.column;
        let values: Vec<(String, DataValue)> = cells
            .iter()
            .map(|cell| (cell.trim().to_owned(), typed.read(cell)))
            .filter(|(_, value)| *value != DataValue::Empty)
            .collect();
        prop_assert_eq!(column.filled, values.len() as u64);
        let different: HashSet<&String> = values.iter().map(|(cell, _)| cell).collect();
        prop_assert_eq!(column.distinct, different.len() as u64);
        let numbers: Vec<&DataValue> =
            values.iter().map(|(_, value)| value).filter(|value| !matches!(value, DataValue::Text(_))).collect();
        let real = |value: &DataValue| match value {
            DataValue::Integer(number) => *number as f64,
            DataValue::Real(number) => *number,
            _ => f64::NAN,
        };
        let ends = |shown: &Option<String>| shown.as_deref().and_then(|shown| shown.parse::<f64>().ok());
        match column.kind {
            ColumnKind::Integer | ColumnKind::Real | ColumnKind::Year => {
                prop_assert_eq!(column.unread, (values.len() - numbers.len()) as u64);
                prop_assert!(column.unread * 20 <= column.filled);
                for value in &numbers {
                    prop_assert_eq!(column.kind == ColumnKind::Real, matches!(value, DataValue::Real(_)));
                }
                let least = numbers.iter().map(|value| real(value)).reduce(f64::min);
                let greatest = numbers.iter().map(|value| real(value)).reduce(f64::max);
                prop_assert_eq!(ends(&column.least), least);
                prop_assert_eq!(ends(&column.greatest), greatest);
            }
            ColumnKind::Boolean => {
                prop_assert_eq!(column.unread, 0);
                prop_assert_eq!(numbers.len(), values.len());
            }
            ColumnKind::Date => {
                prop_assert!(column.unread * 20 <= column.filled);
                let reads = values.iter().filter(|(cell, value)| {
                    let narrow = narrowed(cell);
                    date::written_date(&narrow).is_some() && matches!(value, DataValue::Text(_))
                });
                // A date that the order excludes is kept as it is written.
                prop_assert!(values.len() as u64 - column.unread <= reads.count() as u64);
                let shown: HashSet<String> =
                    values.iter().map(|(_, value)| shown_value(value.clone())).collect();
                let (least, greatest) = (column.least.clone().unwrap(), column.greatest.clone().unwrap());
                prop_assert!(shown.contains(&least) && shown.contains(&greatest));
                prop_assert!(least <= greatest || least.contains('Q') || greatest.contains('Q'));
            }
            ColumnKind::Identifier | ColumnKind::Category | ColumnKind::Text => {
                prop_assert_eq!(column.unread, 0);
                for (cell, value) in &values {
                    prop_assert_eq!(value, &DataValue::Text(cell.clone()));
                }
            }
        }
        prop_assert!(column.samples.len() <= DataColumn::SAMPLES);
        prop_assert_eq!(column.samples.is_empty(), values.is_empty());
    }

    /// The order of the cells changes nothing but the order of samples and the spelling of the unit.
    #[test]
    fn the_kind_does_not_depend_on_the_order_of_cells(mut cells in column()) {
        let settle = |cells: &[String]| {
            let mut guess = ColumnGuess::new("x");
            for cell in cells {
                guess.see(cell);
            }
            let column = guess.settle().column;
            (column.kind, column.filled, column.unread, column.distinct, column.least, column.greatest)
        };
        let forwards = settle(&cells);
        cells.reverse();
        prop_assert_eq!(forwards, settle(&cells));
    }

    #[test]
    fn any_cells_are_survived(header in "\\PC{0,20}", cells in proptest::collection::vec("\\PC{0,20}", 0..20)) {
        let mut guess = ColumnGuess::new(&header);
        for cell in &cells {
            guess.see(cell);
        }
        let typed = guess.settle();
        for cell in &cells {
            typed.read(cell);
        }
    }
}
