/**
 * Mesh configuration and mesh networks from files, or from config maps of an orchestrator: read at start, watched, the
 * last good version kept.
 *
 * A file that is there at the start is before the config map. Settings of a shared config map lie under both.
 *
 * A file that is absent at the start means the defaults. One that is removed or emptied later does not:
 * a script that copies it anew must not reset a whole mesh to the defaults for a moment. Its settings stay in force, with
 * a finding until it is back.
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

/** The files, and the meaning of their absence. */
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
  /** Variables that headers of providers name; absent: it is not known which there are. */
  readonly variable?: ((name: string) => string | undefined) | undefined;
  /** Texts that stand in for files that are absent at the start. Default: none. */
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
  /** Sets the root namespace that holds where the mesh file names none; until then it is the control plane's. */
  useRootNamespace(namespace: string): void;
  /** The present findings about the files. */
  findings(): readonly Finding[];
  /** Has a listener called after each change of the settings in force. */
  onChange(listener: (state: MeshState) => void): void;
  stop(): Promise<void>;
}

/**
 * Reads both files; a file that is absent and need not exist gives the defaults, as `/dev/null` and no name do.
 *
 * @throws {StartError} naming every problem when a file that exists has errors at the start.
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

/** The parts of a source; the root namespace that parsing finds is noted in `settings`. */
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

/** Fields, and fields of fields, that differ from the defaults and have no effect yet, sorted. */
export function meshFieldsNotBuilt(mesh: MeshConfig, defaults: MeshConfig): string[] {
  const textOf = (config: MeshConfig, field: string) =>
    JSON.stringify(
      field.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config),
    );
  return meshFieldsWithoutEffect().filter((field) => textOf(mesh, field) !== textOf(defaults, field));
}

/** The options of a server that say where its mesh configuration is. */
export interface ServerMeshOptions {
  readonly meshConfig: string;
  readonly networksConfig: string;
  /** Those of the two files that must exist at the start. Default: neither, an absent one means the defaults. */
  readonly mustExist?: readonly MeshFileOption[];
  readonly clusterId: string;
  /** The server's own namespace. */
  readonly systemNamespace: string;
  /** Values of variables of this process, which headers of providers name (`envName`). Default: there are none. */
  readonly variable?: (name: string) => string | undefined;
}

/**
 * Mesh configuration and networks of a server, of files or of config maps.
 *
 * @param orchestrator Undefined: there are no config maps.
 * @throws {StartError} As {@linkcode startMeshSource}.
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
