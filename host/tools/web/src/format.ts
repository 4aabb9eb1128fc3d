// Numbers and names as people read them.

/** `1,948` */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 op`, `1,948 ops` */
export function countOf(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** `+3`, `−3`, `0` */
export function signed(number: number): string {
  if (number === 0) return "0";
  return (number > 0 ? "+" : "−") + count(Math.abs(number));
}

/** `165 ms` */
export function seconds(time: number): string {
  if (time < 1e-3) return `${Math.round(time * 1e6)} µs`;
  if (time < 0.1) return `${(time * 1e3).toFixed(1)} ms`;
  if (time < 1) return `${Math.round(time * 1e3)} ms`;
  return `${time.toFixed(2)} s`;
}

/** `4.6 MB` */
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

/** The last part of a pass's name: `FoldConstant` of `relax.transform.FoldConstant`. */
export function shortPass(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** An op's kind without its dialect: `Conv` of `onnx.Conv`. */
export function shortKind(kind: string): string {
  return kind.startsWith("onnx.") ? kind.slice(5) : kind;
}

/** A text of at most `most` characters: what is in its middle is left out. */
export function squeezed(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.ceil((most - 1) * 0.6);
  return text.slice(0, most - 1 - end) + "…" + text.slice(text.length - end);
}
