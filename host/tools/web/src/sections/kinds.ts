// The table of ops by kind, before and after the run.

import type { Recorded } from "../data.ts";
import { element, section } from "../dom.ts";
import { count, countOf, shortKind, signed } from "../format.ts";

interface Row {
  kind: string;
  before: number;
  after: number;
}

/** Returns the kinds, sorted by decreasing change. */
export function sortedKinds(kinds: Recorded["kinds"]): Row[] {
  const rows = Object.entries(kinds).map(([kind, [before, after]]): Row => ({ kind, before, after }));
  const weight = ({ before, after }: Row) => Math.abs(after - before);
  return rows.sort((a, b) => weight(b) - weight(a) || b.after - a.after || a.kind.localeCompare(b.kind));
}

export function kinds(recorded: Recorded): HTMLElement {
  const rows = sortedKinds(recorded.kinds);
  const most = Math.max(1, ...rows.flatMap(({ before, after }) => [before, after]));
  const changed = rows.filter(({ before, after }) => before !== after);
  const same = rows.filter(({ before, after }) => before === after);
  const sum = (side: "before" | "after") => rows.reduce((all, row) => all + row[side], 0);
  const all: Row = { kind: "Total", before: sum("before"), after: sum("after") };
  const foot = element("tfoot", {}, tableRow(all, null));
  return section(
    "kinds",
    "Ops by kind",
    table("Kinds with changed counts", changed, most, foot),
    same.length > 0
      ? element(
          "details",
          {},
          element("summary", {}, `${countOf(same.length, "kind")} with unchanged counts`),
          table("Kinds with unchanged counts", same, most, null),
        )
      : null,
  );
}

function table(caption: string, rows: Row[], most: number, foot: HTMLElement | null): HTMLElement {
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Kind"),
    ...["Before", "After", "Difference"].map((title) => element("th", { scope: "col", class: "number" }, title)),
    element("th", { scope: "col", class: "bars" }, element("span", { class: "unseen" }, "Bars")),
  );
  return element(
    "table",
    { class: "kinds" },
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => tableRow(row, most))),
    foot,
  );
}

function tableRow({ kind, before, after }: Row, most: number | null): HTMLElement {
  const bar = (number: number, name: string) => {
    const made = element("span", { class: name });
    made.style.setProperty("width", `${((number / (most ?? 1)) * 100).toFixed(1)}%`);
    return made;
  };
  const bars = most === null ? null : [bar(before, "was"), bar(after, "is")];
  const difference = after - before;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, shortKind(kind)),
    element("td", { class: "number" }, count(before)),
    element("td", { class: "number" }, count(after)),
    element("td", { class: `number ${difference < 0 ? "removed" : difference > 0 ? "made" : ""}` }, signed(difference)),
    element("td", { class: "bars", "aria-hidden": "true" }, ...(bars ?? [])),
  );
}
