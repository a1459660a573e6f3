// Starts the page of the shared pieces, which the server does not serve.
import { mount } from "svelte";

import "../../src/app.css";
import Gallery from "./Gallery.svelte";

const target = document.getElementById("page");
if (target) {
  mount(Gallery, { target });
}
