// What the page and the worker that lays out say to each other.

export interface LayoutRequest {
  number: number;
  sizes: [number, number][];
  edges: [number, number][];
}

export interface LayoutAnswer {
  number: number;
  /** The middle of each box. */
  middles: [number, number][];
  /** The points of each edge. */
  lines: [number, number][][];
  width: number;
  height: number;
  milliseconds: number;
}
