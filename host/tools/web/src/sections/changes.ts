// The changes section: the diff of each pass, collapsed.

import type { PageData, PassTrail } from "../data.ts";
import { element, section } from "../dom.ts";
import { count, countOf, shortKind, shortPass, signed } from "../format.ts";
import { passAnchor, passesByTrail } from "../passes.ts";

export function changes(data: PageData): HTMLElement {
  const passes = passesByTrail(data);
  const trails = data.recorded?.passes ?? [];
  const items = trails.flatMap((trail, at) => {
    if (trail.diff === "" && trail.left_out === 0) return [];
    const number = passes.get(at)?.number;
    return [item(trail, number)];
  });
  return section(
    "changes",
    "Changes by pass",
    ...(items.length > 0 ? items : [element("p", { class: "quiet" }, "No changes")]),
  );
}

function item(trail: PassTrail, number: number | undefined): HTMLElement {
  const { made, changed, removed } = trail;
  const marks = [
    made > 0 ? element("span", { class: "made" }, `+${count(made)}`) : null,
    changed > 0 ? element("span", { class: "changed" }, `~${count(changed)}`) : null,
    removed > 0 ? element("span", { class: "removed" }, `−${count(removed)}`) : null,
    made + changed + removed === 0 ? element("span", { class: "quiet" }, "only types, names or constants") : null,
  ];
  const text = element("pre", { class: "diff", tabindex: 0 });
  const fold = element(
    "details",
    {
      ...(number === undefined ? {} : { id: passAnchor(number) }),
      class: "change",
      toggle: () => {
        // The lines are only created when the element is opened, because there may be thousands.
        if (fold.open && text.childElementCount === 0) text.replaceChildren(...lines(trail.diff));
      },
    },
    element(
      "summary",
      {},
      element("span", { class: "number" }, number === undefined ? "" : String(number)),
      element("span", { class: "name" }, shortPass(trail.name)),
      ...marks,
    ),
    kindList(trail),
    text,
    trail.left_out > 0
      ? element("p", { class: "quiet" }, `${countOf(trail.left_out, "more line")} omitted; \`--print-changed\` prints all`)
      : null,
  );
  return fold;
}

function kindList(trail: PassTrail): HTMLElement | null {
  const all = Object.entries(trail.kinds).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  if (all.length === 0) return null;
  const shown = all.slice(0, 24).map(([kind, number]) =>
    element("li", { class: number < 0 ? "removed" : "made" }, `${signed(number)} ${shortKind(kind)}`),
  );
  const more = all.length > shown.length ? element("li", { class: "quiet" }, `and ${all.length - shown.length} more`) : null;
  return element("ul", { class: "chips", "aria-label": "Ops by kind" }, ...shown, more);
}

const CLASSES: Record<string, string> = { "+": "made", "-": "removed", "@": "place" };

function lines(diff: string): HTMLElement[] {
  return diff.split("\n").map((line) => element("span", { class: CLASSES[line[0] ?? ""] ?? "" }, `${line}\n`));
}
