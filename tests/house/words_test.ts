import assert from "node:assert/strict";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What is not ours, or not text. */
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

/** What a reader of the tree has no use for, and why. */
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

Deno.test("comments begin with a noun or a verb, and not with what, who or which", () => {
  const found = files.filter((file) => /^(?:(?:lib|cmd|scripts)\/.*|mod)\.ts$/.test(file)).flatMap((file) =>
    Deno.readTextFileSync(`${root}/${file}`).split("\n").flatMap((line, i) =>
      /^\s*(?:\/\*\*|\*|\/\/) (?:What|Who|Whom|Whose|Which|Whatever|Whoever)\b/.test(line)
        ? [`${file}:${i + 1} ${line.trim()}`]
        : []
    )
  );
  assert.deepEqual(found, []);
});

/** Paragraphs and items of lists, each as one line; no code, tables and headings. */
function paragraphs(markdown: string): string[] {
  const blocks = markdown.replace(/^```[\s\S]*?^```$/gm, "").replace(/^(?:\||#).*$/gm, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/);
  return blocks.map((block) => block.trim().replace(/\s+/g, " "));
}

/** A sentence, or a part of one behind a semicolon, that begins with such a word and is no question. */
const HEADLESS =
  /(?:(?:^(?:[-*] |\d+\. )?|[.:;)] )(?:\*\*)?(?:What|Who|Whoever|Whatever|Whose)|; (?:what|who|whoever|whatever)) [^.;?]*[.;]/g;

Deno.test("subjects of sentences in pages are nouns, and no clauses without a head", () => {
  const pages = files.filter((file) => file.endsWith(".md") && !/^(?:docs\/reference|tests)\//.test(file));
  assert(pages.length > 80, "the walk found the pages");
  const found = pages.flatMap((page) =>
    paragraphs(Deno.readTextFileSync(`${root}/${page}`)).flatMap((text) =>
      [...text.matchAll(HEADLESS)].map(([sentence]) => `${page}: ${sentence}`)
    )
  );
  assert.deepEqual(found, []);
});

Deno.test("subjects of sentences in messages are nouns, too", () => {
  const found = files.filter((file) => /^(?:lib|cmd|scripts)\/.*\.ts$/.test(file)).flatMap((file) => {
    const code = Deno.readTextFileSync(`${root}/${file}`).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
    return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`[^`\n]*`/g)].flatMap(([literal]) =>
      /^.(?:What|Who|Whoever|Whatever) [^?]*[.;]|; (?:what|who|whoever|whatever) (?!.*\?)/.test(literal)
        ? [`${file}: ${literal}`]
        : []
    );
  });
  assert.deepEqual(found, []);
});

Deno.test("a change is called a change, and no state that is other than before", () => {
  const riddle = /\b(?:other|others|otherwise) than before\b|\bAnother number whenever\b|\bmay be others\b/;
  const found = files.filter((file) => /^(?:(?:lib|cmd|scripts)\/.*\.ts|docs\/.*\.md|[A-Z]+\.md)$/.test(file)).flatMap((
    file,
  ) =>
    Deno.readTextFileSync(`${root}/${file}`).split("\n").flatMap((line, i) =>
      riddle.test(line) ? [`${file}:${i + 1} ${line.trim()}`] : []
    )
  );
  assert.deepEqual(found, []);
});

/** Words of the glossary's past, where people read them. Things are told apart, and one from another. */
const RETIRED_WORDS =
  /\b(?:errands?|founded|heirs?|wish(?:es)?)\b|\btold\b(?! (?:sources )?apart| from)|\bthe field's (?:language|charts)\b/i;

Deno.test("comments, messages and pages have none of the words that the glossary retired", () => {
  const found = files.filter((file) => /^(?:(?:lib|cmd|scripts)\/.*\.ts|docs\/.*\.md|[A-Z]+\.md)$/.test(file)).flatMap((
    file,
  ) =>
    Deno.readTextFileSync(`${root}/${file}`).split("\n").flatMap((line, i) =>
      RETIRED_WORDS.test(line) ? [`${file}:${i + 1} ${line.trim()}`] : []
    )
  );
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
