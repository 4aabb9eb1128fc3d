// Formatting of numbers and names.

/** Formats a number: `1,948` */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** Formats a number with a noun: `1 op`, `1,948 ops` */
export function countOf(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Formats a difference: `+3`, `−3`, `0` */
export function signed(number: number): string {
  if (number === 0) return "0";
  return (number > 0 ? "+" : "−") + count(Math.abs(number));
}

/** Formats a time: `165 ms` */
export function seconds(time: number): string {
  if (time < 1e-3) return `${Math.round(time * 1e6)} µs`;
  if (time < 0.1) return `${(time * 1e3).toFixed(1)} ms`;
  if (time < 1) return `${Math.round(time * 1e3)} ms`;
  return `${time.toFixed(2)} s`;
}

/** Formats a size: `4.6 MB` */
export function bytes(number: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let shown = number;
  while (shown >= 999.95 && unit < units.length - 1) {
    shown /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${number} B` : `${shown.toFixed(1)} ${units[unit]}`;
}

/** Returns the last part of a pass's name: `FoldConstant` of `relax.transform.FoldConstant`. */
export function shortPass(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Returns an op's kind without the prefix of ONNX's operators: `Conv` of `onnx.Conv`. */
export function shortKind(kind: string): string {
  return kind.startsWith("onnx.") ? kind.slice(5) : kind;
}

/** Shortens a text to at most `most` characters by omitting its middle. */
export function squeezed(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.ceil((most - 1) * 0.6);
  return text.slice(0, most - 1 - end) + "…" + text.slice(text.length - end);
}
