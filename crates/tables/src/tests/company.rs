//! Reads questions over tables as companies keep them: staff, invoices, orders, projects.

use super::{one_line, table};
use crate::{Catalog, readings};

const STAFF: &str = "\
Name:identifier|Department:category|Nationality:category|Hire date:date|Date of birth:date|Age:integer|Salary (EUR):integer|Status:category|Left on:date|Certified:boolean
Ana Ruiz|Sales|France|2019-03-04|1988-05-01|38|4100|active||1
Bo Li|Sales|China|2021-06-15|1990-11-20|36|3900|active||0
Cem Kaya|Support|Turkey|2015-01-12|1979-02-08|47|3100|left|2024-05-31|1
Dan Wu|Finance|China|2023-09-01|1999-07-30|27|3300|active||0
Eva Roth|Finance|France|2020-02-17|1985-12-12|40|4600|on leave||1";

const INVOICES: &str = "\
Invoice no:identifier|Customer:category|Country:category|Amount (EUR):real|Issue date:date|Due date:date|Paid on:date
R1|Acme|Germany|1200.5|2024-01-10|2024-02-09|2024-02-01
R2|Acme|Germany|300|2024-03-05|2024-04-04|2024-04-20
R3|Brightway|France|870|2024-03-18|2024-04-17|
R4|Corex|Spain|2210|2024-06-02|2024-07-02|2024-06-30
R5|Brightway|France|95|2023-11-21|2023-12-21|";

const PROJECTS: &str = "\
Project:identifier|Manager:category|Start:date|End:date|Budget (EUR):integer|Actual cost (EUR):integer|Duration (days):integer|Start time:text
Alpha|Rey|2023-01-09|2023-06-30|10000|12000|172|08:00
Beta|Rey|2023-03-01|2024-03-15|50000|45000|380|09:30
Gamma|Sato|2024-02-01||20000|9000|60|08:15";

const ORDERS: &str = "\
订单号:identifier|客户:category|产品:category|数量:integer|金额 (元):integer|下单日期:date|发货日期:date|到货日期:date|付款状态:category|是否合格:boolean
D1|海天|阀门|10|2000|2024-01-05|2024-01-09|2024-01-15|已付款|1
D2|海天|水泵|4|5200|2024-02-11|2024-02-20|2024-02-28|未付款|1
D3|明光|阀门|25|5000|2024-03-03|2024-03-04||未付款|0
D4|远方|滤芯|100|1500|2023-12-20|2023-12-22|2023-12-30|已付款|1";

const CONTRACTS: &str = "\
合同编号:identifier|甲方:category|签订日期:date|到期日期:date|预算金额 (元):integer|实际金额 (元):integer|负责人:category
H1|海天|2022-05-01|2024-04-30|30000|32000|王强
H2|明光|2023-01-15|2025-01-14|80000|76000|李娜
H3|远方|2024-03-20||15000|15000|王强";

const VITALS: &str = "\
Year:year|Month:integer|Region:category|Marriages:integer|Divorces:integer
2010|1|North|10|4
2010|2|North|12|5
2011|1|South|30|6
2011|2|South|22|3";

const DONORS: &str = "\
Donor:identifier|Blood type:category|Age group:category|Donations:integer
Ann|A|<18|2
Bob|B|18-25|5
Cid|A|50+|1
Dee|O|18-25|7";

const MORTALITY: &str = "\
Sex:category|Year:year|Deaths:integer
Male|2010|3
Female|2010|4
Both sexes|2010|7";

const SHIFTS: &str = "\
Shift:identifier|Start time:integer
Early|600
Late|1430";

fn company() -> Catalog {
    Catalog {
        tables: vec![
            table("staff", "employees", STAFF),
            table("invoices", "invoices", INVOICES),
            table("projects", "projects", PROJECTS),
            table("orders", "订单", ORDERS),
            table("contracts", "合同", CONTRACTS),
            table("vitals", "vital statistics", VITALS),
            table("donors", "donors", DONORS),
            table("mortality", "mortality", MORTALITY),
            table("shifts", "shifts", SHIFTS),
        ],
    }
}

/// The best reading over the company's tables, with the names of columns.
fn shown(question: &str) -> String {
    let catalog = company();
    let best = readings(question, &catalog).into_iter().next();
    best.map_or_else(|| "-".to_owned(), |reading| one_line(&reading, &catalog))
}

fn check(cases: &[(&str, &str)]) {
    let differs: Vec<String> = cases
        .iter()
        .map(|(question, expected)| (question, shown(question), expected))
        .filter(|(_, found, expected)| found != *expected)
        .map(|(question, found, expected)| {
            format!("{question}\n  found    {found}\n  expected {expected}")
        })
        .collect();
    assert!(differs.is_empty(), "\n{}", differs.join("\n"));
}

fn check_unsure(questions: &[&str]) {
    let sure: Vec<String> = questions
        .iter()
        .map(|question| (question, shown(question)))
        .filter(|(_, found)| found != "-" && !found.starts_with("unsure"))
        .map(|(question, found)| format!("{question}: {found}"))
        .collect();
    assert!(sure.is_empty(), "\n{}", sure.join("\n"));
}

#[test]
fn events_choose_the_column_of_their_time() {
    check(&[
        ("How many projects started in March 2023?", "projects [Start in 2023-03] count()"),
        ("How many projects finished in March 2024?", "projects [End in 2024-03] count()"),
        ("How many projects ended in 2023?", "projects [End in 2023] count()"),
        ("How many employees were hired in 2021?", "staff [Hire date in 2021] count()"),
        ("How many employees have been hired since 2020?", "staff [Hire date ≥ 2020] count()"),
        ("Who was hired after 1 May 2020?", "staff [Hire date > 2020-05-01] Name (things)"),
        ("How many employees were born in May?", "staff [Date of birth InMonths([5])] count()"),
        ("When did Cem Kaya leave?", "staff [Name = Cem Kaya] Left on (things)"),
        ("When was invoice R2 paid?", "invoices [Invoice no = R2] Paid on (things)"),
        ("How many invoices were due in April 2024?", "invoices [Due date in 2024-04] count()"),
        (
            "How many invoices issued in 2023 were paid in 2024?",
            "invoices [Issue date in 2023] [Paid on in 2024] count()",
        ),
        ("2024年1月到货的订单有多少个？", "orders [到货日期 in 2024-01] count()"),
        ("二月发货的订单有几个？", "orders [发货日期 InMonths([2])] count()"),
        ("2023年签订的合同有多少份？", "contracts [签订日期 in 2023] count()"),
        ("合同H1什么时候到期？", "contracts [合同编号 = H1] 到期日期 (things)"),
    ]);
}

#[test]
fn events_order_rows_by_their_time() {
    check(&[
        ("Who was hired first?", "staff Name, Hire date ↑Hire date limit 1 (things)"),
        ("Who joined last?", "staff Name, Hire date ↓Hire date limit 1 (things)"),
        ("Who was hired most recently?", "staff Name, Hire date ↓Hire date limit 1 (things)"),
        ("Which invoice is due first?", "invoices Invoice no, Due date ↑Due date limit 1 (things)"),
        ("最早发货的订单是哪个？", "orders 订单号, 发货日期 ↑发货日期 limit 1 (things)"),
        ("最晚到货的订单是哪个？", "orders 订单号, 到货日期 ↓到货日期 limit 1 (things)"),
        ("最近下单的订单是哪个？", "orders 订单号, 下单日期 ↓下单日期 limit 1 (things)"),
        ("谁入职最早？", "staff Name, Hire date ↑Hire date limit 1 (things)"),
        (
            "In which year were the most employees hired?",
            "staff count() per Hire date by period ↓ limit 1 (things)",
        ),
        ("哪一年入职的员工最多？", "staff count() per Hire date by period ↓ limit 1 (things)"),
    ]);
}

#[test]
fn periods_of_something_else_are_unsure() {
    check_unsure(&[
        "How many invoices were issued last year?",
        "How many people were hired in the last two years?",
        "How many employees were hired this month?",
        "去年有多少个订单？",
        "上个月的订单金额一共是多少？",
        // Of a beginning or an end that the table does not hold, or of both.
        "How many invoices ended in 2024?",
        "How many projects started and ended in 2023?",
        "How many projects ran in 2023?",
        "How many employees were active in 2021?",
        "How many employees were there in 2021?",
        "How many employees were not hired in 2021?",
    ]);
}

#[test]
fn empty_dates_are_events_that_have_not_happened() {
    check(&[
        ("How many invoices have not been paid yet?", "invoices [Paid on is empty] count()"),
        ("How many invoices are still unpaid?", "invoices [Paid on is empty] count()"),
        ("How many invoices have already been paid?", "invoices [Paid on is filled] count()"),
        ("What is the total amount of unpaid invoices?", "invoices [Paid on is empty] sum(Amount)"),
        ("How many projects have no end date entered?", "projects [End is empty] count()"),
        ("How many projects are without an end date?", "projects [End is empty] count()"),
        ("还没有到货的订单有哪些？", "orders [到货日期 is empty] 订单号 (things)"),
        ("未填写到货日期的订单有几个？", "orders [到货日期 is empty] count()"),
        ("没有到期日期的合同有几份？", "contracts [到期日期 is empty] count()"),
        // A status says it.
        ("How many employees have not left?", "staff [Status ≠ left] count()"),
        ("尚未付款的订单有多少个？", "orders [付款状态 = 未付款] count()"),
    ]);
    check_unsure(&["How many projects have no budget entered?"]);
}

#[test]
fn two_columns_of_a_row_are_compared() {
    check(&[
        (
            "How many invoices were paid after the due date?",
            "invoices [Paid on > Due date] count()",
        ),
        (
            "Which invoices were paid later than due?",
            "invoices [Paid on > Due date] Invoice no (things)",
        ),
        ("How many invoices were paid late?", "invoices [Paid on > Due date] count()"),
        (
            "What percentage of invoices was paid late?",
            "invoices [Paid on > Due date] count() of invoices count()",
        ),
        ("How many projects went over budget?", "projects [Actual cost > Budget] count()"),
        (
            "Which projects cost less than the budget?",
            "projects [Budget > Actual cost] Project (things)",
        ),
        ("实际超过预算的合同有几份？", "contracts [实际金额 > 预算金额] count()"),
        ("哪些合同的实际金额低于预算金额？", "contracts [预算金额 > 实际金额] 合同编号 (things)"),
    ]);
    check_unsure(&[
        "How many orders were delivered late?",
        "How many of the invoices were paid on time?",
        "未超过预算的合同有几份？",
        "有多少合同的实际金额没有超过预算？",
    ]);
}

#[test]
fn columns_of_yes_and_no_are_conditions() {
    check(&[
        ("How many employees are certified?", "staff [Certified = 1] count()"),
        ("How many employees are not certified?", "staff [Certified = 0] count()"),
        (
            "What is the average salary of certified employees?",
            "staff [Certified = 1] mean(Salary)",
        ),
        (
            "What percentage of the employees are certified?",
            "staff [Certified = 1] count() of staff count()",
        ),
        ("不合格的订单有多少个？", "orders [是否合格 = 0] count()"),
        ("D3是否合格？", "orders [是否合格 = 1] [订单号 = D3] count() (exists)"),
    ]);
    check_unsure(&["订单的合格率是多少？"]);
}

#[test]
fn values_may_look_like_bounds() {
    check(&[
        ("How many donors are 50+?", "donors [Age group = 50+] count()"),
        ("How many donors are <18?", "donors [Age group = <18] count()"),
        ("How many invoices have an amount over 500?", "invoices [Amount > 500.0] count()"),
    ]);
    check_unsure(&["How many donors are under 18?", "How many donations did type O donors make?"]);
}

#[test]
fn ages_rank_by_ages_or_birthdays() {
    check(&[
        ("Who is the oldest employee?", "staff Name, Age ↓Age limit 1 (things)"),
        ("Who is the youngest employee?", "staff Name, Age ↑Age limit 1 (things)"),
        ("哪位员工年龄最大？", "staff Name, Age ↓Age limit 1 (things)"),
        (
            "Which employee was born first?",
            "staff Name, Date of birth ↑Date of birth limit 1 (things)",
        ),
    ]);
    // Of those who are there still, or of all?
    check_unsure(&["Who is the longest-serving employee?", "Which project is the oldest?"]);
}

#[test]
fn adjectives_of_countries_are_values() {
    check(&[
        ("How many French employees are there?", "staff [Nationality = France] count()"),
        (
            "What is the average salary of Chinese employees?",
            "staff [Nationality = China] mean(Salary)",
        ),
    ]);
}

#[test]
fn numbers_of_things_add_up() {
    check(&[
        ("How many divorces were there in 2010?", "vitals [Year = 2010] sum(Divorces)"),
        (
            "How many marriages were there in March 2010?",
            "vitals [Year = 2010] [Month = 3] sum(Marriages)",
        ),
        (
            "How much more amount does Corex have than Brightway?",
            "invoices [Customer = Brightway] sum(Amount) → invoices [Customer = Corex] sum(Amount)",
        ),
        (
            "海天的订单金额比明光多多少？",
            "orders [客户 = 明光] sum(金额) → orders [客户 = 海天] sum(金额)",
        ),
        ("How much is still unpaid?", "invoices [Paid on is empty] sum(Amount)"),
    ]);
}

#[test]
fn words_without_a_condition_are_harmless() {
    check(&[
        ("How many employees do we have in total?", "staff count()"),
        ("How many invoices are there in our data so far?", "invoices count()"),
        ("Please tell me how many invoices there are overall.", "invoices count()"),
        ("目前台账里总共有多少份合同？", "contracts count()"),
        ("名单上有多少个订单？", "orders count()"),
        ("请帮我查一下海天有几个订单", "orders [客户 = 海天] count()"),
    ]);
}

#[test]
fn sums_of_totals_and_of_times_of_day_are_unsure() {
    check(&[(
        "How many deaths of males were there in 2010?",
        "mortality [Year = 2010] [Sex = Male] sum(Deaths)",
    )]);
    check_unsure(&[
        "How many deaths were there in 2010?",
        "What is the total start time of the shifts?",
        "What is the average start time of the shifts?",
    ]);
}
