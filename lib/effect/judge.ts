/**
 * The judge of a kind: a pure function that finds the parts of an object from which no proxy has anything, though some
 * proxy could have. What no proxy could have is not judged: nothing is known of proxies that are not there.
 *
 * @module
 */
import type { AnyConfigObject, ConfigObject, Kind } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Scope } from "../mesh/scope.ts";
import type { ProxyType } from "../translate/reader/proxy_profile.ts";
import type { PolicyWorkload } from "../mesh/selection/remembered.ts";
import type { InForce } from "./in_force.ts";
import type { LedTargets } from "./led_to.ts";
import type { TelemetryUses } from "./telemetry_uses.ts";

/** A proxy that could have something. */
export interface JudgedProxy {
  readonly type: ProxyType;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly scope: Scope;
  /** The same object each time, as policies of workloads are remembered by it. */
  readonly workload: PolicyWorkload;
  /** Nothing is known of its workload but the namespace, or the Gateway that it serves. */
  readonly standsIn: boolean;
}

/** All that judges ask. */
export interface EffectWorld {
  readonly mesh: Mesh;
  readonly inForce: InForce;
  /** Objects in force, by key. */
  readonly object: (key: string) => AnyConfigObject | undefined;
  /** Scopes of known clients by the Sidecar that they have, by its key. */
  readonly sidecars: ReadonlyMap<string, ReadonlySet<Scope>>;
  /** The destinations to which listeners and routes of a scope's clients lead; undefined: there are no such clients. */
  readonly ledTo: (scope: Scope) => LedTargets | undefined;
  /** The merged Telemetries of known workloads. */
  readonly telemetries: TelemetryUses;
  /** Patches that were applied somewhere: key of the ProxyFilter, and position. */
  readonly applied: ReadonlySet<string>;
  /** All that are known: replicas once. */
  readonly proxies: readonly JudgedProxy[];
  /** One of each namespace, type and scope: all that is needed where labels do not matter. */
  readonly views: readonly JudgedProxy[];
  /** Those that serve Gateways. */
  readonly routers: readonly JudgedProxy[];
  /** To be called where a part is in nothing, before it is asked whether it could be: the answer may change. */
  readonly noteDead: () => void;
}

/** A part without effect. */
export interface UnusedPart {
  /** Path from the object; empty: all of it. */
  readonly field: string;
  /** Of all of an object, or of all its hosts: paths of the parts without effect, which other findings may tell of. */
  readonly parts?: readonly string[];
  /** As it is written; absent: the part is long. */
  readonly value?: unknown;
  /** What would have an effect, with the reason in brackets where it is known. */
  readonly expected: string;
  /** Keys of objects that have part in it, the nearest cause first. */
  readonly others?: readonly string[];
}

/** Judges objects of one kind. */
export type Judge<K extends Kind> = (object: ConfigObject<K>, world: EffectWorld) => readonly UnusedPart[];

/** A judge of some kind, for the table of all: it is given objects of its kind alone. */
export type AnyJudge = (object: AnyConfigObject, world: EffectWorld) => readonly UnusedPart[];

/** Names an object in a text, from its key. */
export function named(key: string): string {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return `${kind} ${namespace}/${name}`;
}
