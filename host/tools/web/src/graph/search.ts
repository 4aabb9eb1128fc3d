// Ops by what one types: words, all of which stand somewhere in what is known of an op.

import type { OpGraph } from "./model.ts";
import { markOf } from "./marks.ts";

/** Finds ops; `passTitle` says which pass a number is. */
export class OpSearch {
  private readonly texts: string[];

  constructor(graph: OpGraph, passTitle: (trail: number) => string) {
    this.texts = graph.ops.map((op) => {
      const passes = [op.made, op.removed, ...(op.changed ?? [])].filter((trail) => trail !== undefined);
      const words = [op.kind, ...(op.names ?? []), op.text, markOf(op), ...passes.map(passTitle)];
      return words.join("\n").toLowerCase();
    });
  }

  /** The ops that have all words, in program order. */
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
