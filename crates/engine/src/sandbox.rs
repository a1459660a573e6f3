//! Reads hostile files and runs foreign programs in processes of their own, with limits that they
//! cannot lift. Only this module starts processes. It starts them through the program that it is
//! part of, whose `main` passes the hidden subcommands `parse-child` and `run-limited` to
//! [`parse_child`] and [`exec_limited`]. Servers of models and Python read no hostile files, and
//! are started without limits.

mod alive;
mod child;
mod clock;
mod handed;
mod limited;
mod limits;
mod model_server;
mod ocr;
mod pipe;
mod programs;
mod python;

pub(crate) use alive::is_alive;
pub(crate) use child::SandboxedReader;
pub use child::{ChildTask, ParseChild, ParserLimits, parse_child};
pub(crate) use handed::TakesFiles;
pub use limited::{ExecError, RunLimited, exec_limited};
pub(crate) use limits::LIMITS_MEMORY;
pub(crate) use model_server::{ModelProcess, ServedModel, ServerProgram};
pub(crate) use programs::Programs;
pub use programs::{ProgramLimits, ProgramSettings};
pub(crate) use python::{download, find_python, install_server};
