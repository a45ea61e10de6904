/**
 * Packs the library as an npm package: `dist/mesh-pilot-VERSION.tgz`.
 *
 *     files that mod.ts imports ──(deno transpile)──> .js and .d.ts ──> dist/npm/package ──(tar)──> .tgz
 *
 * The package has the tree's own modules, one file each, and the generated descriptors. Dependencies have the versions
 * of deno.json. Packing uses no network.
 *
 * Permissions: read of the repository, write (the target folder), run (deno, tar).
 *
 * @module
 */
import { importsOf } from "./imports.ts";
import { command } from "./setup/command.ts";

const ROOT = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
const ENTRY = "mod.ts";
/** Modules of workers, which are loaded by name at run time. */
const WORKERS: readonly string[] = ["lib/offline/preview/worker.ts"];
const PAGE = "docs/users/library.md";

/** The fields of deno.json about the library. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly imports: Readonly<Record<string, string>>;
}

/** All files of the tree that the entries need, including the entries, and the imported npm names. */
export function reachableFrom(
  ...entries: readonly string[]
): { readonly files: readonly string[]; readonly names: readonly string[] } {
  const files = new Set(entries);
  const names = new Set<string>();
  for (const file of files) {
    if (!file.endsWith(".ts")) continue;
    for (const { to } of importsOf(ROOT, file)) {
      if (to.startsWith("node:")) continue;
      if (/\.(?:ts|json)$/.test(to) || to.startsWith("proto/gen/")) files.add(to);
      else names.add(to);
    }
  }
  return { files: [...files].sort(), names: [...names].sort() };
}

/** Versions by package, of imports such as `protobufjs/minimal.js` with the target `npm:protobufjs@8.8.1/minimal.js`. */
export function dependenciesOf(names: readonly string[], imports: Manifest["imports"]): Record<string, string> {
  const pinned = names.map((name): [string, string] => {
    const match = /^npm:((?:@[^/]+\/)?[^@/]+)@([^/]+)/.exec(imports[name] ?? "");
    if (match === null) throw new RangeError(`import ${name}: deno.json has no npm package with a version for it`);
    return [match[1]!, match[2]!];
  });
  return Object.fromEntries(pinned.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A module's text, with imports renamed to the package's files. */
export function withPackagedImports(text: string, file: string): string {
  const up = "../".repeat(file.split("/").length - 1) || "./";
  return text
    .replaceAll(`import("file://${ROOT}/`, `import("${up}`)
    .replace(/((?:\bfrom|\bimport|\bimport\()\s*["'])(\.{1,2}\/[^"']+)\.ts(["'])/g, "$1$2.js$3");
}

/** A page for users of the package: imports use the package's name, and links to other pages are removed. */
export function packagedPage(text: string, name: string): string {
  return text.replaceAll('"../../mod.ts"', JSON.stringify(name)).replace(/\[([^\]]+)\]\(\.\.?\/[^)]*\)/g, "$1");
}

const NEEDS_DENO = `throw new Error("this package needs Deno 2.8 or newer: Node lacks Deno's files and sockets");\n`;

function packageJson({ name, version, license, imports }: Manifest, names: readonly string[]) {
  return {
    name,
    version,
    license,
    type: "module",
    description: "Translation, simulation and analysis of service-mesh configuration, and the discovery server.",
    exports: { ".": { types: "./mod.d.ts", deno: "./mod.js", default: "./needs_deno.js" } },
    engines: { deno: ">=2.8.0" },
    dependencies: dependenciesOf(names, imports),
  };
}

/**
 * Packs the library.
 *
 * @param target Folder for the tarball and its files.
 * @param deno The program for the transpilation.
 * @returns The path of the tarball.
 */
export async function packLibrary(target: string, deno = "deno"): Promise<string> {
  const manifest: Manifest = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`));
  const { files, names } = reachableFrom(ENTRY, ...WORKERS);
  const folder = `${target}/npm/package`;
  await Deno.remove(folder, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(folder, { recursive: true });
  const modules = files.filter((file) => file.endsWith(".ts"));
  await command(deno, ["transpile", "--quiet", "--declaration", "--outdir", folder, ...modules], ROOT);
  const scripts = modules.map((file) => file.replace(/ts$/, "js"));
  const types = await declarations(folder);
  for (const file of [...scripts, ...types]) {
    const path = `${folder}/${file}`;
    await Deno.writeTextFile(path, withPackagedImports(await Deno.readTextFile(path), file));
  }
  for (const file of files.filter((one) => !one.endsWith(".ts"))) await copy(file, `${folder}/${file}`);
  await copy("LICENSE", `${folder}/LICENSE`);
  const page = await Deno.readTextFile(`${ROOT}/${PAGE}`);
  await Deno.writeTextFile(`${folder}/README.md`, packagedPage(page, manifest.name));
  await Deno.writeTextFile(`${folder}/needs_deno.js`, NEEDS_DENO);
  await Deno.writeTextFile(`${folder}/package.json`, `${JSON.stringify(packageJson(manifest, names), null, 2)}\n`);
  const tarball = `${target}/${manifest.name.replace(/^@/, "").replace("/", "-")}-${manifest.version}.tgz`;
  await command("tar", ["-czf", tarball, "-C", `${target}/npm`, "package"], ROOT);
  return tarball;
}

/**
 * The declarations that the entry's declarations need. All others are removed.
 *
 * @throws When a declaration was not made.
 */
async function declarations(folder: string): Promise<string[]> {
  const wanted = new Set([ENTRY.replace(/ts$/, "d.ts")]);
  for (const file of wanted) {
    const text = await Deno.readTextFile(`${folder}/${file}`);
    const inside = text.replace(/\/\*[\s\S]*?\*\//g, "");
    for (const [, specifier = ""] of inside.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["']([^"']+)\.ts["']/g)) {
      const base = specifier.startsWith(".") ? `file://${ROOT}/${file}` : `file://${ROOT}/`;
      wanted.add(`${new URL(specifier, base).pathname.slice(ROOT.length + 1)}.d.ts`);
    }
  }
  for (const file of filesBelow(folder)) {
    if (file.endsWith(".d.ts") && !wanted.has(file)) await Deno.remove(`${folder}/${file}`);
  }
  return [...wanted].sort();
}

function filesBelow(folder: string, path = ""): string[] {
  return [...Deno.readDirSync(`${folder}/${path}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(folder, `${path}${name}/`) : [`${path}${name}`]
  );
}

async function copy(file: string, to: string): Promise<void> {
  await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
  await Deno.copyFile(`${ROOT}/${file}`, to);
}

if (import.meta.main) {
  await Deno.mkdir(`${ROOT}/dist`, { recursive: true });
  console.log(await packLibrary(`${ROOT}/dist`));
}
