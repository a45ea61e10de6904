/** The tables of the architecture page equal the tree. */
import assert from "node:assert/strict";
import { discoveryFlags } from "../../cmd/pilot-discovery/discovery_flags.ts";
import { notBuilt } from "../../lib/kernel/not_built/catalogue.ts";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;
const page = Deno.readTextFileSync(`${root}docs/architecture.md`);

/** Rows of the table under a heading, cell by cell. */
function table(heading: string): string[][] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const lines = section.split("\n## ")[0]!.split("\n").filter((line) => line.startsWith("|")).slice(2);
  return lines.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

Deno.test("the table of packages names every package of the library, and no other", () => {
  const named = table("Packages").flatMap(([names]) => [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  const packages = [...Deno.readDirSync(`${root}lib`)].filter((entry) => entry.isDirectory).map(({ name }) => name);
  assert.deepEqual(named.toSorted(), packages.toSorted());
});

Deno.test("the table of ports has the flags' defaults, and marks the ports that are not served yet", () => {
  const rows = table("Ports").filter(([, flag]) => flag!.startsWith("`--"));
  assert(rows.length >= 6);
  for (const [port, flag, what] of rows) {
    const name = /`--(\w+)`/.exec(flag!)![1]!;
    const known = discoveryFlags[name as keyof typeof discoveryFlags];
    assert(known, `${flag} is no flag of discovery`);
    assert.match(String(known.default), new RegExp(`:?${port}$`), `${flag}`);
    assert.equal(
      /not served yet/.test(what!),
      notBuilt("flag", `pilot-discovery --${name}`) !== undefined,
      `${flag}: ${what}`,
    );
  }
});

Deno.test("modules that pages for contributors name are there", () => {
  const generated = [...Deno.readDirSync(`${root}proto/gen`)].map(({ name }) => `proto/gen/${name}`);
  const files = [...sourceFiles(root, ["cmd", "lib", "proto", "scripts", "tests"]), ...generated, "mod.ts"];
  const decisions = [...Deno.readDirSync(`${root}docs/decisions`)].map(({ name }) => `docs/decisions/${name}`);
  const pages = [
    "CONTRIBUTING.md",
    "README.md",
    "docs/architecture.md",
    "docs/contributors/first_hour.md",
    ...decisions,
  ];
  let named = 0;
  const missing = pages.flatMap((page) =>
    [...Deno.readTextFileSync(`${root}${page}`).matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, path]) => {
      named++;
      return files.some((file) => `/${file}`.endsWith(`/${path}`)) ? [] : [`${page}: ${path}`];
    })
  );
  assert.ok(named > 40, `${named} are named`);
  assert.deepEqual(missing, []);
});
