// The worker: it lays out what the page sends.

import { arrange } from "./arrange.ts";
import type { LayoutRequest } from "./messages.ts";

addEventListener("message", (event: MessageEvent<LayoutRequest>) => {
  postMessage(arrange(event.data));
});
