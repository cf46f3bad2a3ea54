// What the tests of the page stand on: the real server, a real browser, and a second socket that asks the server itself.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const skipped = 77; // ctest's SKIP_RETURN_CODE

// s: how long anything that must come is waited for. It only guards against a hang: nothing is judged by the clock.
export const patience = Number(process.env.SINEW_PATIENCE) || 120;

export function skip(why) {
    console.log(`skipped: ${why}`);
    process.exit(skipped);
}

export async function loadBrowser() {
    const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
    if (!path) skip("there is no chromium (tools/setup.sh chromium)");
    let playwright;
    try {
        playwright = await import("playwright-core");
    } catch {
        skip("playwright-core is not installed (make web)");
    }
    // No sandbox: in containers there is none to be had, and the page is our own.
    const chromium = playwright.chromium ?? playwright.default.chromium;
    return chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export class Server {
    constructor(program, source, options = []) {
        this.folder = mkdtempSync(join(tmpdir(), "sinew-page-"));
        this.program = program;
        this.source = source;
        this.options = options;
    }

    // The address it prints, with the token.
    async start(more = [], token = "") {
        const words = ["studio", this.source, "--folder", this.folder, "--no-open", ...this.options, ...more];
        this.process = spawn(this.program, words, {
            stdio: ["ignore", "pipe", "pipe"],
            env: { ...process.env, ...(token ? { SINEW_TOKEN: token } : {}) },
        });
        this.said = "";
        this.ended = new Promise((resolve) => this.process.on("exit", resolve));
        const address = new Promise((resolve, reject) => {
            const read = (data) => {
                this.said += data;
                const found = this.said.match(/http:\/\/\S*token=\w+/);
                if (found) resolve(found[0]);
            };
            this.process.stdout.on("data", read);
            this.process.stderr.on("data", read);
            this.process.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${this.said}`)));
        });
        this.address = await address;
        return this.address;
    }

    async stop(signal = "SIGINT") {
        this.process.kill(signal);
        return this.ended;
    }

    clear() {
        rmSync(this.folder, { recursive: true, force: true });
    }
}

// Asks the server over a socket of its own, which knows nothing of the page's code.
export function ask(page, request) {
    return page.evaluate((request) => {
        const address = new URL(`socket${location.search}`, location.href);
        address.protocol = "ws:";
        const socket = new WebSocket(address, "sinew.1");
        return new Promise((resolve, reject) => {
            socket.onopen = () => socket.send(JSON.stringify({ v: 1, id: 1, ...request }));
            socket.onerror = () => reject(new Error("no socket"));
            socket.onmessage = ({ data }) => {
                const answer = typeof data === "string" ? JSON.parse(data) : {};
                if (answer.id !== 1) return;
                socket.close();
                resolve(answer);
            };
        });
    }, request);
}

export function hello(page) {
    return ask(page, { do: "hello" });
}

// Until the server says so itself.
export async function until(page, what, test) {
    const end = Date.now() + 1000 * patience;
    let state = await hello(page);
    while (!test(state)) {
        if (Date.now() > end) throw new Error(`${what}: not within ${patience} s`);
        await new Promise((resolve) => setTimeout(resolve, 60));
        state = await hello(page);
    }
    return state;
}

export function check(condition, words) {
    if (!condition) throw new Error(words);
}

// Pictures for people: of failures, and of the rest if SINEW_SHOTS is set. Each takes a second without a graphics card.
export function makeShots(folder) {
    mkdirSync(folder, { recursive: true });
    return async (page, name) => {
        if (name.startsWith("failed-") || process.env.SINEW_SHOTS) await page.screenshot({ path: join(folder, `${name}.png`) });
    };
}
