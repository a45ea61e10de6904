import assert from "node:assert/strict";
import { importsOf, sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

/**
 * Files of more than 450 lines, each with the reason for keeping the file whole. Tables and types may have any length.
 */
const big: Readonly<Record<string, string>> = {
  "lib/mesh/mesh.ts":
    "one writer over all indexes, with the forks that follow it: both reach into the same private indexes",
};

const files = sourceFiles(root, ["lib", "cmd", "scripts"]).map((file) => {
  const lines = Deno.readTextFileSync(`${root}/${file}`).split("\n");
  return { file, lines, length: lines.length - 1 };
});

function quantile(share: number): number {
  return files.map(({ length }) => length).sort((a, b) => a - b)[Math.floor(share * (files.length - 1))]!;
}

Deno.test("files stay small: half of the files at most 100 lines, nine of ten at most 300, no file more than 600", () => {
  assert(quantile(0.5) <= 100, `median ${quantile(0.5)}`);
  assert(quantile(0.9) <= 300, `90th percentile ${quantile(0.9)}`);
  assert.deepEqual(files.filter(({ length }) => length > 600).map(({ file }) => file), []);
});

Deno.test("a file of more than 450 lines is on the list, with a reason; a file that shrank to 400 leaves it", () => {
  assert.deepEqual(
    files.filter(({ length }) => length > 450).map(({ file, length }) => `${file} ${length}`).filter((row) =>
      !Object.hasOwn(big, row.split(" ")[0]!)
    ),
    [],
    "split it along its reasons to change, or say in this test why it is one thing",
  );
  const known = new Map(files.map(({ file, length }) => [file, length]));
  assert.deepEqual(Object.keys(big).filter((file) => (known.get(file) ?? 0) <= 400), [], "these are small enough now");
});

/** Functions and methods with their lengths; deno fmt puts the closing brace below the first letter of the head. */
function functions(lines: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = [];
  for (const [i, line] of lines.entries()) {
    const head =
      /^( *)(?:export )?(?:default )?(?:static |override |async )*(?:function\*? ?(\w+)|([#\w]+)(?=(?:<[^>]*>)?\())/
        .exec(line);
    if (!head || /^\s*(?:if|for|while|switch|return|await|super|assert|catch|throw|new|yield)\b/.test(line)) continue;
    const end = lines.findIndex((l, j) => j > i && l.startsWith(`${head[1]}}`) && !l.startsWith(`${head[1]}} `));
    const opens = lines.slice(i, end + 1).findIndex((l) => / \{$/.test(l));
    const next = lines.findIndex((l, j) => j > i && l.trim() !== "" && (/^ */.exec(l)![0].length) < head[1]!.length);
    if (end < 0 || opens < 0 || (next >= 0 && next < end)) continue;
    found.push({ name: head[2] ?? head[3]!, length: end - i + 1 });
  }
  return found;
}

Deno.test("functions fit a screen: at most 80 lines", () => {
  const long = files.flatMap(({ file, lines }) =>
    functions(lines).filter(({ length }) => length > 80).map(({ name, length }) => `${file} ${name}: ${length} lines`)
  );
  assert.deepEqual(long, []);
});

/** Files and folders whose small files with one importer stay apart, each with the reason. */
const APART: Readonly<Record<string, string>> = {
  "cmd/install-cni/bundle.ts": "a program of its own: the build of images runs it",
  "lib/agent/start/": "the steps of the agent's start, one file each",
  "lib/debug/": "one page, one file",
  "lib/web/": "one page, one file",
  "lib/discovery/findings/connected_gateways.ts": "one finding, one file",
  "lib/injection/steps/order.ts": "the order of the steps, as a table",
  "lib/kernel/metrics/": "the metrics of one subject, as a table",
  "lib/mesh/": "one index, one file",
  "lib/xds/push_minutes.ts": "counts of an hour, beside the ledger of the last pushes",
  "lib/webhook/review_worker.ts": "what runs in the worker, apart from what starts the worker",
};

/** Small files with a single importer, in the same folder. */
function smallPrivateFiles(): string[] {
  const importers = new Map<string, Set<string>>();
  const late = new Set<string>();
  for (const from of [...sourceFiles(root, ["lib", "cmd"]), "mod.ts"]) {
    for (const { to, lazy } of importsOf(root, from)) {
      if (lazy) late.add(to);
      const known = importers.get(to);
      if (known === undefined) importers.set(to, new Set([from]));
      else known.add(from);
    }
  }
  const folder = (file: string) => file.slice(0, file.lastIndexOf("/"));
  return files.filter(({ file, length }) => {
    const [importer, another] = importers.get(file) ?? [];
    return length < 40 && importer !== undefined && another === undefined && !late.has(file) &&
      folder(importer) === folder(file);
  }).map(({ file }) => file);
}

Deno.test("a file of less than 40 lines with one importer beside it is part of that importer, or has a reason", () => {
  const found = smallPrivateFiles();
  const isUnder = (file: string, place: string) => file === place || place.endsWith("/") && file.startsWith(place);
  const unexplained = found.filter((file) => !Object.keys(APART).some((place) => isUnder(file, place)));
  assert.deepEqual(unexplained, [], "join it with its importer, or say in this test why it stays apart");
  const unused = Object.keys(APART).filter((place) => !found.some((file) => isUnder(file, place)));
  assert.deepEqual(unused, [], "these have no such file any more");
});
