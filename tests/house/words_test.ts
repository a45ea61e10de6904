import assert from "node:assert/strict";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Foreign files, and files without text. */
const passedOver = new Set(["node_modules", ".git", ".cache", "dist", "gen", "deno.lock", "LICENSE"]);
const text = /(?:\.(?:ts|md|json|yaml|yml|proto|go|mod|sh|mjs)|\/\.ci\/run|\/\.gitignore)$/;

function* texts(dir: string): Generator<string> {
  for (const entry of Deno.readDirSync(dir)) {
    if (passedOver.has(entry.name)) continue;
    const path = `${dir}/${entry.name}`;
    if (entry.isDirectory) yield* texts(path);
    else if (text.test(path)) yield path.slice(root.length + 1);
  }
}

const self = "tests/house/words_test.ts";
const files = [...texts(root)].filter((file) => file !== self).sort();

/** Words without a use for a reader of the tree, and why. */
const unwanted: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/(?<![\w.])\/(?:work|home\/\w+|root|Users\/\w+)\/[\w.]/, "a path of somebody's machine"],
  [/\bissue #?\d+\b/i, "a number that only a tracker understands; say what it is about"],
  [
    /\b(?:language model|LLM|ChatGPT|Claude|Copilot|Anthropic|OpenAI|sub-?agents?)\b/i,
    "the project speaks of itself alone",
  ],
  [/\b(?:the brief|peer-facts|this session's|in this session|next session)\b/i, "the project speaks of itself alone"],
  [/\b(?:TODO|FIXME|XXX|HACK)\b/, "do it, or write down what it needs where it is decided"],
];

Deno.test("the tree speaks of itself alone", () => {
  assert(files.length > 300, "the walk found the tree");
  const found = files.flatMap((file) => {
    const lines = Deno.readTextFileSync(`${root}/${file}`).split("\n");
    return lines.flatMap((line, i) =>
      unwanted.filter(([pattern]) => pattern.test(line)).map(([, why]) => `${file}:${i + 1} ${line.trim()} (${why})`)
    );
  });
  assert.deepEqual(found, []);
});

Deno.test("no file or folder is a drawer for whatever fits nowhere", () => {
  const drawers = files.filter((file) => /(?:^|\/)(?:utils?|helpers?|misc|context)(?:\/|\.ts$)/.test(file));
  assert.deepEqual(drawers, []);
});

Deno.test("nothing runs with all permissions", () => {
  const found = files.filter((file) => /\.(?:json|ts|sh)$|\.ci\/run$/.test(file)).flatMap((file) =>
    Deno.readTextFileSync(`${root}/${file}`).split("\n").filter((line) =>
      /deno (?:run|test) -A\b|"(?:run|test)",.*"-A"|--allow-all\b/.test(line) &&
      !/doesNotMatch|includes\("--allow-all"\)/.test(line)
    ).map((line) => `${file}: ${line.trim()}`)
  );
  assert.deepEqual(found, []);
});
