// Joins documents with their files, and filters and sorts the list.
import type { Schemas } from "../../lib/api";

export type Source = Schemas["Source"];
export type FileLine = Schemas["FileLine"];
export type State = "there" | "gone" | "unclear" | "unknown";
export type Row = {
  key: string;
  /** The document's URI, or the name of a file without a document. */
  name: string;
  /** The same, with the name of the uploaded file. */
  shown: string;
  title: string;
  type: string;
  /** The passages of the file, if it has only one document. */
  passages: number | null;
  state: State;
  sameAs: string[];
  source: Source | null;
  file: FileLine | null;
};
export type SortBy = "name" | "title" | "type" | "passages" | "state";
export type Order = { by: SortBy; isDescending: boolean };

const TYPES: Record<string, string> = {
  "application/pdf": "PDF", "text/html": "HTML", "text/markdown": "Markdown", "text/plain": "TXT", "text/csv": "CSV", "application/json": "JSON",
  "application/epub+zip": "EPUB", "message/rfc822": "EML", "application/rtf": "RTF", "text/rtf": "RTF", "application/xml": "XML", "text/vtt": "VTT",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PPTX",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
  "application/vnd.oasis.opendocument.text": "ODT", "application/vnd.oasis.opendocument.spreadsheet": "ODS",
  "application/vnd.oasis.opendocument.presentation": "ODP", "application/msword": "DOC", "application/vnd.ms-excel": "XLS", "application/vnd.ms-powerpoint": "PPT",
};

/** A media type in a word. */
export function typeName(mediaType: string): string {
  const short = mediaType.split(";")[0]?.trim() ?? "";
  return TYPES[short] ?? (short.split("/").pop() ?? "").replace(/^(x-|vnd\.)/, "").toUpperCase();
}

/** The file of a document: `#` in a file's own name is written `%23`. */
export function fileOf(uri: string): string {
  return uri.split("#", 1)[0] ?? uri;
}

/** The shown name of a file or of a document in it: that of the upload, if it was uploaded. */
export function shownAs(place: string, byName: ReadonlyMap<string, FileLine>): string {
  const name = fileOf(place);
  const sent = byName.get(name)?.sent_as ?? null;
  return sent === null ? place : sent + place.slice(name.length);
}

/** The name of a file in requests: its path if an upload has the same name. */
export function requestedAs(name: string, files: FileLine[] | null): string {
  const isShared = (files ?? []).some((other) => other.name !== name && other.sent_as === name);
  return isShared ? (files?.find((file) => file.name === name)?.path ?? name) : name;
}

export function rowsOf(sources: Source[], files: FileLine[] | null): Row[] {
  const byName = new Map((files ?? []).map((file) => [file.name, file]));
  const shown = (place: string) => shownAs(place, byName);
  const used = new Set<string>();
  const rows = sources.map((source): Row => {
    const file = byName.get(fileOf(source.uri)) ?? null;
    used.add(file?.name ?? "");
    return {
      key: source.id, name: source.uri, shown: shown(source.uri), title: source.title, type: typeName(source.media_type), passages: file?.documents === 1 ? file.chunks : null,
      state: file?.on_disk ?? "unknown", sameAs: file?.same_as.map(shown) ?? [], source, file,
    };
  });
  const bare = (files ?? []).filter((file) => !used.has(file.name));
  return [...rows, ...bare.map((file): Row => ({
    key: `file ${file.name}`, name: file.name, shown: shown(file.name), title: "", type: "", passages: file.chunks, state: file.on_disk, sameAs: file.same_as.map(shown), source: null, file,
  }))];
}

/** The rows with all words of `filter` in name, title or type, sorted. */
export function listed(rows: Row[], filter: string, order: Order): Row[] {
  const words = filter.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [...rows] : rows.filter((row) => {
    const text = `${row.name}\n${row.title}\n${row.type}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  const key = order.by === "name" ? "shown" : order.by;
  const byText = (a: Row, b: Row) => compare(String(a[key]), String(b[key]));
  const bySize = (a: Row, b: Row) => (a.passages ?? -1) - (b.passages ?? -1);
  const sign = order.isDescending ? -1 : 1;
  return found.sort((a, b) => sign * (order.by === "passages" ? bySize(a, b) : byText(a, b)) || compare(a.shown, b.shown));
}
