/**
 * The reader of the facts and settings behind a served Ingress.
 *
 * @module
 */
import type { Fact } from "../config/facts/types.ts";
import type { MeshConfig } from "../config/mesh/types.ts";

/** Kinds of the facts. */
export type IngressInput = "Ingress" | "IngressClass" | "Service";

/**
 * Reads facts and settings for an Ingress. Derivations and the analysis have their own readers, and these readers note
 * the reads.
 */
export interface IngressReader {
  /** A fact. The namespace of an IngressClass is empty. */
  fact<K extends IngressInput>(kind: K, namespace: string, name: string): Fact<K> | undefined;
  /** All facts of a kind. */
  facts<K extends IngressInput>(kind: K): readonly Fact<K>[];
  /** A field of the mesh configuration. */
  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F];
}

/** Written content that cannot be served as written. */
export interface IngressMistake {
  /** Path from the object: `spec.rules[0].http.paths[1].path`. */
  readonly field: string;
  /** Absent: nothing is written. */
  readonly value?: unknown;
  readonly expected: string;
  /** A path without a usable backend is answered with 503; everything else is left out. */
  readonly becomes: "unavailable" | "left out";
}

/** Takes mistakes. */
export type ReportIngressMistake = (mistake: IngressMistake) => void;
