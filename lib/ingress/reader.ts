/**
 * The reader of the facts and settings that serving an Ingress depends on.
 *
 * @module
 */
import type { Fact } from "../config/facts/types.ts";
import type { MeshConfig } from "../config/mesh/types.ts";

/** Kinds of facts that are read. */
export type IngressInput = "Ingress" | "IngressClass" | "Service";

/** Reads facts and settings for an Ingress. Derivations and analysis have one each, which notes its reads. */
export interface IngressReader {
  /** One fact; the namespace of an IngressClass is empty. */
  fact<K extends IngressInput>(kind: K, namespace: string, name: string): Fact<K> | undefined;
  /** All facts of a kind. */
  facts<K extends IngressInput>(kind: K): readonly Fact<K>[];
  /** A field of the mesh configuration. */
  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F];
}

/** Something written that cannot be served as it is. */
export interface IngressMistake {
  /** Path from the object: `spec.rules[0].http.paths[1].path`. */
  readonly field: string;
  /** Absent: it is missing. */
  readonly value?: unknown;
  readonly expected: string;
  /** A path whose backend is not there is answered with 503; all else is left out. */
  readonly becomes: "unavailable" | "left out";
}

/** Takes mistakes. */
export type ReportIngressMistake = (mistake: IngressMistake) => void;
