//! Reads questions whose nearest reading may not be what they ask, and those about months, days before, and shares.

use super::shown;

#[test]
fn ambiguous_readings_are_unsure() {
    for question in [
        // Of one repair, or of all of a machine?
        "Which machine has the highest cost?",
        "哪台机器的费用最高？",
        "How many litres did the press lose?",
        "How many A+ repairs were there?",
        "How many first-time repairs of the press were there?",
        "How many repairs were there in May and July?",
    ] {
        assert!(
            shown(question).starts_with("unsure") || shown(question) == "-",
            "{question}: {}",
            shown(question)
        );
    }
}

#[test]
fn months_days_and_shares_are_read() {
    super::check(&[
        (
            "Which machine had the most expensive repair?",
            "repairs Machine, Cost ↓Cost limit 1 (things)",
        ),
        ("How many repairs were there in May?", "repairs [Date InMonths([5])] count()"),
        ("五月有多少次维修？", "repairs [Date InMonths([5])] count()"),
        ("How many repairs were there before 2 March 2021?", "repairs [Date < 2021-03-02] count()"),
        ("How many repairs were there before 02.03.2021?", "repairs [Date < 2021-03-02] count()"),
        ("How many repairs were there before 2.3.2021?", "repairs [Date < 2021-03-02] count()"),
        ("2021年三月有多少次维修？", "repairs [Date in 2021-03] count()"),
        (
            "What share of the total cost is the press?",
            "repairs [Machine = Press] sum(Cost) of repairs sum(Cost)",
        ),
    ]);
}
