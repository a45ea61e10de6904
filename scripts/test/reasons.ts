/**
 * Why a test was ignored: its name says so, or its file needs a component that this machine lacks.
 *
 * Permissions: read of the test files.
 *
 * @module
 */

/** Words in a test file, and what its ignored tests miss. */
const COMPONENTS: readonly (readonly [words: RegExp, reason: string])[] = [
  [/envoyPath|envoyBinary/, "no Envoy: `deno task setup` fetches it, or set ENVOY to a binary"],
  [/findGo\b/, "no Go toolchain: install golang-go (setup does as root), or set GO to one"],
];

/** The reason of an ignored test; undefined when nothing tells it. */
export function reasonIgnored(root: string, { name, file }: { readonly name: string; readonly file: string }) {
  const said = /\(ignored: (.*)\)$/.exec(name)?.[1];
  if (said !== undefined) return said;
  const text = Deno.readTextFileSync(`${root}/${file}`);
  return COMPONENTS.find(([words]) => words.test(text))?.[1];
}
