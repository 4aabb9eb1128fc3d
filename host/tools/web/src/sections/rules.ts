// The table of rewrites by rule.

import type { PageData } from "../data.ts";
import { element, section } from "../dom.ts";
import { count, shortPass } from "../format.ts";
import { passAnchor } from "../passes.ts";

interface Row {
  rule: string;
  times: number;
  /** The passes that applied the rule: the names and their numbers. */
  passes: Map<string, number[]>;
}

/** Returns the rules, most frequent first. */
export function sortedRules(data: PageData): Row[] {
  const rows = new Map<string, Row>();
  data.passes.forEach((pass, at) => {
    for (const [rule, times] of Object.entries(pass.rewrites ?? {})) {
      const row = rows.get(rule) ?? { rule, times: 0, passes: new Map<string, number[]>() };
      rows.set(rule, row);
      row.times += times;
      row.passes.set(pass.name, [...(row.passes.get(pass.name) ?? []), at + 1]);
    }
  });
  return [...rows.values()].sort((a, b) => b.times - a.times || a.rule.localeCompare(b.rule));
}

export function rules(data: PageData): HTMLElement {
  const rows = sortedRules(data);
  if (rows.length === 0) {
    return section("rules", "Rewrites", element("p", { class: "quiet" }, "No rewrites"));
  }
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Rule"),
    element("th", { scope: "col", class: "number" }, "Count"),
    element("th", { scope: "col" }, "Pass"),
  );
  const body = rows.map(({ rule, times, passes }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("code", {}, rule)),
      element("td", { class: "number" }, count(times)),
      element("td", {}, ...[...passes].flatMap(([name, numbers], at) => [at > 0 ? ", " : "", link(name, numbers)])),
    ),
  );
  return section("rules", "Rewrites", element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

function link(name: string, numbers: number[]): HTMLElement {
  return element("a", { href: `#${passAnchor(numbers[0] ?? 0)}` }, shortPass(name));
}
