// Views, the content of a picture: the children of a scope with their surroundings, or the neighborhood of an op.

import { shortKind, squeezed, countOf } from "../format.ts";
import { LABELS, markOf, markText, SIGNS, type Mark } from "./marks.ts";
import type { OpGraph } from "./model.ts";
import { scopeMark, type Scope, type ScopeTree } from "./scopes.ts";

/** The maximum number of boxes in a view. */
export const MOST_BOXES = 1000;
/** The maximum number of boxes outside of the scope, for inputs and for outputs. */
const MOST_OUTSIDE = 24;
/** The maximum number of boxes for arguments. */
const MOST_ARGUMENTS = 60;
/** The maximum number of edges in a view, because more can't be distinguished. */
const MOST_EDGES = 4000;

export type BoxKind = "op" | "scope" | "outside" | "argument";

export interface Box {
  id: string;
  kind: BoxKind;
  mark: Mark;
  title: string;
  subtitle: string;
  /** A description of the box, for screen readers and tooltips. */
  label: string;
  op?: number;
  scope?: Scope;
  width: number;
  height: number;
}

export interface View {
  boxes: Box[];
  /** Pairs of indices into `boxes`. */
  edges: [number, number][];
}

class Builder {
  readonly view: View = { boxes: [], edges: [] };
  private readonly places = new Map<string, number>();
  private readonly edges = new Set<number>();

  /** `path` is the path of the drawn scope, which is omitted from names. */
  constructor(
    private readonly graph: OpGraph,
    private readonly path: string | null,
  ) {}

  add(box: Omit<Box, "width" | "height">): number {
    const known = this.places.get(box.id);
    if (known !== undefined) return known;
    const place = this.view.boxes.length;
    const sign = box.mark === "same" ? 0 : 2;
    const letters = Math.max((box.title.length + sign) * 7.8, box.subtitle.length * 6.4);
    this.view.boxes.push({ ...box, width: Math.round(Math.min(250, Math.max(84, letters + 30))), height: 44 });
    this.places.set(box.id, place);
    return place;
  }

  op(at: number): number {
    const op = this.graph.op(at);
    const mark = markOf(op);
    const title = this.graph.title(at);
    return this.add({
      id: `o${at}`,
      kind: "op",
      mark,
      title: shortKind(op.kind),
      subtitle: squeezed(this.within(title), 32),
      label: `${op.kind} ${title}${mark === "same" ? "" : `, ${LABELS[mark]}`}`,
      op: at,
    });
  }

  /** Returns an op's name relative to the drawn scope, or its last part. */
  private within(title: string): string {
    const start = `${this.path}/`;
    return this.path !== null && title.startsWith(start) ? title.slice(start.length) : title.slice(title.lastIndexOf("/") + 1);
  }

  scope(scope: Scope): number {
    const marks = markText(scope.marks);
    const subtitle = [countOf(scope.size, "op"), marks].filter(Boolean).join(", ");
    return this.add({
      id: `s${scope.id}`,
      kind: "scope",
      mark: scopeMark(scope),
      title: squeezed(scope.label, 28),
      subtitle: squeezed(subtitle, 36),
      label: `Scope ${scope.path}, ${subtitle}`,
      scope,
    });
  }

  argument(value: number): number {
    const { name = "", type = "" } = this.graph.drawn.values[value] ?? {};
    return this.add({
      id: `a${value}`,
      kind: "argument",
      mark: "same",
      title: squeezed(name, 28),
      subtitle: squeezed(type, 32),
      label: `Argument ${name}, ${type}`,
    });
  }

  edge(from: number, to: number): void {
    const key = from * MOST_BOXES * 2 + to;
    if (from === to || this.edges.has(key) || this.edges.size >= MOST_EDGES) return;
    this.edges.add(key);
    this.view.edges.push([from, to]);
  }
}

/** Returns a view of the children of a scope and of the connected entities outside. */
export function scopeView(graph: OpGraph, tree: ScopeTree, scope: Scope): View {
  const builder = new Builder(graph, scope.path);
  const around = new Set<Scope>();
  for (let at: Scope | null = scope.parent; at; at = at.parent) around.add(at);
  const boxOfOp = new Map<number, number>();
  const boxOfScope = new Map<Scope, number>();
  for (const child of scope.children) {
    if ("scope" in child) boxOfScope.set(child.scope, builder.scope(child.scope));
    else boxOfOp.set(child.op, builder.op(child.op));
  }
  /** Returns the box of an op inside, or the representative of an op outside. */
  const place = (op: number): number | Scope | "op" => {
    const direct = boxOfOp.get(op);
    if (direct !== undefined) return direct;
    let last: Scope | "op" = "op";
    for (let at: Scope | null = tree.of[op] ?? tree.root; at; at = at.parent) {
      const box = boxOfScope.get(at);
      if (box !== undefined) return box;
      if (around.has(at)) return last;
      last = at;
    }
    return last;
  };
  const outside = { in: new Map<string, number>(), out: new Map<string, number>() };
  const outsideBox = (side: "in" | "out", op: number, what: Scope | "op"): number => {
    const key = what === "op" ? `o${op}` : `s${what.id}`;
    const known = outside[side].get(key);
    if (known !== undefined) return known;
    const way = side === "in" ? "from" : "to";
    const isFull = outside[side].size >= MOST_OUTSIDE;
    const name = what === "op" ? graph.title(op) : what.path;
    const short = what === "op" ? name.slice(name.lastIndexOf("/") + 1) : what.label;
    const box = builder.add({
      id: isFull ? side : `${side}:${key}`,
      kind: "outside",
      mark: "same",
      title: isFull ? "others" : squeezed(short, 28),
      subtitle: `${way} outside`,
      label: isFull ? `Others ${way} outside` : `${name}, ${way} outside`,
      ...(isFull ? {} : what === "op" ? { op } : { scope: what }),
    });
    outside[side].set(key, box);
    return box;
  };
  graph.ops.forEach((_, op) => {
    const to = place(op);
    for (const other of graph.before[op] ?? []) {
      const from = place(other);
      if (typeof from === "number" && typeof to === "number") builder.edge(from, to);
      else if (typeof to === "number" && typeof from !== "number") builder.edge(outsideBox("in", other, from), to);
      else if (typeof from === "number" && typeof to !== "number") builder.edge(from, outsideBox("out", op, to));
    }
  });
  let shown = 0;
  for (const [value, users] of graph.arguments) {
    const places = users.map(place).filter((at) => typeof at === "number");
    const isOutermost = scope.parent === null;
    if ((places.length === 0 && !(isOutermost && users.length === 0)) || shown >= MOST_ARGUMENTS) continue;
    shown += 1;
    const from = builder.argument(value);
    places.forEach((to) => builder.edge(from, to));
  }
  return builder.view;
}

/** Returns the nearest ops of an op, including itself. */
export function neighbors(graph: OpGraph, op: number, most: number): number[] {
  const found = new Set([op]);
  for (const at of found) {
    for (const near of [...(graph.before[at] ?? []), ...(graph.after[at] ?? [])]) {
      if (found.size >= most) return [...found];
      found.add(near);
    }
  }
  return [...found];
}

/** Returns a view of the neighborhood of an op, without collapsed scopes. */
export function neighborhood(graph: OpGraph, op: number, most: number): View {
  const builder = new Builder(graph, null);
  const near = neighbors(graph, op, Math.min(most, MOST_BOXES - MOST_ARGUMENTS)).sort((a, b) => a - b);
  const boxes = new Map(near.map((at) => [at, builder.op(at)]));
  for (const [at, box] of boxes) {
    for (const from of graph.before[at] ?? []) {
      const other = boxes.get(from);
      if (other !== undefined) builder.edge(other, box);
    }
  }
  let shown = 0;
  for (const [value, users] of graph.arguments) {
    const places = users.map((user) => boxes.get(user)).filter((box) => box !== undefined);
    if (places.length === 0 || shown >= MOST_ARGUMENTS) continue;
    shown += 1;
    const from = builder.argument(value);
    places.forEach((to) => builder.edge(from, to));
  }
  return builder.view;
}

/** Returns a box's title with the sign of its mark. */
export function titleOf(box: Box): string {
  return SIGNS[box.mark] === "" ? box.title : `${SIGNS[box.mark]} ${box.title}`;
}
