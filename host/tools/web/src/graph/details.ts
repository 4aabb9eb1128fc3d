// The details of the selected box.

import type { DrawnOp } from "../data.ts";
import { element } from "../dom.ts";
import { countOf, shortKind } from "../format.ts";
import { passAnchor, passTitle, type NumberedPass } from "../passes.ts";
import { markText } from "./marks.ts";
import type { OpGraph } from "./model.ts";
import type { Box } from "./view.ts";

export interface DetailsEvents {
  openOp(op: number): void;
  open(box: Box): void;
  neighborhood(op: number): void;
}

/** The maximum number of operands, results or users that are listed. */
const MOST = 30;

export class Details {
  readonly element = element("aside", { class: "details", "aria-label": "Selected op", "aria-live": "polite" });

  constructor(
    private readonly passes: Map<number, NumberedPass>,
    private readonly events: DetailsEvents,
  ) {}

  showNothing(): void {
    this.element.replaceChildren(
      element("p", { class: "quiet" }, "Select a box to see the op, its operands and results, and the passes that changed it."),
    );
  }

  show(graph: OpGraph, box: Box): void {
    if (box.op !== undefined) this.showOp(graph, box.op, box);
    else if (box.scope) this.showScope(box);
    else this.element.replaceChildren(element("h3", {}, box.title), element("p", {}, box.label));
  }

  private showScope(box: Box): void {
    const { scope } = box;
    if (!scope) return;
    this.element.replaceChildren(
      element("h3", {}, scope.path || "Whole function"),
      element("p", {}, [countOf(scope.size, "op"), markText(scope.marks)].filter(Boolean).join(": ")),
      button("Open", () => this.events.open(box)),
    );
  }

  private showOp(graph: OpGraph, at: number, box: Box): void {
    const op = graph.op(at);
    const { values } = graph.drawn;
    const definers = (value: number) => {
      const from = values[value]?.from ?? -1;
      return from >= 0 ? [from] : [];
    };
    const value = (place: number) => `${values[place]?.name ?? "?"}: ${values[place]?.type ?? "?"}`;
    const names = op.names ?? [];
    this.element.replaceChildren(
      element("h3", {}, shortKind(op.kind)),
      element("p", { class: "name" }, graph.title(at)),
      this.past(op, graph.title(at)),
      element(
        "p",
        { class: "actions" },
        box.kind === "outside" ? button("Go to op", () => this.events.openOp(at)) : null,
        button("Show neighborhood", () => this.events.neighborhood(at)),
      ),
      element("h4", {}, "IR text"),
      element("pre", { class: "code", tabindex: 0 }, op.text),
      this.list("Operands", op.operands.map((place) => ({ text: value(place), ops: definers(place) })), graph),
      this.list("Results", op.results.map((place) => ({ text: value(place), ops: [] })), graph),
      this.list("Users", (graph.after[at] ?? []).map((user) => ({ text: "", ops: [user] })), graph),
      names.length > 1 ? this.list("ONNX nodes", names.map((name) => ({ text: name, ops: [] })), graph) : "",
    );
  }

  private past({ made, changed, removed }: DrawnOp, title: string): HTMLElement {
    const trails = [made, removed, ...(changed ?? [])].filter((trail) => trail !== undefined);
    const isOpen = trails.some((trail) => Object.keys(this.passes.get(trail)?.entry.rewrites ?? {}).length > 1);
    const lines = [
      made === undefined ? element("li", {}, "In the original model") : this.by("made", "Created by ", made),
      ...(changed ?? []).map((trail) => this.by("changed", "Changed by ", trail)),
      removed === undefined ? null : this.by("removed", "Removed by ", removed),
      isOpen ? element("li", {}, "Find the rule: ", element("code", {}, `passdock blame MODEL '${title}'`)) : null,
    ];
    return element("ul", { class: "past" }, ...lines);
  }

  private by(mark: string, words: string, trail: number): HTMLElement {
    const pass = this.passes.get(trail);
    const name = pass
      ? element("a", { href: `#${passAnchor(pass.number)}` }, passTitle(pass))
      : element("span", {}, "the pipeline");
    const rules = Object.keys(pass?.entry.rewrites ?? {});
    const shown = rules.slice(0, 6).join(", ") + (rules.length > 6 ? ` and ${rules.length - 6} more` : "");
    const of = rules.length === 1 ? "rule" : "rules";
    return element("li", { class: mark }, words, name, rules.length > 0 ? ` (${of} ${shown})` : "");
  }

  private list(title: string, items: { text: string; ops: number[] }[], graph: OpGraph): HTMLElement | string {
    if (items.length === 0) return "";
    const lines = items.slice(0, MOST).map(({ text, ops }) =>
      element(
        "li",
        {},
        text === "" ? null : element("code", {}, text),
        ...ops.map((op) => {
          const title = graph.title(op);
          const short = `${shortKind(graph.op(op).kind)} ${title.slice(title.lastIndexOf("/") + 1)}`;
          return element("button", { type: "button", class: "link", title, click: () => this.events.openOp(op) }, short);
        }),
      ),
    );
    const more = items.length > MOST ? element("li", { class: "quiet" }, `and ${items.length - MOST} more`) : null;
    return element("div", {}, element("h4", {}, title), element("ul", { class: "values" }, ...lines, more));
  }
}

function button(text: string, click: () => void): HTMLButtonElement {
  return element("button", { type: "button", click }, text);
}
