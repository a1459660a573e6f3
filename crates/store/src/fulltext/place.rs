//! Lets tantivy read and write in a folder of the base. Waiting for a lock is limited in time; no
//! lock is taken if nothing can be written.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::Access;

/// How long to wait for tantivy's own locks, which it holds while it opens or removes files.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// A folder of files that are written once.
#[derive(Clone, Debug)]
pub(super) struct Place {
    files: MmapDirectory,
    access: Access,
}

impl Place {
    pub(super) fn open(folder: &Path, access: Access) -> Result<Self, OpenDirectoryError> {
        Ok(Self { files: MmapDirectory::open(folder)?, access })
    }
}

impl Directory for Place {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if self.access == Access::Read {
            return Ok(DirectoryLock::from(Box::new(())));
        }
        let tried = Lock { filepath: lock.filepath.clone(), is_blocking: false };
        let began = Instant::now();
        loop {
            match self.files.acquire_lock(&tried) {
                Err(LockError::LockBusy) if lock.is_blocking && began.elapsed() < MAX_WAIT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                tried => return tried,
            }
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.files.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}
