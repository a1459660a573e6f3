//! Arguments of `init`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pikerag_engine::settings::{PROVIDERS, Provider};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Set address, an example model and the variable of the key for this provider.
    #[arg(long, value_name = "NAME", value_parser = provider())]
    pub(crate) provider: Option<&'static Provider>,
}

/// A parser of the names of providers.
fn provider() -> impl TypedValueParser<Value = &'static Provider> {
    let name = |known: &Provider| {
        PossibleValue::new(known.name).aliases(known.other_names.iter().copied())
    };
    PossibleValuesParser::new(PROVIDERS.iter().map(name)).try_map(|name| Provider::find(&name))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::{Arguments, Command};

    #[test]
    fn providers_have_chinese_names_too() {
        let parsed = |name| Arguments::try_parse_from(["pikerag", "init", "--provider", name]);
        for name in ["zhipu", "智谱"] {
            let Command::Init(init) = parsed(name).unwrap().command else { panic!() };
            assert_eq!(init.provider.unwrap().name, "zhipu");
        }
        let refused = parsed("nobody").unwrap_err().to_string();
        assert!(refused.contains("deepseek") && refused.contains("ollama"), "{refused}");
    }
}
