//! Describes the groups of formats in Chinese.

use super::{FormatGroup, FormatWords};

/// Has no pages, or no headings and tables.
const NONE: &str = "无";

/// What is read of a group.
#[expect(clippy::too_many_lines, reason = "one match gives every group its words")]
pub(super) fn words(group: FormatGroup) -> FormatWords {
    let [name, headings_and_tables, pages_and_boxes, also_read, needs] = match group {
        FormatGroup::Pdf => [
            "PDF",
            "按字号与粗细识别标题；有线或无线的表格；带点线的目录与索引；代码",
            "页，以及每个片段和每行的位置框",
            "按顺序读取分栏；外部链接；图片；页眉页脚只取一次；连字符断开的词合并；部首字符转为汉字；绘出的批注",
            "Tesseract，用于扫描页",
        ],
        FormatGroup::Word => [
            "Word",
            "样式及其编号（`2.1`）；表格，合并的单元格重复填写",
            "无：Word 在绘制时才分页",
            "模板；列表；脚注、尾注、批注放在所属段落之后；文本框；公式转为 LaTeX；图表转为表格；图片；页眉页脚放在最后；不读已删除的修订",
            "",
        ],
        FormatGroup::PowerPoint => [
            "PowerPoint",
            "幻灯片标题；表格",
            "幻灯片，以及每个形状的位置框",
            "模板与放映文件；备注；批注及其作者；图表转为表格；图示转为文字；图片",
            "",
        ],
        FormatGroup::Excel => [
            "Excel",
            "每个工作表为一页，其名称为标题；各表格分开读取，表题为说明",
            "工作表",
            "模板；按显示的形式取值；公式取已保存的结果；批注、链接、转为表格的图表、图片",
            "",
        ],
        FormatGroup::OpenDocument => [
            "OpenDocument 文本、电子表格、演示文稿",
            "与 Word、Excel 和 PowerPoint 相同",
            "与 Word、Excel 和 PowerPoint 相同",
            "备注、批注、图片",
            "",
        ],
        FormatGroup::OldOffice => [
            "2007 年以前的 Word、Excel、PowerPoint",
            "先由 LibreOffice 转换，再按新格式读取",
            "与新格式相同",
            "",
            "LibreOffice",
        ],
        FormatGroup::Html => [
            "HTML",
            "标题；表格，跨行跨列的单元格重复填写",
            NONE,
            "链接；替代文字；不读导航、表单与隐藏的部分",
            "",
        ],
        FormatGroup::Epub => ["EPUB", "章节按顺序，每章按 HTML 读取", NONE, "", ""],
        FormatGroup::Mail => [
            "电子邮件",
            "主题，然后是正文，HTML 先于纯文本",
            NONE,
            "附件成为单独的文档，邮件最多嵌套三层；不读徽标与按钮",
            "",
        ],
        FormatGroup::Rtf => ["RTF", "样式、表格、列表", NONE, "链接", ""],
        FormatGroup::Xml => [
            "XML",
            "记录成为表格的行；JATS 文章成为带有作者、期刊、日期和 DOI 的页面",
            NONE,
            "",
            "",
        ],
        FormatGroup::Markup => [
            "Markdown、reStructuredText、AsciiDoc、Org",
            "标题、表格、列表、代码",
            NONE,
            "链接；前置信息与字段作为元数据；Markdown 中的 HTML 块",
            "",
        ],
        FormatGroup::PlainText => [
            "纯文本，包括扩展名未知的文本",
            NONE,
            NONE,
            "空行分隔的段落；较短的首行为标题；扩展名未知而开头像网页的文本按 HTML 读取",
            "",
        ],
        FormatGroup::Separated => ["CSV、TSV", "一个表格；分隔符与表头由内容判断", NONE, "", ""],
        FormatGroup::Sqlite => [
            "SQLite 数据库",
            "每个表位于以其名称为题的标题之下",
            NONE,
            "不读视图、扩展的表、字节数据，以及只在 `-wal` 文件中的行（会报告）",
            "",
        ],
        FormatGroup::Parquet => [
            "Parquet",
            "一个表格：数字保留全部位数，日期与时间按 ISO 8601，列表、结构与映射写成 JSON",
            NONE,
            "Snappy、gzip、LZ4、Zstandard 或未压缩；非文本的字节略去并计数；损坏的文件不读",
            "",
        ],
        FormatGroup::Json => [
            "JSON、JSON Lines",
            "每条记录一个文档；字段作为元数据或正文",
            NONE,
            "BEIR 与 HippoRAG 的语料、PIKE-RAG 的文本块文件",
            "",
        ],
        FormatGroup::Subtitles => ["字幕", NONE, NONE, "每段之前为时间与说话人", ""],
        FormatGroup::Picture => [
            "图片：PNG、JPEG、GIF、TIFF、WebP、BMP",
            "识别出的文字，也在表格中；图片本身作为图",
            "位置框，以像素计",
            "动画只读第一幅",
            "Tesseract",
        ],
    };
    FormatWords { name, headings_and_tables, pages_and_boxes, also_read, needs }
}
