/// <reference types="vitest/config" />
// How is the page built, and where do its requests go while it is developed?
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8686";
// The server turns pages of other addresses away.
const toServer = { target: SERVER, changeOrigin: true, headers: { origin: SERVER } };

export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    // From these on `light-dark()`, `:has()` and native dialogs are there.
    target: ["chrome123", "edge123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { "/api": toServer, "/passages": toServer, "/health": toServer, "/openapi.json": toServer } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
