//! Knows the spellings of units, as columns and questions write them.

/// The unit that a word names, in one spelling; `word` is lower case.
pub(crate) fn unit_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "g" | "gram" | "grams" | "克" => "g",
        "kg" | "kilogram" | "kilograms" | "公斤" | "千克" => "kg",
        "t" | "ton" | "tons" | "tonne" | "tonnes" | "吨" => "t",
        "mm" | "millimetre" | "millimetres" | "millimeter" | "millimeters" | "毫米" => "mm",
        "cm" | "centimetre" | "centimetres" | "centimeter" | "centimeters" | "厘米" => "cm",
        "m" | "metre" | "metres" | "meter" | "meters" | "米" => "m",
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" | "公里" | "千米" => {
            "km"
        }
        "mile" | "miles" | "英里" => "mile",
        "ft" | "foot" | "feet" | "英尺" => "ft",
        "minute" | "minutes" | "min" | "分钟" => "min",
        "h" | "hour" | "hours" | "小时" => "h",
        "s" | "second" | "seconds" | "秒" => "s",
        "d" | "day" | "days" | "天" => "d",
        "week" | "weeks" | "周" | "星期" => "week",
        "usd" | "$" | "dollar" | "dollars" | "美元" => "usd",
        "eur" | "€" | "euro" | "euros" | "欧元" => "eur",
        "gbp" | "£" | "pound" | "pounds" | "sterling" | "英镑" => "gbp",
        "jpy" | "¥" | "yen" | "日元" => "jpy",
        "元" | "人民币" | "cny" | "rmb" | "yuan" | "块" | "块钱" => "cny",
        "万元" | "万" => "万元",
        "亿元" | "亿" => "亿元",
        "keur" | "千欧元" | "千欧" => "keur",
        "l" | "litre" | "litres" | "liter" | "liters" | "升" => "l",
        "ml" | "millilitre" | "millilitres" | "milliliter" | "milliliters" | "毫升" => "ml",
        "份" | "portion" | "portions" => "份",
        "%" | "percent" => "%",
        "k" | "kelvin" | "开尔文" | "开" => "k",
        "°c" | "celsius" | "degrees" | "degree" | "度" | "摄氏度" => "°c",
        "岁" => "岁",
        "ppm" => "ppm",
        "kn" | "knot" | "knots" | "节" => "kn",
        "mwh" | "兆瓦时" => "mwh",
        "kwh" | "千瓦时" | "度电" => "kwh",
        "thousand" | "千" | "千人" => "thousand",
        "million" | "百万" => "million",
        "billion" | "十亿" => "billion",
        _ => return None,
    })
}
