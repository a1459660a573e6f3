//! Sets the embedder and the reranker in the settings file of a running program, and reads the
//! settings again.

use super::set_chat::{ReadAgain, SettingsPlace, store};
use crate::change_error::ChangeModelError;
use crate::engine::Session;
use crate::settings::{
    ChangeableFile, SearchEndpoint, SearchModel, SearchModelChoice, Settings, overriding_address,
    overriding_search, search_endpoint_of,
};

/// The settings with another model of searches.
pub struct SetSearchModelResponse {
    /// All settings, as they are read from the changed file.
    pub settings: Settings,
    /// The variable that must hold the key of the provider and is not set.
    pub needs_key: Option<&'static str>,
}

/// A change that is possible and not made yet.
pub(super) struct Prepared {
    file: ChangeableFile,
    text: String,
    needs_key: Option<&'static str>,
    /// The endpoint of the changed text.
    pub(super) endpoint: SearchEndpoint,
}

/// Writes the endpoint of an embedder or a reranker to the settings file, trusts the file and reads
/// the settings again, as [`set_chat`](crate::set_chat) does. The vectors of a base stay; searches
/// use words only until the next indexing makes those of another embedder. Blocks: call it on a
/// thread that may.
///
/// # Errors
/// See [`ChangeModelError`]; nothing has changed.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) -> Result<(), pikerag_engine::ChangeModelError> {
/// use pikerag_engine::SettingsPlace;
/// use pikerag_engine::settings::{
///     Environment, Flags, SearchModel, SearchModelChoice, Settings,
/// };
///
/// let environment = Environment::read();
/// let path = std::path::Path::new("pikerag.toml");
/// let place = SettingsPlace { path, is_named: false, environment: &environment };
/// let choice = SearchModelChoice {
///     of: SearchModel::Embedder,
///     model: "bge-m3".to_owned(),
///     base_url: "http://127.0.0.1:11434/v1".to_owned(),
///     api_key: None,
/// };
/// let again = || Settings::load(&Flags::default(), &environment);
/// pikerag_engine::set_search_model(session, place, &choice, &again)?;
/// # Ok(())
/// # }
/// ```
pub fn set_search_model(
    session: &Session,
    place: SettingsPlace<'_>,
    choice: &SearchModelChoice,
    again: ReadAgain<'_>,
) -> Result<SetSearchModelResponse, ChangeModelError> {
    let Prepared { file, text, needs_key, .. } = prepare(session, place, choice)?;
    let settings = store(place, &file, &text, choice.api_key.is_some(), again)?;
    Ok(SetSearchModelResponse { settings, needs_key })
}

/// Removes the endpoint of an embedder or a reranker from the settings file, with its key, and the weights of a
/// reranker. The embedder is then one of this machine, if its weights are here, and hits are not reranked. Nothing
/// changes if none is set. Otherwise as [`set_search_model`].
///
/// # Errors
/// See [`ChangeModelError`]; nothing has changed.
pub fn unset_search_model(
    place: SettingsPlace<'_>,
    of: SearchModel,
    again: ReadAgain<'_>,
) -> Result<SetSearchModelResponse, ChangeModelError> {
    let SettingsPlace { path, is_named, environment } = place;
    if let Some(variable) = overriding_search(environment, of, None) {
        return Err(ChangeModelError::Overridden { variable });
    }
    let file = ChangeableFile::read(path, is_named, environment)?;
    if !file.has_search_model(of) {
        return Ok(SetSearchModelResponse { settings: again()?, needs_key: None });
    }
    let settings = file.search_extra(of);
    if !settings.is_empty() {
        return Err(ChangeModelError::OtherSettings { path: path.to_owned(), settings });
    }
    let settings = file.settings_of_old_model(of, None);
    if !settings.is_empty() {
        return Err(ChangeModelError::OfOldModel { path: path.to_owned(), settings });
    }
    let text = file.without_search_model(path, of);
    let text = text.ok_or_else(|| ChangeModelError::Form { path: path.to_owned() })?;
    let settings = store(place, &file, &text, false, again)?;
    Ok(SetSearchModelResponse { settings, needs_key: None })
}

/// Checks a choice without writing anything.
pub(super) fn prepare(
    session: &Session,
    SettingsPlace { path, is_named, environment }: SettingsPlace<'_>,
    choice: &SearchModelChoice,
) -> Result<Prepared, ChangeModelError> {
    let SearchModelChoice { of, model, base_url, .. } = choice;
    if let Some(name) = choice.bad_value() {
        return Err(ChangeModelError::BadValue { name });
    }
    if let Some(variable) = overriding_search(environment, *of, Some((model, base_url))) {
        return Err(ChangeModelError::Overridden { variable });
    }
    let file = ChangeableFile::read(path, is_named, environment)?;
    // The key of `[chat]` goes to the address that the environment gives it.
    if let Some(variable) = overriding_address(environment, Some(base_url))
        && file.uses_key_of_chat(choice)
    {
        return Err(ChangeModelError::Overridden { variable });
    }
    let settings = file.search_settings_of_old_address(choice);
    if !settings.is_empty() {
        return Err(ChangeModelError::OtherSettings { path: path.to_owned(), settings });
    }
    let settings = file.settings_of_old_model(*of, Some(model));
    if !settings.is_empty() {
        return Err(ChangeModelError::OfOldModel { path: path.to_owned(), settings });
    }
    let form = || ChangeModelError::Form { path: path.to_owned() };
    let changed = file.with_search_model(path, choice, environment).ok_or_else(form)?;
    let endpoint = search_endpoint_of(path, &changed.text, *of, environment)?.ok_or_else(form)?;
    // It sends nothing; it refuses what is no address, and keys that no header can carry.
    session.trial_search_model(*of, &endpoint)?;
    Ok(Prepared { file, text: changed.text, needs_key: changed.needs_key, endpoint })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pikerag_models::Secret;

    use super::*;
    use crate::settings::{EmbedSettings, Reranks};
    use crate::verbs::home::Home;

    fn set_in(
        home: &Home,
        choice: &SearchModelChoice,
    ) -> Result<SetSearchModelResponse, ChangeModelError> {
        let path = home.path();
        set_search_model(&home.session(), home.place(&path), choice, &|| home.again())
    }

    fn unset_in(home: &Home, of: SearchModel) -> Result<SetSearchModelResponse, ChangeModelError> {
        let path = home.path();
        let place = SettingsPlace { is_named: true, ..home.place(&path) };
        unset_search_model(place, of, &|| home.again())
    }

    fn choice(of: SearchModel, base_url: &str) -> SearchModelChoice {
        let api_key = Some(Secret::new("sk-0123456789"));
        SearchModelChoice { of, model: "m".to_owned(), base_url: base_url.to_owned(), api_key }
    }

    #[test]
    fn both_models_are_set_and_taken_away() {
        let (home, address) = (Home::new(&[]), "http://127.0.0.1:9/v1");
        let set = set_in(&home, &choice(SearchModel::Embedder, address)).unwrap();
        let EmbedSettings::Endpoint { endpoint, .. } = &set.settings.embed else {
            panic!("{:?}", set.settings.embed);
        };
        assert_eq!((endpoint.model.as_str(), endpoint.base_url.as_str()), ("m", address));
        assert_eq!(endpoint.api_key.as_ref().unwrap().expose(), "sk-0123456789");
        let set = set_in(&home, &choice(SearchModel::Reranker, address)).unwrap();
        assert!(matches!(set.settings.rerank.by, Reranks::Endpoint { .. }));
        for of in [SearchModel::Embedder, SearchModel::Reranker, SearchModel::Reranker] {
            unset_in(&home, of).unwrap();
        }
        let settings = home.again().unwrap();
        assert!(matches!(settings.embed, EmbedSettings::Local { required: false }));
        assert!(matches!(settings.rerank.by, Reranks::Off));
    }

    /// A variable gives the usual key to another address.
    #[test]
    fn the_key_of_the_environment_stays_with_its_address() {
        let variables = [("OPENAI_BASE_URL", "http://gateway/v1"), ("OPENAI_API_KEY", "k")];
        let home = Home::new(&variables);
        let openai = "https://api.openai.com/v1";
        let without = SearchModelChoice { api_key: None, ..choice(SearchModel::Embedder, openai) };
        match set_in(&home, &without).err().unwrap() {
            ChangeModelError::Overridden { variable } => assert_eq!(variable, "OPENAI_BASE_URL"),
            other => panic!("{other}"),
        }
        set_in(&home, &choice(SearchModel::Embedder, openai)).unwrap();
    }

    #[test]
    fn what_another_model_must_not_take_along_is_refused() {
        let home = Home::new(&[("PIKERAG_RERANK_MODEL", "other")]);
        let text = "[embed]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"e\"\nquery_prefix = \"q: \"\n";
        fs::write(home.path(), text).unwrap();
        crate::settings::trust(&home.path(), &home.environment).unwrap();
        let refused = |found: Result<SetSearchModelResponse, ChangeModelError>| {
            pikerag_knowledge::error_chain(&found.err().unwrap())
        };
        let address = "http://127.0.0.1:9/v1";
        let lines = [
            refused(set_in(&home, &choice(SearchModel::Embedder, address))),
            refused(unset_in(&home, SearchModel::Embedder)),
            refused(set_in(&home, &choice(SearchModel::Reranker, address))),
            refused(unset_in(&home, SearchModel::Reranker)),
            refused(set_in(
                &home,
                &SearchModelChoice {
                    model: "e".to_owned(),
                    ..choice(SearchModel::Embedder, "no address")
                },
            )),
        ];
        let extra = "[embed]\nmodel = \"e\"\nextra = { user = \"k\" }\n";
        fs::write(home.path(), extra).unwrap();
        let error = unset_in(&home, SearchModel::Embedder).err().unwrap();
        assert!(matches!(error, ChangeModelError::OtherSettings { .. }), "{error}");
        fs::write(home.path(), text).unwrap();
        let lines = lines.join("\n").replace(home.folder.path().to_str().unwrap(), "HOME");
        insta::assert_snapshot!(lines, @"
        HOME/pikerag.toml has settings for the present model alone: embed.query_prefix
        HOME/pikerag.toml has settings for the present model alone: embed.query_prefix
        the variable PIKERAG_RERANK_MODEL names another model or address, and has priority
        the variable PIKERAG_RERANK_MODEL names another model or address, and has priority
        the endpoint cannot be used: e cannot do this: its base URL must be an http or https address (relative URL without a base)
        ");
        assert_eq!(fs::read_to_string(home.path()).unwrap(), text);
    }
}
