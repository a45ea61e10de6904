/**
 * The judge of a kind: a pure function that finds the unused parts of an object. A part is unused if no proxy has a
 * resource made from the part, although some known proxy could. Parts that no known proxy could have are not judged,
 * because nothing is known about absent proxies.
 *
 * @module
 */
import type { AnyConfigObject, ConfigObject, Kind } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Scope } from "../mesh/scope.ts";
import type { ProxyType } from "../translate/reader/proxy_profile.ts";
import type { PolicyWorkload } from "../mesh/selection/remembered.ts";
import type { EntryHosts } from "./entry_hosts.ts";
import type { InForce } from "./in_force.ts";
import type { ScopeDestinations } from "./destinations.ts";
import type { TelemetryUses } from "./telemetry_uses.ts";

/** A proxy as judges see it. */
export interface JudgedProxy {
  readonly type: ProxyType;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly scope: Scope;
  /**
   * The workload in its roles: a waypoint has a role for each service. Each role is the same object each time, because
   * policies of workloads are cached by this object.
   */
  readonly roles: readonly PolicyWorkload[];
  /** Only the namespace of the workload is known, or the Gateway that the workload serves. */
  readonly standsIn: boolean;
}

/** Everything read by judges. */
export interface EffectWorld {
  readonly mesh: Mesh;
  readonly inForce: InForce;
  /** Objects in force, by key. */
  readonly object: (key: string) => AnyConfigObject | undefined;
  /** Scopes of known clients, by the key of the clients' Sidecar. */
  readonly sidecars: ReadonlyMap<string, ReadonlySet<Scope>>;
  /** The destinations of listeners and routes of a scope's clients; undefined: the scope has no clients. */
  readonly destinationsOf: (scope: Scope) => ScopeDestinations | undefined;
  /** The ServiceEntries of each host. */
  readonly entryHosts: EntryHosts;
  /** The merged Telemetries of known workloads. */
  readonly telemetries: TelemetryUses;
  /** Patches applied to some resource: key of the ProxyFilter, and position. */
  readonly applied: ReadonlySet<string>;
  /** All known proxies. Replicas are listed once. */
  readonly proxies: readonly JudgedProxy[];
  /** A single proxy of each namespace, type and scope. Enough where labels do not matter. */
  readonly views: readonly JudgedProxy[];
  /** The proxies that serve Gateways. */
  readonly routers: readonly JudgedProxy[];
  /**
   * Notes that an object has an unused part. Call `noteDead` before asking whether a proxy could have the part: the
   * answer may change with the proxies.
   */
  readonly noteDead: () => void;
}

/** A part without effect. */
export interface UnusedPart {
  /** Path from the object; empty: the whole object. */
  readonly field: string;
  /** For a whole object, or for all its hosts: paths of the unused parts. Other findings may explain these parts. */
  readonly parts?: readonly string[];
  /** The value as written; absent: the part is long. */
  readonly value?: unknown;
  /** What would have an effect, with the reason in brackets if the reason is known. */
  readonly expected: string;
  /** Keys of other objects involved, the nearest cause first. */
  readonly others?: readonly string[];
}

/** Judges objects of a single kind. */
export type Judge<K extends Kind> = (object: ConfigObject<K>, world: EffectWorld) => readonly UnusedPart[];

/** A judge of any kind, for the table of judges. The table gives a judge only objects of its kind. */
export type AnyJudge = (object: AnyConfigObject, world: EffectWorld) => readonly UnusedPart[];
