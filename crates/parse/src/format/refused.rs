//! Lists the kinds of files that are refused, with the next step for each.

use serde::Serialize;

/// A kind of files that are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum RefusedKind {
    /// A document that opens with a password only.
    Encrypted,
    /// A Parquet file whose footer is encrypted.
    EncryptedParquet,
    /// A book whose chapters are encrypted.
    ProtectedBook,
    /// A PDF without pages.
    NoPages,
    /// A Parquet file compressed by a codec that we do not have.
    OtherCodec,
    /// A file with files inside.
    Archive,
    /// A message of Outlook.
    OutlookMessage,
    /// A file with all messages of a folder.
    Mailbox,
    /// A drawing as XML.
    Drawing,
    /// An Office file that cannot be opened.
    DamagedOffice,
    /// A file of an Office program that is neither Word, Excel nor `PowerPoint`.
    OtherOffice,
    /// A program.
    Program,
    /// Bytes of any other format, such as a database.
    OtherBinary,
    /// Text in a file that is named like another format.
    Mismatch,
    /// A file of a known format without text.
    NoText,
    /// A file without bytes.
    Empty,
}

/// A kind of refused files, in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedWords {
    /// The files, in the plural.
    pub files: &'static str,
    /// The next step, as an imperative. In English it is a part of the message for such a file.
    pub advice: &'static str,
}

const RESAVE: &str = "it is encrypted, damaged or of an old format: open it in its program and save it as .docx, .xlsx or .pptx, without a password";

impl RefusedKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The kind in English.
    pub fn english(self) -> RefusedWords {
        let (files, advice) = match self {
            Self::Encrypted => {
                ("encrypted documents", "open it with its password and save it without one")
            }
            Self::EncryptedParquet => ("encrypted Parquet files", "save it without encryption"),
            Self::ProtectedBook => ("copy-protected books", "give a copy without protection"),
            Self::NoPages => ("PDFs without pages", "open it in its program and save it again"),
            Self::OtherCodec => (
                "Parquet files compressed by Brotli or LZO",
                "write it by Snappy, gzip, LZ4 or Zstandard",
            ),
            Self::Archive => (
                "archives: ZIP, 7-Zip, RAR, gzip, bzip2, xz, Zstandard",
                "unpack it and give the files inside",
            ),
            Self::OutlookMessage => (
                "Outlook messages (`.msg`)",
                "open it in its program and save it as .eml, HTML or text",
            ),
            Self::Mailbox => ("mailboxes (`.mbox`)", "export its messages as .eml files"),
            Self::Drawing => ("SVG drawings (`.svg`)", "save it as PDF or PNG"),
            Self::DamagedOffice => ("Office files that cannot be opened", RESAVE),
            Self::OtherOffice => {
                ("files of other Office programs", "save it as PDF, HTML or text in its program")
            }
            Self::Program => ("programs", "it is not a document"),
            Self::OtherBinary => (
                "other binary files, such as other databases",
                "if it is a document, convert it to text first",
            ),
            Self::Mismatch => (
                "files whose content does not match their name",
                "open it and see whether the right file was saved; if it is text, rename it to .txt",
            ),
            Self::NoText => {
                ("files without readable content", "check that it is the file you meant")
            }
            Self::Empty => ("empty files", "check that it was saved or copied completely"),
        };
        RefusedWords { files, advice }
    }

    /// The kind in Chinese.
    pub fn chinese(self) -> RefusedWords {
        let (files, advice) = match self {
            Self::Encrypted => ("加密的文档", "用密码打开，另存为不带密码的文件"),
            Self::EncryptedParquet => ("加密的 Parquet 文件", "另存为不加密的文件"),
            Self::ProtectedBook => ("有复制保护的电子书", "请提供没有保护的副本"),
            Self::NoPages => ("没有页的 PDF", "用相应程序打开并重新保存"),
            Self::OtherCodec => {
                ("用 Brotli 或 LZO 压缩的 Parquet 文件", "改用 Snappy、gzip、LZ4 或 Zstandard 写出")
            }
            Self::Archive => {
                ("压缩包：ZIP、7-Zip、RAR、gzip、bzip2、xz、Zstandard", "解压后给出其中的文件")
            }
            Self::OutlookMessage => {
                ("Outlook 邮件（`.msg`）", "在其程序中另存为 .eml、HTML 或文本")
            }
            Self::Mailbox => ("邮箱文件（`.mbox`）", "把其中的邮件导出为 .eml 文件"),
            Self::Drawing => ("SVG 图形（`.svg`）", "另存为 PDF 或 PNG"),
            Self::DamagedOffice => (
                "无法打开的 Office 文件",
                "文件已加密、损坏或格式过旧：用相应程序打开，另存为不带密码的 .docx、.xlsx 或 .pptx",
            ),
            Self::OtherOffice => ("其他 Office 程序的文件", "在其程序中另存为 PDF、HTML 或文本"),
            Self::Program => ("程序", "这不是文档"),
            Self::OtherBinary => ("其他二进制文件，例如其他数据库", "若是文档，请先转换为文本"),
            Self::Mismatch => {
                ("内容与扩展名不符的文件", "打开文件，检查保存的是否正确；若是文本，请改名为 .txt")
            }
            Self::NoText => ("没有可读内容的文件", "请检查是否选对了文件"),
            Self::Empty => ("空文件", "请检查是否已完整保存或复制"),
        };
        RefusedWords { files, advice }
    }

    /// The next step in messages.
    pub(crate) fn advice(self) -> &'static str {
        self.english().advice
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{ole, packed, run};

    /// The message for a file of the kind.
    fn refused(kind: RefusedKind) -> String {
        match kind {
            RefusedKind::Encrypted => run("a.docx", ole("EncryptedPackage")),
            RefusedKind::EncryptedParquet => run("a.parquet", b"PARE and PARE"),
            RefusedKind::ProtectedBook => run("a.epub", protected_book()),
            RefusedKind::NoPages => run("a.pdf", pdf_without_pages()),
            RefusedKind::OtherCodec => {
                run("a.parquet", include_bytes!("../../corpus/parquet/brotli.parquet"))
            }
            RefusedKind::Archive => run("a.zip", packed(&[("a.txt", "words")])),
            RefusedKind::OutlookMessage => run("a.msg", ole("__properties_version1.0")),
            RefusedKind::Mailbox => run("a.mbox", "From ada"),
            RefusedKind::Drawing => run("a.svg", "<svg/>"),
            RefusedKind::DamagedOffice => run("a.xls", ole("Other")),
            RefusedKind::OtherOffice => {
                run("a.vsdx", packed(&[("[Content_Types].xml", "<Types/>")]))
            }
            RefusedKind::Program => run("a", b"\x7fELF"),
            RefusedKind::OtherBinary => run("a.mdb", b"\0\x01\0\0Standard Jet DB"),
            RefusedKind::Mismatch => run("a.pdf", "<html>log in first</html>"),
            RefusedKind::NoText => run("a.txt", " \n"),
            RefusedKind::Empty => run("a.txt", b""),
        }
    }

    fn protected_book() -> Vec<u8> {
        packed(&[
            (
                "META-INF/container.xml",
                "<container><rootfiles><rootfile full-path='b.opf'/></rootfiles></container>",
            ),
            (
                "b.opf",
                "<package><manifest><item id='a' href='a.xhtml'/></manifest>\
                 <spine><itemref idref='a'/></spine></package>",
            ),
            ("a.xhtml", "<html><body><p>words</p></body></html>"),
            ("META-INF/encryption.xml", "<e><CipherReference URI='a.xhtml'/></e>"),
        ])
    }

    fn pdf_without_pages() -> &'static str {
        "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n\
         2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n\
         trailer\n<</Size 3/Root 1 0 R>>\n%%EOF\n"
    }

    #[test]
    fn files_of_every_kind_are_refused_with_its_advice() {
        for &kind in RefusedKind::ALL {
            let message = refused(kind);
            assert!(message.starts_with("`a") && message.contains(" is "), "{kind:?}: {message}");
            assert!(message.contains(kind.advice()), "{kind:?}: {message}");
        }
    }
}
