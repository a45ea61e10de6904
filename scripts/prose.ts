/**
 * How much of the prose leans on pronouns: `deno task prose`. A report, not a gate.
 *
 *     deno task prose                    comments by room, and the pages of the documentation
 *     deno task prose --sentences PATH   the sentences of a file or folder with more than one pronoun in five words
 *
 * Two figures are printed for each room: the pronouns and relative words among a hundred words, and the share of
 * sentences in which more than one word of five is a pronoun. A reader stumbles over such sentences, because each
 * pronoun has to be resolved first. Projects that are read with ease have 2 to 4, and about 1 %.
 *
 * Permissions: read.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { sourceFiles } from "./imports.ts";
import { commentText, countProse, isPronominal, prosaicText, type ProseCount, sentences } from "./prose/text.ts";

const root = new URL("..", import.meta.url).pathname;

const { values } = parseArgs({ args: Deno.args, options: { sentences: { type: "string" } } });
if (values.sentences === undefined) report();
else for (const path of filesUnder(values.sentences)) show(path);

/** Prints the figures of every room, of the pages, and the totals. */
function report(): void {
  printTable("comments", Map.groupBy(sourceFiles(root, ["lib", "cmd", "scripts", "tests"]), roomOf));
  printTable("pages", Map.groupBy(filesUnder(".").filter((path) => path.endsWith(".md")), folderOf));
}

/** `lib/xds`, `tests/xds`, `cmd`, `scripts`. */
function roomOf(file: string): string {
  const [wing = "", room = ""] = file.split("/");
  return (wing === "lib" || wing === "tests") && !room.endsWith(".ts") ? `${wing}/${room}` : wing;
}

function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : file;
}

function printTable(title: string, groups: ReadonlyMap<string, readonly string[]>): void {
  console.log(`${title.padEnd(32)} words  pronouns of 100  sentences above a fifth`);
  const all: string[] = [];
  for (const [name, files] of [...groups].sort(([a], [b]) => a < b ? -1 : 1)) {
    const texts = files.map(textOf);
    all.push(...texts);
    printRow(name, countProse(texts.join("\n\n")));
  }
  printRow("all", countProse(all.join("\n\n")));
}

function printRow(name: string, { words, pronouns, sentences, pronominal }: ProseCount): void {
  if (words === 0) return;
  const share = (part: number, whole: number) => (whole === 0 ? 0 : 100 * part / whole).toFixed(1);
  const cells = [
    String(words).padStart(6),
    share(pronouns, words).padStart(16),
    share(pronominal, sentences).padStart(22),
  ];
  console.log(`${name.padEnd(31)} ${cells.join(" ")} %`);
}

/** Prints the sentences of a file that lean on pronouns. */
function show(path: string): void {
  for (const sentence of sentences(textOf(path)).filter(isPronominal)) console.log(`${path}: ${sentence}`);
}

function textOf(file: string): string {
  const text = Deno.readTextFileSync(`${root}/${file}`);
  return file.endsWith(".md") ? prosaicText(text) : commentText(text);
}

/** The TypeScript and Markdown files of the project at or below a path, relative to the root. */
function filesUnder(path: string): string[] {
  const clean = path.replace(/^\.\/|\/$/g, "");
  if (/\.(?:ts|md)$/.test(clean)) return [clean];
  const found: string[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(`${root}/${clean}`)) {
    const at = clean === "." || clean === "" ? name : `${clean}/${name}`;
    if (isDirectory && !/^(?:node_modules|gen|testdata|dist|\..*)$/.test(name)) found.push(...filesUnder(at));
    else if (/\.(?:ts|md)$/.test(name)) found.push(at);
  }
  return found.sort();
}
