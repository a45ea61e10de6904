/**
 * The definitions by which an orchestrator knows the kinds of the mesh: ours (`*.mesh.io`) and those of Istio
 * (`*.istio.io`), and which version of each is watched.
 *
 * @module
 */
import { type Kind, KINDS } from "../../config/kinds/kinds.ts";
import { API_VERSIONS, groupOfKind, pluralOfKind, spellingsOfKind } from "../../config/spelling/spelling.ts";
import type { ApiResource } from "../informer/resource.ts";

/** A definition that the orchestrator may have. */
export interface MeshDefinition {
  readonly kind: Kind;
  /** The kind as it is spelled there. */
  readonly written: string;
  readonly group: string;
  readonly plural: string;
  /** Whether it is one of our groups, which have precedence. */
  readonly own: boolean;
}

/** The definitions of definitions, of which only names are of interest. */
export const DEFINITIONS: ApiResource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** Every definition that is looked for: of each kind ours, then Istio's. */
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

/** The version to watch of those that are served: the newest that is read; undefined: none is. */
export function watchedVersion(served: ReadonlySet<string>): string | undefined {
  return API_VERSIONS.find((version) => served.has(version));
}
