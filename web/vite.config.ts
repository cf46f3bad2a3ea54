import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// What the bundle holds of others comes with their licences beside it. Tweakpane's package has no file of its licence
// (MIT), only the name.
const licences: Plugin = {
    name: "licences",
    generateBundle() {
        const read = (path: string): string => readFileSync(new URL(`node_modules/${path}`, import.meta.url), "utf8");
        const mit = read("three/LICENSE").replace(/Copyright.*/, "Copyright (c) 2016 cocopon");
        const texts = [`three\n\n${read("three/LICENSE")}`, `uplot\n\n${read("uplot/LICENSE")}`, `tweakpane\n\n${mit}`];
        this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join("\n\n") });
    },
};

// Paths are relative and nothing is inlined as data: the server's policy for the page allows its own files only.
export default defineConfig({
    base: "./",
    plugins: [licences],
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
