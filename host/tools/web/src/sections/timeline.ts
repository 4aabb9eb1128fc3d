// The timeline of the passes, in execution order.

import type { PageData, PassEntry } from "../data.ts";
import { element, section } from "../dom.ts";
import { count, seconds, shortPass, signed } from "../format.ts";
import { changesText, countByStatus, passAnchor, quietCount, spans } from "../passes.ts";

export function timeline(data: PageData): HTMLElement {
  const places = spans(data.passes);
  const isQuiet = (pass: PassEntry) => pass.status === "unchanged" || pass.status === "skipped";
  const quiet = data.passes.filter(isQuiet);
  const rows = data.passes.map((pass, at) => row(pass, at + 1, places[at] ?? { start: 0, length: 0 }, isQuiet(pass)));
  const list = element("ol", { class: "timeline folded" }, ...rows);
  const time = quiet.filter((pass) => pass.depth === 0).reduce((sum, pass) => sum + pass.seconds, 0);
  const said = `${quietCount(countByStatus(data.passes))} (${seconds(time)})`;
  const fold = element("button", { type: "button", "aria-expanded": "false", click: () => toggle() }, `Show ${said}`);
  const toggle = () => {
    const isFolded = list.classList.toggle("folded");
    fold.setAttribute("aria-expanded", String(!isFolded));
    fold.textContent = `${isFolded ? "Show" : "Hide"} ${said}`;
  };
  return section(
    "timeline",
    "Timeline",
    data.passes.length === 0 ? element("p", { class: "quiet" }, "No passes ran") : list,
    quiet.length > 0 ? fold : null,
  );
}

function row(pass: PassEntry, number: number, place: { start: number; length: number }, isQuiet: boolean): HTMLElement {
  const bar = element("span", { class: "span" });
  bar.style.setProperty("left", `${(place.start * 100).toFixed(2)}%`);
  bar.style.setProperty("width", `${(place.length * 100).toFixed(2)}%`);
  const name = element("span", { class: "name", title: pass.name }, shortPass(pass.name));
  name.style.setProperty("padding-left", `${Math.min(pass.depth, 6) * 1.1}rem`);
  if (pass.status === "changed") {
    name.replaceChildren(element("a", { href: `#${passAnchor(number)}` }, shortPass(pass.name)));
  }
  if (pass.requested_by) name.append(element("span", { class: "quiet" }, ` for ${shortPass(pass.requested_by)}`));
  const reason = pass.reason === "" ? "" : `: ${pass.reason}`;
  const ops = pass.status === "changed" ? `${count(pass.ops_before)} → ${count(pass.ops_after)}` : pass.status + reason;
  const changes = changesText(pass.changes ?? {});
  const difference = pass.ops_after - pass.ops_before;
  return element(
    "li",
    { class: `${pass.status}${isQuiet ? " nothing" : ""}` },
    element("span", { class: "number" }, String(number)),
    name,
    element("span", { class: "track", "aria-hidden": "true" }, bar),
    element("span", { class: "time" }, seconds(pass.seconds)),
    element("span", { class: "ops" }, ops, changes === "" ? "" : element("span", { class: "quiet" }, `: ${changes}`)),
    element("span", { class: "difference" }, pass.status === "changed" && difference !== 0 ? signed(difference) : ""),
  );
}
