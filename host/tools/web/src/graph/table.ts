// The content of the picture as a table, for screen readers.

import { element } from "../dom.ts";
import { LABELS } from "./marks.ts";
import { titleOf, type Box, type View } from "./view.ts";
import type { OpGraph } from "./model.ts";

export class BoxTable {
  private readonly body = element("tbody");
  private view: View = { boxes: [], edges: [] };
  private graph: OpGraph | null = null;
  readonly element = element(
    "details",
    { class: "as-table", toggle: () => this.fill() },
    element("summary", {}, "Graph as a table"),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Graph as a table" },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...["Box", "Name", "Change", "From", "To"].map((title) => element("th", { scope: "col" }, title)))),
        this.body,
      ),
    ),
  );

  constructor(private readonly open: (box: Box) => void) {}

  show(graph: OpGraph, view: View): void {
    this.graph = graph;
    this.view = view;
    this.fill();
  }

  /** Fills the table if it is open. */
  private fill(): void {
    if (!this.element.open || !this.graph) {
      this.body.replaceChildren();
      return;
    }
    const { boxes, edges } = this.view;
    const names = (places: number[]) => {
      const all = places.map((at) => boxes[at]).filter((box) => box !== undefined);
      return all.slice(0, 6).map((box) => box.subtitle || box.title).join(", ") + (all.length > 6 ? ", …" : "");
    };
    const takes = boxes.map((): number[] => []);
    const gives = boxes.map((): number[] => []);
    for (const [from, to] of edges) {
      takes[to]?.push(from);
      gives[from]?.push(to);
    }
    const graph = this.graph;
    const rows = boxes.map((box, at) => {
      const name = box.op !== undefined ? graph.title(box.op) : (box.scope?.path ?? box.title);
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, element("button", { type: "button", class: "link", click: () => this.open(box) }, titleOf(box))),
        element("td", {}, name),
        element("td", {}, LABELS[box.mark]),
        element("td", {}, names(takes[at] ?? [])),
        element("td", {}, names(gives[at] ?? [])),
      );
    });
    this.body.replaceChildren(...rows);
  }
}
