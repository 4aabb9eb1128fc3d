// Opens a page in a headless Chromium and does with it what people do: looks, clicks, searches, and all of it by keyboard.
// `node browser/drive.mjs PAGE FOLDER`: the page has a graph of some thousand ops; screenshots go to the folder.

import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import puppeteer from "puppeteer-core";

const [page, folder] = process.argv.slice(2);
assert(page && folder, "usage: node browser/drive.mjs PAGE FOLDER");

/** The most boxes that may be laid out at a time, and how long anything may take, in milliseconds. */
const MOST_BOXES = 1000;
const MOST_TIME = Number(process.env.PAGE_MOST_TIME ?? 1000);

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // The page is the project's own; a sandbox can't be had as root.
  args: ["--no-sandbox"],
  headless: true,
});
try {
  const checks = [looks, opensAndSearches, byKeyboardAlone];
  for (const check of checks) await check();
} finally {
  await browser.close();
}

/** A tab with the page; what it asks of a network, or throws, is an error. */
async function opened({ width = 1280, scheme = "light", motion = "reduce" } = {}) {
  const tab = await browser.newPage();
  const wrong = [];
  tab.on("pageerror", (error) => wrong.push(`thrown: ${error.message}`));
  tab.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()}`);
  });
  tab.on("request", (request) => {
    if (!/^(file|blob):/.test(request.url())) wrong.push(`asked for: ${request.url()}`);
  });
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: motion },
  ]);
  const start = performance.now();
  await tab.goto(pathToFileURL(resolve(page)).href);
  await tab.waitForSelector("html[data-ready]");
  await drawn(tab);
  const time = performance.now() - start;
  console.log(`opened at ${width}, ${scheme}: ${Math.round(time)} ms`);
  const close = async () => {
    assert.deepEqual(wrong, []);
    await tab.close();
  };
  return { tab, time, close };
}

/** Waits until a view is drawn, and checks what it took. */
async function drawn(tab) {
  await tab.waitForFunction(() => document.querySelector("#graph")?.dataset.drawn, { timeout: 20_000 });
  const said = await tab.$eval("#graph", (graph) => graph.dataset.drawn);
  const [boxes = 0, time = 0] = said.split(" ").map(Number);
  assert(boxes > 0 && boxes <= MOST_BOXES, `${boxes} boxes are drawn`);
  assert(time <= MOST_TIME, `${boxes} boxes took ${time} ms`);
  return { boxes, time };
}

/** Does something that draws another view. */
async function drawing(tab, act) {
  await tab.$eval("#graph", (graph) => (graph.dataset.drawn = ""));
  await act();
  return drawn(tab);
}

async function shoot(tab, name) {
  await tab.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

async function looks() {
  for (const width of [1280, 390]) {
    for (const scheme of ["light", "dark"]) {
      const { tab, time, close } = await opened({ width, scheme });
      assert(time <= 3 * MOST_TIME, `the page took ${time} ms`);
      const isWide = await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert(!isWide, `the page is wider than ${width} pixels`);
      const [paper, ink] = await tab.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        return [backgroundColor, color].map((text) => Number(/\d+/.exec(text)));
      });
      assert(scheme === "light" ? paper > ink : paper < ink, `${scheme}: ${ink} on ${paper}`);
      await shoot(tab, `page-${width}-${scheme}`);
      await close();
    }
  }
}

/** Opens scopes down to the ops, an op's neighborhoods, and what a search finds. */
async function opensAndSearches() {
  const { tab, close } = await opened();
  await tab.$$eval(".tabs button", ([before]) => before.click());
  await drawn(tab);
  const seen = [];
  for (let depth = 0; depth < 20; depth += 1) {
    // The largest scope that is drawn.
    const box = await tab.$$eval(".picture .box.scope", (boxes) => {
      const size = (box) => Number(/(\d[\d,]*) op/.exec(box.textContent)?.[1]?.replaceAll(",", "") ?? 0);
      return boxes.sort((a, b) => size(b) - size(a))[0]?.dataset.id;
    });
    if (!box) break;
    const click = () =>
      tab.$eval(`.picture [data-id="${box}"]`, (found) => {
        found.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        found.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
      });
    seen.push(await drawing(tab, click));
  }
  assert(seen.length > 0, "no scope could be opened");
  // A click where the op is, as a pointer does it.
  await tab.$eval(".picture", (picture) => picture.scrollIntoView({ block: "center" }));
  const spot = await tab.$$eval(".picture .box.op", (ops) => {
    const frame = document.querySelector(".picture").getBoundingClientRect();
    const places = ops.map((op) => op.getBoundingClientRect());
    const isSeen = (place) => place.left > frame.left && place.right < frame.right && place.top > frame.top && place.bottom < frame.bottom;
    const place = places.find(isSeen);
    return place ? [place.left + place.width / 2, place.top + place.height / 2] : null;
  });
  assert(spot, "no op of the innermost scope is seen");
  await tab.mouse.click(...spot);
  assert.match(await tab.$eval(".details .past", (past) => past.textContent), /In the original model|Created by/);
  await shoot(tab, "scope");
  await drawing(tab, () => tab.$$eval(".details .actions button", (buttons) => buttons.at(-1).click()));
  for (const size of [1, 2]) {
    const near = await drawing(tab, () => tab.$$eval(".crumbs .tools button", (all, at) => all[at].click(), size));
    seen.push(near);
  }
  await shoot(tab, "neighborhood");
  console.log(`views: ${seen.map(({ boxes, time }) => `${boxes} boxes in ${time} ms`).join(", ")}`);
  // What was removed is found by the pass that removed it.
  await tab.type("#search", "removed");
  const summary = await tab.$eval(".results .quiet", (line) => line.textContent);
  assert(Number.parseInt(summary.replaceAll(",", ""), 10) > 0, summary);
  await shoot(tab, "search");
  await drawing(tab, () => tab.$$eval(".results button", ([first]) => first.click()));
  assert.equal(await tab.$$eval(".box.selected", (boxes) => boxes.length), 1);
  assert.match(await tab.$eval(".details .past", (past) => past.textContent), /Removed by/);
  await shoot(tab, "removed");
  // A fold shows its lines when it is opened.
  await tab.$eval(".change summary", (summary) => summary.click());
  await tab.waitForFunction(() => document.querySelectorAll(".change[open] .diff span").length > 0);
  await close();
}

/** Everything without a pointer. */
async function byKeyboardAlone() {
  const { tab, close } = await opened({ width: 390, motion: "no-preference" });
  const { keyboard } = tab;
  const focused = () => tab.evaluate(() => document.activeElement?.textContent?.slice(0, 40) || document.activeElement?.className);
  await keyboard.press("/");
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "search");
  await keyboard.type("created");
  const top = await tab.$eval(".picture", (picture) => picture.getBoundingClientRect().top);
  assert(top >= 0 && top < 900, `what is searched stands ${top} pixels from the top`);
  const found = await tab.$$eval(".results button", (all) => all.length);
  await keyboard.press("Escape");
  assert.equal(await tab.$eval("#search", (field) => field.value), "");
  assert.equal(await focused(), await tab.$eval(".picture", (picture) => picture.textContent.slice(0, 40)));
  await keyboard.press("ArrowDown");
  assert.equal(await tab.$$eval(".box.selected", (boxes) => boxes.length), 1, "an arrow selects");
  const first = await tab.$eval(".box.selected", (box) => box.dataset.id);
  await keyboard.press("ArrowDown");
  assert.notEqual(await tab.$eval(".box.selected", (box) => box.dataset.id), first, "another arrow goes on");
  // The next change opens the scope that it is in; Escape leaves the op, and then the scope.
  if (found > 0) {
    await drawing(tab, () => keyboard.press("n"));
    assert.match(await tab.$eval(".details .past", (past) => past.textContent), /by/);
    await keyboard.press("Escape");
    assert.equal(await tab.$$eval(".box.selected", (boxes) => boxes.length), 0);
    await drawing(tab, () => keyboard.press("Escape"));
    await drawing(tab, () => keyboard.press("Enter"));
  }
  const zoom = () => tab.$eval(".picture svg > g", (world) => world.getAttribute("transform"));
  const before = await zoom();
  await keyboard.press("+");
  assert.notEqual(await zoom(), before, "plus zooms");
  // Every control is reached, in the page's order, and none keeps the focus.
  await tab.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let step = 0; step < 400; step += 1) {
    await keyboard.press("Tab");
    const at = await tab.evaluate(() => {
      const all = [...document.querySelectorAll("*")];
      return all.indexOf(document.activeElement);
    });
    if (reached.has(at)) break;
    reached.add(at);
  }
  const missing = await tab.evaluate(
    (reached) => {
      const all = [...document.querySelectorAll("*")];
      const controls = document.querySelectorAll("a[href], button, input, select, summary");
      const isSeen = (control) => control.checkVisibility() && !control.disabled;
      return [...controls].filter((control) => isSeen(control) && !reached.includes(all.indexOf(control))).map((control) => control.outerHTML.slice(0, 80));
    },
    [...reached],
  );
  assert.deepEqual(missing, []);
  await close();
}
