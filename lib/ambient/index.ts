/**
 * The workloads and services of a mesh as node tunnels get them, kept up to date object by object.
 *
 *     facts, configuration ──put──> objects ──concern──> dirty parts ──settle──> changed resources
 *
 * A part is made from one object (the workloads of a pod, an entry or a slice), or is the service of a host. A change
 * costs the parts that it concerns: the change of a pod costs one workload.
 *
 * @module
 */
import type { AnyFact } from "../config/facts/types.ts";
import type { AnyConfigObject } from "../config/types.ts";
import { Dependencies } from "../incremental/dependencies.ts";
import { InvalidatedKeys } from "../incremental/keys.ts";
import type { AddressResource } from "./addresses.ts";
import { type Concern, noteConcern, partOf } from "./concern.ts";
import { AmbientObjects, hostKeys, hostsOf, isAmbientKind, isAmbientObject } from "./objects.ts";
import { AddressMaker, type AmbientSettings } from "./parts.ts";
import { NETWORK_LABEL } from "../registry/labels.ts";
import { isWaypointPolicy, targetsOf, WaypointPolicies } from "../mesh/waypoints/policies.ts";

/** What differs from the last time. */
export interface AddressChanges {
  /** Made again, changed or not. */
  readonly made: readonly AddressResource[];
  /** Names of resources that are gone. */
  readonly gone: readonly string[];
}

/** The resources of tunnels, kept up to date. */
export interface TunnelIndex {
  /** Number of parts to be made again. */
  readonly dirty: number;
  /** Takes an object that came or changed. Objects of other kinds are passed over. */
  put(object: AnyFact | AnyConfigObject): void;
  /** Takes the key of an object that is gone. */
  remove(key: string): void;
  /** The addresses that are assigned to the hosts of an entry may have changed. */
  reassigned(entry: string): void;
  /** The policies of the workloads of a namespace may have changed. @param namespace undefined: of all namespaces */
  policiesChanged(namespace: string | undefined): void;
  /** Everything is to be made again: settings have changed. */
  touchAll(): void;
  /**
   * Makes the dirty parts again, in steps of some milliseconds. Objects may change between the steps: their parts are
   * dirty again. Only one call may be under way.
   */
  settle(): Generator<void, AddressChanges>;
}

/** Parts made in a single step. */
const PARTS_A_STEP = 100;

/** The resources of one cluster. All calls are synchronous. */
export class AmbientIndex implements TunnelIndex {
  readonly #settings: AmbientSettings;
  readonly #objects = new AmbientObjects();
  readonly #policies = new WaypointPolicies();
  readonly #maker: AddressMaker;
  readonly #dependencies = new Dependencies();
  /** Names of the resources of each part. Most parts have a single resource, which costs no list. */
  readonly #names = new Map<string, string | readonly string[]>();
  readonly #dirty = new Set<string>();

  constructor(settings: AmbientSettings) {
    this.#settings = settings;
    this.#maker = new AddressMaker(settings, this.#objects, (target) => this.#policies.has(target));
  }

  get dirty(): number {
    return this.#dirty.size;
  }

  /** Network of the cluster; empty: the default network. */
  get network(): string {
    return this.#objects.namespaceLabels(this.#settings.systemNamespace)[NETWORK_LABEL] ?? "";
  }

  put(object: AnyFact | AnyConfigObject): void {
    if (isAmbientObject(object)) this.#replace(object.key, object);
    else if (isWaypointPolicy(object)) {
      this.#targeted(this.#policies.put(object.key, targetsOf(object, this.#settings.rootNamespace())));
    }
  }

  remove(key: string): void {
    const kind = key.slice(0, key.indexOf("/"));
    if (isAmbientKind(kind)) this.#replace(key, undefined);
    else if (isWaypointPolicy({ kind })) this.#targeted(this.#policies.put(key, []));
  }

  reassigned(entry: string): void {
    const object = this.#objects.at(entry);
    if (object?.kind !== "ServiceEntry") return;
    for (const host of hostKeys(object)) this.#dirty.add(partOf.host(host));
  }

  policiesChanged(namespace: string | undefined): void {
    for (const key of this.#objects.workloads(namespace)) this.#dirty.add(key);
  }

  touchAll(): void {
    for (const key of this.#objects.workloads(undefined)) this.#dirty.add(key);
    for (const part of this.#names.keys()) this.#dirty.add(part);
    for (const host of this.#objects.hosts(this.#settings.domain)) this.#dirty.add(partOf.host(host));
  }

  *settle(): Generator<void, AddressChanges> {
    const parts = [...this.#dirty];
    this.#dirty.clear();
    const made: AddressResource[] = [];
    const gone: string[] = [];
    let count = 0;
    for (const part of parts) {
      try {
        this.#make(part, made, gone);
      } catch (error) {
        this.#settings.failed(part, error);
      }
      if (++count % PARTS_A_STEP === 0) yield;
    }
    return { made, gone };
  }

  #make(part: string, made: AddressResource[], gone: string[]): void {
    const known = this.#names.get(part) ?? [];
    const before = typeof known === "string" ? [known] : known;
    const { resources, reads } = this.#maker.make(part);
    const names = new Set(resources.map(({ name }) => name));
    this.#dependencies.set(part, reads);
    if (names.size === 0) this.#names.delete(part);
    else this.#names.set(part, names.size === 1 ? resources[0]!.name : [...names]);
    made.push(...resources);
    for (const name of before) if (!names.has(name)) gone.push(name);
  }

  #replace(key: string, now: Parameters<AmbientObjects["put"]>[1]): void {
    const old = this.#objects.at(key);
    const concern: Concern = { parts: new Set(), things: new InvalidatedKeys(), isWhole: false };
    const around = { ...this.#settings, objects: this.#objects };
    if (old !== undefined) noteConcern(old, now, concern, around);
    this.#objects.put(key, now);
    if (now !== undefined) noteConcern(now, old, concern, around);
    for (const part of concern.parts) this.#dirty.add(part);
    this.#invalidate(concern.things);
    if (concern.isWhole) this.touchAll();
  }

  #invalidate(things: InvalidatedKeys): void {
    if (things.empty) return;
    for (const part of this.#dependencies.invalidate(things)) this.#dirty.add(part);
  }

  /** Policies name other objects now. @param targets keys of the objects */
  #targeted(targets: readonly string[]): void {
    const things = new InvalidatedKeys();
    for (const target of targets) {
      const object = this.#objects.at(target);
      const [kind = "", namespace = "", name = ""] = target.split("/");
      if (kind === "ApiGateway") things.add(kind, `${namespace}/${name}`);
      else if (kind === "GatewayClass") things.addPattern("ApiGateway", () => true);
      else if (object?.kind === "Service" || object?.kind === "ServiceEntry") {
        for (const host of hostsOf(object, this.#settings.domain)) this.#dirty.add(partOf.host(host));
      }
    }
    this.#invalidate(things);
  }
}
