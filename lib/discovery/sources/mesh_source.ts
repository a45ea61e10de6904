/**
 * Mesh configuration and mesh networks from files, or from config maps of an orchestrator. They are read at start and
 * watched, and the last good version is kept.
 *
 * A file that exists at the start has precedence over the config map. Settings of a shared config map lie beneath both.
 *
 * A file that is absent at the start means the defaults. A file that is removed or emptied later does not mean the
 * defaults: a script that copies the file anew must not reset a whole mesh for a moment. The settings of the file stay
 * in force, with a finding, until the file is back.
 *
 * Permissions: read of the two files and their folders.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import { defaultMeshConfig } from "../../config/mesh/merge.ts";
import { parseMeshConfig, parseMeshNetworks } from "../../config/mesh/parse.ts";
import type { MeshConfig, MeshNetworks } from "../../config/mesh/types.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { meshFieldsWithoutEffect } from "../../kernel/not_built/catalogue.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { WatchedPart } from "./mesh_part.ts";
import { insteadOf, type WatchedMeshTexts, type WatchedText } from "./mesh_text.ts";
import { meshMaps } from "./mesh_maps.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { SharedMesh } from "./shared_mesh.ts";
import { type MeshFileOption, StartError } from "../settings/start_error.ts";

/** The files, and the meaning of an absent file. */
export interface MeshSourceOptions {
  /** `--meshConfig`. */
  readonly meshFile: string;
  /** `--networksConfig`. */
  readonly networksFile: string;
  /**
   * Files that a user named. If such a file is absent at the start, the start fails. Default: no file; absent files
   * mean the defaults.
   */
  readonly mustExist?: readonly MeshFileOption[];
  /** Namespace of the control plane, for defaults. */
  readonly systemNamespace: string;
  /** Name of the server's cluster: the networks file may name no other registry. Absent: the name is not known. */
  readonly clusterId?: string;
  /** Looks up variables that headers of providers name; absent: the variables are not known. */
  readonly variable?: ((name: string) => string | undefined) | undefined;
  /** Texts in place of files that are absent at the start. Default: no texts. */
  readonly texts?: WatchedMeshTexts;
}

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
  /** Whether there is a text of the mesh configuration: in a file or a config map. */
  readonly isWritten: boolean;
  /** Sets the root namespace for a mesh file without a root namespace. The default is the control plane's namespace. */
  useRootNamespace(namespace: string): void;
  /** The present findings about the files. */
  findings(): readonly Finding[];
  /** Calls a listener after each change of the settings in force. */
  onChange(listener: (state: MeshState) => void): void;
  stop(): Promise<void>;
}

/**
 * Reads both files. An absent file that need not exist gives the defaults; so do `/dev/null` and an empty name.
 *
 * @throws {StartError} naming every problem when an existing file has errors at the start.
 */
export async function startMeshSource(
  options: MeshSourceOptions,
  kernel: Pick<Kernel, "log" | "metrics">,
): Promise<MeshSource> {
  const listeners: ((state: MeshState) => void)[] = [];
  let state: MeshState | undefined;
  const settings = { namesRootNamespace: false, rootNamespace: options.systemNamespace };
  const { shared, meshPart, networksPart } = await meshParts(options, settings, kernel);
  const publish = () => {
    const { value: mesh } = meshPart;
    const { value: networks } = networksPart;
    if (!mesh || !networks || (state?.mesh === mesh && state.networks === networks)) return;
    state = { mesh, networks };
    for (const listener of listeners) listener(state);
  };
  const stop = async () => {
    await shared.stop();
    await meshPart.stop();
    await networksPart.stop();
  };
  await shared.start(() => {
    meshPart.parseAgain();
    publish();
  });
  // Both files are read even if the first file is refused, so that the findings of both are reported at once.
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
      return settings.namesRootNamespace;
    },
    get isWritten() {
      return meshPart.isWritten;
    },
    useRootNamespace: (namespace) => {
      if (namespace === settings.rootNamespace) return;
      settings.rootNamespace = namespace;
      meshPart.parseAgain();
      publish();
    },
    findings: () => [...shared.findings, ...meshPart.findings, ...networksPart.findings],
    onChange: (listener) => void listeners.push(listener),
    stop,
  };
}

/** The parts of a source. `settings` notes whether the parsed text names a root namespace. */
async function meshParts(
  options: MeshSourceOptions,
  settings: { namesRootNamespace: boolean; readonly rootNamespace: string },
  kernel: Pick<Kernel, "log" | "metrics">,
) {
  const { systemNamespace, mustExist = [], texts } = options;
  const partOf = async (option: MeshFileOption, file: string, given: WatchedText | undefined) => {
    const text = await insteadOf(file, given, mustExist.includes(option));
    return { option, file: text?.name ?? file, text, mustExist: mustExist.includes(option) };
  };
  const parse = (text: string, source: string, base?: MeshConfig) =>
    parseMeshConfig(text, {
      ...{ systemNamespace, rootNamespace: settings.rootNamespace, source, variable: options.variable },
      ...(base === undefined ? {} : { base }),
    });
  const shared = new SharedMesh(texts?.shared, (text) => parse(text, texts?.shared?.name ?? ""), kernel);
  const mesh = await partOf("meshConfig", options.meshFile, texts?.mesh);
  const meshPart = new WatchedPart<MeshConfig>({
    ...mesh,
    kind: "MeshConfig",
    parse: (text) => {
      const under = shared.parsed();
      const parsed = parse(text, mesh.file, under?.value);
      if (parsed.value !== undefined) {
        settings.namesRootNamespace = parsed.namesRootNamespace || (under?.namesRootNamespace ?? false);
      }
      return parsed;
    },
    inert: (config) => meshFieldsNotBuilt(config, defaultMeshConfig({ systemNamespace })),
  }, kernel);
  const networks = await partOf("networksConfig", options.networksFile, texts?.networks);
  const networksPart = new WatchedPart<MeshNetworks>({
    ...networks,
    kind: "MeshNetworks",
    parse: (text) => parseMeshNetworks(text, networks.file, options.clusterId),
  }, kernel);
  return { shared, meshPart, networksPart };
}

/** Fields and nested fields that differ from the defaults and have no effect yet, sorted. */
export function meshFieldsNotBuilt(mesh: MeshConfig, defaults: MeshConfig): string[] {
  const textOf = (config: MeshConfig, field: string) =>
    JSON.stringify(
      field.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config),
    );
  return meshFieldsWithoutEffect().filter((field) => textOf(mesh, field) !== textOf(defaults, field));
}

/** Options of a server about the place of its mesh configuration. */
export interface ServerMeshOptions {
  readonly meshConfig: string;
  readonly networksConfig: string;
  /** The files that must exist at the start. Default: neither; an absent file means the defaults. */
  readonly mustExist?: readonly MeshFileOption[];
  readonly clusterId: string;
  /** The server's own namespace. */
  readonly systemNamespace: string;
  /**
   * Looks up environment variables of this process that headers of providers name (`envName`). Default: no variables.
   */
  readonly variable?: (name: string) => string | undefined;
}

/**
 * Mesh configuration and networks of a server, from files or config maps.
 *
 * @param orchestrator Undefined: there are no config maps.
 * @throws {StartError} See {@linkcode startMeshSource}.
 */
export function startServerMesh(
  options: ServerMeshOptions,
  settings: Pick<DiscoverySettings, "REVISION" | "SHARED_MESH_CONFIG">,
  orchestrator: ApiClient | undefined,
  kernel: Pick<Kernel, "log" | "metrics" | "stopper">,
): Promise<MeshSource> {
  const { systemNamespace } = options;
  const maps = { namespace: systemNamespace, revision: settings.REVISION, shared: settings.SHARED_MESH_CONFIG };
  return startMeshSource({
    meshFile: options.meshConfig,
    networksFile: options.networksConfig,
    mustExist: options.mustExist ?? [],
    systemNamespace,
    variable: options.variable,
    // With an orchestrator remote clusters may have registries of other names.
    ...(orchestrator === undefined
      ? { clusterId: options.clusterId }
      : { texts: meshMaps(orchestrator, maps, kernel) }),
  }, kernel);
}
