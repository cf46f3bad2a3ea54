import { defineConfig } from "vite";

// Paths are relative and nothing is inlined as data: the server's policy for the page allows its own files only.
export default defineConfig({
    base: "./",
    build: {
        outDir: "../build/web",
        assetsDir: "",
        emptyOutDir: true,
        target: "es2022",
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1200,
    },
});
