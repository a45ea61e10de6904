/**
 * Extension providers by name.
 *
 * @module
 */
import { namedProvider, providerUseProblem } from "../../config/mesh/telemetry_providers.ts";
import type { ExtensionProvider, MeshConfig } from "../../config/mesh/types.ts";

/** A provider that cannot be used. */
export interface UnusableProvider {
  /** Follows the provider's name. */
  readonly why: string;
}

/** Whether a value stands for an unusable provider. */
export function isUnusable(value: object): value is UnusableProvider {
  return "why" in value;
}

/** The provider of a name, in any letter case, if the provider has the wanted settings. */
export function extensionProvider(
  mesh: MeshConfig,
  name: string,
  use: "accessLogging" | "tracing" | "metrics",
): ExtensionProvider | UnusableProvider {
  const why = providerUseProblem(mesh, name, use);
  return why === undefined ? namedProvider(mesh, name) ?? { why: "" } : { why };
}
