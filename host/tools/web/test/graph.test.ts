// The graph's data: scopes, views, marks, searches.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { DrawnFunction, DrawnOp } from "../src/data.ts";
import { markOf, noMarks, leading, markText } from "../src/graph/marks.ts";
import { OpGraph } from "../src/graph/model.ts";
import { MOST_CHILDREN, scopeTree, find, trail, type Scope } from "../src/graph/scopes.ts";
import { OpSearch } from "../src/graph/search.ts";
import { MOST_BOXES, neighborhood, neighbors, scopeView } from "../src/graph/view.ts";
import { arrange } from "../src/layout/arrange.ts";

/** A chain of ops of these names: each takes what the one before gives, the first an argument. */
function chain(names: string[], more: Partial<DrawnOp>[] = []): OpGraph {
  const values = [{ name: "%x", type: "f32[2]", from: -1 }];
  const ops = names.map((name, at): DrawnOp => {
    values.push({ name: `%${at}`, type: "f32[2]", from: at });
    const named = name === "" ? {} : { names: [name] };
    return { kind: "onnx.Relu", text: `%${at} = onnx.Relu`, operands: [at], results: [at + 1], ...named, ...more[at] };
  });
  const drawn: DrawnFunction = { name: "main", values, ops };
  return new OpGraph(drawn);
}

function shown(scope: Scope): unknown {
  return scope.children.map((child) => ("op" in child ? child.op : { [child.scope.label]: shown(child.scope) }));
}

test("names are scopes, and an only child takes its scope's place", () => {
  const graph = chain(["/a/b/one", "/a/b/two", "/a/c/d/three", "/a/c/d/four", "/e/five", "six"]);
  assert.deepEqual(shown(scopeTree(graph).root), [{ a: [{ b: [0, 1] }, { "c/d": [2, 3] }] }, { e: [4, 5] }]);
});

test("an op without a scope belongs to those that take what it gives, or that it takes", () => {
  const graph = chain(["Constant_1", "/a/one", "/a/two", "", "/b/three", "/b/four", ""]);
  assert.deepEqual(shown(scopeTree(graph).root), [{ a: [0, 1, 2] }, { b: [3, 4, 5, 6] }]);
});

test("what several nodes became is in the scope that they share", () => {
  const graph = chain(["/a/b/one", "/a/b/two", "/a/c/x", "/a/c/y"], [{}, { names: ["/a/b/two", "/a/c/z"] }]);
  assert.deepEqual(shown(scopeTree(graph).root), [{ a: [0, 1, { c: [2, 3] }] }]);
});

test("what is in a region is inside of its op", () => {
  const graph = chain(["/a/If", "/a/then", "/a/else", "/a/after"], [{}, { inside: 0 }, { inside: 0 }]);
  assert.deepEqual(shown(scopeTree(graph).root), [{ a: [0, { "inside If": [1, 2] }, 3] }]);
});

test("no view has too many boxes, however flat names are", () => {
  const graph = chain(Array.from({ length: 70_000 }, (_, at) => `node_${at}`));
  const tree = scopeTree(graph);
  for (const scope of tree.all) {
    assert(scope.children.length <= MOST_CHILDREN, `${scope.path} has ${scope.children.length} children`);
  }
  assert.equal(tree.root.size, 70_000);
  for (const scope of [tree.root, tree.all.at(-1) as Scope]) {
    assert(scopeView(graph, tree, scope).boxes.length <= MOST_BOXES);
  }
});

test("a scope's view has its children and what is around it", () => {
  const graph = chain(["/a/one", "/b/two", "/b/three", "/c/four", "/c/five"]);
  const tree = scopeTree(graph);
  const view = scopeView(graph, tree, find(tree, "/b"));
  const ids = view.boxes.map((box) => `${box.kind} ${box.title}`);
  assert.deepEqual(ids, ["op Relu", "op Relu", "outside one", "outside c"]);
  assert.deepEqual(view.edges, [[2, 0], [0, 1], [1, 3]]);
  const all = scopeView(graph, tree, tree.root);
  assert.deepEqual(all.boxes.map((box) => box.title), ["Relu", "b", "c", "%x"]);
  assert.deepEqual(all.edges, [[0, 1], [1, 2], [3, 0]]);
});

test("a scope that is gone leads to the one around it", () => {
  const tree = scopeTree(chain(["/a/b/one", "/a/b/two", "/a/c"]));
  assert.equal(find(tree, "/a/b/gone").path, "/a/b");
  assert.equal(find(tree, "/other").path, "");
  assert.deepEqual(trail(find(tree, "/a/b")).map((scope) => scope.label), ["", "a", "b"]);
});

test("a neighborhood is the nearest ops", () => {
  const graph = chain(Array.from({ length: 50 }, (_, at) => `n${at}`));
  assert.deepEqual(neighbors(graph, 20, 5).sort((a, b) => a - b), [18, 19, 20, 21, 22]);
  const view = neighborhood(graph, 0, 3);
  assert.deepEqual(view.boxes.map((box) => box.id), ["o0", "o1", "o2", "a0"]);
});

test("marks tell what passes did", () => {
  assert.equal(markOf({ kind: "", text: "", operands: [], results: [], changed: [1], removed: 2 }), "removed");
  assert.equal(markOf({ kind: "", text: "", operands: [], results: [], made: 0, changed: [1] }), "made");
  assert.equal(markOf({ kind: "", text: "", operands: [], results: [], changed: [0] }), "changed");
  assert.equal(leading({ ...noMarks(), same: 3 }), "same");
  assert.equal(leading({ ...noMarks(), made: 3, removed: 1 }), "changed");
  assert.equal(markText({ ...noMarks(), made: 3, removed: 1 }), "3 created, 1 removed");
});

test("a search takes words of kinds, names, marks and passes", () => {
  const graph = chain(["/a/one", "/a/two", "/b/one"], [{}, { made: 4 }, { removed: 4 }]);
  const search = new OpSearch(graph, (trail) => `FoldConstant (pass ${trail})`);
  assert.deepEqual(search.find("relu /a"), [0, 1]);
  assert.deepEqual(search.find("ONE"), [0, 2]);
  assert.deepEqual(search.find("foldconstant"), [1, 2]);
  assert.deepEqual(search.find("removed foldconstant"), [2]);
  assert.deepEqual(search.find("  "), []);
  assert.deepEqual(search.find("nowhere"), []);
});

test("a layout puts what is taken above what takes it", () => {
  const sizes = [1, 2, 3].map((): [number, number] => [80, 44]);
  const { middles, lines, height } = arrange({ number: 1, sizes, edges: [[0, 1], [1, 2]] });
  const [first, second, third] = middles.map(([, y]) => y);
  assert((first ?? 0) + 44 <= (second ?? 0) && (second ?? 0) + 44 <= (third ?? 0));
  assert.equal(lines.length, 2);
  assert(height > 3 * 44);
});
