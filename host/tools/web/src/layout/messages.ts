// Messages between the page and the layout worker.

export interface LayoutRequest {
  number: number;
  sizes: [number, number][];
  edges: [number, number][];
}

export interface LayoutAnswer {
  number: number;
  /** The center of each box. */
  middles: [number, number][];
  /** The points of each edge. */
  lines: [number, number][][];
  width: number;
  height: number;
  milliseconds: number;
}
