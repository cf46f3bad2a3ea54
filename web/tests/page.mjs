// page.mjs PROGRAM BUILD: the page in a real browser against the real server. What a control does is read back from the
// server over a second socket, so that a page that only pretends is found out. Never asks how fast anything is drawn.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Server, ask, check, hello, loadBrowser, makeShots, patience, skip, until as untilServer } from "./studio.mjs";

const [program, build] = process.argv.slice(2);
if (!program || !build) throw new Error("page.mjs PROGRAM BUILD");
if (!existsSync(join(build, "web/index.html"))) skip("the page is not built (make web)");

const browser = await loadBrowser();
const server = new Server(program, "rig-worm");
const shot = makeShots(join(build, "web-shots"));
const context = await browser.newContext({ viewport: { width: 960, height: 600 }, reducedMotion: "reduce" });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);
const page = await context.newPage();
page.setDefaultTimeout(1000 * patience);
const mistakes = [];
page.on("pageerror", (error) => mistakes.push(error.message));

const seen = (test, argument) => page.waitForFunction(test, argument, { timeout: 1000 * patience });
const marks = () => page.evaluate(() => window.sinew.marks());
const positions = () => page.evaluate(() => window.sinew.positions(0));
const tab = (name) => page.click(`[data-tab=${name}]`);

// Until the server says so, and the page has heard of it: keys that turn something round go by what the page knows. What
// the page does not keep, like the number of the frame, it is given half a second for.
async function until(page, what, test) {
    const state = await untilServer(page, what, test);
    const heard = (known) => {
        try {
            return test(known);
        } catch {
            return false; // it lacks what is asked for
        }
    };
    for (let i = 0; i < 8 && !heard(await page.evaluate(() => window.sinew?.state ?? {})); ++i)
        await new Promise((done) => setTimeout(done, 60));
    return state;
}

// The page sets what it opened going: nothing is pressed before it has.
async function opened(what, test) {
    await until(page, `${what} opens`, (s) => !s.loading && test(s));
    await seen(() => !window.sinew.opening);
}

async function open(name) {
    const serial = await page.evaluate(() => window.sinew.frame?.serial ?? 0);
    await page.fill(".search input", name);
    await page.click(`.card[data-name="${name}"][data-kind=scene]`);
    await opened(name, (s) => s.scene?.opened === name);
    await seen((serial) => (window.sinew.frame?.serial ?? 0) > serial, serial);
}

// Nothing is drawn while nothing moves, which leaves the machine to the rest.
async function pause(on) {
    const what = on ? "pause" : "play";
    const end = Date.now() + 1000 * patience;
    while ((await hello(page)).playing === on) {
        // Space turns round what the page knows, which a message on its way may change once more: then it is pressed again.
        check(Date.now() < end, `${what}: not within ${patience} s`);
        await seen((on) => window.sinew.state?.playing === on, on);
        await page.keyboard.press("Space");
        for (let i = 0; i < 20 && (await hello(page)).playing === on; ++i) await new Promise((done) => setTimeout(done, 60));
    }
    const { frame } = await until(page, what, (s) => s.playing === !on);
    if (on) await seen((frame) => window.sinew.frame?.number === frame, frame); // what was on its way is drawn
}

// The field of a panel, by the name of its parameter or its label.
function field(label) {
    return page.locator(".pane .tp-lblv", { has: page.locator(`.tp-lblv_l:text-is("${label}")`) }).first();
}

const cases = {
    async opensAndMoves() {
        await page.goto(await server.start());
        await seen(() => window.sinew?.frame && window.sinew.drawn > 2);
        const before = await page.evaluate(() => window.sinew.frame.number);
        await until(page, "time goes on", (s) => s.playing && s.frame > before);
        await shot(page, "first");
    },

    async spacePausesAndDotSteps() {
        await page.locator("canvas").first().focus();
        await page.keyboard.press("Space");
        const paused = await until(page, "pause", (s) => !s.playing);
        await page.keyboard.press(".");
        await until(page, "one frame", (s) => s.frame === paused.frame + 1);
        await page.keyboard.press("r");
        await until(page, "reset", (s) => s.frame === 0);
        await page.keyboard.press("Space");
        await until(page, "play", (s) => s.playing);
    },

    async draggingAHandleMovesVertices() {
        await pause(true); // what moves by itself is hard to hit
        const { frame } = await hello(page);
        await seen((frame) => window.sinew.shown === frame, frame);
        const handle = (await marks()).find((m) => m.kind === "handle");
        check(handle, "there is a handle to drag");
        const box = await page.locator("canvas").first().boundingBox();
        const [x, y] = [box.x + handle.x, box.y + handle.y];
        const before = await positions();
        await page.mouse.move(x, y);
        await page.mouse.down();
        await until(page, "the hand holds it", (s) => s.grabs.length === 1 && s.grabs[0].kind === "handle");
        await pause(false);
        await page.mouse.move(x + 30, y - 50, { steps: 4 });
        await page.mouse.move(x + 60, y - 110, { steps: 4 });
        const far = ([place]) => {
            const mark = window.sinew.marks().find((m) => m.kind === "handle" && m.index === place.index);
            return mark && Math.hypot(mark.place[0] - place.place[0], mark.place[1] - place.place[1]) > 0.02;
        };
        await seen(far, [handle]);
        await shot(page, "drag");
        const after = await positions();
        const moved = after.filter((v, i) => Math.abs(v - before[i]) > 0.005).length;
        check(moved > after.length / 20, `vertices follow the handle: ${moved} of ${after.length}`);
        await page.mouse.up();
        await until(page, "let go", (s) => s.grabs.length === 0);
    },

    async degreesOfFreedomAreLocked() {
        await page.locator("canvas").first().focus();
        await pause(true);
        await page.keyboard.press("Tab");
        const item = (await page.evaluate(() => window.sinew.selection))[0];
        check(item?.kind === "handle", "Tab selects a handle");
        const mask = (s) => s.bodies[item.body].given[item.index];
        const x = mask(await hello(page)) & 1; // the scene's own script may hold it
        await page.click(".dof:nth-child(1)");
        await until(page, "x is held, or free", (s) => (mask(s) & 1) === 1 - x);
        await page.locator("canvas").first().focus();
        await page.keyboard.press("Control+z");
        await until(page, "undo", (s) => (mask(s) & 1) === x);
        await page.keyboard.press("Control+Shift+Z");
        const last = mask(await until(page, "redo", (s) => (mask(s) & 1) === 1 - x));
        await page.keyboard.press("l");
        await until(page, "L locks all or lets all go", (s) => mask(s) === (last ? 0 : 63));
        await page.keyboard.press("Escape");
        check((await page.evaluate(() => window.sinew.selection.length)) === 0, "Escape selects nothing");
    },

    async arrowKeysMoveAHandle() {
        await page.keyboard.press("Shift+Tab");
        const item = (await page.evaluate(() => window.sinew.selection))[0];
        const mask = (s) => s.bodies[item.body].given[item.index];
        const before = mask(await hello(page));
        for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowUp");
        await until(page, "it stays held where it was moved", (s) => (mask(s) & 3) === 3 && /drag/.test(s.undo ?? ""));
        await page.keyboard.press("Control+z");
        await until(page, "undo", (s) => mask(s) === before);
        await page.keyboard.press("Escape");
    },

    async otherScenesOpen() {
        await open("drop");
        await until(page, "what is opened plays, although we had paused", (s) => s.playing);
        await shot(page, "drop");
        check(!(await page.evaluate(() => window.sinew.camera.flat)), "flesh in space is seen in perspective");
    },

    async fleshIsDraggedAndPushed() {
        await page.locator("canvas").first().focus();
        await pause(true);
        await page.keyboard.press("r"); // it may have rolled out of the picture
        await seen(() => window.sinew.shown === 0);
        const spot = await page.evaluate(() => {
            const p = window.sinew.positions(0);
            let [x, y, z] = [0, 0, 0];
            for (let i = 0; i < p.length; i += 3) [x, y, z] = [x + p[i], y + p[i + 1], z + p[i + 2]];
            const n = p.length / 3;
            return window.sinew.project([x / n, y / n, z / n]);
        });
        const box = await page.locator("canvas").first().boundingBox();
        await page.mouse.move(box.x + spot[0], box.y + spot[1]);
        await page.mouse.down();
        await until(page, "flesh is held", (s) => s.grabs.some((g) => g.kind === "flesh"));
        await pause(false);
        await page.mouse.move(box.x + spot[0] + 40, box.y + spot[1] - 60, { steps: 5 });
        await page.mouse.up();
        await until(page, "the drag can be undone", (s) => s.grabs.length === 0 && /drag/.test(s.undo ?? ""));
        await pause(true);
        await page.keyboard.press("Control+z");
        await until(page, "back to before", (s) => !/drag/.test(s.undo ?? ""));
        await page.keyboard.down("Alt");
        await page.mouse.move(box.x + spot[0], box.y + spot[1]);
        await page.mouse.down();
        await page.mouse.move(box.x + spot[0] + 50, box.y + spot[1], { steps: 3 });
        await page.mouse.up();
        await page.keyboard.up("Alt");
        await until(page, "the push is in the history", (s) => /push/.test(s.undo ?? ""));
        await page.locator("canvas").first().focus();
        await pause(true);
    },

    async parametersAreTuned() {
        await tab("tune");
        const state = await hello(page);
        const param = state.params.find((p) => p.type === "int" && p.live && p.name === "sim.substeps") ?? state.params.find((p) => p.type === "int" && p.live);
        const value = (s) => s.params.find((p) => p.name === param.name).value;
        const row = field(param.label);
        if (!(await row.isVisible())) await page.locator(".tp-fldv_t", { hasText: param.name.split(".")[0] }).click();
        const wanted = Math.min(param.max, value(state) + 3);
        await row.locator("input").last().fill(String(wanted));
        await row.locator("input").last().press("Enter");
        await until(page, "a typed number arrives", (s) => value(s) === wanted);
        await page.click('button[aria-label^="Undo"]');
        await until(page, "undo", (s) => value(s) === value(state));
        await page.click('button[aria-label^="Redo"]');
        await until(page, "redo", (s) => value(s) === wanted);
        await row.locator(".tp-lblv_l").dblclick();
        await until(page, "a double click resets", (s) => value(s) === param.default);
    },

    async materialsHavePresets() {
        const young = (s) => s.bodies[0].regions[0].young;
        const before = young(await hello(page));
        const presets = (await ask(page, { do: "list" })).presets;
        const other = presets.find((p) => p.material.young !== before);
        await field("like").locator("select").selectOption({ label: other.name });
        await until(page, "the preset is taken", (s) => young(s) === other.material.young);
    },

    async gravityGoes() {
        await page.locator("canvas").first().focus();
        await page.keyboard.press("g");
        await until(page, "no gravity", (s) => s.gravity.every((x) => x === 0));
        await page.keyboard.press("g");
        await until(page, "gravity again", (s) => s.gravity[1] < 0);
    },

    async speedIsChosen() {
        await page.selectOption('select[aria-label="Speed of time"]', "0.5");
        await until(page, "half as fast", (s) => s.speed === 0.5);
        await page.locator("canvas").first().focus();
        await page.keyboard.press("]");
        await until(page, "faster", (s) => s.speed === 1);
    },

    async methodsAreSwitched() {
        const { method, methods } = await hello(page);
        const other = methods.find((m) => m.name !== method && m.name === "apd") ?? methods.find((m) => m.name !== method);
        await page.selectOption(".method select", other.name);
        await until(page, "the other method", (s) => !s.loading && s.method === other.name);
        await page.keyboard.press("Control+z");
    },

    async numbersBecomeColours() {
        await tab("see");
        await field("colours").locator("select").selectOption({ label: "strain" });
        await seen(() => window.sinew.values(0) === window.sinew.parts[0].vertices);
        await page.locator(".legend").waitFor({ state: "visible" });
        await page.locator("canvas").first().focus();
        for (const key of ["w", "c"]) await page.keyboard.press(key);
        await shot(page, "strain");
        for (const key of ["w", "c"]) await page.keyboard.press(key);
        await field("colours").locator("select").selectOption({ label: "skin" });
        await tab("plots");
        await page.keyboard.press("."); // curves need a frame
        await page.locator(".plots canvas").first().waitFor();
        await shot(page, "plots");
        await tab("tune");
    },

    async aTakeIsRecordedAndScrubbed() {
        await page.click(".record");
        const playing = await until(page, "a new take", (s) => s.playing && s.frame < 400);
        await until(page, "it grows", (s) => s.recording.last >= Math.min(24, playing.recording.last + 24));
        await page.click(".record");
        const state = await until(page, "it ends", (s) => !s.playing);
        await page.locator("dialog.exports").waitFor({ state: "visible" });
        await page.keyboard.press("Escape");
        await page.locator(`.track[aria-valuemax="${state.recording.last}"]`).waitFor(); // the page knows where it ended
        const track = await page.locator(".track").boundingBox();
        await page.mouse.click(track.x + track.width / 2, track.y + track.height / 2);
        await seen(() => window.sinew.frame?.scrubbing);
        const shown = await page.evaluate(() => window.sinew.frame.number);
        check(Math.abs(shown - state.recording.last / 2) <= 2, `the middle is shown: ${shown} of ${state.recording.last}`);
        await page.mouse.click(track.x + track.width - 1, track.y + track.height / 2);
        await seen((last) => window.sinew.frame?.number === last, state.recording.last);
    },

    async theTakeBecomesAGlb() {
        await page.locator("canvas").first().focus();
        await page.keyboard.press("e");
        await page.fill("dialog.exports input", "take");
        await page.click('dialog.exports [data-kind="glb"]');
        await page.locator(".job.done a").first().waitFor();
        check(/^take\.glb,/.test(await page.locator(".job.done").first().textContent()), "it has the name that was asked for");
        await shot(page, "export");
        const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".job.done a").first().click()]);
        const path = join(server.folder, "downloaded.glb");
        await download.saveAs(path);
        check(statSync(path).size > 1000, "the file has something in it");
        check(readFileSync(path).subarray(0, 4).toString() === "glTF", "it is a GLB");
        const verdict = spawnSync("node", [join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../../tools/validate.js"), path], { encoding: "utf8" });
        if (verdict.status === 69) console.log("note: no gltf-validator here");
        else check(/^0 /.test(verdict.stdout), `the validator has no errors: ${verdict.stdout}`);
        await page.click('dialog.exports [data-kind="words"]');
        await seen(() => [...document.querySelectorAll(".toast")].some((t) => t.textContent.includes("sinew")));
        await page.keyboard.press("Escape");
    },

    async theRestIsExported() {
        await page.locator("canvas").first().focus();
        await page.keyboard.press("e");
        await page.fill("dialog.exports input", "more");
        const wanted = { scene: "more.json", log: "more.jsonl", sidecar: "more.sinew.json", pc2: ".pc2" };
        for (const [kind, end] of Object.entries(wanted)) {
            await page.click(`dialog.exports [data-kind="${kind}"]`);
            const row = page.locator(".job.done", { hasText: end }).first();
            await row.waitFor();
            const name = (await row.textContent()).split(",")[0];
            check(statSync(join(server.folder, name)).size > 10, `${name} is in the folder`);
        }
        const log = readFileSync(join(server.folder, "more.jsonl"), "utf8").trim().split("\n");
        check(log.length > 20 && log.every((line) => JSON.parse(line)), "the log has a line for each frame");
        await page.keyboard.press("Escape");
    },

    async keysAreListed() {
        await page.locator("canvas").first().focus();
        await page.keyboard.press("?");
        await page.locator("dialog.help").waitFor({ state: "visible" });
        await shot(page, "help");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+k");
        await page.keyboard.type("gravity");
        await page.keyboard.press("Enter");
        await until(page, "the palette does it", (s) => s.gravity.every((x) => x === 0));
        await page.keyboard.press("Control+z");
    },

    async propsAndCollidersAreDragged() {
        const scene = {
            sinew: 1,
            name: "solids",
            method: "pbd",
            gravity: [0, 0, 0],
            bodies: [{ name: "ball", character: { shape: "ball", cells: [5, 5, 5] }, position: [0, 0.5, 0] }],
            props: [{ name: "stone", kind: "sphere", radius: 0.15, position: [0.7, 0.5, 0] }],
            colliders: [{ name: "block", kind: "box", half_size: [0.15, 0.15, 0.15], position: [-0.7, 0.5, 0] }],
            camera: { position: [0, 0.5, 5], target: [0, 0.5, 0], field_of_view: 30 },
        };
        await dropFile("solids.json", JSON.stringify(scene));
        await opened("the dropped scene", (s) => s.scene?.name === "solids");
        await seen(() => window.sinew.parts.length === 1 && window.sinew.parts[0].name.includes("ball"));
        const box = await page.locator("canvas").first().boundingBox();
        for (const [kind, place] of [
            ["prop", [0.7, 0.5, 0]],
            ["collider", [-0.7, 0.5, 0]],
        ]) {
            const [x, y] = await page.evaluate((place) => window.sinew.project(place), place);
            await page.mouse.move(box.x + x, box.y + y);
            await page.mouse.down();
            await until(page, `the hand holds the ${kind}`, (s) => s.grabs.some((g) => g.kind === kind));
            const { hash } = await hello(page);
            await page.mouse.move(box.x + x, box.y + y - 60, { steps: 6 });
            await until(page, `the ${kind} moves`, (s) => s.hash !== hash);
            await page.mouse.up();
            await until(page, "it can be undone", (s) => s.grabs.length === 0 && (s.undo ?? "").includes(kind === "prop" ? "stone" : "block"));
        }
        await shot(page, "solids");
    },

    async severalHandlesAreLockedAndRulesSwitched() {
        const terms = [
            { handle: "head", dof: "y", coefficient: 1 },
            { handle: "tail", dof: "y", coefficient: -1 },
        ];
        const character = { blueprint: "worm", constraints: [{ terms, value: 0 }] };
        const scene = { sinew: 1, name: "ruled", method: "rigpbd", gravity: [0, 0, 0], bodies: [{ name: "worm", character }] };
        await dropFile("ruled.json", JSON.stringify(scene));
        await opened("the dropped scene", (s) => s.scene?.name === "ruled");
        await pause(true);
        await seen(() => window.sinew.marks().filter((m) => m.kind === "handle").length > 1);
        const box = await page.locator("canvas").first().boundingBox();
        const two = (await marks()).filter((m) => m.kind === "handle").slice(0, 2);
        await page.keyboard.down("Shift");
        for (const { index } of two) {
            const mark = (await marks()).find((m) => m.kind === "handle" && m.index === index);
            await page.mouse.click(box.x + mark.x, box.y + mark.y);
        }
        await page.keyboard.up("Shift");
        await seen(() => window.sinew.selection.length === 2); // Shift and a click select several
        const given = (s) => two.map((m) => s.bodies[0].given[m.index]);
        const flat = await hello(page);
        await page.keyboard.press("l");
        await until(page, "L locks both", (s) => given(s).every((mask, i) => mask !== 0 && mask !== given(flat)[i]));
        await page.keyboard.press("Control+z");
        await until(page, "undo lets both go", (s) => given(s).every((mask, i) => mask === given(flat)[i]));
        const rule = (s) => s.bodies[0].constraints[0];
        const label = rule(await hello(page)).name ?? "rule 1";
        const before = rule(await hello(page)).on;
        await field(label).locator("label").last().click();
        await until(page, "the rule is switched", (s) => rule(s).on === !before);
        await page.click('button[aria-label^="Undo"]');
        await until(page, "undo", (s) => rule(s).on === before);
    },

    async motionsAreChosen() {
        await open("blub");
        const motion = (s) => s.bodies[0].motion;
        const before = motion(await hello(page));
        check(before !== "", "the fish follows a motion");
        await field("follows").locator("select").selectOption({ label: "none" });
        await until(page, "none", (s) => !s.loading && motion(s) === "");
        await page.click('button[aria-label^="Undo"]');
        await until(page, "undo", (s) => !s.loading && motion(s) === before);
    },

    async hostileNamesStayText() {
        const name = '<img src=x onerror="window.hacked=1">';
        const scene = {
            sinew: 1,
            name,
            description: `<script>window.hacked=2</script>${name}`,
            method: "pbd",
            bodies: [{ name, character: { shape: "ball", cells: [5, 5, 5] }, position: [0, 0.6, 0] }],
            colliders: [{ name: "<b>ground</b>", kind: "plane" }],
        };
        await dropFile("hostile <b>.json", JSON.stringify(scene));
        await opened("the dropped scene", (s) => s.scene?.name === name);
        await seen((name) => document.querySelector(".scene b").textContent === name, name);
        check((await page.evaluate(() => window.hacked)) === undefined, "nothing of it ran");
        check((await page.locator(".scene img, .card img, .card span b b").count()) === 0, "nothing of it became an element");
    },

    async brokenFilesAreTold() {
        await dropFile("broken.glb", "this is no GLB");
        const toast = page.locator(".toast.error").first();
        await toast.waitFor();
        check((await toast.textContent()).length > 10, "it says what is wrong");
        await shot(page, "error");
        await until(page, "the scene before is still there", (s) => !s.loading && s.bodies.length === 1);
    },

    async comesBackWhenTheServerDoes() {
        await open(server.source); // what the server begins with when it is started again
        const box = await page.locator("canvas").first().boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        const before = await page.evaluate(() => window.sinew.camera.position);
        await page.keyboard.down("Control");
        await page.mouse.wheel(0, 60);
        await page.keyboard.up("Control");
        await seen((before) => window.sinew.camera.position.some((x, i) => x !== before[i]), before); // the wheel moves the view
        const camera = await page.evaluate(() => window.sinew.camera.position);
        const address = new URL(server.address);
        await server.stop("SIGKILL");
        await seen(() => window.sinew.link !== "open");
        await page.locator(".curtain b", { hasText: "lost" }).waitFor();
        await shot(page, "lost");
        await server.start(["--port", address.port], address.searchParams.get("token"));
        await seen(() => window.sinew.link === "open");
        await until(page, "the scene is there again", (s) => !s.loading && s.scene !== null);
        await seen((serial) => window.sinew.frame && window.sinew.frame.serial !== serial, -1);
        const kept = await page.evaluate(() => window.sinew.camera.position);
        check(camera.every((x, i) => x === kept[i]), "the view is kept");
    },

    async aWrongTokenIsExplained() {
        const other = await context.newPage();
        const address = new URL(server.address);
        address.searchParams.set("token", "0".repeat(32));
        const answer = await other.goto(address.href);
        check(answer.status() >= 400 || (await other.locator(".curtain").count()) === 1, "no scene without the token");
        check((await other.textContent("body")).toLowerCase().includes("token"), "it says that the token is missing");
        await other.close();
    },

    async theServerEndsCleanly() {
        check((await server.stop("SIGINT")) === 0, "Ctrl-C ends it with 0");
    },
};

// As a file manager would: a DataTransfer with a file in it.
async function dropFile(name, text) {
    const data = await page.evaluateHandle(
        ([name, text]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], name));
            return transfer;
        },
        [name, text],
    );
    await page.dispatchEvent("main", "dragenter", { dataTransfer: data });
    await page.dispatchEvent("main", "drop", { dataTransfer: data });
}

let failures = 0;
const only = process.argv[4];
for (const [name, run] of Object.entries(cases)) {
    if (only && !only.split(",").includes(name)) continue;
    const begun = Date.now();
    try {
        await run();
        console.log(`ok      ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
        ++failures;
        console.log(`FAILED  ${name}: ${error.message.split("\n").slice(0, 4).join(" | ")}`);
        await shot(page, `failed-${name}`).catch(() => {});
    }
}
for (const mistake of mistakes) console.log(`FAILED  error on the page: ${mistake}`);
if (failures > 0) writeFileSync(join(build, "web-shots/server.txt"), server.said ?? "");
await browser.close();
server.process?.kill("SIGKILL");
server.clear();
process.exit(failures + mistakes.length > 0 ? 1 : 0);
