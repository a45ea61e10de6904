/**
 * The duty that writes into Services, ServiceEntries and WorkloadEntries whether their waypoint is used, and into
 * AuthorizationPolicies whether a waypoint has them. Only the leading server writes.
 *
 * Each object is read once in a term, so that no condition of an earlier term stays without its label. After that, an
 * object is read and written only if its condition differs from the last one. A change of a Gateway, class, namespace or
 * policy compares the conditions of all objects in memory, at most once in {@linkcode QUIET_MS}.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the objects and `patch` of their status.
 *
 * @module
 */
import {
  type BindableService,
  type BindingWorld,
  unboundText,
  waypointBinding,
  wayText,
} from "../../ambient/binding.ts";
import {
  isWaypointPolicy,
  namedTargets,
  targetsOf,
  WAYPOINT_POLICIES,
  WaypointPolicies,
  type WaypointPolicy,
} from "../../mesh/waypoints/policies.ts";
import type { AnyFact, Fact, FactSpecs } from "../../config/facts/types.ts";
import type { ChangeSet } from "../../config/store.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../../config/types.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import { conditionChange, type StatusCondition } from "../../status/conditions.ts";
import { changeStatus, statusTime } from "../../status/write.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";
import { type TargetWorld, WAYPOINT_ACCEPTED, waypointCondition } from "./waypoint_condition.ts";

/** Inputs of the duty. */
export interface BindingDutyParts {
  readonly client: ApiClient;
  readonly store: {
    get<K extends Kind>(kind: K, namespace: string, name: string): ConfigObject<K> | undefined;
    list<K extends Kind>(kind: K): readonly ConfigObject<K>[];
    subscribe(listener: (changes: ChangeSet<ConfigObject>) => void): () => void;
  };
  readonly facts: {
    get<K extends keyof FactSpecs>(kind: K, namespace: string, name: string): Fact<K> | undefined;
    list<K extends keyof FactSpecs>(kind: K): readonly Fact<K>[];
    subscribe(listener: (changes: ChangeSet<Fact>) => void): () => void;
  };
  readonly rootNamespace: () => string;
  readonly opensWithoutWaypoint: boolean;
  /** `ENABLE_INGRESS_WAYPOINT_ROUTING` */
  readonly usesIngress: boolean;
  readonly placeOf: (object: ConfigObject) => ObjectPlace | undefined;
  readonly writing: StatusWriterOptions;
}

/** An object that may have a waypoint, with the condition that says whether the waypoint is used. */
type BoundObject = BindableService | ConfigObject<"WorkloadEntry">;

/** An object with a condition. */
type ConditionedObject = BoundObject | ConfigObject<"AuthorizationPolicy">;

/** Type of the condition of bound objects. The name and the reasons are Istio's. */
const WAYPOINT_BOUND = "istio.io/WaypointBound";

/** Quiet time before a look at all objects, milliseconds. */
const QUIET_MS = 100;

const SERVICES = { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true } as const;
const DECIDING: ReadonlySet<string> = new Set(["ApiGateway", "GatewayClass", "Namespace", ...WAYPOINT_POLICIES]);
const NO_LABELS = Object.freeze({});

/** See the file. */
export function bindingDuty(parts: BindingDutyParts): Duty {
  return {
    lock: "mesh-status-leader",
    about: "waypoints of services and policies",
    run: (signal) => new BindingRound(parts, signal).run(),
  };
}

/** One term of leadership. */
class BindingRound {
  readonly #parts: BindingDutyParts;
  readonly #signal: AbortSignal;
  readonly #writer: StatusWriter;
  /** The policies in force. */
  readonly #policies = new WaypointPolicies();
  /** AuthorizationPolicies by all objects that they name. */
  readonly #naming = new WaypointPolicies();
  /** What was last wanted of each object, as text. */
  readonly #wanted = new Map<string, string>();
  readonly #world: BindingWorld & Omit<TargetWorld, "rootNamespace">;
  #wake = Promise.withResolvers<void>();

  constructor(parts: BindingDutyParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#writer = new StatusWriter(parts.writing, signal);
    const { store, facts, opensWithoutWaypoint, usesIngress } = parts;
    this.#world = {
      namespaceLabels: (namespace) => facts.get("Namespace", "", namespace)?.meta.labels ?? NO_LABELS,
      gateway: (namespace, name) => store.get("ApiGateway", namespace, name),
      gatewayClass: (name) => store.get("GatewayClass", "", name),
      policyOn: (target) => this.#policies.first(target),
      opensWithoutWaypoint,
      usesIngress,
      service: (kind, namespace, name) =>
        kind === "Service" ? facts.get(kind, namespace, name) : store.get(kind, namespace, name),
      gatewaysOf: (name) => store.list("ApiGateway").filter(({ spec }) => spec.gatewayClassName === name),
    };
  }

  async run(): Promise<void> {
    const { store, facts, writing: { clock } } = this.#parts;
    const ends = [store.subscribe((changes) => this.#take(changes)), facts.subscribe((changes) => this.#take(changes))];
    for (const policy of store.list("AuthorizationPolicy")) this.#takePolicy(policy);
    for (const policy of store.list("RequestAuthentication")) this.#takePolicy(policy);
    this.#lookAtAll();
    const aborted = () => this.#wake.resolve();
    this.#signal.addEventListener("abort", aborted, { once: true });
    try {
      while (!this.#signal.aborted) {
        await this.#wake.promise;
        if (this.#signal.aborted) break;
        await clock.sleep(QUIET_MS, this.#signal).catch(() => {});
        this.#wake = Promise.withResolvers();
        this.#lookAtAll();
      }
    } finally {
      for (const end of ends) end();
      this.#signal.removeEventListener("abort", aborted);
      await this.#writer.stop();
    }
  }

  #take({ added, updated, refreshed, removed }: ChangeSet<ConfigObject> | ChangeSet<Fact>): void {
    for (const { key, kind } of removed) {
      if (isConditioned({ kind })) this.#forget(key);
      if (isWaypointPolicy({ kind })) this.#policies.put(key, []);
      if (kind === "AuthorizationPolicy") this.#naming.put(key, []);
      this.#lookAtNaming(key);
      if (DECIDING.has(kind)) this.#wake.resolve();
    }
    // The status of a Gateway is no part of its hash.
    const now = [
      ...added,
      ...[...updated, ...refreshed].map((one) => one.new),
    ] as readonly (AnyConfigObject | AnyFact)[];
    for (const object of now) {
      if (isWaypointPolicy(object)) this.#takePolicy(object);
      if (isConditioned(object)) this.#look(object);
      this.#lookAtNaming(object.key);
      if (DECIDING.has(object.kind)) this.#wake.resolve();
    }
  }

  #takePolicy(policy: WaypointPolicy): void {
    const rootNamespace = this.#parts.rootNamespace();
    this.#policies.put(policy.key, targetsOf(policy, rootNamespace));
    if (policy.kind === "AuthorizationPolicy") this.#naming.put(policy.key, namedTargets(policy, rootNamespace));
  }

  /** Looks at the policies that name an object. */
  #lookAtNaming(target: string): void {
    for (const key of this.#naming.on(target)) {
      const [, namespace = "", name = ""] = key.split("/");
      const policy = this.#parts.store.get("AuthorizationPolicy", namespace, name);
      if (policy !== undefined) this.#look(policy);
    }
  }

  #forget(key: string): void {
    this.#wanted.delete(key);
    this.#writer.drop(key);
  }

  #lookAtAll(): void {
    if (this.#signal.aborted) return;
    const { store, facts } = this.#parts;
    for (const object of facts.list("Service")) this.#look(object);
    for (const object of store.list("ServiceEntry")) this.#look(object);
    for (const object of store.list("WorkloadEntry")) this.#look(object);
    for (const policy of store.list("AuthorizationPolicy")) this.#look(policy);
  }

  #look(object: ConditionedObject): void {
    const { key, meta, origin } = object;
    const place = this.#placeOf(object);
    if (place === undefined || origin.from !== "api") return this.#forget(key);
    const condition = this.#conditionOf(object);
    const generation = condition && (meta.generation ?? 0);
    const wanted = JSON.stringify([origin.uid, generation, condition?.reason, condition?.message]);
    if (this.#wanted.get(key) === wanted) return;
    this.#wanted.set(key, wanted);
    this.#writer.put(key, (signal) => this.#write(object, place, origin.uid, condition, signal));
  }

  #conditionOf(object: ConditionedObject): StatusCondition | undefined {
    return object.kind === "AuthorizationPolicy"
      ? waypointCondition(object, { ...this.#world, rootNamespace: this.#parts.rootNamespace() })
      : bindingCondition(object, this.#world);
  }

  #placeOf(object: ConditionedObject): ObjectPlace | undefined {
    const { meta: { namespace, name } } = object;
    return object.kind === "Service" ? { resource: SERVICES, namespace, name } : this.#parts.placeOf(object);
  }

  async #write(
    { kind, meta }: ConditionedObject,
    place: ObjectPlace,
    uid: string,
    condition: StatusCondition | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, writing } = this.#parts;
    const now = statusTime(writing.clock);
    const type = kind === "AuthorizationPolicy" ? WAYPOINT_ACCEPTED : WAYPOINT_BOUND;
    await changeStatus(
      client,
      place,
      uid,
      ({ status, generation }) =>
        // A later version of the object is waiting behind this one.
        generation === (meta.generation ?? 0) ? conditionChange(status, type, condition, generation, now) : undefined,
      signal,
    );
  }
}

const CONDITIONED: ReadonlySet<string> = new Set([
  ...["Service", "ServiceEntry", "WorkloadEntry", "AuthorizationPolicy"],
]);

function isConditioned(object: { readonly kind: string }): object is ConditionedObject {
  return CONDITIONED.has(object.kind);
}

/** The condition of a bound object. Undefined: the object asks for no waypoint, or can have none. */
function bindingCondition(object: BoundObject, world: BindingWorld): StatusCondition | undefined {
  const binding = waypointBinding(object, world);
  if (binding === undefined) return undefined;
  const { reason } = binding;
  const way = wayText(binding);
  if (reason === undefined) {
    return { type: WAYPOINT_BOUND, status: "True", reason: "WaypointAccepted", message: way };
  }
  const why = unboundText(binding, object.meta.namespace);
  const message = `The waypoint is not used: ${why}. ${way}`;
  return { type: WAYPOINT_BOUND, status: "False", reason, message };
}
