/**
 * Keys of the dependencies of answers to analyzers, and the keys made stale by a change.
 *
 * @module
 */
import type { InvalidatedKeys } from "../../incremental/keys.ts";
import { type AffectedKeys, MESH_KEY } from "../../mesh/affected.ts";

/** Kinds of dependencies. */
export const ANALYSIS_KEY = {
  /** A single object or fact, `kind/namespace/name`. The key exists even while the object does not. */
  object: "object",
  /** All objects or facts of a kind in a namespace, `kind/namespace`. */
  list: "list",
  /** All objects or facts of a kind. */
  kind: "kind",
  /**
   * The services of a host and their visibility, the destination rules in force for the host, and its virtual services
   * on sidecars. People change all of them, and an analyzer that asks for a part mostly asks for the others.
   */
  host: "host",
  /** The endpoints of a host's services. Endpoints change without a change of configuration. */
  endpoints: "endpoints",
  /** The virtual services of a gateway, `namespace/name`. */
  gatewayRoutes: "gateway routes",
  /** A group of objects, see groups.ts. */
  group: "group",
  /** The set of fully read remote clusters. */
  remoteClusters: "remote clusters",
  /** The secrets of a name in remote clusters, of all namespaces. */
  remoteSecret: "remote secret",
  /** The gateways connected to the server. */
  connectedGateways: "connected gateways",
  /** What was found out about an object of the Gateway API, by key of the object. */
  verdict: "verdict",
  /** An instant in the future, in milliseconds since 1970. */
  instant: "instant",
} as const;

/** An object or fact that came, went or changed. */
export interface ChangedSubject {
  readonly kind: string;
  readonly key: string;
  readonly meta: { readonly namespace: string };
}

/** Adds the keys made stale by a change of an object or fact. */
export function addSubject(keys: InvalidatedKeys, { kind, key, meta }: ChangedSubject): void {
  keys.add(ANALYSIS_KEY.object, key);
  keys.add(ANALYSIS_KEY.list, `${kind}/${meta.namespace}`);
  keys.add(ANALYSIS_KEY.kind, kind);
}

/** Keys of the mesh that make the keys of a host stale. */
const OF_HOST = [MESH_KEY.service, MESH_KEY.virtualService, MESH_KEY.destinationRule];

/** Adds the keys made stale by a change of the mesh. */
export function addAffected(keys: InvalidatedKeys, { things }: AffectedKeys): void {
  for (const kind of OF_HOST) keys.addAll(things, kind, ANALYSIS_KEY.host);
  keys.addAll(things, MESH_KEY.endpoints, ANALYSIS_KEY.endpoints);
  keys.addAll(things, MESH_KEY.gatewayRoutes, ANALYSIS_KEY.gatewayRoutes);
}
