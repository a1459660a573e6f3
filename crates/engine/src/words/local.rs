//! Words the errors of models of this machine in Chinese, and what to do about them.

use pikerag_models::open_models::FetchError;
use pikerag_narrate::Words;

use crate::local_error::LocalModelError;

/// An error without its causes, in Chinese.
pub(super) fn local_model(error: &LocalModelError) -> String {
    match error {
        LocalModelError::NoSuchModel { name } => format!("没有模型 `{name}`"),
        LocalModelError::BadName { name } => {
            format!("`{name}` 不能作为模型名称：只可用字母、数字、`.`、`_` 和 `-`")
        }
        LocalModelError::NotHere { name } => format!("本机没有 `{name}` 的文件"),
        LocalModelError::BadServer { path } => {
            format!("`local.server` 是 {}，不是程序", path.display())
        }
        LocalModelError::NoServer => {
            "未安装 llama.cpp 的服务器：既没有 `llama-server`，也没有 Python 包 `xllamacpp`"
                .to_owned()
        }
        LocalModelError::NoMemory { name, needed_mib, free_mib } => {
            format!("`{name}` 需要 {needed_mib} MiB 内存，可用 {free_mib} MiB")
        }
        LocalModelError::NotStarted { program, .. } => format!("无法启动 {}", program.display()),
        LocalModelError::Ended { complaint, log } => {
            format!("服务器在应答之前就结束了：{complaint}；日志：{}", log.display())
        }
        LocalModelError::TooSlow { seconds, log } => {
            format!("服务器在 {seconds} 秒内没有应答；日志：{}", log.display())
        }
        LocalModelError::KeepsEnding { times, log } => {
            format!("服务器在一分钟内结束了 {times} 次；日志：{}", log.display())
        }
        LocalModelError::NoRandom => "系统没有提供随机数".to_owned(),
        LocalModelError::Offline => "离线时不下载，也不运行模型".to_owned(),
        LocalModelError::NoPython => {
            "未安装 Python：路径上既没有 `python3`，也没有 `python`".to_owned()
        }
        LocalModelError::Pip { what, complaint } => format!("`pip` 无法下载 {what}：{complaint}"),
        LocalModelError::Fetch(error) => fetching(error),
        LocalModelError::Folder { path, .. } => format!("{} 无法使用", path.display()),
        LocalModelError::NotSet { path } => format!("无法在 {} 中设置模型", path.display()),
    }
}

/// A failed download without its causes, in Chinese.
pub(super) fn fetching(error: &FetchError) -> String {
    match error {
        FetchError::BadAddress { url } => format!("{url} 不是 https 地址"),
        FetchError::Broken { host, .. } => format!("无法连接 {host}，或其停止发送"),
        FetchError::Status { host, status } => format!("{host} 返回 HTTP {status}"),
        FetchError::Cut { got, all } => format!("只收到 {got} 字节，共 {all} 字节"),
        FetchError::Checksum { expected, seen } => {
            format!("文件的校验和是 {seen}，而不是 {expected}；文件已删除")
        }
        FetchError::NotGguf => "文件不是 GGUF 格式，已删除".to_owned(),
        FetchError::BadPackage { path } => format!("{} 中没有唯一的权重文件", path.display()),
        FetchError::UnreadablePackage { path, .. } => {
            format!("{} 不能作为软件包读取", path.display())
        }
        FetchError::NotWritten { path, .. } => format!("{} 无法写入", path.display()),
    }
}

/// What to do about a model of this machine that cannot be used: the command or setting that helps.
/// `doctor` shows it too, on all interfaces.
pub fn remedy(error: &LocalModelError) -> Option<Words> {
    let (english, chinese) = match error {
        LocalModelError::NoSuchModel { .. } => {
            ("`pikerag models` lists the models", "用 `pikerag models` 列出模型")
        }
        LocalModelError::NotHere { name } => {
            return Some(Words::new(
                format!("fetch it with `pikerag models pull {name}`"),
                format!("请用 `pikerag models pull {name}` 下载"),
            ));
        }
        LocalModelError::NoServer => (
            "install it with `pikerag models pull --server`, or set `local.server`",
            "请用 `pikerag models pull --server` 安装，或设置 `local.server`",
        ),
        LocalModelError::NoMemory { .. } => (
            "end other programs, lower `local.context_tokens`, or choose a smaller model (`pikerag models`)",
            "请结束其他程序，降低 `local.context_tokens`，或选用较小的模型（`pikerag models`）",
        ),
        LocalModelError::Fetch(FetchError::Broken { .. } | FetchError::Cut { .. }) => (
            "run it again to continue; HF_ENDPOINT names a mirror of the hub, and `pikerag models` the models that come from packages",
            "再次运行即可继续；可用 HF_ENDPOINT 指定镜像，`pikerag models` 会标出来自软件包的模型",
        ),
        LocalModelError::NoPython => (
            "install Python 3, or fetch a model by its address: `pikerag models pull URL`",
            "请安装 Python 3，或按地址下载模型：`pikerag models pull URL`",
        ),
        LocalModelError::NotSet { .. } => {
            ("set `model` under `[chat]` in it yourself", "请自行在其中 `[chat]` 下设置 `model`")
        }
        LocalModelError::BadServer { .. } => {
            ("correct it, or leave it out", "请更正，或去掉该设置")
        }
        _ => return None,
    };
    Some(Words::new(english, chinese))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::chinese_chain;

    #[test]
    fn errors_of_local_models_have_chinese_words_and_advice() {
        let errors = [
            LocalModelError::NotHere { name: "smollm2-135m".to_owned() },
            LocalModelError::NoServer,
            LocalModelError::NoMemory { name: "m".to_owned(), needed_mib: 5000, free_mib: 900 },
            LocalModelError::Fetch(FetchError::Cut { got: 1, all: 2 }),
        ];
        let lines = errors.map(|error| {
            let advice = remedy(&error).unwrap();
            format!("{error}; {}\n{}；{}", advice.english, chinese_chain(&error), advice.chinese)
        });
        insta::assert_snapshot!(lines.join("\n"), @r"
        the file of `smollm2-135m` is not on this machine; fetch it with `pikerag models pull smollm2-135m`
        本机没有 `smollm2-135m` 的文件；请用 `pikerag models pull smollm2-135m` 下载
        llama.cpp's server is not installed: neither `llama-server` nor the Python package `xllamacpp`; install it with `pikerag models pull --server`, or set `local.server`
        未安装 llama.cpp 的服务器：既没有 `llama-server`，也没有 Python 包 `xllamacpp`；请用 `pikerag models pull --server` 安装，或设置 `local.server`
        `m` needs 5000 MiB of memory, and 900 MiB are free; end other programs, lower `local.context_tokens`, or choose a smaller model (`pikerag models`)
        `m` 需要 5000 MiB 内存，可用 900 MiB；请结束其他程序，降低 `local.context_tokens`，或选用较小的模型（`pikerag models`）
        only 1 of 2 bytes came; run it again to continue; HF_ENDPOINT names a mirror of the hub, and `pikerag models` the models that come from packages
        只收到 1 字节，共 2 字节；再次运行即可继续；可用 HF_ENDPOINT 指定镜像，`pikerag models` 会标出来自软件包的模型
        ");
    }
}
