/**
 * Mesh configuration and mesh networks from files: read at start, watched, the last good version kept.
 *
 * A file that is absent at the start means the defaults. One that is removed or emptied later does not:
 * a script that copies it anew must not reset a whole mesh to the defaults for a moment. Its settings stay in force, with
 * a finding until it is back.
 *
 * Permissions: read of the two files and their folders.
 *
 * @module
 */
import { fieldFinding, type Finding, findingIdentity } from "../config/finding/finding.ts";
import { type FileText, type WatchedFile, watchFile } from "../kernel/files/watch_file.ts";
import { meshPlace, type ParsedMeshText, parseMeshConfig, parseMeshNetworks } from "../config/mesh/parse.ts";
import { defaultMeshConfig } from "../config/mesh/merge.ts";
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { meshFieldsWithoutEffect } from "../kernel/not_built/catalogue.ts";
import { meshFileFault, missingMeshFile, StartError, type StartFault } from "./start_error.ts";

/** Which files, and what their absence means. */
export interface MeshSourceOptions {
  /** `--meshConfig`. */
  readonly meshFile: string;
  /** `--networksConfig`. */
  readonly networksFile: string;
  /** Files that a user named: one that is absent at the start is an error. Default: none, absent ones mean the defaults. */
  readonly mustExist?: readonly MeshFileOption[];
  /** Namespace of the control plane, for defaults. */
  readonly systemNamespace: string;
  /** Name of the server's cluster, the only registry that the networks file may name; absent: not known. */
  readonly clusterId?: string;
}

/** The options that name the two files. */
export type MeshFileOption = "meshConfig" | "networksConfig";

/** The settings in force. */
export interface MeshState {
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
}

/** The two files, watched. */
export interface MeshSource {
  readonly state: MeshState;
  /** Whether the mesh file names the root namespace. */
  readonly namesRootNamespace: boolean;
  /** Sets the root namespace that holds where the mesh file names none; until then it is the control plane's. */
  useRootNamespace(namespace: string): void;
  /** The present findings about the files. */
  findings(): readonly Finding[];
  /** Has a listener called after each change of the settings in force. */
  onChange(listener: (state: MeshState) => void): void;
  stop(): Promise<void>;
}

/** Says "no file" on a command line; Deno reads it only with all permissions, and there is nothing in it to read. */
const NO_FILE = "/dev/null";

/** One of the two files. */
interface MeshFile<T> {
  readonly option: MeshFileOption;
  readonly kind: "MeshConfig" | "MeshNetworks";
  readonly file: string;
  readonly parse: (text: string) => ParsedMeshText<T>;
  readonly mustExist: boolean;
  /** Fields that are written and have no effect. */
  readonly inert?: (value: T) => readonly string[];
}

/**
 * Reads both files; a file that is absent and need not exist gives the defaults, as `/dev/null` and no name do.
 *
 * @throws {StartError} naming every problem when a file that exists has errors at the start.
 */
export async function startMeshSource(options: MeshSourceOptions, kernel: Kernel): Promise<MeshSource> {
  const { meshFile, networksFile, systemNamespace, mustExist = [] } = options;
  const listeners: ((state: MeshState) => void)[] = [];
  let state: MeshState | undefined;
  let namesRootNamespace = false;
  let rootNamespace = systemNamespace;
  const publish = () => {
    const { value: mesh } = meshPart;
    const { value: networks } = networksPart;
    if (!mesh || !networks || (state?.mesh === mesh && state.networks === networks)) return;
    state = { mesh, networks };
    for (const listener of listeners) listener(state);
  };
  const meshPart = new WatchedPart<MeshConfig>({
    option: "meshConfig",
    kind: "MeshConfig",
    file: meshFile,
    mustExist: mustExist.includes("meshConfig"),
    parse: (text) => {
      const parsed = parseMeshConfig(text, { systemNamespace, rootNamespace, source: meshFile });
      if (parsed.value !== undefined) namesRootNamespace = parsed.namesRootNamespace;
      return parsed;
    },
    inert: (mesh) => meshFieldsNotBuilt(mesh, defaultMeshConfig({ systemNamespace })),
  }, kernel);
  const networksPart = new WatchedPart<MeshNetworks>({
    option: "networksConfig",
    kind: "MeshNetworks",
    file: networksFile,
    mustExist: mustExist.includes("networksConfig"),
    parse: (text) => parseMeshNetworks(text, networksFile, options.clusterId),
  }, kernel);
  const stop = async () => {
    await meshPart.stop();
    await networksPart.stop();
  };
  // Both are read even if the first is refused, so that the findings of both are reported at once.
  const starts = await Promise.allSettled([meshPart.start(publish), networksPart.start(publish)]);
  const failed = starts.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  if (!state) {
    await stop();
    throw new StartError([...meshPart.faults(), ...networksPart.faults()]);
  }
  const started: MeshState = state;
  return {
    get state() {
      return state ?? started;
    },
    get namesRootNamespace() {
      return namesRootNamespace;
    },
    useRootNamespace: (namespace) => {
      if (namespace === rootNamespace) return;
      rootNamespace = namespace;
      meshPart.parseAgain();
      publish();
    },
    findings: () => [...meshPart.findings, ...networksPart.findings],
    onChange: (listener) => void listeners.push(listener),
    stop,
  };
}

/** Fields that differ from the defaults and have no effect yet, sorted. */
export function meshFieldsNotBuilt(mesh: MeshConfig, defaults: MeshConfig): string[] {
  const texts = (config: MeshConfig) => new Map(Object.entries(config).map(([k, v]) => [k, JSON.stringify(v)]));
  const [given, usual] = [texts(mesh), texts(defaults)];
  return meshFieldsWithoutEffect().filter((field) => given.get(field) !== usual.get(field));
}

/** A file, its settings and its findings. */
class WatchedPart<T> {
  /** The settings in force; undefined until there is a text without errors. */
  value: T | undefined;
  findings: readonly Finding[] = [];
  readonly #part: MeshFile<T>;
  readonly #kernel: Kernel;
  /** The text of the value in force; blank: the defaults. */
  #text = "";
  #watched: WatchedFile | undefined;
  /** Why it cannot be read at the start, apart from what it says. */
  #unusable: StartFault | undefined;

  constructor(part: MeshFile<T>, kernel: Kernel) {
    this.#part = part;
    this.#kernel = kernel;
  }

  /** Reads the file and goes on watching it; `changed` is called after each reading, the first before this resolves. */
  async start(changed: () => void): Promise<void> {
    const { option, file } = this.#part;
    const take = (text: FileText) => {
      this.#take(text);
      changed();
    };
    if (file === NO_FILE || file === "") return take("");
    try {
      this.#watched = await watchFile(file, take);
    } catch (error) {
      const fault = meshFileFault(option, file, error);
      if (fault === undefined) throw error;
      this.#unusable = fault;
    }
  }

  async stop(): Promise<void> {
    await this.#watched?.stop();
  }

  /** Reads the text in force again, because defaults changed that it lies over. */
  parseAgain(): void {
    this.value = this.#part.parse(this.#text).value ?? this.value;
  }

  /** Its errors, for a start that they prevent. */
  faults(): StartFault[] {
    const { option } = this.#part;
    if (this.#unusable !== undefined) return [this.#unusable];
    const { file } = this.#part;
    return this.findings.filter(({ severity }) => severity === "error").map(({ message, place: { line } }) => ({
      option,
      text: `${file}${line > 0 ? `:${line}` : ""}: ${message}`,
    }));
  }

  #take(text: FileText): void {
    const lost = this.#lost(text);
    if (lost !== undefined) return this.#report([lost]);
    const said = typeof text === "string" ? text : "";
    if (text === undefined && this.value === undefined) {
      if (this.#part.mustExist) {
        this.#unusable = missingMeshFile(this.#part.option, this.#part.file);
        return;
      }
      this.#kernel.log.scope("default").info("no such file; the defaults hold", { file: this.#part.file });
    }
    const parsed = this.#part.parse(said);
    this.#report(parsed.findings);
    // The same text again, after a time without: nothing is to be translated anew.
    if (parsed.value === undefined || (this.value !== undefined && said === this.#text)) return;
    this.value = parsed.value;
    this.#text = said;
    const fields = this.#part.inert?.(parsed.value) ?? [];
    if (fields.length === 0) return;
    this.#kernel.log.scope("default").warn("fields without effect in this version", { file: this.#part.file, fields });
  }

  /** Why a file without text is no configuration now; undefined where it is one, or the defaults hold anyway. */
  #lost(text: FileText): Finding | undefined {
    if (typeof text === "object") {
      return this.#loss(`the file cannot be read (${text.unreadable})`, "a file that can be read");
    }
    if (text !== undefined && text.trim() !== "") return undefined;
    if (this.value === undefined || this.#text.trim() === "") return undefined;
    return this.#loss(
      text === undefined ? "the file is gone" : "the file is empty",
      "its earlier content, or {} for the defaults",
    );
  }

  #loss(what: string, expected: string): Finding {
    const { kind, file } = this.#part;
    const kept = this.value === undefined ? "" : "; its last settings stay in force";
    const found = fieldFinding("lost-file", "error", { ...meshPlace(kind, file), field: "file" }, undefined, expected);
    return { ...found, message: `${what}${kept}, expected ${expected}` };
  }

  /** Logs new and resolved findings, and keeps the present ones. */
  #report(findings: readonly Finding[]): void {
    const { kind, file } = this.#part;
    const log = this.#kernel.log.scope("default");
    const before = new Set(this.findings.map(findingIdentity));
    const now = new Set(findings.map(findingIdentity));
    for (const found of findings.filter((one) => !before.has(findingIdentity(one)))) {
      const { severity, message, value, expected, code, place: { line, field } } = found;
      const fields = { file, line, field, value, expected, code };
      if (severity === "error") {
        this.#kernel.metrics.counter("pilot_total_rejected_configs").inc({ type: kind, name: file });
        log.error(`mesh configuration refused: ${message}`, fields);
      } else log.warn(message, fields);
    }
    for (const { place: { line, field } } of this.findings.filter((one) => !now.has(findingIdentity(one)))) {
      log.info("a finding is gone", { file, line, field });
    }
    this.findings = findings;
  }
}
