// A function as a graph: which op takes what another gives.

import type { DrawnFunction, DrawnOp } from "../data.ts";

/** What an op's operand comes from. */
export type Source = { from: "op"; op: number } | { from: "argument"; value: number };

export class OpGraph {
  readonly name: string;
  readonly ops: readonly DrawnOp[];
  /** The ops whose results an op takes, each once; and those in its regions do. */
  readonly before: readonly number[][];
  /** The ops that take an op's results, each once. */
  readonly after: readonly number[][];
  /** The values of the function's arguments, and the ops that take them. */
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
    // An argument of a region is no input of the function: its users are all in there.
    const isInput = (users: Set<number>) => ![...users].some((op) => inRegions.has(op)) || users.size === 0;
    this.arguments = new Map([...taken].filter(([, users]) => isInput(users)).map(([at, users]) => [at, [...users]]));
  }

  op(at: number): DrawnOp {
    const op = this.ops[at];
    if (!op) throw new RangeError(`There is no op ${at}.`);
    return op;
  }

  /** What one calls an op: the node's name, or that of its first result, or its kind. */
  title(at: number): string {
    const op = this.op(at);
    const result = op.results[0];
    const value = result === undefined ? undefined : this.drawn.values[result]?.name;
    return op.names?.[0] || value || op.kind;
  }
}
