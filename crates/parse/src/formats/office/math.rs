//! Writes formulas of Office on one line, with structure as in `LaTeX` and unchanged letters
//! (ECMA-376 part 1, §22.1).

use pikerag_unpack::xml::Element;

/// A formula as text: `a^{2}+\frac{1}{b}`.
pub(crate) fn linear(formula: Element) -> String {
    let mut text = String::new();
    for part in formula.elements() {
        text.push_str(&piece(part));
    }
    text
}

fn piece(part: Element) -> String {
    let of = |name: &str| part.child(name).map(linear).unwrap_or_default();
    let property = |name: &str| {
        let properties = part.elements().find(|element| element.name().ends_with("Pr"));
        properties.and_then(|properties| properties.child(name)?.attr("val"))
    };
    match part.name() {
        "r" => part.all("t").map(Element::text).collect(),
        "f" => match property("type").as_deref() {
            Some("lin" | "skw") => format!("{}/{}", of("num"), of("den")),
            Some("noBar") => format!("\\binom{{{}}}{{{}}}", of("num"), of("den")),
            _ => format!("\\frac{{{}}}{{{}}}", of("num"), of("den")),
        },
        "sSup" => format!("{}^{{{}}}", of("e"), of("sup")),
        "sSub" => format!("{}_{{{}}}", of("e"), of("sub")),
        "sSubSup" => format!("{}_{{{}}}^{{{}}}", of("e"), of("sub"), of("sup")),
        "sPre" => format!("{{}}_{{{}}}^{{{}}}{}", of("sub"), of("sup"), of("e")),
        "rad" => match of("deg") {
            degree if degree.is_empty() => format!("\\sqrt{{{}}}", of("e")),
            degree => format!("\\sqrt[{degree}]{{{}}}", of("e")),
        },
        "nary" => {
            let sign =
                property("chr").map_or_else(|| "∫".to_owned(), |sign| operator(&sign).to_owned());
            let limit = |mark: &str, limit: String| match limit.is_empty() {
                true => String::new(),
                false => format!("{mark}{{{limit}}}"),
            };
            format!("{sign}{}{} {}", limit("_", of("sub")), limit("^", of("sup")), of("e"))
        }
        "d" => {
            let open =
                property("begChr").map_or_else(|| "(".to_owned(), std::borrow::Cow::into_owned);
            let close =
                property("endChr").map_or_else(|| ")".to_owned(), std::borrow::Cow::into_owned);
            let separator =
                property("sepChr").map_or_else(|| "|".to_owned(), std::borrow::Cow::into_owned);
            let inner: Vec<String> = part.all("e").map(linear).collect();
            format!("{open}{}{close}", inner.join(&separator))
        }
        "func" => format!("{}{}", of("fName"), of("e")),
        "limLow" => format!("{}_{{{}}}", of("e"), of("lim")),
        "limUpp" => format!("{}^{{{}}}", of("e"), of("lim")),
        "m" => {
            let rows: Vec<String> = part
                .all("mr")
                .map(|row| row.all("e").map(linear).collect::<Vec<_>>().join(" & "))
                .collect();
            rows.join(r" \\ ")
        }
        "eqArr" => part.all("e").map(linear).collect::<Vec<_>>().join(r" \\ "),
        "acc" => format!("{}{}", of("e"), property("chr").as_deref().unwrap_or("\u{302}")),
        name if name.ends_with("Pr") => String::new(),
        "t" => part.text(),
        _ => linear(part),
    }
}

/// Superscript or subscript text, if characters exist for it: `10⁶` must not become `106`.
pub(crate) fn raised(text: &str, is_high: bool) -> String {
    const PLAIN: &str = "0123456789+-=()n";
    const HIGH: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ";
    const LOW: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ";
    let letters = if is_high { HIGH } else { LOW };
    let letter = |c: char| match c {
        '−' => letters.chars().nth(11),
        c => PLAIN.chars().position(|plain| plain == c).and_then(|at| letters.chars().nth(at)),
    };
    text.chars().map(letter).collect::<Option<String>>().unwrap_or_else(|| text.to_owned())
}

fn operator(sign: &str) -> &str {
    match sign {
        "∑" => r"\sum",
        "∏" => r"\prod",
        "∫" => r"\int",
        sign => sign,
    }
}
