/**
 * The text of the code under `lib/` and `cmd/`, for tests of real use.
 *
 * Permissions: read (lib, cmd).
 * @module
 */

const root = new URL("../../", import.meta.url);

/** Code, without comments, of every TypeScript file under `lib/` and `cmd/`, but not of the folders given. */
export function sourceText(without: readonly string[]): string {
  const texts: string[] = [];
  const walk = (folder: string) => {
    if (without.includes(folder)) return;
    for (const entry of Deno.readDirSync(new URL(folder, root))) {
      if (entry.isDirectory) walk(`${folder}${entry.name}/`);
      else if (entry.name.endsWith(".ts")) texts.push(withoutComments(new URL(folder + entry.name, root)));
    }
  };
  walk("lib/");
  walk("cmd/");
  return texts.join("\n");
}

/** Code of the given files, without comments. */
export function textOf(paths: readonly string[]): string {
  return paths.map((path) => withoutComments(new URL(path, root))).join("\n");
}

function withoutComments(file: URL): string {
  return Deno.readTextFileSync(file).replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

/** Names in the pattern's first group. */
export function namesFound(text: string, pattern: RegExp): Set<string> {
  return new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ""));
}

/**
 * Settings read by name in the code, outside the catalogue: `settings.NAME`, `settings["NAME"]`, or `variable: "NAME"` of
 * an option.
 */
export function readSettingNames(): Set<string> {
  return namesFound(
    sourceText(["lib/kernel/settings/"]),
    /\b(?:settings(?:\.|\[")|variable: ")([A-Z][A-Z0-9_]+)\b/g,
  );
}

/**
 * Metrics by name in the code: `counter("name")`, `gauge("name")`, `histogram("name")`.
 *
 * @param text Default: all code.
 */
export function fedMetrics(text = sourceText([])): Set<string> {
  return namesFound(text, /\.(?:counter|gauge|histogram)\(\s*"([a-z0-9_]+)"/g);
}
