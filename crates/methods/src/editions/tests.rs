//! Tests which pairs of documents are editions of one text: right or silent.

use super::*;

const ENGLISH: &str = "Hotels may cost up to 100 euros a night. Meals are paid against receipts. \
                       Trains are booked in the portal.";
const CHINESE: &str = "住宿费每晚不超过300元。餐费凭票报销。火车票在系统中预订。";

/// Path, title, and the first or last line of the text.
type Case<'a> = (&'a str, &'a str, &'a str);

fn edition((path, title, line): Case<'_>, date: Option<&str>) -> Edition {
    let body = match pikerag_language::is_chinese(title.chars().next().unwrap()) {
        true => CHINESE,
        false => ENGLISH,
    };
    Edition::of(Stored { path, title, text: &format!("{line}\n{body}"), date })
}

fn check(older: Case<'_>, newer: Case<'_>, expected: Option<Ordering>) {
    let (one, other) = (edition(newer, None), edition(older, None));
    assert_eq!(order(&one, &other), expected, "{newer:?} after {older:?}");
    assert_eq!(order(&other, &one), expected.map(Ordering::reverse), "{older:?} {newer:?}");
}

#[test]
fn newer_editions_are_recognised() {
    for (older, newer) in [
        (
            ("travel-policy-2022.docx", "Travel policy", ""),
            ("travel-policy-2024.docx", "Travel policy", ""),
        ),
        (
            ("travel-policy.docx", "Travel policy", "Version 2.1"),
            ("travel policy V3.docx", "Travel policy", ""),
        ),
        (("manual-v2.1.pdf", "Pump manual", ""), ("manual-v2.10.pdf", "Pump manual", "")),
        (
            ("old/fees.md", "Fees", "Valid from 1 March 2022"),
            ("fees.md", "Fees", "Valid from 1 March 2024"),
        ),
        (
            ("price-list-2023.csv", "Price list 2023", ""),
            ("price-list-2024.csv", "Price list 2024", ""),
        ),
        (
            ("2022/security.md", "Security rules", ""),
            ("2024/security.md", "Security rules", "This document replaces the version of 2022."),
        ),
        (
            ("parking 2023.md", "Parking", ""),
            ("parking 2025.md", "Parking", "It supersedes the edition of 2023."),
        ),
        (
            ("handbook-second-edition.md", "Staff handbook", ""),
            ("handbook-third-edition.md", "Staff handbook", ""),
        ),
        (
            ("policy on reports 2022.md", "Policy on reports", ""),
            ("policy on reports 2023.md", "Policy on reports", ""),
        ),
        (
            ("guide.md", "Guide", "Version 1\nEffective date: 2023-05-01"),
            ("guide_v2.md", "Guide", "Effective date: 2024-05-01"),
        ),
        (
            ("access v1.md", "Access", "This version was replaced by version 2."),
            ("access v2.md", "Access", ""),
        ),
        (
            ("访客须知 2021.md", "访客须知", "本须知已被2024年版取代。"),
            ("访客须知 2024.md", "访客须知", ""),
        ),
        (
            ("差旅费管理办法（2022年版）.docx", "差旅费管理办法", ""),
            ("差旅费管理办法（2024年修订）.docx", "差旅费管理办法", ""),
        ),
        (
            ("员工手册.md", "员工手册", "自2022年3月1日起施行。"),
            ("员工手册（新版）.md", "员工手册", "自2024年3月1日起施行。"),
        ),
        (
            ("考勤 2023.md", "考勤", ""),
            ("考勤 2024.md", "考勤", "本文件自2024年1月1日起执行，2023年版同时废止。"),
        ),
        (("guide (Rev A).md", "Guide", "Rev A"), ("guide (Rev B).md", "Guide", "Rev B")),
        (
            ("v1-travel-policy.md", "Travel policy", ""),
            ("v2-travel-policy.md", "Travel policy", ""),
        ),
        (("价目表V2.csv", "价目表", ""), ("价目表V3.csv", "价目表", "")),
        (("操作规程第二版.md", "泵操作规程", ""), ("操作规程第十一版.md", "泵操作规程", "")),
        (("会议管理办法2022.md", "会议管理办法", ""), ("会议管理办法2024.md", "会议管理办法", "")),
    ] {
        check(older, newer, Some(Ordering::Greater));
    }
}

#[test]
fn documents_beside_each_other_are_no_editions() {
    for (one, other) in [
        (
            ("annual-report-2022.pdf", "Annual report 2022", ""),
            ("annual-report-2023.pdf", "Annual report 2023", ""),
        ),
        (
            ("report v1.pdf", "Report 2022", "Version 1"),
            ("report v2.pdf", "Report 2023", "Version 2"),
        ),
        (
            ("minutes-2024-01-01.md", "Minutes", ""),
            ("minutes-2024-02-01.md", "Minutes", "This replaces the minutes of 1 January 2024."),
        ),
        (("invoice 2022.md", "Invoice", ""), ("invoice 2023.md", "Invoice", "")),
        (
            ("report on the travel policy 2022.md", "Report on the travel policy", ""),
            ("report on the travel policy 2023.md", "Report on the travel policy", ""),
        ),
        (("sales-2022.csv", "Sales", ""), ("sales-2023.csv", "Sales", "")),
        (("sales-2022-v1.csv", "Sales", ""), ("sales-2023-v2.csv", "Sales", "")),
        (("manual-pump-a-v1.md", "Manual", ""), ("manual-pump-b-v2.md", "Manual", "")),
        // Manuals of two products.
        (("loom-v1-manual.md", "Loom V1 manual", ""), ("loom-v2-manual.md", "Loom V2 manual", "")),
        (("织机V1说明书.md", "织机V1说明书", ""), ("织机V2说明书.md", "织机V2说明书", "")),
        (("guide (Rev A).md", "Guide", ""), ("guide (Rev 1).md", "Guide", "")),
        (("kx-40 manual v1.md", "KX-40 manual", ""), ("kx-50 manual v2.md", "KX-50 manual", "")),
        (
            ("mueller/price-list-2023.md", "Price list", ""),
            ("novak/price-list-2024.md", "Price list", ""),
        ),
        (("policy-2022.md", "Travel policy", ""), ("policy-2024.md", "Parking policy", "")),
        (("travel-policy.md", "Travel policy", ""), ("travel-policy.docx", "Travel policy", "")),
        (
            ("travel-policy-2022.md", "Travel policy", ""),
            ("travel-policy-2024-draft.md", "Travel policy", ""),
        ),
        (("mails/2024-01-05.eml", "Price list", ""), ("mails/2024-02-05.eml", "Price list", "")),
        (("fuel prices 2022.csv", "Fuel prices", ""), ("fuel prices 2023.csv", "Fuel prices", "")),
        // The signs contradict each other.
        (
            ("travel-policy-v1.md", "Travel policy", "Valid from 2024-03-01"),
            ("travel-policy-v2.md", "Travel policy", "Valid from 2022-03-01"),
        ),
        (
            ("policy-2023.md", "Policy", "This policy replaces the version of 2021."),
            ("policy-2022.md", "Policy", "This policy replaces the version of 2023."),
        ),
        (("年度报告2022.pdf", "年度报告", ""), ("年度报告2023.pdf", "年度报告", "")),
        (("会议纪要2024-01-05.md", "会议纪要", ""), ("会议纪要2024-02-05.md", "会议纪要", "")),
        (
            ("2022年度考核办法.md", "2022年度考核办法", ""),
            ("2023年度考核办法.md", "2023年度考核办法", ""),
        ),
        (("销售2022.csv", "销售", ""), ("销售2023.csv", "销售", "")),
        (("采购合同2022.md", "采购合同", "第二版"), ("采购合同2023.md", "采购合同", "第三版")),
    ] {
        check(one, other, None);
    }
}

#[test]
fn texts_with_few_common_words_are_no_editions() {
    let other = "The dog sleeps under a large green table every afternoon.";
    let of = |path, text| Edition::of(Stored { path, title: "Travel policy", text, date: None });
    let (one, two) = (of("travel-policy-2022.md", ENGLISH), of("travel-policy-2024.md", other));
    assert_eq!(order(&one, &two), None);
}

/// The date of the metadata decides only for rules without another sign.
#[test]
fn stated_dates_decide_last() {
    let policy = ("hr/visitors.md", "Visitor policy", "");
    let minutes = ("hr/visitors.md", "Visitor minutes", "");
    for (case, expected) in [(policy, Some(Ordering::Less)), (minutes, None)] {
        let (one, two) = (edition(case, Some("2022-01-01")), edition(case, Some("2024-01-01")));
        assert_eq!(order(&one, &two), expected, "{case:?}");
    }
}

#[test]
fn a_question_names_an_edition_by_year_or_version() {
    let older = edition(("policy-2022.md", "Policy", "Version 2.1"), None);
    let newer = edition(("policy-2024.md", "Policy", "Version 3"), None);
    for (question, is_named) in [
        ("What may a hotel cost under the 2022 policy?", true),
        ("What does version 2.1 say on hotels?", true),
        ("按2022年版，住宿费是多少？", true),
        ("What may a hotel cost under the 2024 policy?", false),
        ("What may a hotel cost?", false),
    ] {
        assert_eq!(older.is_named_in(&in_plain_form(question), &newer), is_named, "{question}");
    }
}

#[test]
fn only_rules_and_marked_documents_are_sought() {
    let document = |uri: &str, title: &str| Document {
        source: SourceId(1),
        uri: uri.to_owned(),
        title: title.to_owned(),
    };
    for (uri, title, is_sought) in [
        ("a/travel.docx", "Travel policy", true),
        ("fees-2022.md", "Fees", true),
        ("价目表.csv", "价目表", true),
        ("report-2022.md", "Annual report", false),
        ("crane.md", "KX-40 crane", false),
    ] {
        assert_eq!(document(uri, title).may_have_editions(), is_sought, "{uri}");
    }
}
