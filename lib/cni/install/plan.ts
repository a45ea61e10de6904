/**
 * Plans the changes in the folder of network configurations as steps. The plan is pure, so that tests can try every
 * order of crashes. If the runtime found a working configuration before, the runtime finds a working configuration
 * after each step.
 *
 * @module
 */
import { chain, ChainError, entryOf, isChained, MADE_OF, sameJson, unchain, WRAPPED } from "../config/chain.ts";
import { standaloneText } from "../config/entry.ts";
import {
  choosePrimary,
  type ConfigFile,
  inOrder,
  type NetworkConfig,
  ownEntries,
  readConfig,
} from "../config/libcni.ts";
import type { NetworkJson } from "../config/network.ts";
import type { PluginPlacement } from "./record.ts";

/** A change of a file. */
export type InstallStep =
  /**
   * Writes a file. Mode and owner are copied from `like`, if `like` exists. `back`: the file existed before the
   * wrapping. If the file was a link, the link is restored.
   */
  | { readonly do: "write"; readonly file: string; readonly text: string; readonly like: string; readonly back?: true }
  /** Removes the file. `wrapped`: the file will come back. If the file is a link, the link is kept. */
  | { readonly do: "remove"; readonly file: string; readonly wrapped?: true };

/** How the plugin is to be called. */
export interface DesiredConfig {
  readonly placement: PluginPlacement;
  /** Name of the configuration; undefined: the runtime's choice, or a name of our own. */
  readonly confName: string | undefined;
  /** Name of our own chained configuration, with placement `owned`. */
  readonly ownedName: string;
  readonly entry: NetworkJson;
}

/** The steps, and the state after the steps. */
export interface ConfigPlan {
  readonly steps: readonly InstallStep[];
  /** Configuration that calls the plugin. Undefined: none, see `waiting`. */
  readonly config: string | undefined;
  /** Why the plugin is not called, for people. */
  readonly waiting: string | undefined;
  /** Remarks for people that are not a reason to wait. */
  readonly remarks: readonly string[];
}

/**
 * Default name of a standalone configuration. It sorts after other names, because the plugin is not a primary network.
 */
export const STANDALONE_NAME = "YYY-mesh-cni.conf";

/** The plan of an installation for these files. */
export function planConfig(files: readonly ConfigFile[], desired: DesiredConfig): ConfigPlan {
  switch (desired.placement) {
    case "standalone":
      return planStandalone(files, desired);
    case "owned":
      return planOwned(files, desired);
    case "chained":
      return planChained(files, desired);
  }
}

function planStandalone(files: readonly ConfigFile[], desired: DesiredConfig): ConfigPlan {
  const file = desired.confName ?? STANDALONE_NAME;
  const there = files.find(({ name }) => name === file);
  const read = there && readConfig(there);
  const text = standaloneText(desired.entry, file);
  const same = read !== undefined && !("problem" in read) && sameJson(JSON.parse(read.text), JSON.parse(text));
  const write: InstallStep[] = same ? [] : [{ do: "write", file, text, like: file }];
  return done(file, [...write, ...clearing(files, file)]);
}

function planChained(files: readonly ConfigFile[], desired: DesiredConfig): ConfigPlan {
  const others = files.filter((file) => !isOurFile(file));
  const found = findPrimary(others, desired.confName);
  if (found.primary === undefined) return waits(found.why ?? "no valid configuration");
  const { primary } = found;
  if (isChained(primary, desired.entry)) return done(primary.file, clearing(files, primary.file), found.remarks);
  try {
    const chained = chain(primary, desired.entry);
    const write: InstallStep = { do: "write", file: chained.name, text: chained.text, like: primary.file };
    if (chained.name === primary.file) {
      return done(primary.file, [write, ...clearing(files, primary.file)], found.remarks);
    }
    const inTheWay = files.find(({ name }) => name === chained.name);
    if (inTheWay !== undefined && wrappedFrom(inTheWay) !== primary.file) {
      return waits(
        `${primary.file} cannot become the list ${chained.name}: there is another file of that name; remove one of them, or set MESH_OWNED_CNI_CONFIG=true`,
      );
    }
    const remove: InstallStep = { do: "remove", file: primary.file, wrapped: true };
    return done(chained.name, [write, remove, ...clearing(files, chained.name)], found.remarks);
  } catch (error) {
    if (error instanceof ChainError) return waits(error.message);
    throw error;
  }
}

function planOwned(files: readonly ConfigFile[], desired: DesiredConfig): ConfigPlan {
  const own = desired.ownedName;
  if (!own.endsWith(".conflist")) {
    return waits(`name of our own configuration: got ${own}, expected it to end in .conflist`);
  }
  const others = files.filter((file) => !isOurFile(file) && file.name !== own);
  const found = findPrimary(others, desired.confName);
  const there = files.find(({ name }) => name === own);
  if (found.primary === undefined) {
    // Our configuration stays. Without it the runtime would find a new primary without the plugin before the installer
    // hears of the change.
    return waits(found.why ?? "no valid configuration", there === undefined ? undefined : own);
  }
  // The primary without our entry, which an installation with other options left.
  const plain = ownEntries(found.primary).length > 0 ? unchain(found.primary) : undefined;
  const base = plain && readConfig(plain);
  const primary = base === undefined || "problem" in base ? found.primary : base;
  if (!(own < primary.file)) {
    return waits(`name of our own configuration: got ${own}, expected a name that sorts before ${primary.file}`);
  }
  try {
    const { text } = chain(primary, { ...desired.entry, [MADE_OF]: primary.file });
    const write: InstallStep[] = there?.text === text ? [] : [{ do: "write", file: own, text, like: primary.file }];
    return done(own, [...write, ...clearing(files, own)], found.remarks);
  } catch (error) {
    if (error instanceof ChainError) return waits(error.message, there === undefined ? undefined : own);
    throw error;
  }
}

/**
 * Steps that remove our entry from every file except a given file. Other options or other versions left such entries.
 */
function clearing(files: readonly ConfigFile[], except: string): InstallStep[] {
  return inOrder(files).filter((file) => file.name !== except).flatMap((file) => {
    const read = readConfig(file);
    if ("problem" in read || ownEntries(read).length === 0) return [];
    return removal(read, files);
  });
}

/** The plan of an uninstallation for these files. */
export function planRemoval(files: readonly ConfigFile[]): InstallStep[] {
  return clearing(files, "");
}

function removal(config: NetworkConfig, files: readonly ConfigFile[]): InstallStep[] {
  const before = isOurs(config) ? undefined : unchain(config);
  // A single configuration that was wrapped, and exists again, was rewritten by its owner.
  const back = before !== undefined && before.name !== config.file && files.some(({ name }) => name === before.name);
  if (before === undefined || back) return [{ do: "remove", file: config.file }];
  const write = { do: "write", file: before.name, text: before.text, like: config.file } as const;
  return before.name === config.file ? [write] : [{ ...write, back: true }, { do: "remove", file: config.file }];
}

/** True for a file that exists only for the plugin. */
function isOurFile(file: ConfigFile): boolean {
  const read = readConfig(file);
  return !("problem" in read) && isOurs(read);
}

function isOurs(config: NetworkConfig): boolean {
  const own = ownEntries(config).length;
  return own > 0 && (own === config.plugins.length || entryOf(config)?.[MADE_OF] !== undefined);
}

function wrappedFrom(file: ConfigFile): unknown {
  const read = readConfig(file);
  return "problem" in read ? undefined : entryOf(read)?.[WRAPPED];
}

interface FoundFile {
  readonly primary?: NetworkConfig;
  readonly why?: string;
  readonly remarks: readonly string[];
}

function findPrimary(files: readonly ConfigFile[], confName: string | undefined): FoundFile {
  const choice = choosePrimary(files);
  const remarks = choice.passedOver.map(({ file, problem }) => `${file} is passed over: ${problem}`);
  if (choice.primary !== undefined) remarks.push(...furtherRemarks(choice.primary));
  if (confName === undefined) {
    return choice.primary === undefined
      ? { why: ["no valid network configuration is there yet", ...remarks].join("; "), remarks }
      : { primary: choice.primary, remarks };
  }
  const named = [confName, ...otherEndings(confName)].map((name) => files.find((file) => file.name === name));
  const file = named.find((found) => found !== undefined);
  if (file === undefined) return { why: `the network configuration ${confName} is not there yet`, remarks };
  const read = readConfig(file);
  if ("problem" in read) return { why: `${read.file}: ${read.problem}`, remarks };
  if (choice.primary?.file === read.file) return { primary: read, remarks };
  return { primary: read, remarks: [...remarks, `the runtime takes ${choice.primary?.file}, not ${read.file}`] };
}

/** A list may have plugins in separate files. The runtime calls these plugins after the plugins in the list. */
function furtherRemarks({ file, name, types, furtherTypes }: NetworkConfig): string[] {
  if (types.length === 0 || furtherTypes.length === 0) return [];
  return [`${file}: the plugins in the folder ${name} are called after ours: ${furtherTypes.join(", ")}`];
}

/** Alternative names of a missing configuration. */
function otherEndings(name: string): string[] {
  const base = name.replace(/\.(conflist|conf|json)$/, "");
  return [".conflist", ".conf", ".json"].map((ending) => base + ending).filter((other) => other !== name);
}

function done(config: string, steps: readonly InstallStep[], remarks: readonly string[] = []): ConfigPlan {
  return { steps, config, waiting: undefined, remarks };
}

function waits(waiting: string, config?: string): ConfigPlan {
  return { steps: [], config, waiting, remarks: [] };
}
