// The page's data, which `host/tools/src/page/document.rs` writes, and a function that reads it.

export interface PageData {
  version: number;
  facts: { program: string; command: string[]; bytes_before: number | null; bytes_after: number | null };
  ok: boolean;
  pipeline: { name: string | null; built_in: boolean; opt_level: number | null };
  model: { input: string; output: string | null; ops_before: number; ops_after: number };
  seconds: number;
  passes: PassEntry[];
  diagnostics: { severity: string; message: string; text: string }[];
  reproducer: string | null;
  recorded: Recorded | null;
}

export type PassStatus = "changed" | "unchanged" | "skipped" | "failed";

export interface PassEntry {
  name: string;
  plugin: string | null;
  file: string | null;
  parent: string | null;
  depth: number;
  requested_by: string | null;
  status: PassStatus;
  reason: string;
  seconds: number;
  ops_before: number;
  ops_after: number;
  rewrites?: Record<string, number>;
  changes?: Record<string, number>;
  trail: number | null;
}

export interface Recorded {
  passes: PassTrail[];
  plugins: { name: string; version: string; from: string }[];
  kinds: Record<string, [number, number]>;
  constant_bytes: [number, number];
  before: DrawnFunction[];
  after: DrawnFunction[];
}

export interface PassTrail {
  name: string;
  kinds: Record<string, number>;
  made: number;
  changed: number;
  removed: number;
  diff: string;
  left_out: number;
}

export interface DrawnFunction {
  name: string;
  values: { name: string; type: string; from: number }[];
  ops: DrawnOp[];
}

export interface DrawnOp {
  kind: string;
  names?: string[];
  text: string;
  operands: number[];
  results: number[];
  inside?: number;
  made?: number;
  changed?: number[];
  removed?: number;
}

/** The version of the data that this script reads. */
const VERSION = 1;

/** Reads the data from the page's element with the id `data`. */
export async function readData(element: Element): Promise<PageData> {
  const text = element.textContent ?? "";
  const isCompressed = element.getAttribute("type") === "application/x-deflate-base64";
  const data = JSON.parse(isCompressed ? await inflated(text) : text) as PageData;
  if (data.version !== VERSION) {
    throw new Error(`expected data of version ${VERSION}, found version ${data.version}`);
  }
  return data;
}

async function inflated(base64: string): Promise<string> {
  const binary = atob(base64);
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
