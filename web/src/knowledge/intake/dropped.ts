// Collects the dropped or chosen files; those of folders have their path.

export type Named = { name: string; file: File };

/** Whether it is a hidden file of a system, which nobody means to add. */
function isLitter(name: string): boolean {
  return /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|\.git\/.*|__MACOSX\/.*|~\$[^/]*)$/.test(name);
}

/** The files of a drop. Call it during the event: the browser forgets its items afterwards. */
export function droppedFiles(transfer: DataTransfer): Promise<Named[]> {
  const entries = [...transfer.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry() : null)).filter((entry) => entry !== null);
  if (entries.length === 0) {
    return Promise.resolve(pickedFiles([...transfer.files]));
  }
  return Promise.all(entries.map(filesBelow)).then((found) => found.flat().filter(({ name }) => !isLitter(name)));
}

/** The files of a picker, by their path where a folder was picked. */
export function pickedFiles(files: Iterable<File>): Named[] {
  return [...files].map((file) => ({ name: file.webkitRelativePath || file.name, file })).filter(({ name }) => !isLitter(name));
}

async function filesBelow(entry: FileSystemEntry): Promise<Named[]> {
  const name = entry.fullPath.replace(/^\/+/, "");
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ name, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: Named[] = [];
  // A reader gives a hundred entries at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) {
      return found;
    }
    for (const one of some) {
      found.push(...(await filesBelow(one)));
    }
  }
}
