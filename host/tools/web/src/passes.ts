// Passes by the numbers that ops and trails name them by.

import type { PageData, PassEntry, PassStatus } from "./data.ts";
import { countOf, shortPass } from "./format.ts";

/** A pass that ran, with its number among all that the report lists. */
export interface NumberedPass {
  entry: PassEntry;
  number: number;
}

/** The passes that left a trail, by the trail's number. */
export function passesByTrail(data: PageData): Map<number, NumberedPass> {
  const all = data.passes.map((entry, at): NumberedPass => ({ entry, number: at + 1 }));
  const ran = all.filter(({ entry }) => entry.trail !== null);
  return new Map(ran.map((pass) => [pass.entry.trail as number, pass]));
}

/** The id of the place where the page tells of a pass. */
export function passAnchor(number: number): string {
  return `pass-${number}`;
}

/** `FoldConstant (pass 3)` */
export function passTitle(pass: NumberedPass): string {
  return `${shortPass(pass.entry.name)} (pass ${pass.number})`;
}

/** How many passes came to what. What a Sequential came to is counted by the passes in it, as in the terminal's table. */
export function countByStatus(passes: readonly PassEntry[]): Record<PassStatus, number> {
  const around = new Set(passes.map((pass) => pass.parent));
  const counts = { changed: 0, unchanged: 0, skipped: 0, failed: 0 };
  for (const pass of passes) if (!around.has(pass.name)) counts[pass.status] += 1;
  return counts;
}

/** `14 unchanged and 6 skipped` */
export function quietCount(counts: Record<PassStatus, number>): string {
  const parts = (["unchanged", "skipped"] as const).filter((status) => counts[status] > 0);
  return parts.map((status) => `${counts[status]} ${status}`).join(" and ");
}

/** What a pass changed that left as many ops as there were: `types of 12 values`, as in the terminal's table. */
export function changesText(changes: Record<string, number>): string {
  const said = Object.entries(changes).map(([what, times]) => {
    if (what === "ops") return `${countOf(times, "op")} made anew`;
    if (what === "constants") return countOf(times, "new constant");
    const noun = what === "opsets" ? "function" : what === "types" || what === "names" ? "value" : "op";
    return `${what} of ${countOf(times, noun)}`;
  });
  return said.join(", ");
}

/** The part of the passes' time at which each began, and how long it took: a pass is inside the last one before it that
 * is less deep. */
export function spans(passes: readonly PassEntry[]): { start: number; length: number }[] {
  const ends: number[] = [0];
  const total = passes.filter((pass) => pass.depth === 0).reduce((sum, pass) => sum + pass.seconds, 0);
  return passes.map((pass) => {
    const start = ends[pass.depth] ?? ends.at(-1) ?? 0;
    ends.length = pass.depth + 1;
    ends[pass.depth] = start + pass.seconds;
    // What is inside begins where it begins.
    ends.push(start);
    return { start: total > 0 ? start / total : 0, length: total > 0 ? pass.seconds / total : 0 };
  });
}
