// Keeps the filter and the order of the list of documents while the page is open.
import type { Order } from "./rows";

export const listing: { filter: string; order: Order } = $state({ filter: "", order: { by: "name", isDescending: false } });
