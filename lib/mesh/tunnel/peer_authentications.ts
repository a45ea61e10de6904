/**
 * PeerAuthentications for node tunnels, by name and by workload.
 *
 * @module
 */
import { mergedPeerTls, type PeerAuthentication, type PeerTlsMode } from "../peer_authentication.ts";
import { SelectionIndex } from "../selection/index.ts";
import type { PolicyWorkload } from "../selection/remembered.ts";
import { selectionOf } from "../selection/selection.ts";
import type { TunnelAuthorization, TunnelMesh } from "./authorization.ts";
import { type TunnelPolicyChange, tunnelPolicyName } from "./change.ts";
import { listedFor, portsPolicy, portsPolicyName, STRICT_NAME, strictPolicy } from "./peer_tls.ts";

/** All PeerAuthentications of the mesh. */
export class TunnelPeerAuthentications {
  readonly #rootNamespace: string;
  readonly #selection: SelectionIndex<"PeerAuthentication">;
  /** Objects with labels and ports, by key, by namespace. */
  readonly #withPorts = new Map<string, Map<string, PeerAuthentication>>();
  readonly #sent = new Map<string, TunnelAuthorization>();
  readonly #strictName: string;
  #count = 0;

  constructor({ rootNamespace }: Pick<TunnelMesh, "rootNamespace">) {
    this.#rootNamespace = rootNamespace;
    this.#selection = new SelectionIndex(rootNamespace);
    this.#strictName = tunnelPolicyName({ namespace: rootNamespace, name: STRICT_NAME });
  }

  /** Names of all policies. */
  names(): Iterable<string> {
    return this.#sent.keys();
  }

  /** The policy of a name. The same object until an object behind the policy changes. */
  get(name: string): TunnelAuthorization | undefined {
    return this.#sent.get(name);
  }

  /** Name of the policy for a workload. Undefined: connections without an identity are accepted at every port. */
  listed({ namespace, labels }: PolicyWorkload): string | undefined {
    const { root, namespace: own, workload: [nearest] } = this.#selection.select({ namespace, labels });
    const objects = [root[0], own[0], nearest].filter((object) => object !== undefined);
    const merged = mergedPeerTls(objects);
    switch (listedFor(nearest === undefined ? { ...merged, ports: NO_PORTS } : merged)) {
      case "strict":
        return this.#strictName;
      case "ports":
        return nearest && portsName(nearest);
      case undefined:
        return undefined;
    }
  }

  /**
   * Replaces objects by others. The cost is the change. After a change of a namespace's mode, the objects with ports of
   * the namespace are converted again; after a change of the mesh's mode, the objects with ports of all namespaces.
   *
   * @param removed No object of the same key may stay.
   */
  update(removed: readonly PeerAuthentication[], added: readonly PeerAuthentication[]): TunnelPolicyChange {
    const touched = [...removed, ...added];
    const inherited = new Set(touched.filter((one) => !choosesWorkloads(one)).map(({ meta }) => meta.namespace));
    const before = new Map([...inherited].map((namespace) => [namespace, this.#modeOf(namespace)]));
    this.#selection.update(removed, added);
    for (const object of removed) this.#keep(object, false);
    for (const object of added) this.#keep(object, true);
    const moved = [...inherited].filter((namespace) => before.get(namespace) !== this.#modeOf(namespace));
    const namespaces = new Set([
      ...moved.map((namespace) => namespace === this.#rootNamespace ? "*" : namespace),
      ...touched.filter(choosesWorkloads).map(({ meta }) => meta.namespace),
    ]);
    return { names: this.#convert(touched, moved), namespaces };
  }

  /** @returns Names of the policies that may have changed. */
  #convert(touched: readonly PeerAuthentication[], moved: readonly string[]): Set<string> {
    const names = new Set<string>();
    for (const object of touched) {
      names.add(portsName(object));
      this.#sent.delete(portsName(object));
    }
    const everywhere = moved.includes(this.#rootNamespace);
    const namespaces = new Set([...touched.map(({ meta }) => meta.namespace), ...moved]);
    for (const namespace of everywhere ? [...this.#withPorts.keys()] : namespaces) {
      for (const object of this.#withPorts.get(namespace)?.values() ?? []) {
        const name = portsName(object);
        const policy = portsPolicy(object.meta, mergedPeerTls([...this.#parentsOf(namespace), object]));
        names.add(name);
        if (policy) this.#sent.set(name, policy);
        else this.#sent.delete(name);
      }
    }
    if (this.#count > 0 !== this.#sent.has(this.#strictName)) {
      names.add(this.#strictName);
      if (this.#count > 0) this.#sent.set(this.#strictName, strictPolicy(this.#rootNamespace));
      else this.#sent.delete(this.#strictName);
    }
    return names;
  }

  #keep(object: PeerAuthentication, put: boolean): void {
    this.#count += put ? 1 : -1;
    if (!choosesWorkloads(object) || Object.keys(object.spec.portLevelMtls ?? {}).length === 0) return;
    const { namespace } = object.meta;
    const own = this.#withPorts.getOrInsertComputed(namespace, () => new Map());
    if (put) own.set(object.key, object);
    else own.delete(object.key);
    if (own.size === 0) this.#withPorts.delete(namespace);
  }

  /** The objects above the objects with labels, the mesh's first. */
  #parentsOf(namespace: string): PeerAuthentication[] {
    const { root, namespace: own } = this.#selection.select({ namespace, labels: {} });
    return [root[0], own[0]].filter((object) => object !== undefined);
  }

  #modeOf(namespace: string): PeerTlsMode {
    return mergedPeerTls(this.#parentsOf(namespace)).mode;
  }
}

const NO_PORTS: ReadonlyMap<number, PeerTlsMode> = new Map();

function choosesWorkloads(object: PeerAuthentication): boolean {
  return Object.keys(selectionOf(object).labels).length > 0;
}

function portsName({ meta: { namespace, name } }: PeerAuthentication): string {
  return tunnelPolicyName({ namespace, name: portsPolicyName(name) });
}
