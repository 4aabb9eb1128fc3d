// The summary of the run and its results.

import type { PageData } from "../data.ts";
import { element, section } from "../dom.ts";
import { bytes, count, countOf, seconds, signed } from "../format.ts";
import { countByStatus, quietCount } from "../passes.ts";

export function summary(data: PageData): HTMLElement {
  const { model, facts, recorded } = data;
  const counts = countByStatus(data.passes);
  const rewrites = data.passes.flatMap((pass) => Object.values(pass.rewrites ?? {})).reduce((sum, times) => sum + times, 0);
  const cards = [
    card(
      "Ops",
      `${count(model.ops_before)} → ${count(model.ops_after)}`,
      signed(model.ops_after - model.ops_before),
      "Ops of all functions and regions, without Constant nodes",
    ),
    recorded ? change("Constants", recorded.constant_bytes) : null,
    facts.bytes_before !== null && facts.bytes_after !== null ? change("File", [facts.bytes_before, facts.bytes_after]) : null,
    card("Passes", `${counts.changed} changed`, quietCount(counts)),
    card("Rewrites", count(rewrites), "by named rules"),
    card("Time", seconds(data.seconds), "including reading, writing and this report"),
  ];
  return section(
    "summary",
    "Summary",
    data.ok ? null : failure(data),
    data.passes.length > 0 || data.ok ? element("div", { class: "cards" }, ...cards) : null,
    element("dl", { class: "facts" }, ...terms(data)),
    diagnostics(data),
  );
}

function card(title: string, value: string, note: string, help = ""): HTMLElement {
  return element(
    "div",
    { class: "card", title: help },
    element("h3", {}, title),
    element("p", { class: "value" }, value),
    element("p", { class: "quiet" }, note),
  );
}

function change(title: string, [before, after]: [number, number]): HTMLElement {
  const difference = after - before;
  const sign = difference < 0 ? "−" : "+";
  const note = difference === 0 ? "unchanged" : sign + bytes(Math.abs(difference));
  const [was, is] = [bytes(before), bytes(after)];
  return card(title, was === is ? is : `${was} → ${is}`, note);
}

function terms(data: PageData): HTMLElement[] {
  const { pipeline, facts, recorded } = data;
  const level = pipeline.opt_level === null ? "" : ` at -O${pipeline.opt_level}`;
  const facts_: [string, string | null][] = [
    ["Model", data.model.input],
    ["Output", data.model.output ?? "none"],
    ["Pipeline", pipeline.name === null ? `list of passes${level}` : pipeline.name + (pipeline.built_in ? " (built in)" : "") + level],
    ["Command", facts.command.join(" ")],
    ["Program", facts.program],
    ["Plugins", recorded ? recorded.plugins.map((plugin) => `${plugin.name} ${plugin.version}`).join(", ") : null],
    ["Reproducer", data.reproducer],
  ];
  return facts_.flatMap(([title, text]) =>
    text ? [element("dt", {}, title), element("dd", {}, element("code", {}, text))] : [],
  );
}

function failure(data: PageData): HTMLElement {
  const failed = data.passes.findLast((pass) => pass.status === "failed");
  const errors = data.diagnostics.filter((said) => said.severity === "error" || said.severity === "bug");
  return element(
    "div",
    { class: "failure", role: "alert" },
    element("p", {}, element("strong", {}, failed ? `Pass ${failed.name} failed` : "Run failed")),
    ...errors.map((said) => element("pre", { class: "code" }, said.text)),
    data.recorded ? null : element("p", {}, missing(data)),
  );
}

function missing(data: PageData): string {
  const why = data.passes.length > 0 ? "the process that ran the passes left no record" : "no pass is known to have started";
  return `No graphs and no diffs: ${why}`;
}

function diagnostics(data: PageData): HTMLElement | null {
  const others = data.diagnostics.filter((said) => said.severity !== "error" && said.severity !== "bug");
  if (others.length === 0) return null;
  return element(
    "details",
    {},
    element("summary", {}, countOf(others.length, "message")),
    ...others.map((said) => element("pre", { class: "code" }, said.text)),
  );
}
