//! Finds the measured quantity in a table's title: `Electricity use by plant, kWh` measures electricity use in kWh.

use pikerag_language::{is_chinese, pattern};

use super::periods::period_named;
use crate::{header_says, narrowed};

/// The most characters and words of a name; longer texts are sentences.
const LONGEST: usize = 40;
const MOST_WORDS: usize = 6;

/// A title's information about the numbers below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    /// The measured quantity; empty if the title gives nothing usable.
    pub name: String,
    pub unit: Option<String>,
}

pattern!(NUMBERED, r"^(?:table|tab\.?|figure|fig\.?|sheet|表|图)\s*\d[\d.\-]*\s*[:.、]?\s*");
pattern!(UNIT, r"[(\[]?\s*(?:units?\s*:\s*|单位\s*[:]?\s*)([^\s()\[\],;，；]+)\s*[)\]]?");
pattern!(BRACKETS, r"\s*[(\[]([^()\[\]]+)[)\]]");
pattern!(UNIT_BEHIND, r"^(.+?)\s+in\s+([^\s]+)$");
pattern!(
    PERIODS,
    r"[(\[]?(?:(?:\b(?:in|for|of|during|from|since)\s+)?(?:\b(?:fy|q[1-4])[\s-]?)?(?:19|20)\d\d(?:年度?|财年)?(?:\s?(?:[-–/~至到]|to)\s?\d{2,4}年?)?(?:\s?(?:q[1-4]\b|第?[一二三四1-4]季度|\d{1,2}月))?|第[一二三四1-4]季度|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s?(?:[-–]|to)\s?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)[)\]]?"
);
pattern!(TAIL, r"(?i)(?:\s+(?:by|per|for each|of each|across)\s|[,;:，；：(\[]|\s[-–—]\s).*$");
pattern!(
    HEAD,
    r"^(?:monthly|quarterly|annual|yearly|月度|季度|年度|每月|各月份?|逐月|分月|按月|每季度|各季度|历年)(?:的|\s)*"
);
pattern!(
    REST,
    r"(?:[\s的]*(?:\b(?:report|table|overview|summary|statistics|figures|data|sheet\d*|tabelle\d*|page \d+|book\d*|untitled|in|for|of)\b|统计表|汇总表|明细表|一览表|情况表|报表|[日周月季年]报表?|统计|汇总|明细|一览|情况|工作表\d*|数据|表|\d+))+$"
);

/// The measured quantity of one title. `keys` are the names of the columns beside the numbers.
pub(crate) fn measured(title: &str, keys: &[String]) -> Measured {
    let mut found = Measured::default();
    for line in title.lines() {
        let Measured { name, unit } = of_line(line, keys);
        if found.name.is_empty() {
            found.name = name;
        }
        found.unit = found.unit.or(unit);
    }
    found
}

fn of_line(line: &str, keys: &[String]) -> Measured {
    let narrow = narrowed(line).replace('_', " ");
    let text = NUMBERED.replace(narrow.trim(), "").into_owned();
    let declared = UNIT.captures(&text).and_then(|found| Some(found.get(1)?.as_str().to_owned()));
    let text = UNIT.replace(&text, "").into_owned();
    let text = PERIODS.replace_all(&text, " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_matches([',', ';', ' ', '-']).to_owned();
    let in_brackets = BRACKETS.captures(&text).and_then(|found| found.get(1));
    let in_brackets = in_brackets.map(|found| found.as_str().to_owned());
    let text = BRACKETS.replace_all(&text, "").into_owned();
    let says = header_says(&text);
    let declared = declared.or(in_brackets).filter(|unit| is_unit(unit));
    let mut unit = declared.or(says.unit);
    let mut name = says.name;
    if let Some(found) = UNIT_BEHIND.captures(&name)
        && let (Some(before), Some(behind)) = (found.get(1), found.get(2))
        && is_unit(behind.as_str())
    {
        unit = unit.or(Some(behind.as_str().to_owned()));
        name = before.as_str().to_owned();
    }
    let name = TAIL.replace(&name, "").into_owned();
    let name = without_keys(&name, keys);
    let name = HEAD.replace(name.trim(), "").into_owned();
    let name = REST.replace(&name, "").into_owned();
    let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '%').to_owned();
    // A name of one letter is the name of a file.
    let fewest = if name.chars().any(is_chinese) { 2 } else { 3 };
    let is_usable = fewest <= name.chars().filter(|c| c.is_alphabetic()).count()
        && name.chars().count() <= LONGEST
        && name.split_whitespace().count() <= MOST_WORDS
        && period_named(&name).is_none();
    Measured { name: if is_usable { name } else { String::new() }, unit }
}

fn is_unit(text: &str) -> bool {
    header_says(&format!("x ({text})")).unit.is_some()
}

/// The name without `各工厂`, if a column is called 工厂.
fn without_keys(name: &str, keys: &[String]) -> String {
    let Some(rest) = name.trim_start().strip_prefix('各') else { return name.to_owned() };
    for key in keys.iter().filter(|key| !key.is_empty() && key.chars().all(is_chinese)) {
        let last = key.chars().last().map(String::from).unwrap_or_default();
        let behind = rest.strip_prefix(key.as_str()).or_else(|| rest.strip_prefix(&last));
        if let Some(behind) = behind {
            return behind.trim_start_matches('的').to_owned();
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_say_what_is_measured() {
        let titles = [
            "Electricity use by plant, kWh",
            "Electricity use (kWh) by plant, 2024",
            "Table 3: Sales in 2024 per region (EUR)",
            "Monthly rainfall in mm",
            "Sales 2024",
            "2024",
            "Sheet1",
            "Q1 2024",
            "sales_2024",
            "Annual report 2023",
            "Unit: kWh",
            "Electricity use\nUnit: MWh",
            "2024年各工厂用电量（千瓦时）",
            "各厂用电量统计表（单位：千瓦时）",
            "单位：万元",
            "月度销售额",
            "2019-2021年人口",
            "Revenue, Jan-Dec 2024",
            "All values in this table were read by the staff of the plants every month",
            "",
        ];
        let lines: Vec<String> = titles
            .iter()
            .map(|title| {
                let Measured { name, unit } = measured(title, &["工厂".to_owned()]);
                format!("{} -> {name} | {}", title.replace('\n', " / "), unit.unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        Electricity use by plant, kWh -> Electricity use | kWh
        Electricity use (kWh) by plant, 2024 -> Electricity use | kWh
        Table 3: Sales in 2024 per region (EUR) -> Sales | EUR
        Monthly rainfall in mm -> rainfall | mm
        Sales 2024 -> Sales | 
        2024 ->  | 
        Sheet1 ->  | 
        Q1 2024 ->  | 
        sales_2024 -> sales | 
        Annual report 2023 ->  | 
        Unit: kWh ->  | kWh
        Electricity use / Unit: MWh -> Electricity use | MWh
        2024年各工厂用电量（千瓦时） -> 用电量 | 千瓦时
        各厂用电量统计表（单位：千瓦时） -> 用电量 | 千瓦时
        单位：万元 ->  | 万元
        月度销售额 -> 销售额 | 
        2019-2021年人口 -> 人口 | 
        Revenue, Jan-Dec 2024 -> Revenue | 
        All values in this table were read by the staff of the plants every month ->  | 
         ->  |
        ");
    }

    proptest! {
        #[test]
        fn any_title_is_survived(title in "(\\PC|[0-9,()各按月年 \n]){0,60}", key in "\\PC{0,4}") {
            let Measured { name, .. } = measured(&title, &[key]);
            prop_assert!(name.chars().count() <= LONGEST);
        }
    }
}
