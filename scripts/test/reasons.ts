/**
 * Why a test was ignored: the reason is in the test's name, or the test file needs a component missing on this machine.
 *
 * Permissions: read of the test files.
 *
 * @module
 */

/** Words in a test file, with the component that ignored tests lack. */
const COMPONENTS: readonly (readonly [words: RegExp, reason: string])[] = [
  [/envoyPath|envoyBinary/, "no Envoy: `deno task setup` fetches it, or set ENVOY to a binary"],
  [/bundleProgram/, "no bundler: `deno bundle` fetches it from npm"],
  [/networkInterfaces/, "this machine has no address but its loopback"],
  [/openssl/, "no openssl: install it (setup does as root)"],
  [/noBrowser/, "no Chromium: install the package chromium (setup does as root)"],
  [/support\/go\.ts|findGo\b/, "no Go toolchain of 1.24 or later on the path or in /usr/local/go; GO may name one"],
];

/** The reason of an ignored test; undefined when none is known. */
export function reasonIgnored(root: string, { name, file }: { readonly name: string; readonly file: string }) {
  const said = /\(ignored: (.*)\)$/.exec(name)?.[1];
  if (said !== undefined) return said;
  const text = Deno.readTextFileSync(`${root}/${file}`);
  return COMPONENTS.find(([words]) => words.test(text))?.[1];
}
