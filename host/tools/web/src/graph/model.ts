// A function as a data-flow graph.

import type { DrawnFunction, DrawnOp } from "../data.ts";

/** The definition of an op's operand. */
export type Source = { from: "op"; op: number } | { from: "argument"; value: number };

export class OpGraph {
  readonly name: string;
  readonly ops: readonly DrawnOp[];
  /** The ops whose results an op or the ops in its regions use, without duplicates. */
  readonly before: readonly number[][];
  /** The ops that use an op's results, without duplicates. */
  readonly after: readonly number[][];
  /** The values of the function's arguments, and the ops that use them. */
  readonly arguments: ReadonlyMap<number, number[]>;

  constructor(readonly drawn: DrawnFunction) {
    this.name = drawn.name;
    this.ops = drawn.ops;
    const before = drawn.ops.map(() => new Set<number>());
    const after = drawn.ops.map(() => new Set<number>());
    const taken = new Map<number, Set<number>>();
    const inRegions = new Set(drawn.ops.flatMap((op, at) => (op.inside === undefined ? [] : [at])));
    drawn.values.forEach((value, at) => {
      if (value.from === -1) taken.set(at, new Set());
    });
    drawn.ops.forEach((op, at) => {
      for (const operand of op.operands) {
        const from = drawn.values[operand]?.from ?? -2;
        if (from >= 0) {
          before[at]?.add(from);
          after[from]?.add(at);
        } else if (from === -1) {
          taken.get(operand)?.add(at);
        }
      }
    });
    this.before = before.map((ops) => [...ops]);
    this.after = after.map((ops) => [...ops]);
    // Arguments of regions aren't inputs of the function. All of their users are in the region.
    const isInput = (users: Set<number>) => ![...users].some((op) => inRegions.has(op)) || users.size === 0;
    this.arguments = new Map([...taken].filter(([, users]) => isInput(users)).map(([at, users]) => [at, [...users]]));
  }

  op(at: number): DrawnOp {
    const op = this.ops[at];
    if (!op) throw new RangeError(`unknown op ${at}`);
    return op;
  }

  /** Returns an op's title: the node's name, or the name of its first result, or its kind. */
  title(at: number): string {
    const op = this.op(at);
    const result = op.results[0];
    const value = result === undefined ? undefined : this.drawn.values[result]?.name;
    return op.names?.[0] || value || op.kind;
  }
}
