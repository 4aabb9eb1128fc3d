// The layout worker.

import { arrange } from "./arrange.ts";
import type { LayoutRequest } from "./messages.ts";

addEventListener("message", (event: MessageEvent<LayoutRequest>) => {
  postMessage(arrange(event.data));
});
