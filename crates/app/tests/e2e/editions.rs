//! Tests that answers and `status` say which of two versions of a rule is replaced, on the command line.

use serde_json::Value;

use crate::common::Place;

const SETTINGS: &str = "[embed]\nkind = \"none\"\n";
const OLDER: &str = "docs/travel-policy-2022.md";
const NEWER: &str = "docs/travel-policy-2024.md";
const NEWER_CHINESE: &str = "docs/差旅费管理办法（2024年修订）.md";

/// A folder with two versions of two rules, and with two reports.
fn indexed() -> Place {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    let policy = |first: &str, hotel: &str| {
        format!(
            "# Travel policy\n\n{first}\n\n## Hotels\n\nA hotel may cost up to {hotel} euros a night \
             with breakfast. Rooms are booked in the travel portal.\n\n## Meals\n\nMeals are paid \
             against receipts.\n"
        )
    };
    place.write(OLDER, policy("Version 2.1, valid from 1 March 2022.", "100"));
    let first = "Version 3, valid from 1 March 2024. This version replaces version 2.1.";
    place.write(NEWER, policy(first, "130"));
    let rule = |first: &str, hotel: &str| {
        format!(
            "# 差旅费管理办法\n\n{first}\n\n住宿费每晚不超过{hotel}元，餐费凭票报销。火车票在系统中预订。\n"
        )
    };
    place.write("docs/差旅费管理办法（2022年版）.md", rule("自2022年3月1日起施行。", "300"));
    place.write(NEWER_CHINESE, rule("自2024年3月1日起施行，2022年版同时废止。", "400"));
    for (year, revenue) in [("2022", "4.1"), ("2023", "4.6")] {
        let text = format!(
            "# Annual report {year}\n\nRevenue was {revenue} million euros. The company had 40 \
             employees at the end of the year.\n"
        );
        place.write(&format!("docs/annual-report-{year}.md"), text);
    }
    place.run_to(0, &["index", "docs"]);
    place
}

fn citations(place: &Place, question: &str) -> Vec<Value> {
    let ran = place.run_to(0, &["--json", "ask", "--method", "naive-rag", question]);
    ran.json()["answer"]["citations"].as_array().unwrap().clone()
}

#[test]
fn the_newer_version_comes_first_and_the_older_is_marked() {
    let place = indexed();
    let cited = citations(&place, "How much may a hotel cost a night?");
    assert_eq!(cited[0]["uri"], NEWER, "{cited:?}");
    assert!(cited[0].get("replaced_by").is_none(), "{cited:?}");

    let cited = citations(&place, "How much might a hotel cost a night under the 2022 policy?");
    assert_eq!(cited[0]["uri"], OLDER, "{cited:?}");
    let by = serde_json::json!({
        "uri": NEWER, "title": "Travel policy", "version": "3", "date": "2024-03-01"
    });
    assert_eq!(cited[0]["replaced_by"], by);

    let cited = citations(&place, "What was the revenue?");
    assert!(cited.iter().all(|citation| citation.get("replaced_by").is_none()), "{cited:?}");
}

#[test]
fn the_terminal_names_the_newer_version() {
    let place = indexed();
    let question = "How much might a hotel cost a night under the 2022 policy?";
    let shown = place.run_to(0, &["ask", "--method", "naive-rag", question]).stdout;
    let mark = format!("! replaced by {NEWER} (version 3, 2024-03-01)");
    assert!(shown.contains(&mark), "{shown}");

    let question = "住宿费每晚不超过多少元？";
    let shown = place.run_to(0, &["--lang", "zh", "ask", "--method", "naive-rag", question]).stdout;
    let mark = format!("! 已被 {NEWER_CHINESE} 取代（2024-03-01）");
    assert!(shown.contains(&mark), "{shown}");
    let place_of = |amount: &str| shown.find(amount).unwrap_or(usize::MAX);
    assert!(place_of("不超过400元") < place_of("不超过300元"), "{shown}");
}

/// Reports of two years replace nothing. A deleted version replaces nothing any more.
#[test]
fn status_lists_replaced_documents() {
    let place = indexed();
    let status = place.run_to(0, &["--json", "status"]).json();
    let replaced: Vec<(&str, &str)> = status["replaced"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["uri"].as_str().unwrap(), it["by"]["uri"].as_str().unwrap()))
        .collect();
    let older_chinese = "docs/差旅费管理办法（2022年版）.md";
    assert_eq!(replaced, [(OLDER, NEWER), (older_chinese, NEWER_CHINESE)]);

    let shown = place.run_to(0, &["status"]).stdout;
    let line = format!("  {OLDER}: replaced by {NEWER} (version 3, 2024-03-01)");
    assert!(shown.contains(&line), "{shown}");
    let shown = place.run_to(0, &["--lang", "zh", "status"]).stdout;
    assert!(
        shown.contains(&format!("  {OLDER}：已被 {NEWER} 取代（版本 3，2024-03-01）")),
        "{shown}"
    );

    place.run_to(0, &["delete", NEWER]);
    let status = place.run_to(0, &["--json", "status"]).json();
    assert_eq!(status["replaced"].as_array().unwrap().len(), 1, "{status:#}");
}
