//! Arguments of `models`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) verb: Option<ModelsVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsVerb {
    /// List the servers of models that answer on this machine, the catalogue, and the models that are here.
    List,
    /// Fetch the file of a model. An interrupted download continues.
    Pull {
        /// A name of the catalogue, or the https address of a GGUF file.
        #[arg(value_name = "NAME|URL", required_unless_present = "server")]
        model: Option<String>,
        /// The SHA-256 that the file at an address must have.
        #[arg(long, value_name = "HEX", requires = "model")]
        sha256: Option<String>,
        /// Install llama.cpp's server (the Python package `xllamacpp`).
        #[arg(long)]
        server: bool,
    },
    /// Set a model as `[chat] model` in the settings file, and trust the file.
    Use {
        /// A name of the catalogue, or of a model that is here.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Start the server of a model and print its address, until Ctrl-C.
    Run {
        /// The name of the model.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Stop the running servers of a model, or of all models, and free their memory. The next call starts one again.
    Stop {
        /// The name of the model; without it, all.
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Delete the files of a model.
    Rm {
        /// The name of the model.
        #[arg(value_name = "NAME")]
        name: String,
    },
}
