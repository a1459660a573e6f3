//! Words files that `index` does not take from folders, and files whose cost looks wrong.

use pikerag_narrate::{InWords, Words, counted};

use crate::files::{CostlyFile, OmittedFiles, OmittedKind};

impl InWords for OmittedFiles {
    fn words(&self) -> Words {
        let Self { kind, count, examples } = self;
        let more = if examples.len() < *count { "…" } else { "" };
        let names = |comma: &str| {
            let names = examples.iter().map(String::as_str).chain([more]);
            names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(comma)
        };
        let (noun, chinese) = nouns(*kind);
        Words::new(
            format!("{} ({})", counted(*count, noun), names(", ")),
            format!("{count} {chinese}（{}）", names("、")),
        )
    }
}

/// The faults of the file; empty if it looks right.
impl InWords for CostlyFile {
    fn words(&self) -> Words {
        let (mut english, mut chinese) = (Vec::new(), Vec::new());
        if let Some(kind) = self.looks_like {
            let (noun, of_chinese) = nouns(kind);
            english.push(format!("by its kind ({noun}), a folder leaves it out"));
            chinese.push(format!("属于从文件夹中略去的类别（{}）", bare(of_chinese)));
        }
        if let Some(bytes) = self.longest_line {
            let megabytes = bytes as f64 / 1e6;
            english.push(format!("one line has {megabytes:.1} MB"));
            chinese.push(format!("有一行长达 {megabytes:.1} MB"));
        }
        Words::new(english.join("; "), chinese.join("；"))
    }
}

/// The noun of a kind in English, and in Chinese with its measure word.
fn nouns(kind: OmittedKind) -> (&'static str, &'static str) {
    match kind {
        OmittedKind::Asset => ("asset", "个网页资源文件"),
        OmittedKind::Font => ("font", "个字体文件"),
        OmittedKind::Drawing => ("SVG drawing", "个 SVG 图形"),
        OmittedKind::Minified => ("minified file", "个压缩过的代码文件"),
        OmittedKind::Generated => ("generated file", "个程序生成的文件"),
        OmittedKind::LockFile => ("lock file", "个依赖锁定文件"),
        OmittedKind::SourceCode => ("source file", "个源代码文件"),
        OmittedKind::BuildFolder => ("build folder", "个构建文件夹"),
        OmittedKind::Ignored => ("ignored path", "个被忽略的路径"),
        OmittedKind::Excluded => ("excluded path", "个被排除的路径"),
    }
}

/// The noun without its measure word.
fn bare(chinese: &str) -> &str {
    chinese.strip_prefix('个').unwrap_or(chinese)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn kinds_are_worded_in_both_languages() {
        for kind in OmittedKind::VARIANTS {
            let (english, chinese) = nouns(*kind);
            assert!(english.is_ascii() && !chinese.is_ascii(), "{kind:?}");
        }
        let files = |count, examples: &[&str]| {
            let examples = examples.iter().map(|name| (*name).to_owned()).collect();
            OmittedFiles { kind: OmittedKind::Font, count, examples }.words()
        };
        let one = files(1, &["a.ttf"]);
        assert_eq!([one.english, one.chinese], ["1 font (a.ttf)", "1 个字体文件（a.ttf）"]);
        let many = files(20, &["a.ttf", "b.ttf"]);
        let expected = ["20 fonts (a.ttf, b.ttf, …)", "20 个字体文件（a.ttf、b.ttf、…）"];
        assert_eq!([many.english, many.chinese], expected);
    }

    #[test]
    fn faults_of_a_file_are_worded() {
        let mut file = CostlyFile {
            file: "searchindex.js".to_owned(),
            chunks: 1,
            calls: 0,
            tokens: 0,
            looks_like: None,
            longest_line: None,
        };
        assert_eq!(file.words().english, "");
        file.looks_like = Some(OmittedKind::Generated);
        file.longest_line = Some(2_100_000);
        let Words { english, chinese } = file.words();
        let expected = "by its kind (generated file), a folder leaves it out; one line has 2.1 MB";
        assert_eq!(english, expected);
        assert_eq!(chinese, "属于从文件夹中略去的类别（程序生成的文件）；有一行长达 2.1 MB");
    }
}
