//! Says what to do about a file that is left out.

use pikerag_engine::narrate::Words;
use pikerag_engine::parts::FileError;

/// The advice about a file that is left out.
pub(super) fn about_file(error: &FileError) -> Option<Words> {
    let (english, chinese) = match error {
        FileError::TooLarge { .. } => {
            ("raise `limits.file_mib`, or split it", "请提高 `limits.file_mib`，或拆分文件")
        }
        FileError::TooSlow { .. } => (
            "raise `limits.wall_seconds` if it is worth the wait",
            "如值得等待，请提高 `limits.wall_seconds`",
        ),
        FileError::TooMuchWork { .. } => (
            "raise `limits.cpu_seconds` if it is worth the wait",
            "如值得等待，请提高 `limits.cpu_seconds`",
        ),
        FileError::TooMuchMemory { .. } | FileError::Unfolds { .. } => {
            ("raise `limits.memory_mib`, or split it", "请提高 `limits.memory_mib`，或拆分文件")
        }
        FileError::EmptyFolder => {
            ("hidden files and folders are skipped", "隐藏的文件和文件夹会被略过")
        }
        FileError::NotUtf8 => (
            "rename it; `convmv -f gbk -t utf-8 --notest FILE` converts a name in GBK",
            "请重命名；`convmv -f gbk -t utf-8 --notest 文件` 可转换 GBK 编码的文件名",
        ),
        _ => return None,
    };
    Some(Words::new(english, chinese))
}
