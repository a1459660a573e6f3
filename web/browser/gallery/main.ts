// Where does the page of all shared pieces begin? It is no part of what is served.
import { mount } from "svelte";

import "../../src/app.css";
import Gallery from "./Gallery.svelte";

const target = document.getElementById("page");
if (target) {
  mount(Gallery, { target });
}
