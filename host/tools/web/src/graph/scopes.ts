// The scopes that nodes' names tell of, `/layer1/attn/MatMul`, as a tree; what has too many children is cut into groups.

import { leading, markOf, noMarks, type Mark, type MarkCounts } from "./marks.ts";
import type { OpGraph } from "./model.ts";

/** The most children of a scope that are drawn one by one. */
export const MOST_CHILDREN = 300;
/** The children of a group, at least. */
const GROUP = 100;
/** The most groups of a scope. */
const MOST_GROUPS = 200;

export type Child = { scope: Scope } | { op: number };

export interface Scope {
  id: number;
  /** The name within the scope around it. */
  label: string;
  /** The whole name. */
  path: string;
  parent: Scope | null;
  children: Child[];
  /** The first of its ops. */
  first: number;
  /** How many ops there are, in all scopes inside, too. */
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

/** The mark that a scope's box has. */
export function scopeMark(scope: Scope): Mark {
  return leading(scope.marks);
}

/** The scopes from the outermost to this one. */
export function trail(scope: Scope): Scope[] {
  const scopes: Scope[] = [];
  for (let at: Scope | null = scope; at; at = at.parent) scopes.unshift(at);
  return scopes;
}

/** The scope of a path, or the innermost one around it that there is. */
export function find(tree: ScopeTree, path: string): Scope {
  const holds = (scope: Scope) => path === scope.path || path.startsWith(`${scope.path}/`);
  return tree.all.filter(holds).reduce((best, scope) => (scope.path.length > best.path.length ? scope : best), tree.root);
}

function scope(label: string, path: string, parent: Scope | null): Scope {
  return { id: 0, label, path, parent, children: [], first: Infinity, size: 0, marks: noMarks() };
}

/** Takes the place of an only child that is a scope. */
function shorten(at: Scope, of: Scope[]): void {
  for (let only = at.children[0]; at.parent && at.children.length === 1 && only && "scope" in only; only = at.children[0]) {
    const { scope } = only;
    at.label = `${at.label}/${scope.label}`;
    at.path = scope.path;
    at.children = scope.children;
    adopt(at, of);
  }
}

/** The op instead of a scope that has nothing but it. */
function dissolved(child: Child): Child {
  let last = child;
  while ("scope" in last && last.scope.children.length === 1) last = last.scope.children[0] as Child;
  return "op" in last ? last : child;
}

/** Cuts the children into groups of neighbours if they are too many. */
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

/** The scopes of each op, the outermost first. */
export function scopePaths(graph: OpGraph): string[][] {
  const { ops } = graph;
  const paths = ops.map((op) => common((op.names ?? []).map(scopesOf)));
  const isKnown = ops.map((_, at) => (paths[at]?.length ?? 0) > 0);
  // Where most ops say their scope, one that doesn't belongs to those that take what it gives, or else that it takes.
  if (isKnown.filter(Boolean).length * 4 > ops.length) {
    const adopt = (at: number, neighbours: readonly number[] | undefined) => {
      const near = (neighbours ?? []).filter((op) => isKnown[op]);
      if (isKnown[at] || near.length === 0) return;
      paths[at] = common(near.map((op) => paths[op] ?? []));
      isKnown[at] = (paths[at]?.length ?? 0) > 0;
    };
    for (let at = ops.length - 1; at >= 0; at -= 1) adopt(at, graph.after[at]);
    ops.forEach((op, at) => {
      if (!op.kind.endsWith("return")) adopt(at, graph.before[at]);
    });
  }
  // What is in an op's region is inside of that op.
  ops.forEach((op, at) => {
    if (op.inside !== undefined) {
      const title = graph.title(op.inside);
      const name = title.slice(title.lastIndexOf("/") + 1);
      paths[at] = [...(paths[op.inside] ?? []), `inside ${name}`];
    }
  });
  return paths;
}

/** The scopes that a node's name tells of. */
function scopesOf(name: string): string[] {
  const [first = ""] = name.split(";");
  return first.split("/").filter((part) => part !== "").slice(0, -1);
}

/** What paths have in common at their beginning. */
function common(paths: string[][]): string[] {
  const [first = [], ...others] = paths;
  const length = others.reduce((least, path) => {
    const differs = path.findIndex((part, at) => part !== first[at]);
    return Math.min(least, differs < 0 ? path.length : differs);
  }, first.length);
  return first.slice(0, length);
}
