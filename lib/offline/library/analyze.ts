/**
 * All faults of configuration, for programs: the findings of the command `check`.
 *
 * Permissions: read of the paths, env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import { paced } from "../../kernel/time/paced.ts";
import { checkMesh, type CheckResult } from "../check/check.ts";
import { meshOfTexts, type MeshTexts, throwFailures } from "./texts_mesh.ts";

/** The configuration to analyze. */
export interface AnalyzeRequest extends MeshTexts {
  /**
   * Services of an orchestrator exist in addition to the services in the texts: hosts of such services count as known.
   * Default false.
   */
  readonly assumeServices?: boolean;
  /**
   * The texts have the whole mesh: a missing object is an error. Default false: a missing object may exist elsewhere.
   */
  readonly whole?: boolean;
}

/**
 * Analyzes configuration: unreadable parts, references that lead nowhere, objects that exclude each other, and settings
 * that the implied proxies would not get.
 *
 * ```ts
 * import { analyze } from "@mesh/pilot";
 *
 * const { findings } = await analyze({
 *   files: {
 *     "routes.yaml": `
 *       apiVersion: networking.mesh.io/v1
 *       kind: VirtualService
 *       metadata: { name: reviews, namespace: shop }
 *       spec:
 *         hosts: [reviews.example.com]
 *         http: [{ route: [{ destination: { host: reviews.example.com } }] }]`,
 *   },
 * });
 * const [found] = findings;
 * if (found?.code !== "MSH0101" || found.place.line !== 7) throw new Error(JSON.stringify(findings));
 * ```
 *
 * @returns The findings by file and line; empty: nothing is wrong.
 * @throws {UnreadableInput} naming every path that cannot be read.
 * @throws {RangeError} naming every problem of the mesh configuration.
 */
export async function analyze(request: AnalyzeRequest): Promise<CheckResult> {
  const { mesh, textOf } = await meshOfTexts(request);
  const result = await paced(checkMesh(mesh, {
    assumeServices: request.assumeServices ?? false,
    whole: request.whole ?? false,
    textOf,
  }));
  throwFailures(mesh);
  return result;
}
