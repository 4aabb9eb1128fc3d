// Marks: how passes changed an op.

import type { DrawnOp } from "../data.ts";

export type Mark = "same" | "made" | "changed" | "removed";

/** Returns the mark of an op. The latest change has precedence. */
export function markOf(op: DrawnOp): Mark {
  if (op.removed !== undefined) return "removed";
  if (op.made !== undefined) return "made";
  return op.changed !== undefined && op.changed.length > 0 ? "changed" : "same";
}

/** The number of ops with each mark. */
export type MarkCounts = Record<Mark, number>;

export function noMarks(): MarkCounts {
  return { same: 0, made: 0, changed: 0, removed: 0 };
}

/** The sign before a marked op, so that marks don't depend on color. */
export const SIGNS: Record<Mark, string> = { same: "", made: "+", changed: "~", removed: "−" };

/** Returns the mark of a group of ops. */
export function leading(counts: MarkCounts): Mark {
  const changes = counts.made + counts.changed + counts.removed;
  if (changes === 0) return "same";
  if (counts.removed === changes) return "removed";
  return counts.made === changes ? "made" : "changed";
}

/** The names of marks in the page. */
export const LABELS: Record<Mark, string> = { same: "", made: "created", changed: "changed", removed: "removed" };

/** Describes marks: `3 created, 1 changed` */
export function markText(counts: MarkCounts): string {
  const marks: Mark[] = ["made", "changed", "removed"];
  return marks.filter((mark) => counts[mark] > 0).map((mark) => `${counts[mark]} ${LABELS[mark]}`).join(", ");
}
