//! Words the wait for model calls: the model, its task, the time so far and the expected time.

use pikerag_knowledge::{OpenCall, Role};

use crate::language::{Language, Words};

/// The oldest of these calls in one line, and the number of the others; `None` without a call.
pub fn waiting(calls: &[OpenCall]) -> Option<Words> {
    let (call, others) = calls.split_first()?;
    let (model, task) = (&call.model, task(call.role));
    let mut parts = vec![
        Words::new(format!("{model} {}", task.english), format!("{model} 正在{}", task.chinese)),
        size(call),
        times(call),
    ];
    match others.len() {
        0 => {}
        1 => parts.push(Words::new("and 1 more call", "另有 1 次调用")),
        more => {
            let words = format!("and {more} more calls");
            parts.push(Words::new(words, format!("另有 {more} 次调用")));
        }
    }
    let line = |language| {
        let parts: Vec<String> = parts.iter().map(|part| part.clone().of(language)).collect();
        parts.join(" · ")
    };
    Some(Words::new(line(Language::English), line(Language::Chinese)))
}

/// The passages and tokens of the prompt.
fn size(call: &OpenCall) -> Words {
    let tokens = two_digits(call.prompt_tokens);
    let (english, chinese) = match call.passages {
        0 => (String::new(), String::new()),
        1 => ("1 passage, ".to_owned(), " 1 个文本块，".to_owned()),
        more => (format!("{more} passages, "), format!(" {more} 个文本块，")),
    };
    Words::new(
        format!("{english}about {tokens} tokens to read"),
        format!("需读入{chinese}约 {tokens} 个 Token"),
    )
}

/// The time so far, and the expected time if it is known.
fn times(call: &OpenCall) -> Words {
    let waited = seconds(call.waited_ms);
    match call.expected_ms.map(seconds) {
        None => Words::new(waited.english, format!("已等 {}", waited.chinese)),
        Some(expected) => Words::new(
            format!("{}, usually about {}", waited.english, expected.english),
            format!("已等 {}，通常约 {}", waited.chinese, expected.chinese),
        ),
    }
}

/// What a model does in this role.
fn task(role: Role) -> Words {
    match role {
        Role::Atomize => Words::new("writes atomic questions", "编写原子问题"),
        Role::Propose => Words::new("proposes sub-questions", "提出子问题"),
        Role::Select => Words::new("chooses a candidate", "选择候选"),
        Role::Answer => Words::new("writes the answer", "撰写回答"),
        Role::Judge => Words::new("judges an answer", "评判回答"),
        Role::Summarize => Words::new("writes a summary", "撰写摘要"),
        Role::Tag => Words::new("finds tags", "确定标签"),
        Role::Describe => Words::new("describes a picture", "描述图片"),
        Role::Classify => Words::new("finds the class of the question", "判断问题的类别"),
        Role::Know => Words::new("checks its own knowledge", "检查自身知识"),
        Role::Relevant => Words::new("checks whether a passage is relevant", "判断文本块是否相关"),
        Role::Decompose => Words::new("splits the question into parts", "分解问题"),
        Role::Reason => Words::new("works on the next step", "推理下一步"),
        Role::Grade => Words::new("grades a step", "评定一个步骤"),
        Role::Rewrite => Words::new("rewrites the question", "改写问题"),
        Role::Extract => Words::new("extracts facts", "提取事实"),
        Role::Look => Words::new("reads the passages found", "阅读找到的文本块"),
    }
}

/// A time in whole seconds, with minutes from 100 seconds on.
fn seconds(millis: u64) -> Words {
    let seconds = millis.saturating_add(500) / 1000;
    match (seconds / 60, seconds % 60) {
        _ if seconds < 100 => Words::new(format!("{seconds} s"), format!("{seconds} 秒")),
        (minutes, seconds) => {
            Words::new(format!("{minutes} min {seconds} s"), format!("{minutes} 分 {seconds} 秒"))
        }
    }
}

/// The number with its first two digits, and zeros after them: an estimate has no more.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while 100 <= number / unit {
        unit *= 10;
    }
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use pikerag_language::is_chinese;

    use super::*;

    fn call(role: Role, passages: u64, waited_ms: u64, expected_ms: Option<u64>) -> OpenCall {
        let model = "qwen3-4b".to_owned();
        OpenCall { role, model, passages, prompt_tokens: 3149, waited_ms, expected_ms }
    }

    #[test]
    fn a_wait_has_the_model_the_task_and_the_times() {
        let one = [call(Role::Answer, 9, 12_300, Some(40_000))];
        let several = [call(Role::Rewrite, 0, 150_000, None), one[0].clone(), one[0].clone()];
        let mut lines = Vec::new();
        for calls in [&one[..], &several[..], &several[..2]] {
            let Words { english, chinese } = waiting(calls).unwrap();
            lines.extend([english, chinese]);
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        qwen3-4b writes the answer · 9 passages, about 3100 tokens to read · 12 s, usually about 40 s
        qwen3-4b 正在撰写回答 · 需读入 9 个文本块，约 3100 个 Token · 已等 12 秒，通常约 40 秒
        qwen3-4b rewrites the question · about 3100 tokens to read · 2 min 30 s · and 2 more calls
        qwen3-4b 正在改写问题 · 需读入约 3100 个 Token · 已等 2 分 30 秒 · 另有 2 次调用
        qwen3-4b rewrites the question · about 3100 tokens to read · 2 min 30 s · and 1 more call
        qwen3-4b 正在改写问题 · 需读入约 3100 个 Token · 已等 2 分 30 秒 · 另有 1 次调用
        ");
    }

    #[test]
    fn no_call_has_no_words() {
        assert_eq!(waiting(&[]), None);
    }

    #[test]
    fn each_role_has_a_task_of_its_own_in_both_languages() {
        let mut seen = Vec::new();
        for &role in Role::ALL {
            let Words { english, chinese } = task(role);
            assert!(!english.contains(is_chinese) && chinese.contains(is_chinese), "{role}");
            assert!(!seen.contains(&english) && !seen.contains(&chinese), "{role}");
            seen.extend([english, chinese]);
        }
    }

    #[test]
    fn estimates_have_two_digits_and_times_whole_seconds() {
        assert_eq!([0, 7, 99, 104, 3149, 12_999].map(two_digits), [0, 7, 99, 100, 3100, 12_000]);
        let english = |millis| seconds(millis).english;
        assert_eq!([499, 500, 99_400, 99_600].map(english), ["0 s", "1 s", "99 s", "1 min 40 s"]);
    }
}
