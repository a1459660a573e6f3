//! Words in Chinese why a folder does not prove that its files are gone.

use pikerag_narrate::foreign;

use crate::presence::UnclearReason;

pub(super) fn unclear(unclear: &UnclearReason) -> String {
    match unclear {
        UnclearReason::Unreadable { reason } => format!("无法读取：{}", foreign(reason)),
        UnclearReason::Empty => "文件夹是空的，可能是未挂载的磁盘".to_owned(),
        UnclearReason::NotMounted => "原为单独的磁盘，现在没有挂载".to_owned(),
        UnclearReason::NoRoot => "知识库的文件所在的文件夹找不到，可能没有挂载".to_owned(),
        UnclearReason::Missing => "文件夹不存在，可能是未挂载的磁盘".to_owned(),
    }
}
