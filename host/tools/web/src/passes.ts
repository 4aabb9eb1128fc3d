// Passes and their numbers, which ops and trails refer to.

import type { PageData, PassEntry, PassStatus } from "./data.ts";
import { countOf, shortPass } from "./format.ts";

/** A pass that ran, with its 1-based number in the report's list. */
export interface NumberedPass {
  entry: PassEntry;
  number: number;
}

/** Returns the passes that have a trail, by the trail's number. */
export function passesByTrail(data: PageData): Map<number, NumberedPass> {
  const all = data.passes.map((entry, at): NumberedPass => ({ entry, number: at + 1 }));
  const ran = all.filter(({ entry }) => entry.trail !== null);
  return new Map(ran.map((pass) => [pass.entry.trail as number, pass]));
}

/** Returns the id of a pass's element in the page. */
export function passAnchor(number: number): string {
  return `pass-${number}`;
}

/** Returns a pass's title: `FoldConstant (pass 3)` */
export function passTitle(pass: NumberedPass): string {
  return `${shortPass(pass.entry.name)} (pass ${pass.number})`;
}

/** Counts passes by status. A Sequential isn't counted, but its passes are, as in the terminal's table. */
export function countByStatus(passes: readonly PassEntry[]): Record<PassStatus, number> {
  const around = new Set(passes.map((pass) => pass.parent));
  const counts = { changed: 0, unchanged: 0, skipped: 0, failed: 0 };
  for (const pass of passes) if (!around.has(pass.name)) counts[pass.status] += 1;
  return counts;
}

/** Describes the passes without changes: `14 unchanged and 6 skipped` */
export function quietCount(counts: Record<PassStatus, number>): string {
  const parts = (["unchanged", "skipped"] as const).filter((status) => counts[status] > 0);
  return parts.map((status) => `${counts[status]} ${status}`).join(" and ");
}

/** Describes the changes of a pass that kept the number of ops: `changed types of 12 values`, as in the terminal's table. */
export function changesText(changes: Record<string, number>): string {
  const said = Object.entries(changes).map(([what, times]) => {
    if (what === "ops") return `recreated ${countOf(times, "op")}`;
    if (what === "constants") return `added ${countOf(times, "constant")}`;
    const noun = what === "opsets" ? "function" : what === "types" || what === "names" ? "value" : "op";
    return `changed ${what} of ${countOf(times, noun)}`;
  });
  return said.join(", ");
}

/** Returns the start and length of each pass as fractions of the total time. A pass's parent is the last pass before it
 * with a smaller depth. */
export function spans(passes: readonly PassEntry[]): { start: number; length: number }[] {
  const ends: number[] = [0];
  const total = passes.filter((pass) => pass.depth === 0).reduce((sum, pass) => sum + pass.seconds, 0);
  return passes.map((pass) => {
    const start = ends[pass.depth] ?? ends.at(-1) ?? 0;
    ends.length = pass.depth + 1;
    ends[pass.depth] = start + pass.seconds;
    // Nested passes start when it starts.
    ends.push(start);
    return { start: total > 0 ? start / total : 0, length: total > 0 ? pass.seconds / total : 0 };
  });
}
