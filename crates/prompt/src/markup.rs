//! Fills in templates of HTML, SVG and XML; `minijinja` escapes every input.
//!
//! No other code escapes markup.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, State, UndefinedBehavior, escape_formatter};
use serde::Serialize;

/// Templates of HTML, SVG or XML that may include one another by name.
///
/// Inputs are escaped, unless a template says `|safe`. Characters that XML 1.0 does not allow
/// become a replacement sign. Lines that contain only a tag of the template leave no empty line.
#[derive(Debug)]
pub struct Markup(Environment<'static>);

/// A template does not compile, or uses a variable that is missing: a defect of pikerag.
#[derive(Debug, thiserror::Error)]
#[error("the template `{template}` is broken")]
pub struct MarkupError {
    template: &'static str,
    source: minijinja::Error,
}

impl Markup {
    /// Compiles templates, each under its name.
    ///
    /// # Errors
    /// A template does not compile.
    pub fn new(templates: &[(&'static str, &'static str)]) -> Result<Self, MarkupError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_formatter(formatter);
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build();
        let template = "(all)";
        environment.set_syntax(syntax.map_err(|source| MarkupError { template, source })?);
        for (template, text) in templates {
            let added = environment.add_template(template, text);
            added.map_err(|source| MarkupError { template, source })?;
        }
        Ok(Self(environment))
    }

    /// Fills a template in.
    ///
    /// # Errors
    /// There is no such template, or `inputs` lacks a variable.
    pub fn render(
        &self,
        template: &'static str,
        inputs: impl Serialize,
    ) -> Result<String, MarkupError> {
        let found = self.0.get_template(template);
        let rendered = found.and_then(|found| found.render(Serde(inputs)));
        rendered.map_err(|source| MarkupError { template, source })
    }
}

/// Escapes a value with the usual formatter, after replacing characters that XML cannot contain in
/// any form.
fn formatter(
    out: &mut minijinja::Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if text.contains(is_forbidden_in_xml) && !value.is_safe() => escape_formatter(
            out,
            state,
            &Value::from(text.replace(is_forbidden_in_xml, "\u{fffd}")),
        ),
        _ => escape_formatter(out, state, value),
    }
}

fn is_forbidden_in_xml(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(text: &str) -> String {
        let markup = Markup::new(&[("a", "{{ text }}")]).unwrap();
        markup.render("a", serde_json::json!({"text": text})).unwrap()
    }

    #[test]
    fn templates_include_each_other_and_leave_no_empty_lines() {
        let page = "<p>\n{% for item in items %}\n  {% include \"item\" %}\n{% endfor %}\n</p>\n";
        let markup = Markup::new(&[("page", page), ("item", "<b>{{ item }}</b>\n")]).unwrap();
        let inputs = serde_json::json!({"items": ["a & b", "</p>"]});
        insta::assert_snapshot!(markup.render("page", inputs).unwrap(), @r"
        <p>
        <b>a &amp; b</b>
        <b>&lt;&#x2f;p&gt;</b>
        </p>
        ");
        assert!(markup.render("item", ()).is_err() && markup.render("none", ()).is_err());
        assert!(Markup::new(&[("broken", "{% for %}")]).is_err());
    }

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        assert_eq!(filled("a\u{1}b\u{ffff}\n手册"), "a\u{fffd}b\u{fffd}\n手册");
    }

    proptest! {
        #[test]
        fn escaping_leaves_no_markup(text in "\\PC{0,40}|[<>&\"'\\x00-\\x1f]{0,20}") {
            let mut bare = filled(&text);
            prop_assert!(!bare.contains(['<', '>', '"', '\'', '\0']));
            for entity in ["&amp;", "&lt;", "&gt;", "&quot;", "&#x27;", "&#x2f;"] {
                bare = bare.replace(entity, "");
            }
            prop_assert!(!bare.contains('&'));
        }
    }
}
