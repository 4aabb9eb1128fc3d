// The page: its sections in order, and the global keyboard shortcuts.

import { readData, type PageData } from "./data.ts";
import { element } from "./dom.ts";
import { Explorer } from "./graph/explorer.ts";
import { changes } from "./sections/changes.ts";
import { kinds } from "./sections/kinds.ts";
import { rules } from "./sections/rules.ts";
import { summary } from "./sections/summary.ts";
import { timeline } from "./sections/timeline.ts";

function show(data: PageData, main: HTMLElement): void {
  const name = data.model.input.slice(data.model.input.lastIndexOf("/") + 1);
  document.title = `${name} · passdock`;
  const explorer = data.recorded ? new Explorer(data, data.recorded) : null;
  const sections = [
    summary(data),
    timeline(data),
    explorer?.element,
    data.recorded ? kinds(data.recorded) : null,
    rules(data),
    data.recorded ? changes(data) : null,
  ].filter((made) => made instanceof HTMLElement);
  const links = sections.map((made) =>
    element("li", {}, element("a", { href: `#${made.id}` }, made.querySelector("h2")?.textContent ?? "")),
  );
  main.replaceChildren(
    element(
      "header",
      {},
      element("p", { class: `outcome ${data.ok ? "ok" : "failed"}` }, data.ok ? "Succeeded" : "Failed"),
      element("h1", {}, name),
      element("nav", { "aria-label": "Sections" }, element("ul", {}, ...links)),
    ),
    ...sections,
  );
  pairUp(main, "kinds", "rules");
  explorer?.start();
  addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key !== "/" || isTyping || !explorer) return;
    event.preventDefault();
    explorer.searchField.focus();
    explorer.searchField.select();
    // Instantly, because the next key press would stop smooth scrolling.
    explorer.element.scrollIntoView({ behavior: "instant", block: "start" });
  });
  // A link to a pass opens its details.
  const unfold = () => {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (target instanceof HTMLDetailsElement) {
      target.open = true;
      target.querySelector("summary")?.focus();
    }
  };
  addEventListener("hashchange", unfold);
  unfold();
}

/** Places two sections next to each other if there is enough space. */
function pairUp(main: HTMLElement, first: string, second: string): void {
  const [left, right] = [first, second].map((id) => main.querySelector(`#${id}`));
  if (!left || !right) return;
  const pair = element("div", { class: "pair" });
  left.before(pair);
  pair.append(left, right);
}

async function start(): Promise<void> {
  const main = document.querySelector("main");
  const data = document.getElementById("data");
  if (!main || !data) return;
  try {
    show(await readData(data), main);
  } catch (error) {
    main.replaceChildren(element("p", { class: "failure", role: "alert" }, `Could not read the data of the report: ${String(error)}`));
  }
  document.documentElement.dataset.ready = "";
}

void start();
