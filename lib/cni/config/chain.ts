/**
 * Puts the plugin at the end of a network configuration, and removes it again. Both work on the text: everything else
 * keeps every byte, and removing gives back the original text.
 *
 * @module
 */
import { elementsAt, membersAt, skipSpace } from "./json_text.ts";
import { type NetworkConfig, ownEntries, readConfig } from "./libcni.ts";
import { CHAIN_VERSION, isObject, type NetworkJson, PLUGIN, protocolVersions } from "./network.ts";

/**
 * Key of the plugin's entry with the name of the file that was wrapped into a list, so that the file can be restored.
 */
export const WRAPPED = "wrapped_from";

/** Key of the plugin's entry, in a file of our own, with the name of the original configuration. */
export const MADE_OF = "made_of";

/** Name of a list made from a nameless configuration, the same as Istio's. */
const NAMELESS = "k8s-pod-network";

/** A file: name without folder, and text. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

/** Why a configuration cannot be chained. */
export class ChainError extends Error {
  override readonly name = "ChainError";
}

/**
 * The configuration with the plugin's entry. A list keeps its name. A single configuration becomes a list in a
 * `.conflist` file. The list keeps the network name, because address allocations are stored by this name.
 * @throws {ChainError} If the runtime refuses every pod (a list without a name), or passes the plugin no result (a
 * version before 0.3.0, or a version that the plugin does not speak).
 */
export function chain(config: NetworkConfig, entry: NetworkJson): TextFile {
  const plain = ownEntries(config).length === 0 ? config : unchained(config);
  if (plain.form === "list" && plain.name === "") {
    throw new ChainError(`${config.file}: name: got "", expected a name: the runtime refuses every pod without one`);
  }
  const version = plain.form === "single" && tooOld(plain.version) ? CHAIN_VERSION : plain.version;
  if (!(protocolVersions as readonly string[]).includes(version ?? "")) {
    throw new ChainError(
      `${config.file}: cniVersion: got ${JSON.stringify(version ?? "")}, expected one of ${
        protocolVersions.join(", ")
      }`,
    );
  }
  return plain.form === "single" ? wrap(plain, entry, version ?? CHAIN_VERSION) : append(plain, entry);
}

function tooOld(version: string | undefined): boolean {
  return version === undefined || /^0\.[12]\./.test(version);
}

/** The entry after the last element, on a line like the lines before. */
function append(config: NetworkConfig, entry: NetworkJson): TextFile {
  const { text } = config;
  const elements = pluginElements(text);
  const last = elements.at(-1);
  if (last === undefined) {
    throw new ChainError(
      `${config.file}: its plugins are in files of the folder ${config.name}, where none can be last for sure; write them into the list`,
    );
  }
  const lead = /\n[ \t]*$/.exec(text.slice(0, elements[0]?.start))?.[0] ?? (text.includes("\n") ? " " : "");
  const piece = `,${lead}${entryText(entry, lead)}`;
  return { name: config.file, text: text.slice(0, last.end) + piece + text.slice(last.end) };
}

/** Entry as JSON: indented when the list is. */
function entryText(entry: NetworkJson, lead: string): string {
  if (!lead.startsWith("\n")) return JSON.stringify(entry);
  return JSON.stringify(entry, null, 2).replaceAll("\n", lead);
}

/** A list around a single configuration. The single configuration keeps every byte. */
function wrap(config: NetworkConfig, entry: NetworkJson, version: string): TextFile {
  const head = `{"cniVersion":${JSON.stringify(version)},"name":${JSON.stringify(config.name || NAMELESS)},"plugins":[`;
  const mine = JSON.stringify({ ...entry, [WRAPPED]: config.file });
  return { name: listName(config.file), text: `${head}\n${config.text}\n,${mine}]}\n` };
}

/** Name of the list for a single configuration. */
function listName(file: string): string {
  return file.replace(/\.(conf|json)$/, "") + ".conflist";
}

/** The plugin's entry in a configuration. Undefined: there is none. */
export function entryOf(config: NetworkConfig): NetworkJson | undefined {
  return config.plugins[ownEntries(config).at(-1) ?? -1];
}

/**
 * The configuration without the plugin's entries: the original file, with its name. Undefined: nothing is left, so the
 * list was ours alone.
 */
export function unchain(config: NetworkConfig): TextFile | undefined {
  const wrapped = entryOf(config)?.[WRAPPED];
  const elements = pluginElements(config.text);
  if (typeof wrapped === "string" && isPlainName(wrapped) && config.plugins.length === 2) {
    const whole = wrappedText(config.text, elements[0]?.start ?? 0, elements[1]?.start ?? 0);
    if (whole !== undefined) return { name: wrapped, text: whole };
  }
  let { text } = config;
  for (const at of ownEntries(config).toReversed()) {
    const found = pluginElements(text);
    const [before, own, after] = [found[at - 1], found[at], found[at + 1]];
    if (own === undefined) continue;
    if (before !== undefined) text = text.slice(0, before.end) + text.slice(own.end);
    else if (after !== undefined) text = text.slice(0, own.start) + text.slice(after.start);
    else return undefined;
  }
  return { name: config.file, text };
}

/**
 * The text between `[` with a line break and a line break with `,`, as {@link wrap} wrote the list. Undefined: the list
 * was edited since.
 */
function wrappedText(text: string, first: number, second: number): string | undefined {
  const open = text.lastIndexOf("[", first);
  const close = text.lastIndexOf("\n,", second);
  return open >= 0 && close > first && text[open + 1] === "\n" ? text.slice(open + 2, close) : undefined;
}

function isPlainName(name: string): boolean {
  return /^[^/\0]+$/.test(name) && name !== "." && name !== "..";
}

function unchained(config: NetworkConfig): NetworkConfig {
  const file = unchain(config);
  const read = file === undefined ? undefined : readConfig(file);
  if (read === undefined || "problem" in read) {
    throw new ChainError(`${config.file}: nothing is left without ${PLUGIN}`);
  }
  return read;
}

/** Elements of the list's `plugins`; of equal keys the last counts, as for every reader. */
function pluginElements(text: string) {
  const start = skipSpace(text, 0);
  const plugins = membersAt(text, start).findLast((member) => member.key === "plugins");
  return plugins === undefined ? [] : elementsAt(text, plugins.start);
}

/** True when the configuration has our entry, once, after another plugin, and exactly so. */
export function isChained(config: NetworkConfig, entry: NetworkJson): boolean {
  const [at, ...more] = ownEntries(config);
  if (at === undefined || at === 0 || more.length > 0) return false;
  const { [WRAPPED]: _wrapped, ...mine } = config.plugins[at] ?? {};
  return sameJson(mine, entry);
}

/** Equality of JSON values; the order of keys does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => sameJson(x, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
  }
  return a === b;
}
