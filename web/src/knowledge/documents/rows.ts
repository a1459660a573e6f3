// Which documents are listed, in which order? Documents and the files that they stand in, joined.
import type { Schemas } from "../../lib/api";

export type Source = Schemas["Source"];
export type FileLine = Schemas["FileLine"];
export type State = "there" | "gone" | "unclear" | "unknown";
export type Row = {
  key: string;
  /** The document's URI, or the file's name where no document came of it. */
  name: string;
  /** The same without the folder of what was sent, which says nothing. */
  shown: string;
  title: string;
  type: string;
  /** Passages of the file, where the document is all of it. */
  passages: number | null;
  state: State;
  sameAs: string[];
  source: Source | null;
  file: FileLine | null;
};
export type SortBy = "name" | "title" | "type" | "passages" | "state";
export type Order = { by: SortBy; isDescending: boolean };
/** What files that were sent are called by: the base's folder. */
export type Naming = { base: string | null };

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

/** The file that a document stands in: `#` in a file's own name is written `%23`. */
export function fileOf(uri: string): string {
  return uri.split("#", 1)[0] ?? uri;
}

export function rowsOf(sources: Source[], files: FileLine[] | null, naming: Naming): Row[] {
  const byName = new Map((files ?? []).map((file) => [file.name, file]));
  const used = new Set<string>();
  const rows = sources.map((source): Row => {
    const file = byName.get(fileOf(source.uri)) ?? null;
    used.add(file?.name ?? "");
    return {
      key: source.id, name: source.uri, shown: sentName(source.uri, naming) ?? source.uri, title: source.title, type: typeName(source.media_type), passages: file?.documents === 1 ? file.chunks : null,
      state: file?.on_disk ?? "unknown", sameAs: file?.same_as ?? [], source, file,
    };
  });
  const bare = (files ?? []).filter((file) => !used.has(file.name));
  return [...rows, ...bare.map((file): Row => ({
    key: `file ${file.name}`, name: file.name, shown: sentName(file.name, naming) ?? file.name, title: "", type: "", passages: file.chunks, state: file.on_disk, sameAs: file.same_as, source: null, file,
  }))];
}

/** Those that hold all words of `filter` in name, title or type, in order. */
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

/** What a file was called when it was sent; null for one that was not. `place`: its path or its name in the base. */
export function sentName(place: string, { base }: Naming): string | null {
  const folder = (base?.replaceAll("\\", "/").replace(/\/+$/, "").split("/").pop() ?? "").replace(/^\.+/, "");
  const [path, mark] = [`/${place.replaceAll("\\", "/")}`, `/${folder}.uploads/`];
  const at = folder === "" ? -1 : path.indexOf(mark);
  return at === -1 ? null : path.slice(at + mark.length);
}
