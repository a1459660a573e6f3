//! Words messages of our own that errors keep as text: of endpoints and of the layout of a base.

/// The message in Chinese; `None` if it has no words here.
pub(crate) fn own(english: &str) -> Option<String> {
    of_endpoints(english).or_else(|| of_layouts(english))
}

fn of_endpoints(english: &str) -> Option<String> {
    if english == "its base URL has no path" {
        return Some("其基础地址没有路径".to_owned());
    }
    if let Some(why) = between(english, "its base URL must be an http or https address (", ")") {
        return Some(format!("其基础地址必须是 http 或 https 地址（{why}）"));
    }
    if let Some(scheme) = english.strip_prefix("its base URL must be http or https, not ") {
        return Some(format!("其基础地址必须是 http 或 https，而不是 {scheme}"));
    }
    if let Some(origin) = english.strip_prefix("no whole reply from ") {
        return Some(format!("没有收到 {origin} 的完整回复"));
    }
    if let Some(what) = english.strip_suffix(" holds characters that no HTTP header can carry") {
        let what = if what == "its API key" { "其 API 密钥" } else { what };
        return Some(format!("{what} 中有 HTTP 请求头不允许的字符"));
    }
    let (name, why) = english.split_once(" cannot be the name of a header (")?;
    Some(format!("{name} 不能作为请求头的名称（{}）", why.trim_end_matches(')')))
}

fn of_layouts(english: &str) -> Option<String> {
    if english == "there is no knowledge base, and none can be created" {
        return Some("没有知识库，也无法创建".to_owned());
    }
    let (layout, rest) =
        english.strip_prefix("it has layout ")?.split_once(|c: char| !c.is_ascii_digit())?;
    let number = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    let other = number(rest);
    if rest.contains("knows layouts up to") {
        return Some(format!(
            "其布局为 {layout}，而此版本的 pikerag 只认识布局 {other} 及以前的：它由更新的版本写入"
        ));
    }
    if rest.contains("was never released") {
        return Some(format!("其布局为 {layout}，从未发布过；可读取布局 {other} 及以后的"));
    }
    rest.contains("cannot be written")
        .then(|| format!("其布局为 {layout}，需要升级到布局 {other}，但无法写入"))
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.strip_prefix(begin)?.strip_suffix(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_endpoints_and_layouts_have_words() {
        for (english, chinese) in [
            (
                "its base URL must be http or https, not ftp",
                "其基础地址必须是 http 或 https，而不是 ftp",
            ),
            (
                "its base URL must be an http or https address (empty host)",
                "其基础地址必须是 http 或 https 地址（empty host）",
            ),
            (
                "it has layout 12, and this version of pikerag knows layouts up to 10: a newer version wrote it",
                "其布局为 12，而此版本的 pikerag 只认识布局 10 及以前的：它由更新的版本写入",
            ),
            (
                "it has layout 1, which was never released; layouts from 3 on are read",
                "其布局为 1，从未发布过；可读取布局 3 及以后的",
            ),
            (
                "it has layout 4 and must be brought to layout 10, but cannot be written",
                "其布局为 4，需要升级到布局 10，但无法写入",
            ),
        ] {
            assert_eq!(own(english).as_deref(), Some(chinese));
        }
        assert_eq!(own("something else"), None);
    }
}
