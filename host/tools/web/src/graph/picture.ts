// The picture of a view: boxes and lines, with panning, zooming and keyboard navigation.

import { element, shape } from "../dom.ts";
import type { LayoutAnswer } from "../layout/messages.ts";
import { titleOf, type Box, type View } from "./view.ts";

/** The picture's events. */
export interface PictureEvents {
  select(box: Box | null): void;
  open(box: Box): void;
  leave(): void;
  nextChange(step: 1 | -1): void;
}

interface Placed {
  box: Box;
  x: number;
  y: number;
  drawn: SVGGElement;
}

const MIN_ZOOM = 0.05;
const MAX_ZOOM = 3;
/** The minimum zoom for readable text. A view that doesn't fit starts at its top with this zoom. */
const READABLE = 0.7;

export class Picture {
  readonly element: HTMLElement;
  private readonly svg = shape("svg", { "aria-hidden": "true" });
  private readonly world = shape("g");
  private placed: Placed[] = [];
  private lines: { from: number; to: number; drawn: SVGPathElement }[] = [];
  private selected: number | null = null;
  private zoom = 1;
  private left = 0;
  private top = 0;
  private size = { width: 1, height: 1 };

  constructor(private readonly events: PictureEvents) {
    this.svg.append(arrowHead(), this.world);
    this.element = element(
      "div",
      {
        class: "picture",
        tabindex: 0,
        role: "group",
        "aria-roledescription": "graph",
        "aria-label": "Graph. Arrow keys move between boxes, Enter opens, Escape leaves a scope, plus and minus zoom.",
        keydown: (event: KeyboardEvent) => this.key(event),
        wheel: (event: WheelEvent) => this.wheel(event),
        pointerdown: (event: PointerEvent) => this.press(event),
      },
      this.svg as unknown as HTMLElement,
    );
  }

  /** Draws a view with its layout. */
  show(view: View, layout: LayoutAnswer): void {
    this.size = { width: layout.width, height: layout.height };
    this.selected = null;
    this.lines = view.edges.map(([from, to], at) => {
      const path = curve(layout.lines[at] ?? []);
      return { from, to, drawn: shape("path", { class: "edge", d: path, "marker-end": "url(#arrow)" }) };
    });
    this.placed = view.boxes.map((box, at) => {
      const [x, y] = layout.middles[at] ?? [0, 0];
      return { box, x, y, drawn: drawBox(box, x, y) };
    });
    this.world.replaceChildren(...this.lines.map(({ drawn }) => drawn), ...this.placed.map(({ drawn }) => drawn));
    this.placed.forEach(({ drawn }, at) => {
      drawn.addEventListener("click", () => this.select(at));
      drawn.addEventListener("dblclick", () => this.openSelected());
    });
    this.begin();
  }

  get boxes(): readonly Box[] {
    return this.placed.map(({ box }) => box);
  }

  /** Marks the boxes that contain search results; `null` if there is no search. */
  highlight(isFound: ((box: Box) => boolean) | null): void {
    for (const { box, drawn } of this.placed) {
      drawn.classList.toggle("found", isFound !== null && isFound(box));
    }
    this.element.classList.toggle("searching", isFound !== null);
  }

  /** Selects the box with an id and centers it. */
  selectBox(id: string): void {
    const at = this.placed.findIndex(({ box }) => box.id === id);
    if (at < 0) return;
    this.select(at);
    this.center(at);
  }

  /** Zooms to show the whole picture, as far as the minimum zoom allows. */
  fit(): void {
    const { width, height } = this.frame();
    this.zoom = clamp(Math.min(width / this.size.width, height / this.size.height, 1.2));
    this.left = (width - this.size.width * this.zoom) / 2;
    this.top = Math.max(0, (height - this.size.height * this.zoom) / 2);
    this.move();
  }

  zoomBy(factor: number, at?: { x: number; y: number }): void {
    const { width, height } = this.frame();
    const { x, y } = at ?? { x: width / 2, y: height / 2 };
    const zoom = clamp(this.zoom * factor);
    this.left = x - ((x - this.left) * zoom) / this.zoom;
    this.top = y - ((y - this.top) * zoom) / this.zoom;
    this.zoom = zoom;
    this.move();
  }

  private begin(): void {
    this.fit();
    if (this.zoom >= READABLE) return;
    const { width } = this.frame();
    const first = this.placed.reduce((best, at) => (at.y < best.y ? at : best), this.placed[0] as Placed);
    this.zoom = READABLE;
    this.left = width / 2 - first.x * this.zoom;
    this.top = 0;
    this.move();
  }

  private frame(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.element;
    return { width: Math.max(clientWidth, 1), height: Math.max(clientHeight, 1) };
  }

  private move(): void {
    this.world.setAttribute("transform", `translate(${this.left} ${this.top}) scale(${this.zoom})`);
  }

  private select(at: number | null): void {
    if (this.selected !== null) this.placed[this.selected]?.drawn.classList.remove("selected");
    this.selected = at;
    for (const { from, to, drawn } of this.lines) {
      drawn.classList.toggle("near", at !== null && (from === at || to === at));
    }
    const placed = at === null ? undefined : this.placed[at];
    placed?.drawn.classList.add("selected");
    this.events.select(placed?.box ?? null);
  }

  private openSelected(): void {
    const placed = this.selected === null ? undefined : this.placed[this.selected];
    if (placed) this.events.open(placed.box);
  }

  private center(at: number): void {
    const placed = this.placed[at];
    if (!placed) return;
    const { width, height } = this.frame();
    this.zoom = Math.max(this.zoom, READABLE);
    this.left = width / 2 - placed.x * this.zoom;
    this.top = height / 2 - placed.y * this.zoom;
    this.move();
  }

  /** Moves the picture so that a box is visible. */
  private reveal(at: number): void {
    const placed = this.placed[at];
    if (!placed) return;
    const { width, height } = this.frame();
    const x = placed.x * this.zoom + this.left;
    const y = placed.y * this.zoom + this.top;
    const isSeen = x > 60 && x < width - 60 && y > 40 && y < height - 40;
    if (!isSeen) this.center(at);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => void> = {
      Enter: () => this.openSelected(),
      " ": () => this.openSelected(),
      Escape: () => (this.selected === null ? this.events.leave() : this.select(null)),
      Backspace: () => this.events.leave(),
      ArrowDown: () => this.walk(event, 0, 1),
      ArrowUp: () => this.walk(event, 0, -1),
      ArrowLeft: () => this.walk(event, -1, 0),
      ArrowRight: () => this.walk(event, 1, 0),
      "+": () => this.zoomBy(1.25),
      "=": () => this.zoomBy(1.25),
      "-": () => this.zoomBy(0.8),
      "0": () => this.fit(),
      n: () => this.events.nextChange(1),
      p: () => this.events.nextChange(-1),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Selects the next box in a direction, or moves the picture if Shift is pressed. */
  private walk(event: KeyboardEvent, across: number, down: number): void {
    if (event.shiftKey) {
      this.left -= across * 80;
      this.top -= down * 80;
      this.move();
      return;
    }
    const next = this.selected === null ? this.topmost() : this.nearest(this.selected, across, down);
    if (next === null) return;
    this.select(next);
    this.reveal(next);
  }

  private topmost(): number | null {
    let best: number | null = null;
    this.placed.forEach((placed, at) => {
      if (best === null || placed.y < (this.placed[best]?.y ?? 0)) best = at;
    });
    return best;
  }

  /** Returns the next box in a direction: one that a line leads to, or the nearest. */
  private nearest(from: number, across: number, down: number): number | null {
    const start = this.placed[from];
    if (!start) return null;
    const isLinked = (at: number) =>
      this.lines.some((line) => (down > 0 ? line.from === from && line.to === at : line.to === from && line.from === at));
    let best: { at: number; cost: number } | null = null;
    this.placed.forEach((placed, at) => {
      const ahead = (placed.x - start.x) * across + (placed.y - start.y) * down;
      if (at === from || ahead <= 1) return;
      const aside = Math.abs(placed.x - start.x) * Math.abs(down) + Math.abs(placed.y - start.y) * Math.abs(across);
      const cost = ahead + aside * 3 - (down !== 0 && isLinked(at) ? 1e6 : 0);
      if (best === null || cost < best.cost) best = { at, cost };
    });
    return (best as { at: number } | null)?.at ?? null;
  }

  /** Zooms if the picture has the focus or Ctrl is pressed; otherwise the page scrolls. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && document.activeElement !== this.element) return;
    event.preventDefault();
    const { left, top } = this.element.getBoundingClientRect();
    this.zoomBy(Math.exp(-event.deltaY * 0.0015), { x: event.clientX - left, y: event.clientY - top });
  }

  /** Starts to move the picture with one pointer or to zoom with two. */
  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size > 1) return;
    const move = (moved: PointerEvent) => this.drag(moved);
    const end = (ended: PointerEvent) => {
      this.pointers.delete(ended.pointerId);
      if (this.pointers.size > 0) return;
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  private readonly pointers = new Map<number, PointerEvent>();

  private drag(event: PointerEvent): void {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    if (other) {
      const distance = (pointer: PointerEvent) =>
        Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY);
      const { left, top } = this.element.getBoundingClientRect();
      const middle = { x: (event.clientX + other.clientX) / 2 - left, y: (event.clientY + other.clientY) / 2 - top };
      this.zoomBy(distance(event) / Math.max(distance(last), 1), middle);
    } else {
      this.left += event.clientX - last.clientX;
      this.top += event.clientY - last.clientY;
      this.move();
    }
    this.pointers.set(event.pointerId, event);
  }
}

function clamp(zoom: number): number {
  return Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
}

function drawBox(box: Box, x: number, y: number): SVGGElement {
  const { width, height } = box;
  const [left, top] = [-width / 2, -height / 2];
  const group = shape("g", {
    class: `box ${box.kind} ${box.mark}`,
    transform: `translate(${x} ${y})`,
    "data-id": box.id,
  });
  if (box.kind === "scope") {
    // A second rectangle shows that the box has content.
    group.append(shape("rect", { class: "behind", x: left + 5, y: top + 5, width, height, rx: 7 }));
  }
  group.append(
    shape("rect", { class: "face", x: left, y: top, width, height, rx: box.kind === "argument" ? 22 : 7 }),
    shape("rect", { class: "bar", x: left, y: top + 6, width: 5, height: height - 12, rx: 2 }),
    shape("text", { class: "title", x: 0, y: -4 }, titleOf(box)),
    shape("text", { class: "subtitle", x: 0, y: 13 }, box.subtitle),
    shape("title", {}, box.label),
  );
  return group;
}

function arrowHead(): SVGDefsElement {
  const head = shape("path", { d: "M0 0 8 4 0 8z", class: "arrow" });
  const marker = shape(
    "marker",
    { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    head,
  );
  return shape("defs", {}, marker);
}

/** Returns a smooth line through points: each corner is the control point of a curve between the adjacent midpoints. */
export function curve(points: [number, number][]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const at = ([x, y]: [number, number]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  let path = `M${at(first)}`;
  if (rest.length === 1 && rest[0]) path += `L${at(rest[0])}`;
  rest.slice(0, -1).forEach((point, index) => {
    const next = rest[index + 1] ?? point;
    const isLast = index + 2 === rest.length;
    path += `Q${at(point)} ${at(isLast ? next : [(point[0] + next[0]) / 2, (point[1] + next[1]) / 2])}`;
  });
  return path;
}
