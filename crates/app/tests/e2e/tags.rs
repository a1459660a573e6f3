//! Tests that declared tags work on the command line without a model.

use crate::common::Place;

const SETTINGS: &str = "[embed]\nkind = \"none\"\n[retrieval]\ntags = \"both\"\n";

#[test]
fn classes_and_pairs_are_declared_listed_used_and_dropped() {
    let place = Place::new();
    place.write("pikerag.toml", SETTINGS);
    place.write("刑法.md", "# 第二百六十四条\n\n盗窃公私财物，数额较大的，处三年以下有期徒刑。\n");
    place.write("茶.md", "# 茶\n\n茶是热的。\n");
    place.run_to(0, &["index", "刑法.md", "茶.md"]);
    let run = |arguments: &[&str]| place.run_to(0, &[&["tags"], arguments].concat()).stdout;
    run(&["add-class", "刑罚", "判处的刑罚", "--examples", "有期徒刑,拘役"]);
    run(&["pair", "坐牢", "有期徒刑", "--class", "刑罚"]);
    assert_eq!(
        run(&[]),
        "刑罚 (declared): 0 tags, mentioned 0 times; 判处的刑罚\n1 pair; see `pikerag tags pairs`\n"
    );
    assert_eq!(run(&["pairs"]), "坐牢 → 有期徒刑 [刑罚] (declared, 0 samples)\n");
    let shown = place.run_to(0, &["ask", "--trace", "--method", "naive-rag", "会坐牢吗？"]).stdout;
    assert!(shown.contains("├─ tag: 坐牢 (刑罚) → 有期徒刑"), "{shown}");
    assert!(shown.contains("├─ searches for: 会坐牢吗？ (有期徒刑)"), "{shown}");
    assert!(shown.contains("第二百六十四条"), "{shown}");
    run(&["rename", "刑罚", "处罚"]);
    let listed = place.run_to(0, &["--json", "tags"]).json();
    assert_eq!(listed["classes"][0]["class"]["name"], "处罚");
    run(&["drop", "坐牢", "有期徒刑"]);
    run(&["drop", "处罚"]);
    assert_eq!(run(&[]), "0 pairs; see `pikerag tags pairs`\n");
    let error = place.run_to(1, &["tags", "drop", "处罚"]).stderr;
    assert!(error.contains("there is no class `处罚`"), "{error}");
    let error = place.run_to(1, &["tags", "learn", "x.jsonl"]).stderr;
    assert!(error.contains("needs a chat model"), "{error}");
}
