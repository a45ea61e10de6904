/**
 * Facts about this build.
 *
 * @module
 */

/** Facts about a build; `unknown` where the build did not say. */
export interface BuildInfo {
  readonly version: string;
  /** Commit it was built from. */
  readonly revision: string;
  /** Runtime and its version, such as `deno2.8.3`. Tools made for Istio look for it under `golang_version`. */
  readonly runtime: string;
  /** `Clean` or `Modified`: whether the commit says everything. */
  readonly status: string;
  readonly tag: string;
}

/** Version of the product, as in the changelog. */
export const VERSION = "0.1.0";

/** Facts about the running build. */
export function buildInfo(): BuildInfo {
  return {
    version: VERSION,
    revision: "unknown",
    runtime: `deno${Deno.version.deno}`,
    status: "unknown",
    tag: "unknown",
  };
}
