// Layered layout of boxes with dagre.

import * as dagre from "@dagrejs/dagre";

import type { LayoutAnswer, LayoutRequest } from "./messages.ts";

/** The number of boxes from which the fastest ranking algorithm is used. */
const LARGE = 150;

export function arrange({ number, sizes, edges }: LayoutRequest): LayoutAnswer {
  const start = performance.now();
  const graph = new dagre.graphlib.Graph();
  const ranker = sizes.length >= LARGE ? "tight-tree" : "network-simplex";
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 40, edgesep: 12, marginx: 16, marginy: 16, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  sizes.forEach(([width, height], at) => graph.setNode(String(at), { width, height }));
  edges.forEach(([from, to]) => graph.setEdge(String(from), String(to)));
  dagre.layout(graph);
  const middles = sizes.map((_, at): [number, number] => {
    const { x, y } = graph.node(String(at)) as { x: number; y: number };
    return [x, y];
  });
  const lines = edges.map(([from, to]) => {
    const { points } = graph.edge(String(from), String(to)) as { points: { x: number; y: number }[] };
    return points.map(({ x, y }): [number, number] => [x, y]);
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { number, middles, lines, width, height, milliseconds: performance.now() - start };
}
