//! Tests which pairs of documents are editions of one text: right or silent.

use std::sync::Mutex;

use async_trait::async_trait;
use pikerag_doubles::chunk;
use pikerag_knowledge::{
    Atom, AtomQuery, BaseState, BaseSummary, Derived, Image, Record, RecordsOf, Source, Which,
};

use super::edition::Stored;
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
        (
            ("postgres://h/shop/public.fee_rules_2022", "fee_rules_2022 (shop)", ""),
            ("postgres://h/shop/public.fee_rules_2024", "fee_rules_2024 (shop)", ""),
        ),
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
        ("postgres://h/shop/public.fee_rules_2022", "fee_rules_2022 (shop)", false),
        ("crane.md", "KX-40 crane", false),
    ] {
        assert_eq!(document(uri, title).may_have_editions(), is_sought, "{uri}");
    }
}

/// A base of texts that records which documents are read.
#[derive(Default)]
struct Texts {
    read: Mutex<Vec<SourceId>>,
}

#[async_trait]
impl CorpusReader for Texts {
    async fn sources(&self, _: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError> {
        Ok(Vec::new())
    }

    async fn source_text(&self, _: SourceId) -> Result<String, StoreError> {
        Ok(String::new())
    }

    async fn chunks(&self, _: &[ChunkId]) -> Result<Vec<Chunk>, StoreError> {
        Ok(Vec::new())
    }

    async fn first_chunks(&self, source: SourceId, _: usize) -> Result<Vec<Chunk>, StoreError> {
        self.read.lock().unwrap().push(source);
        Ok(vec![chunk(source.0, "", ENGLISH)])
    }

    async fn sample_titles(&self, _: usize) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError> {
        Ok(Vec::new())
    }

    async fn figures(&self, _: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError> {
        Ok(Vec::new())
    }

    async fn atoms(&self, _: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError> {
        Ok(Vec::new())
    }

    async fn records(&self, _: RecordsOf<'_>) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }

    async fn state(&self) -> Result<BaseState, StoreError> {
        Ok(BaseState::default())
    }

    async fn has(&self, _: Derived) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        Ok(BaseSummary::default())
    }
}

/// Titles in a prompt and marks of citations compare the same documents.
#[tokio::test]
async fn a_run_reads_an_edition_once() {
    let document = |id: u64, year: u32| Document {
        source: SourceId(id),
        uri: format!("travel-policy-{year}.docx"),
        title: "Travel policy".to_owned(),
    };
    let (base, run) = (Texts::default(), ReadEditions::default());
    let read = || std::mem::take(&mut *base.read.lock().unwrap());
    let pair = [document(1, 2022), document(2, 2024)];
    for first in [vec![SourceId(1), SourceId(2)], Vec::new()] {
        let found = replacements(&base, &run, &pair).await.unwrap();
        assert_eq!(found.iter().map(|it| (it.older.0, it.newer.0)).collect::<Vec<_>>(), [(1, 2)]);
        assert_eq!(read(), first);
    }
    // A part of the run reads only what the run did not.
    let three = [document(1, 2022), document(2, 2024), document(3, 2025)];
    let found = replacements(&base, &run.clone(), &three).await.unwrap();
    let found: Vec<_> = found.iter().map(|it| (it.older.0, it.newer.0)).collect();
    assert_eq!((found, read()), (vec![(1, 3), (2, 3)], vec![SourceId(3)]));
    // Another run sees another state of the base.
    replacements(&base, &ReadEditions::default(), &pair).await.unwrap();
    assert_eq!(read(), [SourceId(1), SourceId(2)]);
}
