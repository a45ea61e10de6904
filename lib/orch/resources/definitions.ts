/**
 * The orchestrator's definitions of the kinds of the mesh, this project's (`*.mesh.io`) and Istio's (`*.istio.io`), of
 * the kinds of the Gateway API, and the version to watch.
 *
 * @module
 */
import {
  GATEWAY_API_KINDS,
  isClusterWideKind,
  isGatewayApiKind,
  type Kind,
  MESH_KINDS,
} from "../../config/kinds/kinds.ts";
import { apiGroupOfKind, pluralOfKind, spellingsOfKind, versionsOfKind } from "../../config/spelling/spelling.ts";
import type { ApiResource } from "../informer/resource.ts";

/** A definition that may exist in the orchestrator. */
export interface MeshDefinition {
  readonly kind: Kind;
  /** The kind in the definition's spelling. */
  readonly written: string;
  readonly group: string;
  readonly plural: string;
  /** Whether objects of the definition have precedence: false for Istio's groups. */
  readonly own: boolean;
}

/** The resource of definitions. Only the metadata of definitions is read. */
export const DEFINITIONS: ApiResource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** The definitions of the kinds of the mesh: for each kind this project's, then Istio's. */
export const KIND_DEFINITIONS: readonly MeshDefinition[] = MESH_KINDS.flatMap((kind) => {
  const spellings = spellingsOfKind(kind);
  const of = (written: string | undefined, domain: "mesh.io" | "istio.io"): MeshDefinition => {
    const spelled = written ?? kind;
    const group = apiGroupOfKind(kind, domain);
    return { kind, written: spelled, group, plural: pluralOfKind(spelled), own: domain === "mesh.io" };
  };
  return [of(spellings[0], "mesh.io"), of(spellings.at(-1), "istio.io")];
});

/** The definitions of the Gateway API. Their project publishes them, and this project never changes them. */
export const GATEWAY_API_DEFINITIONS: readonly MeshDefinition[] = GATEWAY_API_KINDS.map((kind) => {
  const [written = kind] = spellingsOfKind(kind);
  return { kind, written, group: apiGroupOfKind(kind), plural: pluralOfKind(written), own: true };
});

/** Name of a definition: `virtualservices.networking.mesh.io`. */
export function definitionName({ plural, group }: Pick<MeshDefinition, "plural" | "group">): string {
  return `${plural}.${group}`;
}

/** The resource of a definition in a version. */
export function kindResource({ kind, group, plural, written }: MeshDefinition, version: string): ApiResource {
  return { group, version, plural, kind: written, namespaced: !isClusterWideKind(kind) };
}

/**
 * The version to watch: the newest served version that the server reads; undefined: no served version can be read. All
 * versions of a definition give the same objects.
 *
 * @param alpha Whether alpha versions of the Gateway API are read.
 */
export function watchedVersion(kind: Kind, served: ReadonlySet<string>, alpha: boolean): string | undefined {
  return readVersions(kind, alpha).find((version) => served.has(version));
}

/** The versions of a kind that the server reads, the newest first. */
export function readVersions(kind: Kind, alpha: boolean): readonly string[] {
  const all = versionsOfKind(kind);
  return alpha || !isGatewayApiKind(kind) ? all : all.filter((version) => !version.includes("alpha"));
}
