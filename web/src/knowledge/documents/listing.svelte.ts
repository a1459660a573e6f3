// How was the list of documents left? Kept while the page is open: whoever comes back from a document finds it so.
import type { Order } from "./rows";

export const listing: { filter: string; order: Order } = $state({ filter: "", order: { by: "name", isDescending: false } });
