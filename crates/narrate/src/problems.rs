//! Words the problems of a file that was read in part.

use pikerag_knowledge::ProblemFact;

use crate::foreign::{chinese_reason, foreign};
use crate::language::{InWords, Words};

/// Causes of libraries without Chinese words keep their own.
impl InWords for ProblemFact {
    fn words(&self) -> Words {
        Words::new(self.to_string(), chinese(self))
    }
}

#[expect(clippy::too_many_lines, reason = "one sentence for each problem")]
fn chinese(problem: &ProblemFact) -> String {
    match problem {
        ProblemFact::NoRecord => "既不是对象，也不是文本".to_owned(),
        ProblemFact::RecordWithoutText => "没有文本".to_owned(),
        ProblemFact::Renamed { id, to } => format!("`{id}` 重复出现：改名为 `{to}`"),
        ProblemFact::RecordsRead { most } => format!("只读取了前 {most} 条记录"),
        ProblemFact::InvalidJson { column, is_cut_off: true, .. } => {
            format!("JSON 在第 {column} 列中断")
        }
        ProblemFact::InvalidJson { column, is_cut_off: false, .. } => {
            format!("JSON 在第 {column} 列有错误")
        }
        ProblemFact::ValuesTooDeep { depth } => format!("略去了嵌套超过 {depth} 层的值"),
        ProblemFact::UnevenRows { rows, cells } => {
            format!("{rows} 行的单元格数与第一行的 {cells} 个不同")
        }
        ProblemFact::LongCell => "一个带引号的单元格有很多行：请检查是否缺少右引号".to_owned(),
        ProblemFact::LaterRows { most } => format!("略去了此行及之后的行：上限为 {most} 个单元格"),
        ProblemFact::FurtherRows { most } => format!("略去了其余的行：上限为 {most} 个单元格"),
        ProblemFact::RowsAllowed { cells } => format!("其余的行超过上限 {cells} 个单元格"),
        ProblemFact::TextAllowed { bytes } => format!("其余的行超过上限 {bytes} 字节文本"),
        ProblemFact::UnreadValues { values } => {
            format!("略去了 {values} 个值（不是文本的字节，或日历中没有的日期）")
        }
        ProblemFact::TableUnreadable { reason } => format!("无法读取：{}", foreign(reason)),
        ProblemFact::NotPermitted => "账户无权读取，已略去".to_owned(),
        ProblemFact::BinaryValues { cells } => format!("略去了 {cells} 个单元格中的二进制值"),
        ProblemFact::WriteAheadLog => {
            "数据库有预写日志：只在其 `-wal` 文件中的数据没有读取；请关闭使用它的程序，再重新索引"
                .to_owned()
        }
        ProblemFact::CellsSkipped => "略去了表格中的一些行：单元格数超过上限".to_owned(),
        ProblemFact::CellsRead { most } => format!("只读取了 {most} 个单元格"),
        ProblemFact::CellsAllowed { most } => format!("表格的单元格数超过上限 {most}"),
        ProblemFact::WorkbookCells => "工作簿的单元格数超过上限：略去了其余部分".to_owned(),
        ProblemFact::FarCells { last } => format!("略去了第 {last} 行或列之后的单元格"),
        ProblemFact::SheetMissing => "工作表缺失或损坏".to_owned(),
        ProblemFact::NoStoredResults { formulas } => {
            format!("{formulas} 个公式没有保存结果：请用 Excel 打开并保存")
        }
        ProblemFact::PartMissing => "缺失或损坏".to_owned(),
        ProblemFact::SlidesLeftOut { most } => format!("略去了前 {most} 张之后的幻灯片"),
        ProblemFact::PagesSkipped { most, from, to } => {
            format!("上限为 {most} 页：略去了第 {from} 至 {to} 页")
        }
        ProblemFact::BrokenPage => "内容不符合 PDF 规则：已略去".to_owned(),
        ProblemFact::LongPage => "绘图指令超过大小上限：已略去".to_owned(),
        ProblemFact::UnknownCharacters { characters } => {
            format!("字体没有编码表，无法读取的字符：{characters} 个")
        }
        ProblemFact::WordsSkipped { words } => format!("因数量过多而略去的词：{words} 个"),
        ProblemFact::PicturesLost { pictures } => {
            format!("无法读取或过大，未能保留的图片：{pictures} 张")
        }
        ProblemFact::NotRecognized { reason } => format!("此页是扫描件，文字未能识别：{reason}"),
        ProblemFact::UncertainWords { uncertain, words } => {
            format!("{words} 个词中有 {uncertain} 个识别把握不大")
        }
        ProblemFact::NoWords => "没有识别出文字：作为图片保留".to_owned(),
        ProblemFact::HiddenPassages { passages } => format!(
            "读者看不到的段落（墨色不可见、字太小或在页面之外），已保留并标为隐藏：{passages} 段"
        ),
        ProblemFact::PicturesLeftOut { pictures } => format!("略去的图片：{pictures} 张"),
        ProblemFact::PicturesInWords { pictures } => {
            format!("略去的图片：{pictures} 张，其替代文字已保留")
        }
        ProblemFact::SmallPictures { pictures } => {
            format!("略去的小图片（按钮、徽标）：{pictures} 张")
        }
        ProblemFact::PictureOverLimit => "略去了此图片：图片过多或过大".to_owned(),
        ProblemFact::ChartTooLarge { most } => format!("图表的点数超过 {most}：已略去"),
        ProblemFact::EmbeddedDocument => "略去了内嵌的文档：请作为文件提供".to_owned(),
        ProblemFact::EmbeddedObject { program } => {
            format!("略去了内嵌的 {program}：请作为文件提供")
        }
        ProblemFact::PageFurniture { pieces } => format!("略去的页眉和页脚：{pieces} 个"),
        ProblemFact::GroupsTooDeep { groups } => format!("嵌套过深而失去样式的组：{groups} 个"),
        ProblemFact::UnfinishedGroups => "文件不完整：有些组没有结尾".to_owned(),
        ProblemFact::ChapterMissing => "书中列有此章，但缺少其文件".to_owned(),
        ProblemFact::ReadFlat { depth } => format!("嵌套超过 {depth} 层的元素按平铺读取"),
        ProblemFact::NotClosed { keyword } => format!("`#+{keyword}` 没有结束"),
        ProblemFact::TableNotClosed => "表格没有结束：文件的其余部分作为其单元格读取".to_owned(),
        ProblemFact::MessagesTooDeep { depth } => format!("不打开嵌套超过 {depth} 层的邮件"),
        ProblemFact::AttachmentLeftOut { reason } => format!("略去了此附件：{reason}"),
        ProblemFact::AttachmentsLeftOut { most, attachments } => {
            format!("前 {most} 个之后略去的附件：{attachments} 个")
        }
        ProblemFact::DamagedMessage => "邮件的一部分已损坏：其编码无效".to_owned(),
        ProblemFact::OutsidePaths { entries } => format!("{entries} 项的路径在压缩包之外：已略去"),
        ProblemFact::RepeatedNames => "压缩包中有重复的名称：同名的只读取了一项".to_owned(),
        ProblemFact::NotUnpacked { reason } => format!("无法解压：{}", chinese_reason(reason)),
        ProblemFact::UnpacksTooMuch { mib } => format!("解压后超过上限 {mib} MiB"),
        ProblemFact::NotTaken { reason } => format!("未能接收：{reason}"),
        ProblemFact::TooManyElements { most } => format!("元素超过 {most} 个：略去了其余部分"),
        ProblemFact::InvalidXml { reason } => {
            format!("从此处起无效，略去了其余部分：{}", chinese_reason(reason))
        }
        ProblemFact::ElementsTooDeep { elements, depth } => {
            format!("{elements} 个元素嵌套超过 {depth} 层：已略去")
        }
        ProblemFact::CustomEntities { entities } => format!("{entities} 个自定义实体没有展开"),
        ProblemFact::WrongEncoding { encoding } => format!("有些字节不是 {encoding}，已替换为 �"),
        ProblemFact::NotCorrected { old, by, reason } => {
            format!("{by} 对“{old}”的更正没有应用：{reason}")
        }
        ProblemFact::NotListed { problems } => format!("另有 {problems} 个问题未列出"),
    }
}

/// The place of a problem in Chinese: the kind of place is a word before a number or a name.
pub fn problem_place(place: &str) -> String {
    let numbered =
        [("line ", "行"), ("page ", "页"), ("record ", "条记录"), ("slide ", "张幻灯片")];
    for (kind, chinese) in numbered {
        let number = place.strip_prefix(kind).filter(|rest| rest.parse::<u64>().is_ok());
        if let Some(number) = number {
            return format!("第 {number} {chinese}");
        }
    }
    let named = [("column ", "列"), ("table ", "表")];
    let named = named.iter().find_map(|(kind, chinese)| Some((place.strip_prefix(kind)?, chinese)));
    match named {
        Some((name, chinese)) => format!("{chinese} {name}"),
        None => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;

    /// Names in backticks are those of files and formats.
    #[test]
    fn problems_are_worded_in_both_languages() {
        let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        let mut lines = Vec::new();
        for problem in ProblemFact::iter() {
            let Words { english, chinese } = problem.words();
            let bare: String = chinese.split('`').step_by(2).collect();
            let names = ["JSON", "PDF", "Excel", "MiB"];
            let bare = names.iter().fold(bare, |text, name| text.replace(name, ""));
            assert!(!english.chars().any(is_chinese), "{problem:?}: {english}");
            assert!(bare.chars().any(is_chinese), "{problem:?}: {chinese}");
            assert!(!bare.contains(|c: char| c.is_ascii_alphabetic()), "{problem:?}: {chinese}");
            lines.push(format!("{english} | {chinese}"));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn places_are_worded_by_their_kind() {
        let places = ["line 3", "page 12", "table load", "line up.md", "word/document.xml", ""];
        let chinese = places.map(problem_place);
        assert_eq!(
            chinese,
            ["第 3 行", "第 12 页", "表 load", "line up.md", "word/document.xml", ""]
        );
    }
}
