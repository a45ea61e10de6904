/**
 * The orchestrator's definitions of the kinds of the mesh, this project's (`*.mesh.io`) and Istio's (`*.istio.io`), and
 * the version to watch.
 *
 * @module
 */
import { type Kind, KINDS } from "../../config/kinds/kinds.ts";
import { API_VERSIONS, groupOfKind, pluralOfKind, spellingsOfKind } from "../../config/spelling/spelling.ts";
import type { ApiResource } from "../informer/resource.ts";

/** A definition that may exist in the orchestrator. */
export interface MeshDefinition {
  readonly kind: Kind;
  /** The kind in the definition's spelling. */
  readonly written: string;
  readonly group: string;
  readonly plural: string;
  /** Whether the group is this project's. This project's groups have precedence. */
  readonly own: boolean;
}

/** The resource of definitions. Only the names of definitions are read. */
export const DEFINITIONS: ApiResource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** Every known definition: for each kind this project's, then Istio's. */
export const KIND_DEFINITIONS: readonly MeshDefinition[] = KINDS.flatMap((kind) => {
  const spellings = spellingsOfKind(kind);
  const of = (written: string | undefined, domain: string): MeshDefinition => {
    const spelled = written ?? kind;
    const group = `${groupOfKind(kind)}.${domain}`;
    return { kind, written: spelled, group, plural: pluralOfKind(spelled), own: domain === "mesh.io" };
  };
  return [of(spellings[0], "mesh.io"), of(spellings.at(-1), "istio.io")];
});

/** Name of a definition: `virtualservices.networking.mesh.io`. */
export function definitionName({ plural, group }: Pick<MeshDefinition, "plural" | "group">): string {
  return `${plural}.${group}`;
}

/** The resource of a definition in a version. */
export function kindResource({ group, plural, written }: MeshDefinition, version: string): ApiResource {
  return { group, version, plural, kind: written, namespaced: true };
}

/** The version to watch: the newest served version that the server reads; undefined: no served version can be read. */
export function watchedVersion(served: ReadonlySet<string>): string | undefined {
  return API_VERSIONS.find((version) => served.has(version));
}
