// Passes by the numbers that ops and trails name them by.

import type { PageData, PassEntry } from "./data.ts";
import { shortPass } from "./format.ts";

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
