//! Sets chat models in the settings file of a running program, and reads the settings again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use pikerag_knowledge::Role;

use crate::change_error::ChangeModelError;
use crate::engine::Session;
use crate::local_models::is_model_here;
use crate::settings::{
    ChangeableFile, ChatChoice, ChatSettings, Environment, Settings, SettingsError, chat_of,
    overriding_address, overriding_variable, trust,
};

/// The settings file that the program was started with.
#[derive(Clone, Copy)]
pub struct SettingsPlace<'a> {
    /// Its path; it need not exist.
    pub path: &'a Path,
    /// Whether the user named it, so that it needs no trust.
    pub is_named: bool,
    /// The environment, which knows where trust is kept and which keys there are.
    pub environment: &'a Environment,
}

/// Reads the settings as at the start of the program.
pub type ReadAgain<'a> = &'a dyn Fn() -> Result<Settings, SettingsError>;

/// The settings with another chat model.
pub struct SetChatResponse {
    /// All settings, as they are read from the changed file.
    pub settings: Settings,
    /// Whether the file of a model of this machine is here; true for an endpoint.
    pub is_here: bool,
    /// The variable that must hold the key of the provider and is not set.
    pub needs_key: Option<&'static str>,
}

/// A change that is possible and not made yet.
pub(super) struct Prepared {
    pub(super) file: ChangeableFile,
    pub(super) text: String,
    pub(super) needs_key: Option<&'static str>,
    pub(super) is_here: bool,
    /// The endpoint of the changed text.
    pub(super) chat: ChatSettings,
}

/// Writes the chat model to the settings file, trusts the file and reads the settings again. If
/// they cannot be read, the file gets its former text. A file with a new key is readable by its
/// owner only. Blocks: call it on a thread that may.
///
/// # Errors
/// See [`ChangeModelError`]; nothing has changed.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) -> Result<(), pikerag_engine::ChangeModelError> {
/// use pikerag_engine::SettingsPlace;
/// use pikerag_engine::settings::{ChatChoice, Environment, Flags, Settings};
///
/// let environment = Environment::read();
/// let path = std::path::Path::new("pikerag.toml");
/// let place = SettingsPlace { path, is_named: false, environment: &environment };
/// let choice = ChatChoice { model: "local:qwen2.5-1.5b".to_owned(), ..ChatChoice::default() };
/// let again = || Settings::load(&Flags::default(), &environment);
/// let response = pikerag_engine::set_chat(session, place, &choice, &again)?;
/// println!("the model is here: {}", response.is_here);
/// # Ok(())
/// # }
/// ```
pub fn set_chat(
    session: &Session,
    place: SettingsPlace<'_>,
    choice: &ChatChoice,
    again: ReadAgain<'_>,
) -> Result<SetChatResponse, ChangeModelError> {
    let Prepared { file, text, needs_key, is_here, .. } = prepare(session, place, choice)?;
    let settings = store(place, &file, &text, choice.api_key.is_some(), again)?;
    Ok(SetChatResponse { settings, is_here, needs_key })
}

/// Takes the model of a role from the settings file, with its address and its key: the role then uses the model of
/// `[chat]`. Nothing changes if it has none. Otherwise as [`set_chat`].
///
/// # Errors
/// See [`ChangeModelError`]; nothing has changed.
pub fn unset_chat(
    place: SettingsPlace<'_>,
    role: Role,
    again: ReadAgain<'_>,
) -> Result<SetChatResponse, ChangeModelError> {
    let SettingsPlace { path, is_named, environment } = place;
    let file = ChangeableFile::read(path, is_named, environment)?;
    let settings = file.settings_beside(role);
    if !settings.is_empty() {
        return Err(ChangeModelError::OtherSettings { path: path.to_owned(), settings });
    }
    let form = || ChangeModelError::Form { path: path.to_owned() };
    let text = file.without(path, role).ok_or_else(form)?;
    let settings = match text == file.text {
        true => again()?,
        false => store(place, &file, &text, false, again)?,
    };
    Ok(SetChatResponse { settings, is_here: true, needs_key: None })
}

/// The roles to which the settings file gives a model or an address of their own; none without a file.
///
/// # Errors
/// The file cannot be read or is not trusted.
pub fn roles_with_models(place: SettingsPlace<'_>) -> Result<Vec<Role>, SettingsError> {
    let SettingsPlace { path, is_named, environment } = place;
    Ok(ChangeableFile::read(path, is_named, environment)?.roles_with_models())
}

/// Writes a text to the settings file, trusts it and reads the settings again; otherwise the file gets its former text.
pub(super) fn store(
    SettingsPlace { path, is_named, environment }: SettingsPlace<'_>,
    file: &ChangeableFile,
    text: &str,
    has_key: bool,
    again: ReadAgain<'_>,
) -> Result<Settings, ChangeModelError> {
    let not_written = |source| ChangeModelError::NotWritten { path: path.to_owned(), source };
    let opened = open(path, file.is_new, has_key).map_err(not_written)?;
    let written = write(opened, text, has_key).map_err(not_written);
    let trusted = written.and_then(|()| match trust(path, environment) {
        // A named file works without trust.
        Err(error) if !is_named => Err(error.into()),
        _ => Ok(()),
    });
    match trusted.and_then(|()| Ok(again()?)) {
        Ok(settings) => Ok(settings),
        Err(error) => {
            restore(path, file, environment).map_err(not_written)?;
            Err(error)
        }
    }
}

/// Checks a choice without writing anything.
pub(super) fn prepare(
    session: &Session,
    SettingsPlace { path, is_named, environment }: SettingsPlace<'_>,
    choice: &ChatChoice,
) -> Result<Prepared, ChangeModelError> {
    if let Some(name) = choice.bad_value() {
        return Err(ChangeModelError::BadValue { name });
    }
    let address = choice.address();
    let of_all = choice.role.is_none();
    let overriding = overriding_variable(environment, &choice.model, address);
    if let Some(variable) = overriding.filter(|_| of_all) {
        return Err(ChangeModelError::Overridden { variable });
    }
    let is_here = match choice.local_name() {
        None => true,
        Some(name) => is_model_here(&session.settings().local, name)?,
    };
    let file = ChangeableFile::read(path, is_named, environment)?;
    if file.is_usual(choice)
        && let Some(variable) = overriding_address(environment, address)
    {
        return Err(ChangeModelError::Overridden { variable });
    }
    let settings = file.settings_of_old_address(choice);
    if !settings.is_empty() {
        return Err(ChangeModelError::OtherSettings { path: path.to_owned(), settings });
    }
    let settings = file.users_of_old_key(choice);
    if !settings.is_empty() {
        return Err(ChangeModelError::KeyUsed { path: path.to_owned(), settings });
    }
    let form = || ChangeModelError::Form { path: path.to_owned() };
    let changed = file.with(path, choice, environment).ok_or_else(form)?;
    let chat = chat_of(path, &changed.text, choice.role, environment)?;
    // It sends nothing; it refuses what is no address, and keys that no header can carry.
    drop(session.trial_chat(&chat)?);
    Ok(Prepared { file, text: changed.text, needs_key: changed.needs_key, is_here, chat })
}

/// Opens a settings file in its place, since it may be a link or a mount of its own. A new file is
/// made only where nothing is, so that no link leads it elsewhere.
fn open(path: &Path, is_new: bool, has_key: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(is_new);
    if has_key {
        options.mode(0o600);
    }
    options.open(path)
}

/// Replaces the text of a settings file. `has_key`: only its owner may read it from now on.
fn write(mut file: File, text: &str, has_key: bool) -> io::Result<()> {
    if has_key {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    // Not emptied first: other programs that start now would take an empty file for settings.
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Gives the file its former text and trust, or deletes it if it is new.
fn restore(path: &Path, file: &ChangeableFile, environment: &Environment) -> io::Result<()> {
    if file.is_new {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    write(open(path, false, false)?, &file.text, false)?;
    // The former text was trusted, or needs no trust.
    let _ = trust(path, environment);
    Ok(())
}

#[cfg(test)]
mod tests {
    use pikerag_models::Secret;

    use super::*;
    use crate::settings::trusted;
    use crate::verbs::home::Home;

    /// Sets a model as a server without `--config` would.
    fn set_in(home: &Home, choice: &ChatChoice) -> Result<SetChatResponse, ChangeModelError> {
        let path = home.path();
        set_chat(&home.session(), home.place(&path), choice, &|| home.again())
    }

    fn unset_in(home: &Home, role: Role) -> Result<SetChatResponse, ChangeModelError> {
        unset_chat(home.place(&home.path()), role, &|| home.again())
    }

    fn roles_of(home: &Home) -> Vec<Role> {
        roles_with_models(home.place(&home.path())).unwrap()
    }

    fn endpoint(base_url: &str) -> ChatChoice {
        ChatChoice {
            role: None,
            model: "m".to_owned(),
            base_url: Some(base_url.to_owned()),
            api_key: Some(Secret::new("sk-0123456789")),
            azure_api_version: None,
        }
    }

    #[test]
    fn a_new_file_is_written_trusted_and_private() {
        let home = Home::new(&[]);
        let response = set_in(&home, &endpoint("http://127.0.0.1:9/v1")).unwrap();
        let chat = response.settings.chat(Role::Answer).unwrap();
        assert_eq!(chat.endpoint.model, "m");
        assert_eq!(chat.endpoint.api_key.as_ref().unwrap().expose(), "sk-0123456789");
        let mode = fs::metadata(home.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(trusted(&home.environment).unwrap().len(), 1);
    }

    #[test]
    fn a_role_gets_a_model_and_loses_it() {
        let home = Home::new(&[("OPENAI_MODEL", "m")]);
        set_in(&home, &endpoint("http://127.0.0.1:9/v1")).unwrap();
        let before = fs::read_to_string(home.path()).unwrap();
        let (role, address) = (Some(Role::Atomize), "http://127.0.0.1:10/v1");
        let own = ChatChoice { role, model: "small".to_owned(), ..endpoint(address) };
        let models = |settings: &Settings| {
            [Role::Atomize, Role::Answer].map(|role| {
                let endpoint = &settings.chat(role).unwrap().endpoint;
                (endpoint.model.clone(), endpoint.base_url.clone())
            })
        };
        let usual = ("m".to_owned(), "http://127.0.0.1:9/v1".to_owned());
        let set = set_in(&home, &own).unwrap();
        assert_eq!(
            models(&set.settings),
            [("small".to_owned(), address.to_owned()), usual.clone()]
        );
        assert_eq!(roles_of(&home), [Role::Atomize]);
        let unset = unset_in(&home, Role::Atomize).unwrap();
        assert_eq!(models(&unset.settings), [usual.clone(), usual]);
        assert_eq!(fs::read_to_string(home.path()).unwrap().trim_end(), before.trim_end());
        unset_in(&home, Role::Judge).unwrap();
        assert_eq!(roles_of(&home), []);
    }

    /// A role at the address of `[chat]` follows a variable that names another one.
    #[test]
    fn a_role_is_not_set_at_an_address_that_a_variable_replaces() {
        let address = "http://127.0.0.1:9/v1";
        let home = Home::new(&[("OPENAI_BASE_URL", "http://127.0.0.1:10/v1")]);
        fs::write(home.path(), format!("[chat]\nbase_url = \"{address}\"\n")).unwrap();
        trust(&home.path(), &home.environment).unwrap();
        let own = ChatChoice { role: Some(Role::Answer), ..endpoint(address) };
        let refused = set_in(&home, &own).err().unwrap();
        let is_named =
            matches!(refused, ChangeModelError::Overridden { variable: "OPENAI_BASE_URL" });
        assert!(is_named, "{refused}");
    }

    #[test]
    fn a_file_that_changed_since_it_was_trusted_is_refused() {
        let home = Home::new(&[]);
        set_in(&home, &endpoint("http://127.0.0.1:9/v1")).unwrap();
        let foreign = fs::read_to_string(home.path()).unwrap() + "[tools]\nsoffice = \"/x\"\n";
        fs::write(home.path(), &foreign).unwrap();
        let refused = set_in(&home, &endpoint("http://127.0.0.1:10/v1")).err().unwrap();
        assert!(
            matches!(refused, ChangeModelError::Settings(SettingsError::Untrusted { .. })),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(home.path()).unwrap(), foreign);
    }

    #[test]
    fn wrong_choices_change_nothing() {
        let home = Home::new(&[("OPENAI_MODEL", "other")]);
        let overridden = set_in(&home, &endpoint("http://127.0.0.1:9/v1")).err().unwrap();
        assert!(matches!(overridden, ChangeModelError::Overridden { .. }), "{overridden}");
        let home = Home::new(&[]);
        for address in ["ftp://127.0.0.1", "nothing"] {
            let refused = set_in(&home, &endpoint(address)).err().unwrap();
            assert!(matches!(refused, ChangeModelError::Endpoint(_)), "{refused}");
        }
        let unknown = ChatChoice { model: "local:none".to_owned(), ..ChatChoice::default() };
        let refused = set_in(&home, &unknown).err().unwrap();
        assert!(matches!(refused, ChangeModelError::Local(_)), "{refused}");
        let bad = ChatChoice { model: "a\"b".to_owned(), ..endpoint("http://127.0.0.1:9/v1") };
        let refused = set_in(&home, &bad).err().unwrap();
        assert!(matches!(refused, ChangeModelError::BadValue { name: "model" }), "{refused}");
        assert!(!home.path().exists());
    }

    #[test]
    fn a_shorter_text_leaves_no_rest_of_the_longer_one() {
        let home = Home::new(&[]);
        set_in(&home, &endpoint("http://127.0.0.1:9/a/much/longer/address/v1")).unwrap();
        let longer = fs::read_to_string(home.path()).unwrap();
        set_in(&home, &endpoint("http://127.0.0.1:9/v1")).unwrap();
        let shorter = longer.replace("/a/much/longer/address", "");
        assert_eq!(fs::read_to_string(home.path()).unwrap(), shorter);
    }

    #[test]
    fn a_link_leads_no_new_file_elsewhere() {
        let home = Home::new(&[]);
        let elsewhere = home.folder.path().join("elsewhere.toml");
        std::os::unix::fs::symlink(&elsewhere, home.path()).unwrap();
        let refused = set_in(&home, &endpoint("http://127.0.0.1:9/v1")).err().unwrap();
        assert!(matches!(refused, ChangeModelError::NotWritten { .. }), "{refused}");
        assert!(!elsewhere.exists() && home.path().is_symlink());
        fs::write(&elsewhere, "").unwrap();
        set_in(&home, &endpoint("http://127.0.0.1:9/v1")).unwrap();
        assert!(fs::read_to_string(&elsewhere).unwrap().contains("sk-0123456789"));
        assert!(home.path().is_symlink());
    }

    #[test]
    fn settings_that_cannot_be_read_again_are_taken_back() {
        let home = Home::new(&[]);
        let session = crate::open(Settings::defaults().unwrap()).unwrap().session();
        let path = home.path();
        let place = SettingsPlace { path: &path, is_named: true, environment: &home.environment };
        fs::write(&path, "[chat]\nmodel = \"old\"\n").unwrap();
        let again = || -> Result<Settings, SettingsError> { Err(SettingsError::NoneInFlight) };
        let refused = set_chat(&session, place, &endpoint("http://127.0.0.1:9/v1"), &again);
        assert!(refused.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[chat]\nmodel = \"old\"\n");
    }
}
