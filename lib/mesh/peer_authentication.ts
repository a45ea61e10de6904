/**
 * PeerAuthentication objects, and the merged policy of a workload.
 *
 *     root namespace, oldest ─┐
 *     namespace, oldest ──────┼─> mode of the workload, modes of its ports
 *     workload, oldest ───────┘
 *
 * A mode of a nearer level has precedence; UNSET is inherited. Without any object: PERMISSIVE.
 *
 * @module
 */
import type { PeerAuthenticationSpec } from "../config/kinds/peer_authentication/schema.ts";
import type { StringMap } from "../config/kinds/kinds.ts";
import type { ConfigObject } from "../config/types.ts";
import { addNamespaces, type AffectedKeys, MESH_KEY, WORKLOAD_KEY } from "./affected.ts";
import { MergedSelection } from "./selection/merged.ts";
import type { PolicyWorkload } from "./selection/remembered.ts";

export type PeerAuthentication = ConfigObject<"PeerAuthentication">;

/** A mode with nothing left to inherit. */
export type PeerTlsMode = "DISABLE" | "PERMISSIVE" | "STRICT";

/** The merged policy of a workload. */
export interface PeerTlsPolicy {
  /** Mode of ports without an own mode. */
  readonly mode: PeerTlsMode;
  /** Modes by port of the workload, not of services. */
  readonly ports: ReadonlyMap<number, PeerTlsMode>;
  /** Keys of the objects behind these modes. */
  readonly causes: readonly string[];
}

/** The policy of workloads without an object. */
const DEFAULT_PEER_TLS: PeerTlsPolicy = { mode: "PERMISSIVE", ports: new Map(), causes: [] };

/** Mode of a port of the workload. */
export function peerTlsModeOf({ mode, ports }: PeerTlsPolicy, port: number): PeerTlsMode {
  return ports.get(port) ?? mode;
}

/** The ports of a namespace's workloads without mutual TLS. */
export interface RefusedPeerTls {
  /** Whether a workload takes only plain connections on a port. */
  has(labels: StringMap, port: number): boolean;
}

/** The effect of a change of objects. */
export interface PeerTlsChange {
  /** Namespaces of workloads with a possibly changed policy. `*`: all. */
  readonly namespaces: Set<string>;
  /** Namespaces where other workloads may refuse mutual TLS now. `*`: all. */
  readonly refusing: Set<string>;
}

/** All PeerAuthentication objects of the mesh. */
export class PeerAuthenticationIndex {
  readonly kind = "PeerAuthentication";
  readonly #rootNamespace: string;
  readonly #merged: MergedSelection<"PeerAuthentication", PeerTlsPolicy>;
  /** The number of objects with DISABLE, by namespace. */
  readonly #refusing = new Map<string, number>();
  #refused = new Map<string, RefusedPeerTls>();

  constructor(rootNamespace: string) {
    this.#rootNamespace = rootNamespace;
    this.#merged = new MergedSelection(rootNamespace, {
      choose: ({ root, namespace, workload }) =>
        [root[0], namespace[0], workload[0]].filter((object) => object !== undefined),
      merge: mergedPeerTls,
      nothing: DEFAULT_PEER_TLS,
    });
  }

  /**
   * Replaces objects by others. The cost is the change, and a look at each distinct policy.
   *
   * @param removed No object of the same key may stay.
   */
  update(removed: readonly PeerAuthentication[], added: readonly PeerAuthentication[]): PeerTlsChange {
    const refusing = new Set<string>();
    if (removed.length + added.length === 0) return { namespaces: new Set(), refusing };
    const namespaces = this.#merged.update(removed, added);
    const touched = [...removed, ...added].map(({ meta }) => meta.namespace);
    const before = new Set(touched.filter((namespace) => this.#mayRefuse(namespace)));
    for (const object of removed) this.#count(object, -1);
    for (const object of added) this.#count(object, 1);
    for (const namespace of touched) {
      if (!before.has(namespace) && !this.#mayRefuse(namespace)) continue;
      refusing.add(namespace === this.#rootNamespace ? "*" : namespace);
      this.#refused.delete(namespace);
    }
    if (refusing.has("*")) this.#refused.clear();
    return { namespaces, refusing };
  }

  /** Replaces objects by others, and adds the affected keys. */
  take(removed: readonly PeerAuthentication[], added: readonly PeerAuthentication[], affected: AffectedKeys): void {
    const { namespaces, refusing } = this.update(removed, added);
    affected.addNamespaces(WORKLOAD_KEY.peerTls, namespaces);
    addNamespaces(affected.things, MESH_KEY.refusedPeerTls, refusing);
  }

  /** The policy of a workload. The same object until a version of an object behind the policy changes. */
  of(workload: PolicyWorkload): PeerTlsPolicy {
    return this.#merged.of(workload);
  }

  /** Whether an object, because it is the oldest of its level, keeps younger objects from a workload. */
  hidesOthers(key: string, workload: PolicyWorkload): boolean {
    return Object.values(this.#merged.select(workload)).some((level) => level.length > 1 && level[0]?.key === key);
  }

  /**
   * Where workloads of a namespace refuse mutual TLS. Undefined: nowhere, because no object asks for it. The same
   * object until `update` returns the namespace in `refusing`.
   */
  refusedIn(namespace: string): RefusedPeerTls | undefined {
    if (!this.#mayRefuse(namespace)) return undefined;
    const known = this.#refused.get(namespace);
    if (known) return known;
    const made = { has: (labels: StringMap, port: number) => this.#refuses(namespace, labels, port) };
    this.#refused.set(namespace, made);
    return made;
  }

  #refuses(namespace: string, labels: StringMap, port: number): boolean {
    return peerTlsModeOf(this.#merged.find({ namespace, labels }), port) === "DISABLE";
  }

  #mayRefuse(namespace: string): boolean {
    return this.#refusing.has(namespace) || this.#refusing.has(this.#rootNamespace);
  }

  #count({ meta: { namespace }, spec }: PeerAuthentication, by: 1 | -1): void {
    if (!saysDisable(spec)) return;
    const count = (this.#refusing.get(namespace) ?? 0) + by;
    if (count > 0) this.#refusing.set(namespace, count);
    else this.#refusing.delete(namespace);
  }
}

function saysDisable({ mtls, portLevelMtls = {} }: PeerAuthenticationSpec): boolean {
  return [mtls, ...Object.values(portLevelMtls)].some((one) => one?.mode === "DISABLE");
}

/** @param objects An object for each level, the widest level first. */
export function mergedPeerTls(objects: readonly PeerAuthentication[]): PeerTlsPolicy {
  let mode: PeerTlsMode = "PERMISSIVE";
  let decides: string | undefined;
  for (const { key, spec: { mtls } } of objects) {
    if (mtls === undefined || mtls.mode === "UNSET") continue;
    mode = mtls.mode;
    decides = key;
  }
  const ports = new Map<number, PeerTlsMode>();
  const nearest = objects.at(-1);
  for (const [port, { mode: own }] of Object.entries(nearest?.spec.portLevelMtls ?? {})) {
    ports.set(Number(port), own === "UNSET" ? mode : own);
  }
  const causes = [decides, ports.size > 0 ? nearest?.key : undefined].filter((key) => key !== undefined);
  return { mode, ports, causes: [...new Set(causes)] };
}
