// Search for ops. Each word of the query must occur in an op's data.

import type { OpGraph } from "./model.ts";
import { LABELS, markOf } from "./marks.ts";

/** A search index of a graph's ops. `passTitle` returns the title of a pass. */
export class OpSearch {
  private readonly texts: string[];

  constructor(graph: OpGraph, passTitle: (trail: number) => string) {
    this.texts = graph.ops.map((op) => {
      const passes = [op.made, op.removed, ...(op.changed ?? [])].filter((trail) => trail !== undefined);
      const words = [op.kind, ...(op.names ?? []), op.text, LABELS[markOf(op)], ...passes.map(passTitle)];
      return words.join("\n").toLowerCase();
    });
  }

  /** Returns the ops that contain all words, in program order. */
  find(typed: string): number[] {
    const words = typed.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return [];
    const found: number[] = [];
    this.texts.forEach((text, op) => {
      if (words.every((word) => text.includes(word))) found.push(op);
    });
    return found;
  }
}
