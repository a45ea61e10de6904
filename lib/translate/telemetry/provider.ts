/**
 * Extension providers by name.
 *
 * @module
 */
import type { ExtensionProvider, MeshConfig } from "../../config/mesh/types.ts";

/** A provider that cannot be used. */
export interface UnusableProvider {
  /** Follows the provider's name. */
  readonly why: string;
}

/** Whether something stands for a provider that cannot be used. */
export function isUnusable(value: object): value is UnusableProvider {
  return "why" in value;
}

/** The provider of that name, in any case of letters. */
export function extensionProvider(mesh: MeshConfig, name: string): ExtensionProvider | UnusableProvider {
  const wanted = name.toLowerCase();
  return mesh.extensionProviders?.find((one) => one.name.toLowerCase() === wanted) ??
    { why: "is not among the extensionProviders of the mesh configuration" };
}
