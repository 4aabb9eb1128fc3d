// The page's interface to the layout worker.

// The worker's source, which `build.mjs` inserts.
import workerText from "worker:./worker.ts";

import type { View } from "../graph/view.ts";
import type { LayoutAnswer, LayoutRequest } from "./messages.ts";

type Resolve = (answer: LayoutAnswer | null) => void;

let worker: Worker | undefined;
/** The pending request. */
let waiting: { resolve: Resolve; reject: (error: Error) => void } | undefined;
let number = 0;

/** Lays out a view. Terminates a layout that is still running, whose promise resolves to `null`. */
export function layOut(view: View): Promise<LayoutAnswer | null> {
  if (waiting) {
    waiting.resolve(null);
    worker?.terminate();
    worker = undefined;
  }
  worker ??= start();
  number += 1;
  const request: LayoutRequest = {
    number,
    sizes: view.boxes.map((box) => [box.width, box.height]),
    edges: view.edges,
  };
  worker.postMessage(request);
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
  });
}

function start(): Worker {
  const url = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
  const made = new Worker(url);
  made.addEventListener("message", (event: MessageEvent<LayoutAnswer>) => {
    waiting?.resolve(event.data);
    waiting = undefined;
  });
  made.addEventListener("error", (event) => {
    waiting?.reject(new Error(event.message || "could not start the layout worker"));
    waiting = undefined;
  });
  return made;
}
