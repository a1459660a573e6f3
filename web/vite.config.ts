/// <reference types="vitest/config" />
// Builds the page, and sends its requests to a server during development.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:8686";
// The server refuses pages of other addresses.
const toServer = { target: SERVER, changeOrigin: true, headers: { origin: SERVER } };

export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    // The first versions with `light-dark()`, `:has()` and native dialogs.
    target: ["chrome123", "edge123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { "/api": toServer, "/passages": toServer, "/health": toServer, "/openapi.json": toServer } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
