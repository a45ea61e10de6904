/**
 * What a node tunnel holds, by the responses that came: the whole state of its discovery side, without a connection.
 *
 * @module
 */
import { AUTHORIZATION_TYPE_URL } from "../../../lib/ambient/policy_set.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { tunnelAddresses, type TunnelService, type TunnelWorkload } from "../../../lib/simulate/tunnel/addresses.ts";
import type { TunnelState } from "../../../lib/simulate/tunnel/connect.ts";
import { ADDRESS } from "../../../lib/xds/protocol/types.ts";
import type { istio } from "../../../proto/gen/types.ts";
import { addressFault, policyFault } from "./faults.ts";

/** The two sorts of resources. */
export type TunnelSort = "addresses" | "policies";

/** The type URL of each sort. Tunnels ask for addresses first. */
export const TUNNEL_TYPES: Readonly<Record<TunnelSort, string>> = {
  addresses: ADDRESS,
  policies: AUTHORIZATION_TYPE_URL,
};

/** A resource with its version. */
export interface Versioned<M> {
  readonly version: string;
  readonly message: M;
}

/** The content of a response. */
export interface TunnelUpdate {
  readonly resources: readonly { readonly name: string; readonly version: string; readonly bytes: Uint8Array }[];
  readonly removed: readonly string[];
}

/** A pod, as the node agent names it. */
export interface NamedPod {
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Addresses and policies. */
export class HeldResources {
  readonly addresses = new Map<string, Versioned<istio.workload.Address>>();
  readonly policies = new Map<string, Versioned<istio.security.Authorization>>();
  #state: TunnelState | undefined;
  #pods: Map<string, TunnelWorkload> | undefined;
  #hosts: Map<string, TunnelService[]> | undefined;

  /**
   * Takes the content of a response: first what is new, then what is gone. Of a wrong resource the old version stays.
   *
   * @param alsoWrong Why a resource is wrong, by its name. Default: for its content alone.
   * @returns why resources are rejected: `NAME: reason; NAME: reason`. Undefined: all are taken.
   */
  take(
    sort: TunnelSort,
    { resources, removed }: TunnelUpdate,
    alsoWrong: (name: string) => string | undefined = () => undefined,
  ): string | undefined {
    const faults: string[] = [];
    for (const { name, version, bytes } of resources) {
      const fault = alsoWrong(name) ?? this.#put(sort, name, version, bytes);
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
    }
    for (const name of removed) this[sort].delete(name);
    this.#state = this.#pods = this.#hosts = undefined;
    return faults.length === 0 ? undefined : faults.join("; ");
  }

  #put(sort: TunnelSort, name: string, version: string, bytes: Uint8Array): string | undefined {
    if (sort === "addresses") {
      const message = decode<istio.workload.Address>("istio.workload.Address", bytes);
      const fault = addressFault(message);
      if (fault === undefined) this.addresses.set(name, { version, message });
      return fault;
    }
    const message = decode<istio.security.Authorization>("istio.security.Authorization", bytes);
    const fault = policyFault(message);
    if (fault === undefined) this.policies.set(name, { version, message });
    return fault;
  }

  /** Names and versions of a sort, for a first request. */
  versions(sort: TunnelSort): Record<string, string> {
    return Object.fromEntries([...this[sort]].map(([name, { version }]) => [name, version]));
  }

  /** The state for decisions. */
  get state(): TunnelState {
    return this.#state ??= {
      addresses: tunnelAddresses([...this.addresses.values()].map(({ message }) => message)),
      policies: new Map([...this.policies].map(([name, { message }]) => [name, message])),
    };
  }

  /** The services of a host, of all namespaces. */
  servicesNamed(host: string): readonly TunnelService[] {
    if (this.#hosts === undefined) {
      this.#hosts = new Map();
      for (const { message: { service } } of this.addresses.values()) {
        if (service) this.#hosts.getOrInsertComputed(service.hostname ?? "", () => []).push(service);
      }
    }
    return this.#hosts.get(host) ?? [];
  }

  /** The workload of a pod. Tunnels know their own workloads by name, namespace and account, not by address. */
  workloadOf({ name, namespace, serviceAccount }: NamedPod): TunnelWorkload | undefined {
    this.#pods ??= new Map(
      [...this.addresses.values()].flatMap(({ message: { workload } }) =>
        workload === undefined ? [] : [[
          podKey(workload.name ?? "", workload.namespace ?? "", workload.service_account || "default"),
          workload,
        ]]
      ),
    );
    return this.#pods.get(podKey(name, namespace, serviceAccount || "default"));
  }
}

function podKey(...words: readonly string[]): string {
  return words.join("/");
}
