// What the sections are made of: numbers, times, orders; and how the data is read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";

import { readData, type PageData, type PassEntry } from "../src/data.ts";
import { bytes, count, countOf, seconds, shortPass, signed, squeezed } from "../src/format.ts";
import { curve } from "../src/graph/picture.ts";
import { changesText, countByStatus, passesByTrail, passTitle, quietCount, spans } from "../src/passes.ts";
import { sortedKinds } from "../src/sections/kinds.ts";
import { sortedRules } from "../src/sections/rules.ts";

function pass(name: string, more: Partial<PassEntry> = {}): PassEntry {
  const none = { plugin: null, file: null, parent: null, requested_by: null, reason: "", trail: null };
  return { name, ...none, depth: 0, status: "changed", seconds: 1, ops_before: 2, ops_after: 1, ...more };
}

function page(passes: PassEntry[]): PageData {
  return {
    version: 1,
    facts: { program: "", command: [], bytes_before: null, bytes_after: null },
    ok: true,
    pipeline: { name: null, built_in: false, opt_level: null },
    model: { input: "m.onnx", output: null, ops_before: 0, ops_after: 0 },
    seconds: 0,
    passes,
    diagnostics: [],
    reproducer: null,
    recorded: null,
  };
}

/** An element that holds data. */
function holding(type: string, textContent: string): Element {
  return { textContent, getAttribute: () => type } as unknown as Element;
}

test("data is read as it is, or compressed", async () => {
  const json = JSON.stringify(page([pass("ä")]));
  const plain = await readData(holding("application/json", json));
  const packed = deflateRawSync(json).toString("base64");
  const unpacked = await readData(holding("application/x-deflate-base64", packed));
  assert.equal(plain.passes[0]?.name, "ä");
  assert.deepEqual(unpacked, plain);
});

test("data of another version is rejected", async () => {
  await assert.rejects(readData(holding("application/json", '{"version": 2}')), /expected data of version 1, found version 2/);
});

test("numbers are readable", () => {
  assert.equal(count(1948), "1,948");
  assert.equal(countOf(1, "op"), "1 op");
  assert.equal(countOf(0, "op"), "0 ops");
  assert.equal(signed(-3), "−3");
  assert.equal(signed(3), "+3");
  assert.equal(seconds(0.000_02), "20 µs");
  assert.equal(seconds(0.0123), "12.3 ms");
  assert.equal(seconds(1.5), "1.50 s");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(4_633_429), "4.6 MB");
  assert.equal(shortPass("relax.transform.FoldConstant"), "FoldConstant");
  assert.equal(squeezed("abcdefghij", 6), "ab…hij");
});

test("a pass is drawn inside the one that ran it", () => {
  const passes = [pass("a"), pass("b", { seconds: 3 }), pass("c", { depth: 1, seconds: 2 }), pass("d", { depth: 1, seconds: 1 })];
  assert.deepEqual(spans(passes), [
    { start: 0, length: 0.25 },
    { start: 0.25, length: 0.75 },
    { start: 0.25, length: 0.5 },
    { start: 0.75, length: 0.25 },
  ]);
});

test("passes are known by their trails and told by their places", () => {
  const data = page([pass("x.Skipped", { status: "skipped" }), pass("x.Ran", { trail: 1 })]);
  const known = passesByTrail(data).get(1);
  assert.equal(known && passTitle(known), "Ran (pass 2)");
});

test("kinds of which most came or went are first", () => {
  const rows = sortedKinds({ "onnx.A": [5, 5], "onnx.B": [5, 1], "onnx.C": [0, 2], "onnx.D": [9, 9] });
  assert.deepEqual(rows.map((row) => row.kind), ["onnx.B", "onnx.C", "onnx.D", "onnx.A"]);
});

test("rules are counted over all passes", () => {
  const rewrites = { zero: 2, one: 1 };
  const rows = sortedRules(page([pass("p", { rewrites }), pass("q", { rewrites: { one: 5 } })]));
  assert.deepEqual(rows.map(({ rule, times }) => [rule, times]), [["one", 6], ["zero", 2]]);
  assert.deepEqual([...(rows[0]?.passes ?? [])], [["p", [1]], ["q", [2]]]);
});

test("a line goes from its first point to its last", () => {
  assert.equal(curve([[0, 0], [0, 10]]), "M0.0 0.0L0.0 10.0");
  assert.equal(curve([[0, 0], [5, 5], [0, 10]]), "M0.0 0.0Q5.0 5.0 0.0 10.0");
  assert.equal(curve([]), "");
});

test("passes are counted as the terminal lists them", () => {
  const counts = countByStatus([
    pass("a.All"),
    pass("a.One", { parent: "a.All", depth: 1 }),
    pass("a.Two", { parent: "a.All", depth: 1, status: "unchanged" }),
    pass("a.Three", { status: "skipped" }),
    pass("a.Two", { status: "unchanged" }),
  ]);
  assert.deepEqual(counts, { changed: 1, unchanged: 2, skipped: 1, failed: 0 });
  assert.equal(quietCount(counts), "2 unchanged and 1 skipped");
  assert.equal(quietCount(countByStatus([pass("a.One")])), "");
});

test("what a pass changed that left as many ops is said", () => {
  const changes = { attributes: 3, constants: 1, ops: 2, opsets: 1, types: 12 };
  assert.equal(
    changesText(changes),
    "changed attributes of 3 ops, added 1 constant, recreated 2 ops, changed opsets of 1 function, changed types of 12 values",
  );
  assert.equal(changesText({}), "");
});
