/**
 * Mesh configuration and mesh networks from files: read at start, watched, the last good version kept.
 *
 * Permissions: read of the two files.
 *
 * @module
 */
import type { Problem } from "../config/finding.ts";
import { type WatchedFile, watchFile } from "../config/folder/watch_file.ts";
import { type Parsed, parseMeshConfig, parseMeshNetworks } from "../config/mesh/parse.ts";
import type { MeshConfig, MeshNetworks } from "../config/mesh/types.ts";
import type { Kernel } from "../kernel/kernel.ts";

/** Which files, and what their absence means. */
export interface MeshSourceOptions {
  /** `--meshConfig`. */
  readonly meshFile: string;
  /** `--networksConfig`. */
  readonly networksFile: string;
  /** Namespace of the control plane, for defaults. */
  readonly systemNamespace: string;
}

/** What is in force. */
export interface MeshState {
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
}

/** The two files, watched. */
export interface MeshSource {
  readonly state: MeshState;
  /** What is wrong in the files now. */
  problems(): readonly Problem[];
  /** Has a listener called after each change of what is in force. */
  onChange(listener: (state: MeshState) => void): void;
  stop(): Promise<void>;
}

/** Says "no file" on a command line; Deno reads it only with all permissions, and there is nothing in it to read. */
const NO_FILE = "/dev/null";

function watch(path: string, onText: (text: string | undefined) => void): Promise<WatchedFile> {
  if (path !== NO_FILE && path !== "") return watchFile(path, onText);
  onText(undefined);
  return Promise.resolve({ stop: () => Promise.resolve() });
}

/**
 * Reads both files; a file that is absent gives the defaults, as `/dev/null` and no name do.
 *
 * @throws Error naming every problem when a file that exists has errors at the start.
 */
export async function startMeshSource(options: MeshSourceOptions, kernel: Kernel): Promise<MeshSource> {
  const log = kernel.log.scope("default");
  const { meshFile, networksFile, systemNamespace } = options;
  const problems = new Map<string, readonly Problem[]>();
  const listeners: ((state: MeshState) => void)[] = [];
  let state: MeshState | undefined;
  let mesh: MeshConfig | undefined;
  let networks: MeshNetworks | undefined;

  const take = <T>(file: string, parsed: Parsed<T>): T | undefined => {
    problems.set(file, parsed.problems);
    for (const { severity, message, field, value, expected } of parsed.problems) {
      const fields = { file, field, value, expected };
      if (severity === "error") log.error(`mesh configuration refused: ${message}`, fields);
      else log.warn(message, fields);
    }
    return parsed.value;
  };
  const publish = () => {
    if (!mesh || !networks || (state?.mesh === mesh && state.networks === networks)) return;
    state = { mesh, networks };
    for (const listener of listeners) listener(state);
  };
  const watched: WatchedFile[] = [
    await watch(meshFile, (text) => {
      mesh = take(meshFile, parseMeshConfig(text ?? "", { systemNamespace, source: meshFile })) ?? mesh;
      publish();
    }),
    await watch(networksFile, (text) => {
      networks = take(networksFile, parseMeshNetworks(text ?? "", networksFile)) ?? networks;
      publish();
    }),
  ];
  const stop = async () => {
    for (const file of watched) await file.stop();
  };
  if (!state) {
    await stop();
    const wrong = [...problems].flatMap(([file, list]) => list.map((p) => `${file}: ${p.message}`));
    throw new Error(`mesh configuration cannot be used:\n${wrong.join("\n")}`);
  }
  const started: MeshState = state;
  return {
    get state() {
      return state ?? started;
    },
    problems: () => [...problems.values()].flat(),
    onChange: (listener) => void listeners.push(listener),
    stop,
  };
}
