/**
 * The folders that a server reads: that of `--configDir`, then those of `configSources` of the mesh configuration.
 *
 * Permissions: read of the folders.
 *
 * @module
 */
import { fieldFinding, type Finding } from "../config/finding/finding.ts";
import type { FindingName } from "../config/finding/codes.ts";
import { parseSourceAddress } from "../config/mesh/config_sources.ts";
import { meshPlace } from "../config/mesh/parse.ts";
import type { ConfigSource, MeshConfig } from "../config/mesh/types.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Configuration } from "./configuration.ts";
import { findingFields } from "./finding_log.ts";
import type { MeshSource } from "./mesh_source.ts";
import { folderFault, StartError } from "./start_error.ts";

/** The message about sources that are not read. */
export interface ConfigSourcesReview {
  /** One warning for each source without effect, and one when the list has changed since the start. */
  findings(): Finding[];
}

/** Which folders, and where they are named. */
export interface ConfigSourcesOptions {
  /** `--configDir`; undefined: none. */
  readonly configDir: string | undefined;
  /** `--meshConfig`. */
  readonly meshConfig: string;
}

/**
 * Reads all folders once and goes on watching them.
 *
 * @throws {StartError} When one cannot be read.
 */
export async function startConfigSources(
  { configDir, meshConfig: meshFile }: ConfigSourcesOptions,
  mesh: MeshSource,
  configuration: Configuration,
  kernel: Kernel,
): Promise<ConfigSourcesReview> {
  const atStart = sourcesOf(mesh.state.mesh);
  const seen = new Set<string>();
  if (configDir !== undefined) await addFolder(configuration, configDir, 0, "configDir", "", seen);
  for (const [index, { address }] of atStart.entries()) {
    const parsed = parseSourceAddress(address);
    const at = `configSources[${index}].address: `;
    if (parsed.kind === "folder") await addFolder(configuration, parsed.path, index + 1, "meshConfig", at, seen);
  }
  const finding = (code: FindingName, field: string, value: unknown, expected: string): Finding =>
    fieldFinding(code, "warning", { ...meshPlace("MeshConfig", meshFile), field }, value, expected);
  const idle = atStart.flatMap(({ address }, index) => {
    if (parseSourceAddress(address).kind !== "remote") return [];
    const expected = "a folder (fs:///path): other sources are not read in this version";
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
    const real = await Deno.realPath(path);
    if (seen.has(real)) return; // Named twice: the first has precedence over itself.
    seen.add(real);
    await configuration.addFolder(path, rank);
  } catch (error) {
    const fault = folderFault(path, error);
    throw fault === undefined ? error : new StartError([{ option, text: `${at}${fault.text}` }], error);
  }
}
