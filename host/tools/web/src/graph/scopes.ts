// The tree of scopes in nodes' names (`/layer1/attn/MatMul`). Children of large scopes are split into groups.

import { leading, markOf, noMarks, type Mark, type MarkCounts } from "./marks.ts";
import type { OpGraph } from "./model.ts";

/** The maximum number of children of a scope that are drawn individually. */
export const MOST_CHILDREN = 300;
/** The minimum number of children in a group. */
const GROUP = 100;
/** The maximum number of groups in a scope. */
const MOST_GROUPS = 200;

export type Child = { scope: Scope } | { op: number };

export interface Scope {
  id: number;
  /** The name relative to the parent. */
  label: string;
  /** The full name. */
  path: string;
  parent: Scope | null;
  children: Child[];
  /** The first op. */
  first: number;
  /** The number of ops, including those in nested scopes. */
  size: number;
  marks: MarkCounts;
}

export interface ScopeTree {
  root: Scope;
  all: Scope[];
  /** The innermost scope of each op. */
  of: Scope[];
}

export function scopeTree(graph: OpGraph): ScopeTree {
  const paths = scopePaths(graph);
  const root = scope("", "", null);
  const of: Scope[] = [];
  const inner = new Map<Scope, Map<string, Scope>>();
  paths.forEach((path, op) => {
    let at = root;
    for (const label of path) {
      const known = inner.get(at) ?? new Map<string, Scope>();
      inner.set(at, known);
      let next = known.get(label);
      if (!next) {
        next = scope(label, `${at.path}/${label}`, at);
        known.set(label, next);
        at.children.push({ scope: next });
      }
      at = next;
    }
    at.children.push({ op });
    of[op] = at;
  });
  const all: Scope[] = [];
  const waiting = [root];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    shorten(at, of);
    at.children = at.children.map(dissolved);
    adopt(at, of);
    group(at, of);
    at.id = all.length;
    all.push(at);
    for (const child of at.children) if ("scope" in child) waiting.push(child.scope);
  }
  graph.ops.forEach((op, at) => {
    for (let around: Scope | null = of[at] ?? root; around; around = around.parent) {
      around.first = Math.min(around.first, at);
      around.size += 1;
      around.marks[markOf(op)] += 1;
    }
  });
  return { root, all, of };
}

/** Returns the mark of a scope's box. */
export function scopeMark(scope: Scope): Mark {
  return leading(scope.marks);
}

/** Returns the scopes from the outermost to this one. */
export function trail(scope: Scope): Scope[] {
  const scopes: Scope[] = [];
  for (let at: Scope | null = scope; at; at = at.parent) scopes.unshift(at);
  return scopes;
}

/** Returns the scope of a path, or the innermost existing scope around it. */
export function find(tree: ScopeTree, path: string): Scope {
  const holds = (scope: Scope) => path === scope.path || path.startsWith(`${scope.path}/`);
  return tree.all.filter(holds).reduce((best, scope) => (scope.path.length > best.path.length ? scope : best), tree.root);
}

function scope(label: string, path: string, parent: Scope | null): Scope {
  return { id: 0, label, path, parent, children: [], first: Infinity, size: 0, marks: noMarks() };
}

/** Merges a scope with its only child if that is a scope. */
function shorten(at: Scope, of: Scope[]): void {
  for (let only = at.children[0]; at.parent && at.children.length === 1 && only && "scope" in only; only = at.children[0]) {
    const { scope } = only;
    at.label = `${at.label}/${scope.label}`;
    at.path = scope.path;
    at.children = scope.children;
    adopt(at, of);
  }
}

/** Replaces a scope that contains a single op with the op. */
function dissolved(child: Child): Child {
  let last = child;
  while ("scope" in last && last.scope.children.length === 1) last = last.scope.children[0] as Child;
  return "op" in last ? last : child;
}

/** Splits the children into groups of adjacent ones if there are too many. */
function group(at: Scope, of: Scope[]): void {
  if (at.children.length <= MOST_CHILDREN) return;
  const { children } = at;
  const size = Math.max(GROUP, Math.ceil(children.length / MOST_GROUPS));
  at.children = [];
  for (let start = 0; start < children.length; start += size) {
    const end = Math.min(start + size, children.length);
    const label = `${start + 1}–${end} of ${children.length}`;
    const part = scope(label, `${at.path}/${label}`, at);
    part.children = children.slice(start, end);
    adopt(part, of);
    at.children.push({ scope: part });
  }
}

function adopt(at: Scope, of: Scope[]): void {
  for (const child of at.children) {
    if ("scope" in child) child.scope.parent = at;
    else of[child.op] = at;
  }
}

/** Returns the scopes of each op, outermost first. */
export function scopePaths(graph: OpGraph): string[][] {
  const { ops } = graph;
  const paths = ops.map((op) => common((op.names ?? []).map(scopesOf)));
  const isKnown = ops.map((_, at) => (paths[at]?.length ?? 0) > 0);
  // If enough ops have a scope, an op without one gets the scope of its users, or else of its operands.
  if (isKnown.filter(Boolean).length * 4 > ops.length) {
    const adopt = (at: number, neighbors: readonly number[] | undefined) => {
      const near = (neighbors ?? []).filter((op) => isKnown[op]);
      if (isKnown[at] || near.length === 0) return;
      paths[at] = common(near.map((op) => paths[op] ?? []));
      isKnown[at] = (paths[at]?.length ?? 0) > 0;
    };
    for (let at = ops.length - 1; at >= 0; at -= 1) adopt(at, graph.after[at]);
    ops.forEach((op, at) => {
      if (!op.kind.endsWith("return")) adopt(at, graph.before[at]);
    });
  }
  // Ops in an op's region are in a scope of that op.
  ops.forEach((op, at) => {
    if (op.inside !== undefined) {
      const title = graph.title(op.inside);
      const name = title.slice(title.lastIndexOf("/") + 1);
      paths[at] = [...(paths[op.inside] ?? []), `inside ${name}`];
    }
  });
  return paths;
}

/** Returns the scopes in a node's name. */
function scopesOf(name: string): string[] {
  const [first = ""] = name.split(";");
  return first.split("/").filter((part) => part !== "").slice(0, -1);
}

/** Returns the common prefix of paths. */
function common(paths: string[][]): string[] {
  const [first = [], ...others] = paths;
  const length = others.reduce((least, path) => {
    const differs = path.findIndex((part, at) => part !== first[at]);
    return Math.min(least, differs < 0 ? path.length : differs);
  }, first.length);
  return first.slice(0, length);
}
