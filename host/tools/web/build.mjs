// Makes `../assets/page.html` of the sources: one file, the worker inside it, and the licenses of what it is made with.
// `node build.mjs --check` says whether the file is as the sources make it.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "../assets/page.html");
const licenses = join(here, "../assets/LICENSES.txt");

/** What the page is made with, and ships. */
const LIBRARIES = ["@dagrejs/dagre", "@dagrejs/graphlib"];

async function bundled(entry, plugins = []) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    plugins,
  });
  return result.outputFiles[0].text;
}

/** `worker:./worker.ts` is the bundled worker, as text. */
const worker = {
  name: "worker",
  setup(setup) {
    setup.onResolve({ filter: /^worker:/ }, ({ path }) => ({ path: path.slice("worker:".length), namespace: "worker" }));
    setup.onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({
      contents: await bundled(join("src/layout", path)),
      loader: "text",
    }));
  },
};

function licenseTexts() {
  const texts = LIBRARIES.map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!["MIT", "Apache-2.0"].includes(license)) throw new Error(`${name} is under ${license}`);
    const text = readFileSync(join(folder, "LICENSE"), "utf8").trim();
    return `${name} ${version}, ${license}\n\n${text}\n`;
  });
  return "The page of a run has these libraries inside.\n\n" + texts.join("\n");
}

async function made() {
  const legal = licenseTexts();
  // What would end the element must not stand in it.
  const code = (await bundled("src/main.ts", [worker])).replaceAll("</script", "<\\/script");
  const script = `/*\n${legal.replaceAll("*/", "* /")}*/\n${code}`;
  const { outputFiles } = await build({ entryPoints: [join(here, "src/style.css")], minify: true, write: false });
  const style = outputFiles[0].text;
  const hash = (text) => createHash("sha256").update(text).digest("base64");
  const parts = { SCRIPT_HASH: hash(script), STYLE_HASH: hash(style), STYLE: style, SCRIPT: script };
  const template = readFileSync(join(here, "src/page.html"), "utf8");
  return [
    [page, template.replace(/%([A-Z_]+)%/g, (whole, name) => parts[name] ?? whole)],
    [licenses, legal],
  ];
}

const isCheck = process.argv.includes("--check");
for (const [path, text] of await made()) {
  if (!isCheck) {
    writeFileSync(path, text);
    console.log(`${path}: ${text.length} characters`);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${path} isn't as the sources make it: npm run build`);
    process.exitCode = 1;
  }
}
