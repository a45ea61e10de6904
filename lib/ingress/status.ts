/**
 * The desired status of each Ingress, after changes of classes, addresses and Ingresses.
 *
 * Every server keeps the statuses, but only the leader writes the statuses. So a new leader knows which Ingresses have
 * left.
 *
 * @module
 */
import type { FactStore } from "../config/facts/store.ts";
import type { Fact, IngressAddressData } from "../config/facts/types.ts";
import type { MeshConfig } from "../config/mesh/types.ts";
import type { ChangeSet } from "../config/store.ts";
import { type AddressReader, ingressAddresses, sameAddresses } from "./addresses.ts";
import { isOfIstioClass, isServed } from "./class.ts";
import type { IngressReader } from "./reader.ts";

/** Inputs of statuses. */
export interface IngressStatusOptions {
  readonly facts: FactStore;
  /** The mesh configuration at the start. */
  readonly mesh: MeshConfig;
  /** Namespace of the gateway (`ORCH_INGRESS_NS`). */
  readonly namespace: string;
  /** Whether this control plane writes the status of an Ingress. Other controllers may serve the Ingress as well. */
  readonly isOurs: (ingress: Fact<"Ingress">) => boolean;
}

/** Gets the keys of Ingresses whose status may have to be written. Must not throw. */
export type IngressStatusListener = (keys: readonly string[]) => void;

/** Fields of the mesh configuration that decide about the served Ingresses and their addresses. */
const FIELDS = ["ingressClass", "ingressControllerMode", "ingressService", "ingressSelector"] as const;

/** The desired statuses of all Ingresses. */
export class IngressStatuses {
  readonly #options: IngressStatusOptions;
  readonly #listeners = new Set<IngressStatusListener>();
  readonly #served = new Set<string>();
  /** Ingresses no longer served, with the addresses that we wrote into their status. */
  readonly #left = new Map<string, readonly IngressAddressData[]>();
  readonly #stop: () => void;
  #mesh: MeshConfig;
  #addresses: readonly IngressAddressData[] = [];
  /** The addresses before the last change. */
  #earlier: readonly IngressAddressData[] = [];

  constructor(options: IngressStatusOptions) {
    this.#options = options;
    this.#mesh = options.mesh;
    this.#stop = options.facts.subscribe((changes) => this.#take(changes));
    this.#lookAtAll();
  }

  /** Keys of the Ingresses with a wrong status. */
  pending(): string[] {
    return this.#options.facts.list("Ingress").map(({ key }) => key).filter((key) => this.wanted(key) !== undefined);
  }

  /**
   * The addresses to write into an Ingress's status; undefined: the present addresses are right, or another
   * controller's.
   */
  wanted(key: string): readonly IngressAddressData[] | undefined {
    const ingress = this.#ingress(key);
    if (ingress === undefined) return undefined;
    const { addresses } = ingress.spec;
    if (this.#served.has(key)) {
      if (sameAddresses(addresses, this.#addresses) || this.#isOfAnother(ingress)) return undefined;
      return this.#addresses;
    }
    // Another controller may have written an address since then. Such an address stays.
    const left = this.#left.get(key);
    return left !== undefined && sameAddresses(addresses, left) ? [] : undefined;
  }

  /** Calls a listener with each change. @returns ends the calls */
  onChange(listener: IngressStatusListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes another mesh configuration. */
  meshChanged(mesh: MeshConfig): void {
    const before = this.#mesh;
    this.#mesh = mesh;
    if (FIELDS.some((field) => before[field] !== mesh[field])) this.#lookAtAll();
  }

  /** Ends the subscription to the facts. */
  stop(): void {
    this.#stop();
  }

  #take({ added, updated, removed, refreshed }: ChangeSet<Fact>): void {
    const changed = [...added, ...removed, ...[...updated, ...refreshed].map((one) => one.new)];
    for (const { key } of removed) this.#forget(key);
    if (changed.some((fact) => this.#concernsAll(fact))) return this.#lookAtAll();
    const keys = changed.filter(({ kind }) => kind === "Ingress").map(({ key }) => key);
    for (const key of keys) this.#look(key);
    this.#tell(keys);
  }

  /** Whether all Ingresses have to be looked at again. */
  #concernsAll({ kind, meta: { namespace, name } }: Fact): boolean {
    const { ingressService } = this.#mesh;
    if (kind === "IngressClass") return true;
    if (ingressService !== "") {
      return kind === "Service" && namespace === this.#options.namespace && name === ingressService &&
        !sameAddresses(this.#addresses, this.#addressesNow());
    }
    const mayMove = kind === "Node" || (kind === "Pod" && namespace === this.#options.namespace);
    return mayMove && !sameAddresses(this.#addresses, this.#addressesNow());
  }

  #lookAtAll(): void {
    const now = this.#addressesNow();
    if (!sameAddresses(this.#addresses, now)) this.#earlier = this.#addresses;
    this.#addresses = now;
    const keys = this.#options.facts.list("Ingress").map(({ key }) => key);
    for (const key of keys) this.#look(key);
    this.#tell(keys);
  }

  #look(key: string): void {
    const ingress = this.#ingress(key);
    if (ingress !== undefined && this.#isServed(ingress)) {
      this.#served.add(key);
      this.#left.delete(key);
    } else if (this.#served.delete(key) && ingress !== undefined) this.#leave(key, ingress.spec.addresses);
  }

  #leave(key: string, addresses: readonly IngressAddressData[]): void {
    if (addresses.length > 0 && this.#isOwn(addresses)) this.#left.set(key, addresses);
  }

  /** Whether this server wrote, or would have written, the addresses. */
  #isOwn(addresses: readonly IngressAddressData[]): boolean {
    return [this.#addresses, this.#earlier].some((ours) => sameAddresses(ours, addresses));
  }

  /**
   * Whether the status is another controller's. If the class is in Istio's spelling, Istio's control plane writes the
   * status too, and the two control planes would undo each other's writes for ever.
   */
  #isOfAnother(ingress: Fact<"Ingress">): boolean {
    const { facts } = this.#options;
    const read: Pick<IngressReader, "fact" | "facts"> = {
      fact: (kind, namespace, name) => facts.get(kind, namespace, name),
      facts: (kind) => facts.list(kind),
    };
    const { addresses } = ingress.spec;
    return addresses.length > 0 && !this.#isOwn(addresses) && isOfIstioClass(ingress, read);
  }

  #isServed(ingress: Fact<"Ingress">): boolean {
    const { facts, isOurs } = this.#options;
    const read: IngressReader = {
      fact: (kind, namespace, name) => facts.get(kind, namespace, name),
      facts: (kind) => facts.list(kind),
      mesh: (field) => this.#mesh[field],
    };
    return isOurs(ingress) && isServed(ingress, read);
  }

  #addressesNow(): IngressAddressData[] {
    const { facts, namespace } = this.#options;
    const read: AddressReader = {
      fact: (kind, at, name) => facts.get(kind, at, name),
      pods: (at) => facts.list("Pod", at),
      mesh: this.#mesh,
    };
    return ingressAddresses(read, namespace);
  }

  #ingress(key: string): Fact<"Ingress"> | undefined {
    const [, namespace = "", name = ""] = key.split("/");
    return this.#options.facts.get("Ingress", namespace, name);
  }

  #forget(key: string): void {
    this.#served.delete(key);
    this.#left.delete(key);
  }

  #tell(keys: readonly string[]): void {
    if (keys.length === 0) return;
    for (const listener of this.#listeners) listener(keys);
  }
}
