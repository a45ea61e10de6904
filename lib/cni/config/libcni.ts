/**
 * Network configurations as a container runtime reads them: the files that count, the valid files, and the file that
 * the runtime takes. The rules are the rules of libcni 1.3, the library of containerd and CRI-O. A test compares both
 * over a corpus. Older versions of libcni know neither `cniVersions` nor plugins in separate files.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../kernel/json/issues.ts";
import { isConfigName, isObject, type NetworkJson, PLUGIN } from "./network.ts";

/** A configuration file, as text. */
export interface ConfigFile {
  /** Without folder. */
  readonly name: string;
  /** Undefined: the file cannot be read. */
  readonly text: string | undefined;
  /** Why the file cannot be read. */
  readonly problem?: string;
  /** Files of the folder {@link pluginFolder}. Default: the folder does not exist. */
  readonly pluginFiles?: readonly ConfigFile[];
}

/** A valid configuration. */
export interface NetworkConfig {
  readonly file: string;
  readonly text: string;
  /** `list`: an object with `plugins`. `single`: a plugin without a list; chaining wraps the plugin into a list. */
  readonly form: "list" | "single";
  /** Empty: none. */
  readonly name: string;
  /** The version in the runtime's calls of the plugins. Undefined: 0.1.0. */
  readonly version: string | undefined;
  /** The plugins in the file itself, in the order of calls. */
  readonly plugins: readonly NetworkJson[];
  /** Types of the plugins in the file. */
  readonly types: readonly string[];
  /** Types of the plugins in separate files. The runtime calls these plugins last. */
  readonly furtherTypes: readonly string[];
}

/** A configuration, or why the runtime passes over the file. */
export type ReadConfig = NetworkConfig | { readonly file: string; readonly problem: string };

/**
 * The configuration that the runtime takes, and the other files, each with the reason why the runtime passes over the
 * file.
 */
export interface Choice {
  readonly primary: NetworkConfig | undefined;
  readonly passedOver: readonly { readonly file: string; readonly problem: string }[];
}

/** A field of a plugin. Null is the same as an absent field. */
const text = z.string({ error: "a text" }).nullish();
const truth = z.boolean({ error: "true or false" }).nullish();
const listOf = (element: z.ZodType) => z.array(element, { error: "an array" }).nullish();
const object = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape, { error: "an object" });
const mapOf = (element: z.ZodType) => z.record(z.string(), element, { error: "an object" }).nullish();

/** A plugin's configuration (`PluginConf` of libcni). */
const pluginConf = object({
  cniVersion: text,
  name: text,
  type: z.string({ error: "the name of a plugin" }).min(1, { error: "the name of a plugin" }),
  capabilities: mapOf(truth),
  ipam: object({ type: text }).nullish(),
  dns: object({ nameservers: listOf(text), domain: text, search: listOf(text), options: listOf(text) }).nullish(),
  prevResult: mapOf(z.unknown()),
  "cni.dev/valid-attachments": listOf(object({ containerID: text, ifname: text }).nullish()),
});

/** A flag of a list: libcni takes texts too. */
const flag = z.union([z.boolean(), z.string().regex(/^(true|false)$/i)], { error: "true or false" }).optional();

const version = z.string({ error: "a version" }).refine((found) => parseVersion(found) !== undefined, {
  error: "a version, such as 1.0.0",
});

/** A list (`NetworkConfigList` of libcni). Unlike a plugin's fields, no field of a list may be null. */
const networkList = z.object({
  name: z.string({ error: "a text" }),
  cniVersion: z.string({ error: "a version" }).optional(),
  cniVersions: z.array(version, { error: "an array of versions" }).optional(),
  disableCheck: flag,
  disableGC: flag,
  loadOnlyInlinedPlugins: flag,
  plugins: z.array(pluginConf, { error: "an array of plugins" })
    .min(1, { error: "at least one plugin" }).optional(),
}, { error: "an object" }).check((check) => {
  const { cniVersion, cniVersions, loadOnlyInlinedPlugins, plugins } = check.value;
  if (cniVersions !== undefined && cniVersion !== undefined && parseVersion(cniVersion) === undefined) {
    check.issues.push({ code: "custom", path: ["cniVersion"], message: "a version, such as 1.0.0", input: cniVersion });
  }
  if (plugins === undefined && isTrue(loadOnlyInlinedPlugins)) {
    check.issues.push({ code: "custom", path: ["plugins"], message: "an array of plugins", input: undefined });
  }
});

export function readConfig(file: ConfigFile): ReadConfig {
  const { name, text } = file;
  if (text === undefined) return { file: name, problem: file.problem ?? "it cannot be read" };
  const parsed = parseJson(text);
  if ("problem" in parsed) return { file: name, problem: parsed.problem };
  return name.endsWith(".conflist") ? readList(file, text, parsed.value) : readSingle(name, text, parsed.value);
}

function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const why = text.startsWith("\ufeff")
      ? "it begins with a byte order mark"
      : (error as Error).message.replaceAll(/\s+/g, " ");
    return { problem: `it is not JSON: ${why}` };
  }
}

function readList(file: ConfigFile, text: string, value: unknown): ReadConfig {
  const result = networkList.safeParse(value, { reportInput: true });
  if (!result.success) return refused(file.name, result.error.issues);
  const { name, plugins = [] } = result.data;
  const further = isTrue(result.data.loadOnlyInlinedPlugins) ? [] : readPluginFiles(file.pluginFiles ?? []);
  if (typeof further === "string") return { file: file.name, problem: `folder ${name}: ${further}` };
  if (plugins.length + further.length === 0) {
    return { file: file.name, problem: "plugins: got none, expected an array of plugins" };
  }
  return {
    file: file.name,
    text,
    form: "list",
    name,
    version: newestVersion(result.data),
    plugins: isObject(value) && Array.isArray(value["plugins"]) ? value["plugins"] : [],
    types: plugins.map((plugin) => plugin.type),
    furtherTypes: further,
  };
}

/**
 * The types of the plugins in separate files. A text: the reason why such a file, and so the whole list, is refused.
 */
function readPluginFiles(files: readonly ConfigFile[]): string[] | string {
  const types: string[] = [];
  for (const { name, text, problem } of sorted(files.filter((file) => file.name.endsWith(".conf")))) {
    if (text === undefined) return `${name}: ${problem ?? "it cannot be read"}`;
    const parsed = parseJson(text);
    if ("problem" in parsed) return `${name}: ${parsed.problem}`;
    const result = pluginConf.safeParse(parsed.value, { reportInput: true });
    if (!result.success) return `${name}: ${issueLines(result.error.issues).join("; ")}`;
    types.push(result.data.type);
  }
  return types;
}

function readSingle(file: string, text: string, value: unknown): ReadConfig {
  const result = pluginConf.safeParse(value, { reportInput: true });
  if (!result.success) {
    const isList = isObject(value) && "plugins" in value && !("type" in value);
    return refused(file, result.error.issues, isList ? "; a list must be in a file that ends in .conflist" : "");
  }
  const { name, cniVersion, type } = result.data;
  return {
    file,
    text,
    form: "single",
    name: name ?? "",
    version: cniVersion || undefined,
    plugins: isObject(value) ? [value] : [],
    types: [type],
    furtherTypes: [],
  };
}

function refused(file: string, issues: Parameters<typeof issueLines>[0], hint = ""): ReadConfig {
  return { file, problem: issueLines(issues).join("; ") + hint };
}

/**
 * The folder of a list's plugins in separate files, below the folder of configurations. Undefined: the file has no such
 * folder.
 */
export function pluginFolder({ name, text }: ConfigFile): string | undefined {
  if (!name.endsWith(".conflist") || text === undefined) return undefined;
  const parsed = parseJson(text);
  if ("problem" in parsed || !isObject(parsed.value)) return undefined;
  const { name: network, loadOnlyInlinedPlugins } = parsed.value;
  return typeof network === "string" && !isTrue(loadOnlyInlinedPlugins) ? network : undefined;
}

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && value.toLowerCase() === "true");
}

/** Newest protocol version of libcni 1.3. */
const NEWEST = [1, 1, 0];

/** The version in libcni's calls of a list's plugins. */
function newestVersion({ cniVersion, cniVersions }: z.infer<typeof networkList>): string | undefined {
  const named = [...(cniVersions ?? []), ...(cniVersion ? [cniVersion] : [])];
  if (cniVersions === undefined) return cniVersion || undefined;
  const known = named.filter((found) => compareVersions(parseVersion(found)!, NEWEST) <= 0);
  const [first, ...more] = known;
  if (first === undefined) return cniVersion || undefined;
  const isNewer = (a: string, b: string) => compareVersions(parseVersion(a)!, parseVersion(b)!) > 0;
  return more.reduce((newest, found) => isNewer(found, newest) ? found : newest, first) || undefined;
}

/** Major, minor and micro. Undefined: libcni refuses the text. The empty text is 0.1.0. */
function parseVersion(found: string): number[] | undefined {
  if (found === "") return [0, 1, 0];
  const parts = found.split(".");
  if (parts.length > 3 || !parts.every((part) => /^[+-]?\d{1,18}$/.test(part))) return undefined;
  return [0, 1, 2].map((i) => Number(parts[i] ?? 0));
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (const [i, part] of a.entries()) if (part !== b[i]) return part - b[i]!;
  return 0;
}

/** The files that count, in the runtime's order: by the bytes of their names. */
export function inOrder(files: readonly ConfigFile[]): ConfigFile[] {
  return sorted(files.filter((file) => isConfigName(file.name)));
}

function sorted(files: readonly ConfigFile[]): ConfigFile[] {
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The runtime's choice: the first valid file. */
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
  return config.types.flatMap((type, at) => (type === PLUGIN ? [at] : []));
}
