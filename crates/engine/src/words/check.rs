//! Words the findings of `check` in Chinese; the English words are the `Display` of the facts.

use pikerag_store::CheckFact;

use pikerag_narrate::foreign;

/// The content of a part of the base, or its faults.
pub fn chinese_check(fact: &CheckFact) -> String {
    match fact {
        CheckFact::Counts { chunks, calls, runs } => {
            format!("{chunks} 个文本块，{calls} 次已记录的调用，{runs} 次运行")
        }
        CheckFact::Documents { documents } => format!("{documents} 个文档"),
        CheckFact::ChangedDocuments { damaged, documents } => {
            format!("{documents} 个文档中有 {damaged} 个与读取时的内容不同")
        }
        CheckFact::Originals { originals } => format!("保留了 {originals} 个"),
        CheckFact::ChangedOriginals { damaged, originals } => {
            format!("{originals} 个中有 {damaged} 个与读取时的内容不同")
        }
        CheckFact::Chunks { chunks } => format!("{chunks} 个文本块"),
        CheckFact::Vectors { vectors } => format!("{vectors} 个向量"),
        CheckFact::NotBuilt => "尚未建立".to_owned(),
        CheckFact::Behind => "落后于数据库".to_owned(),
        CheckFact::NotOpened => "无法打开".to_owned(),
        CheckFact::NotRead => "无法读取".to_owned(),
        CheckFact::WrongChecksum { files } if files.is_empty() => "校验和不符".to_owned(),
        CheckFact::WrongChecksum { files } => format!("校验和不符：{}", files.join("、")),
        CheckFact::OtherChunks { missing, more } => {
            format!("缺少 {missing} 个文本块，{more} 个已不在数据库中")
        }
        CheckFact::OtherVectors => "与数据库不符".to_owned(),
        CheckFact::NoLeftovers => "无".to_owned(),
        CheckFact::Leftovers { files } => files.join("、"),
        CheckFact::NothingToOverwrite => "没有待覆写的内容".to_owned(),
        CheckFact::NotOverwritten => "已彻底删除的内容尚未覆写".to_owned(),
        CheckFact::Faults { faults } => {
            faults.iter().map(|fault| foreign(fault)).collect::<Vec<_>>().join("；")
        }
    }
}
