/**
 * Network configurations as a container runtime reads them: which files count, which of them are valid, and which one
 * the runtime takes. The rules are those of libcni, which containerd and CRI-O use.
 *
 * @module
 */

/** Type of our plugin: the name of its executable, and `type` in configurations. */
export const PLUGIN = "mesh-cni";

/** Variables by which a runtime calls a plugin. */
export const callVariables = ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"];

/** Versions of the protocol that the plugin speaks; chains of older ones pass no result to us. */
export const protocolVersions = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** Version given to a configuration that names none, when it becomes a chain: the oldest that every runtime chains. */
export const CHAIN_VERSION = "0.3.1";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A configuration file, as text. */
export interface ConfigFile {
  /** Without folder. */
  readonly name: string;
  /** Undefined when it cannot be read, or its bytes are no UTF-8 text. */
  readonly text: string | undefined;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** A valid configuration. */
export interface NetworkConfig {
  readonly file: string;
  readonly text: string;
  /** `list`: an object with `plugins`. `single`: one plugin, which chaining has to wrap. */
  readonly form: "list" | "single";
  readonly name: string | undefined;
  /** Undefined: the runtime takes it for 0.1.0. */
  readonly version: string | undefined;
  /** The plugins, in order of calling. */
  readonly plugins: readonly JsonObject[];
}

/** A configuration, or why the runtime passes over the file. */
export type ReadConfig = NetworkConfig | { readonly file: string; readonly problem: string };

/** Endings of files that runtimes read. */
const endings = [".conf", ".conflist", ".json"];

/** True for a name that runtimes read as a configuration. */
export function isConfigName(name: string): boolean {
  return endings.some((ending) => name.endsWith(ending));
}

/** Reads one file. */
export function readConfig({ name: file, text, problem }: ConfigFile): ReadConfig {
  if (text === undefined) return { file, problem: problem ?? "it is no UTF-8 text" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { file, problem: `it is no JSON: ${whyNot(text, error as Error)}` };
  }
  if (!isObject(value)) return { file, problem: "it is no JSON object" };
  return file.endsWith(".conflist") ? readList(file, text, value) : readSingle(file, text, value);
}

function whyNot(text: string, error: Error): string {
  return text.startsWith("\ufeff") ? "it begins with a byte order mark" : error.message.replaceAll(/\s+/g, " ");
}

function readList(file: string, text: string, value: JsonObject): ReadConfig {
  const { plugins } = value;
  if (typeof value["name"] !== "string" || value["name"] === "") return { file, problem: "a list needs a name" };
  if (!Array.isArray(plugins)) return { file, problem: "a list needs an array plugins" };
  if (plugins.length === 0) return { file, problem: "the list has no plugins" };
  const bad = plugins.findIndex((plugin) => !isObject(plugin) || !hasType(plugin));
  if (bad >= 0) return { file, problem: `plugins[${bad}] needs a type` };
  return { file, text, form: "list", name: value["name"], version: versionOf(value), plugins };
}

function readSingle(file: string, text: string, value: JsonObject): ReadConfig {
  if (!hasType(value)) {
    const hint = "plugins" in value ? "; a list must be in a file that ends in .conflist" : "";
    return { file, problem: `a single configuration needs a type${hint}` };
  }
  const name = typeof value["name"] === "string" && value["name"] !== "" ? value["name"] : undefined;
  return { file, text, form: "single", name, version: versionOf(value), plugins: [value] };
}

function hasType(value: JsonObject): boolean {
  return typeof value["type"] === "string" && value["type"] !== "";
}

/** The newest of `cniVersion` and, since 1.1, `cniVersions` that we speak, as a runtime takes it; else what is there. */
function versionOf(value: JsonObject): string | undefined {
  const several = value["cniVersions"];
  const all: unknown[] = [value["cniVersion"], ...(Array.isArray(several) ? several : [])];
  const named = all.filter((version) => typeof version === "string" && version !== "") as string[];
  return protocolVersions.findLast((version) => named.includes(version)) ?? named[0];
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The files that count, in the order in which the runtime tries them: by the bytes of their names. */
export function inOrder(files: readonly ConfigFile[]): ConfigFile[] {
  return files.filter((file) => isConfigName(file.name)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the runtime takes, and what it passed over on the way, each with the reason. */
export interface Choice {
  readonly primary: NetworkConfig | undefined;
  readonly passedOver: readonly { readonly file: string; readonly problem: string }[];
}

/** The runtime's choice among files: the first valid one. */
export function choosePrimary(files: readonly ConfigFile[]): Choice {
  const passedOver: { file: string; problem: string }[] = [];
  for (const file of inOrder(files)) {
    const read = readConfig(file);
    if (!("problem" in read)) return { primary: read, passedOver };
    passedOver.push(read);
  }
  return { primary: undefined, passedOver };
}

/** Places of our entries in a configuration. */
export function ownEntries(config: NetworkConfig): number[] {
  return config.plugins.flatMap((plugin, at) => (plugin["type"] === PLUGIN ? [at] : []));
}
