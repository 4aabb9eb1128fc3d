// The graph section: the choice of module, function and scope, the search, the picture, and the details.

import type { DrawnFunction, PageData, Recorded } from "../data.ts";
import { element, section } from "../dom.ts";
import { count, countOf, shortKind } from "../format.ts";
import { layOut } from "../layout/client.ts";
import { passesByTrail, passTitle } from "../passes.ts";
import { Details } from "./details.ts";
import { LABELS, markOf } from "./marks.ts";
import { OpGraph } from "./model.ts";
import { Picture } from "./picture.ts";
import { find, scopeTree, trail, type Scope, type ScopeTree } from "./scopes.ts";
import { OpSearch } from "./search.ts";
import { BoxTable } from "./table.ts";
import { neighborhood, scopeView, type Box, type View } from "./view.ts";

type Side = "before" | "after";

/** The part of a function that is drawn: a scope, or at most `most` ops around one. */
type Place = { scope: Scope } | { around: number; most: number };

/** A function that was shown, with the data derived from it. */
interface Loaded {
  graph: OpGraph;
  tree: ScopeTree;
  search: OpSearch;
  /** The ops that passes created, changed or removed. */
  changes: number[];
}

/** The maximum number of search results that are listed. */
const MOST_RESULTS = 40;
const NEIGHBORS = [30, 100, 300];

export class Explorer {
  readonly element: HTMLElement;
  private side: Side = "after";
  private functionName: string;
  private loaded!: Loaded;
  private place!: Place;
  private found: Set<number> | null = null;
  private results: number[] = [];
  private change = -1;
  private readonly cache = new Map<string, Loaded>();
  private readonly passes;
  private readonly picture: Picture;
  private readonly details: Details;
  private readonly table: BoxTable;
  private readonly tabs: Record<Side, HTMLButtonElement>;
  private readonly functions: HTMLSelectElement;
  private readonly crumbs = element("nav", { class: "crumbs", "aria-label": "Scope" });
  private readonly status = element("p", { class: "status quiet", role: "status" });
  readonly searchField = element("input", {
    type: "search",
    id: "search",
    placeholder: "Search ops: kind, name, type, pass",
    "aria-label": "Search ops",
    autocomplete: "off",
    input: () => this.search(),
    keydown: (event: KeyboardEvent) => this.searchKey(event),
  });
  private readonly resultList = element("ul", { class: "results", "aria-label": "Search results" });

  constructor(
    data: PageData,
    private readonly recorded: Recorded,
  ) {
    this.passes = passesByTrail(data);
    this.picture = new Picture({
      select: (box) => this.selected(box),
      open: (box) => this.open(box),
      leave: () => this.leave(),
      nextChange: (step) => this.nextChange(step),
    });
    this.details = new Details(this.passes, {
      openOp: (op) => void this.goTo(op),
      open: (box) => this.open(box),
      neighborhood: (op) => void this.draw({ around: op, most: NEIGHBORS[0] ?? 30 }, `o${op}`),
    });
    this.table = new BoxTable((box) => {
      this.picture.selectBox(box.id);
      if (box.kind !== "op") this.open(box);
    });
    const tab = (side: Side, text: string) =>
      element("button", { type: "button", "aria-pressed": "false", click: () => this.show(side, this.functionName) }, text);
    this.tabs = { before: tab("before", "Before"), after: tab("after", "After") };
    const names = [...new Set([...recorded.after, ...recorded.before].map((drawn) => drawn.name))];
    const largest = [...recorded.before, ...recorded.after].reduce<DrawnFunction | null>(
      (best, drawn) => (best === null || drawn.ops.length > best.ops.length ? drawn : best),
      null,
    );
    this.functionName = names.includes("main") ? "main" : (largest?.name ?? "");
    this.functions = element(
      "select",
      { "aria-label": "Function", hidden: names.length < 2, change: () => this.show(this.side, this.functions.value) },
      ...names.map((name) => element("option", { value: name, selected: name === this.functionName }, `@${name}`)),
    );
    const tool = (text: string, label: string, click: () => void) =>
      element("button", { type: "button", "aria-label": label, title: label, click }, text);
    const tools = element(
      "div",
      { class: "tools", role: "group", "aria-label": "Zoom" },
      tool("−", "Zoom out", () => this.picture.zoomBy(0.8)),
      tool("+", "Zoom in", () => this.picture.zoomBy(1.25)),
      tool("Fit", "Show all", () => this.picture.fit()),
    );
    const changes = element(
      "div",
      { class: "tools", role: "group", "aria-label": "Changed ops" },
      tool("‹ change", "Previous changed op", () => this.nextChange(-1)),
      tool("change ›", "Next changed op", () => this.nextChange(1)),
    );
    this.element = section(
      "graph",
      "Graph",
      element(
        "div",
        { class: "bar" },
        element("div", { class: "tabs", role: "group", "aria-label": "Module" }, this.tabs.before, this.tabs.after),
        this.functions,
        element("div", { class: "search" }, this.searchField, this.resultList),
        changes,
        tools,
      ),
      this.crumbs,
      element("div", { class: "stage" }, this.picture.element, this.details.element),
      legend(),
      this.status,
      this.table.element,
    );
  }

  /** Draws the first view. The section must be in the page. */
  start(): void {
    this.show("after", this.functionName);
  }

  private show(side: Side, name: string): void {
    const path = this.place && "scope" in this.place ? this.place.scope.path : "";
    const both = { before: this.recorded.before, after: this.recorded.after };
    // A function may exist on only one side.
    const has = (at: Side) => both[at].find((drawn) => drawn.name === name);
    this.side = has(side) ? side : side === "before" ? "after" : "before";
    const drawn = has(this.side);
    if (!drawn) {
      this.status.textContent = "No function to draw";
      return;
    }
    this.functionName = name;
    for (const at of ["before", "after"] as const) {
      this.tabs[at].setAttribute("aria-pressed", String(at === this.side));
      this.tabs[at].disabled = !has(at);
      const ops = has(at)?.ops.filter((op) => !isTerminator(op.kind)).length ?? 0;
      this.tabs[at].textContent = `${at === "before" ? "Before" : "After"} · ${countOf(ops, "op")}`;
    }
    this.loaded = this.load(this.side, drawn);
    this.change = -1;
    this.search();
    void this.draw({ scope: find(this.loaded.tree, path) });
  }

  private load(side: Side, drawn: DrawnFunction): Loaded {
    const key = `${side} ${drawn.name}`;
    const known = this.cache.get(key);
    if (known) return known;
    const graph = new OpGraph(drawn);
    const title = (number: number) => {
      const pass = this.passes.get(number);
      return pass ? passTitle(pass) : "";
    };
    const loaded: Loaded = {
      graph,
      tree: scopeTree(graph),
      search: new OpSearch(graph, title),
      changes: drawn.ops.flatMap((op, at) => (markOf(op) === "same" ? [] : [at])),
    };
    this.cache.set(key, loaded);
    return loaded;
  }

  /** Draws a place and selects one of its boxes. */
  private async draw(place: Place, box?: string): Promise<void> {
    const start = performance.now();
    this.place = place;
    const { graph, tree } = this.loaded;
    const view: View =
      "scope" in place ? scopeView(graph, tree, place.scope) : neighborhood(graph, place.around, place.most);
    this.showCrumbs();
    this.details.showNothing();
    this.status.textContent = `Laying out ${countOf(view.boxes.length, "box").replace("boxs", "boxes")}…`;
    this.element.dataset.drawn = "";
    try {
      const layout = await layOut(view);
      if (!layout) return;
      this.picture.show(view, layout);
      this.table.show(graph, view);
      this.markFound();
      if (box !== undefined) this.picture.selectBox(box);
      const time = Math.round(performance.now() - start);
      this.status.textContent = `${count(view.boxes.length)} boxes and ${count(view.edges.length)} edges, drawn in ${time} ms`;
      this.element.dataset.drawn = `${view.boxes.length} ${time}`;
    } catch (error) {
      this.status.textContent = `Could not draw the graph: ${String(error)}; the table below has the same content`;
      this.table.show(graph, view);
    }
  }

  private showCrumbs(): void {
    const crumb = (text: string, click: (() => void) | null) =>
      click
        ? element("button", { type: "button", class: "link", click }, text)
        : element("span", { "aria-current": "location" }, text);
    const items: HTMLElement[] = [];
    const { place } = this;
    const innermost = "scope" in place ? place.scope : (this.loaded.tree.of[place.around] ?? this.loaded.tree.root);
    for (const scope of trail(innermost)) {
      const isHere = "scope" in place && scope === innermost;
      const text = scope.parent === null ? `@${this.functionName}` : scope.label;
      items.push(crumb(text, isHere ? null : () => void this.draw({ scope })));
    }
    if ("around" in place) {
      items.push(crumb(`neighborhood of ${this.loaded.graph.title(place.around)}`, null));
      const sizes = NEIGHBORS.map((most) =>
        element(
          "button",
          {
            type: "button",
            "aria-pressed": String(most === place.most),
            click: () => void this.draw({ around: place.around, most }, `o${place.around}`),
          },
          countOf(most, "op"),
        ),
      );
      items.push(element("span", { class: "tools", role: "group", "aria-label": "Size of the neighborhood" }, ...sizes));
    }
    this.crumbs.replaceChildren(...items);
  }

  private selected(box: Box | null): void {
    if (box) this.details.show(this.loaded.graph, box);
    else this.details.showNothing();
  }

  private open(box: Box): void {
    if (box.scope) void this.draw({ scope: box.scope });
    else if (box.op !== undefined && box.kind === "outside") void this.goTo(box.op);
    else if (box.op !== undefined) void this.draw({ around: box.op, most: NEIGHBORS[0] ?? 30 }, `o${box.op}`);
  }

  /** Goes to the scope around the current place. */
  private leave(): void {
    const { place } = this;
    if ("around" in place) {
      void this.goTo(place.around);
    } else if (place.scope.parent) {
      void this.draw({ scope: place.scope.parent }, `s${place.scope.id}`);
    }
  }

  /** Opens the scope of an op and selects the op. */
  private async goTo(op: number): Promise<void> {
    const scope = this.loaded.tree.of[op] ?? this.loaded.tree.root;
    if ("scope" in this.place && this.place.scope === scope) this.picture.selectBox(`o${op}`);
    else await this.draw({ scope }, `o${op}`);
  }

  private nextChange(step: 1 | -1): void {
    const { changes } = this.loaded;
    if (changes.length === 0) {
      this.status.textContent = `No op was ${this.side === "after" ? "created or changed" : "changed or removed"}`;
      return;
    }
    this.change = (this.change + step + changes.length) % changes.length;
    if (this.change < 0) this.change = changes.length - 1;
    void this.goTo(changes[this.change] ?? 0).then(() => {
      this.status.textContent = `Change ${this.change + 1} of ${changes.length}`;
    });
  }

  private search(): void {
    const typed = this.searchField.value.trim();
    this.results = this.loaded.search.find(typed);
    this.found = typed === "" ? null : new Set(this.results);
    this.markFound();
    const { graph } = this.loaded;
    const shown = this.results.slice(0, MOST_RESULTS).map((op) => {
      const mark = markOf(graph.op(op));
      const open = () => {
        this.resultList.hidden = true;
        void this.goTo(op).then(() => this.picture.element.focus({ preventScroll: true }));
      };
      return element(
        "li",
        {},
        element(
          "button",
          { type: "button", click: open, keydown: (event: KeyboardEvent) => this.resultKey(event) },
          element("strong", {}, shortKind(graph.op(op).kind)),
          element("span", {}, graph.title(op)),
          mark === "same" ? null : element("em", { class: mark }, LABELS[mark]),
        ),
      );
    });
    const summary = element("li", { class: "quiet" }, `${countOf(this.results.length, "op")} found`);
    this.resultList.replaceChildren(...(typed === "" ? [] : [summary, ...shown]));
    this.resultList.hidden = typed === "";
  }

  private markFound(): void {
    const { found, loaded } = this;
    if (found === null) {
      this.picture.highlight(null);
      return;
    }
    const scopes = new Set<Scope>();
    for (const op of found) {
      for (let at: Scope | null = loaded.tree.of[op] ?? null; at; at = at.parent) scopes.add(at);
    }
    this.picture.highlight((box) => (box.op !== undefined ? found.has(box.op) : !!box.scope && scopes.has(box.scope)));
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.searchField.value = "";
      this.search();
      this.picture.element.focus({ preventScroll: true });
    } else if (event.key === "Enter") {
      const [first] = this.results;
      if (first === undefined) return;
      this.resultList.hidden = true;
      void this.goTo(first).then(() => this.picture.element.focus({ preventScroll: true }));
    } else if (event.key === "ArrowDown") {
      this.resultList.hidden = this.results.length === 0;
      this.resultList.querySelector("button")?.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  private resultKey(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === "Escape") {
      this.resultList.hidden = true;
      this.searchField.focus();
    } else if (step !== undefined) {
      const buttons = [...this.resultList.querySelectorAll("button")];
      const at = buttons.indexOf(event.currentTarget as HTMLButtonElement);
      (buttons[at + step] ?? this.searchField).focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}

function isTerminator(kind: string): boolean {
  return kind === "return" || kind === "yield";
}

function legend(): HTMLElement {
  const item = (mark: string, text: string) => element("li", { class: mark }, text);
  return element(
    "ul",
    { class: "legend", "aria-label": "Marks" },
    item("made", "+ created"),
    item("changed", "~ changed"),
    item("removed", "− removed"),
    element("li", { class: "quiet" }, "Double-click or Enter: open a scope; /: search; n, p: next or previous change"),
  );
}
