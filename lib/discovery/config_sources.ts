/**
 * The sources of a server's configuration: first the folder of `--configDir`, then the sources of `configSources` in
 * the mesh configuration, in order. Without `--configDir` and `configSources`, the orchestrator is the source.
 *
 * Permissions: read of the folders, net (the API of the orchestrator).
 *
 * @module
 */
import { realPathOf } from "../kernel/files/regular.ts";
import { fieldFinding, type Finding } from "../finding/finding.ts";
import type { FindingName } from "../finding/codes.ts";
import { parseSourceAddress } from "../config/mesh/config_sources.ts";
import { meshPlace } from "../config/mesh/parse.ts";
import type { ConfigSource, MeshConfig } from "../config/mesh/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { ApiClient } from "../orch/client/client.ts";
import type { Configuration } from "./sources/configuration.ts";
import { findingFields } from "./sources/finding_log.ts";
import type { MeshSource } from "./sources/mesh_source.ts";
import type { OrchScope } from "./sources/orchestrator.ts";
import { sourceServer, sourceTlsProblems } from "./sources/remote_server.ts";
import {
  type GatewayApiVariables,
  gatewayApiVersions,
  sharingApi,
  type SharingApiVariables,
} from "./settings/settings.ts";
import { folderFault, StartError } from "./settings/start_error.ts";

/** The findings about sources that are not read. */
export interface ConfigSourcesReview {
  /** One warning for each source without effect, and a warning when the list has changed since the start. */
  findings(): Finding[];
}

/** The orchestrator of a server. */
export interface OrchSource {
  readonly client: ApiClient;
  /** Name of the orchestrator's cluster. */
  readonly cluster: string;
  /** The parts of the orchestrator that are read when no sources are listed. */
  readonly scope: OrchScope;
}

/** The orchestrator of a server; undefined: there is no access to an orchestrator. */
export function orchSource(
  client: ApiClient | undefined,
  { clusterId, orch }: { readonly clusterId: string; readonly orch?: OrchScope | undefined },
  settings: SharingApiVariables & GatewayApiVariables,
): OrchSource | undefined {
  if (client === undefined || orch === undefined) return undefined;
  return {
    client,
    cluster: clusterId,
    scope: {
      ...orch,
      sharing: sharingApi(settings),
      gatewayApi: gatewayApiVersions(settings),
      inferencePools: settings.ENABLE_GATEWAY_API_INFERENCE_EXTENSION,
    },
  };
}

/** The sources, and the options in which a user names sources. */
export interface ConfigSourcesOptions {
  /** `--configDir`; undefined: the flag is not set. */
  readonly configDir: string | undefined;
  /** `--meshConfig`. */
  readonly meshConfig: string;
  /** Undefined: there is no access to an orchestrator. */
  readonly source: OrchSource | undefined;
  /** How other control planes are called. */
  readonly client: RemoteClient;
}

/** How this server calls other control planes. Times are in milliseconds. */
export interface RemoteClient {
  /** The node of this server in requests to other control planes. */
  readonly node: object;
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
}

/** Precedence of a source in the list. An orchestrator takes two ranks, for the two spellings of the kinds. */
const rankOf = (index: number) => 2 * (index + 1);

/**
 * Reads all sources once, and then watches them.
 *
 * @throws {StartError} When a folder cannot be read, or when the list names an orchestrator and the server has no
 * access.
 */
export async function startConfigSources(
  { configDir, meshConfig: meshFile, source, client }: ConfigSourcesOptions,
  mesh: MeshSource,
  configuration: Configuration,
  kernel: Pick<Kernel, "log">,
): Promise<ConfigSourcesReview> {
  const atStart = sourcesOf(mesh.state.mesh);
  await addOrchestrator(configuration, source, atStart);
  const seen = new Set<string>();
  const remotes = remoteSources(atStart, client, configuration);
  if (configDir !== undefined) await addFolder(configuration, configDir, 0, "configDir", "", seen);
  for (const [index, { address }] of atStart.entries()) {
    const parsed = parseSourceAddress(address);
    const at = `configSources[${index}].address: `;
    if (parsed.kind === "folder") await addFolder(configuration, parsed.path, rankOf(index), "meshConfig", at, seen);
  }
  const finding = (code: FindingName, field: string, value: unknown, expected: string): Finding =>
    fieldFinding(code, "warning", { ...meshPlace("MeshConfig", meshFile), field }, value, expected);
  await Promise.all(remotes.map(async (add) => await add()));
  const idle = atStart.flatMap(({ address }, index) => {
    if (parseSourceAddress(address).kind !== "other orchestrator") return [];
    const expected =
      "a folder (fs:///path), the server's orchestrator (k8s://), or a control plane (xds://host:port) of another " +
      "cluster";
    return [finding("no-effect", `configSources[${index}].address`, address, expected)];
  });
  for (const one of idle) kernel.log.scope("default").warn(one.message, findingFields(one));
  const review = {
    findings: () => {
      const now = sourcesOf(mesh.state.mesh);
      if (JSON.stringify(now) === JSON.stringify(atStart)) return idle;
      const addresses = now.map(({ address }) => address);
      return [...idle, finding("needs-restart", "configSources", addresses, "the list of the start, or a restart")];
    },
  };
  mesh.onChange(() => {
    for (const one of review.findings().filter(({ name }) => name === "needs-restart")) {
      kernel.log.scope("default").warn(one.message, findingFields(one));
    }
  });
  return review;
}

/**
 * Adds the orchestrator. Its facts are always read; its kinds are read when the list names the orchestrator, or when
 * there is no list.
 */
async function addOrchestrator(
  configuration: Configuration,
  source: OrchSource | undefined,
  listed: readonly ConfigSource[],
): Promise<void> {
  const index = listed.findIndex(({ address }) => parseSourceAddress(address).kind === "orchestrator");
  if (source === undefined) {
    if (index < 0) return;
    const { address } = listed[index]!;
    const got = `configSources[${index}].address: got ${JSON.stringify(address)}`;
    const text = `${got}, expected access to an orchestrator, such as flag --orchconfig names`;
    throw new StartError([{ option: "meshConfig", text }]);
  }
  const { client, cluster, scope } = source;
  const kinds = listed.length === 0 ? scope.kinds : index >= 0;
  await configuration.addOrchestrator(client, cluster, { ...scope, kinds }, index < 0 ? 0 : rankOf(index));
}

/**
 * Functions that add the control planes of the list. Each function resolves when all objects of its control plane were
 * read.
 *
 * @throws {StartError} naming every TLS setting that cannot be used.
 */
function remoteSources(
  listed: readonly ConfigSource[],
  client: RemoteClient,
  configuration: Configuration,
): (() => Promise<void>)[] {
  const faults = listed.flatMap((source, index) =>
    sourceTlsProblems(source).map((text) =>
      ({ option: "meshConfig", text: `configSources[${index}].${text}` }) as const
    )
  );
  if (faults.length > 0) throw new StartError(faults);
  return listed.flatMap((source, index) => {
    const parsed = parseSourceAddress(source.address);
    if (parsed.kind !== "control plane") return [];
    const { address } = source;
    return [() => configuration.addRemote({ ...client, address, server: sourceServer(parsed, source) }, rankOf(index))];
  });
}

function sourcesOf(mesh: MeshConfig): readonly ConfigSource[] {
  return mesh.configSources ?? [];
}

async function addFolder(
  configuration: Configuration,
  path: string,
  rank: number,
  option: "configDir" | "meshConfig",
  at: string,
  seen: Set<string>,
): Promise<void> {
  try {
    const real = await realPathOf(path);
    if (seen.has(real)) return; // A folder that is named twice keeps its first precedence.
    seen.add(real);
    await configuration.addFolder(path, rank);
  } catch (error) {
    const fault = folderFault(path, error);
    throw fault === undefined ? error : new StartError([{ option, text: `${at}${fault.text}` }], error);
  }
}
