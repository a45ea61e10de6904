/**
 * The policies of node tunnels, kept up to date change by change.
 *
 *     AuthorizationPolicy ─┐            ┌─> authorization(name)   a policy as tunnels get it
 *                          ├─> put() ───┤
 *     PeerAuthentication ──┘            └─> listed(workload)      names of policies at a workload
 *
 * A tunnel finds policies of a namespace and of the mesh by their scope. Policies for chosen workloads are listed at the
 * workloads.
 *
 * @module
 */
import type { AuthorizationPolicy } from "../authorization_policy.ts";
import type { PeerAuthentication } from "../peer_authentication.ts";
import type { PolicyWorkload } from "../selection/remembered.ts";
import type { TunnelAuthorization, TunnelMesh } from "./authorization.ts";
import { TunnelAuthorizations } from "./authorizations.ts";
import type { TunnelPolicyChange } from "./change.ts";
import { TunnelPeerAuthentications } from "./peer_authentications.ts";

/** An object that becomes policies of tunnels. */
export type TunnelPolicyObject = AuthorizationPolicy | PeerAuthentication;

/** Kinds of such objects. */
export const TUNNEL_POLICY_KINDS = ["AuthorizationPolicy", "PeerAuthentication"] as const;

/** Whether an object becomes policies of tunnels. */
export function isTunnelPolicyObject(object: { readonly kind: string }): object is TunnelPolicyObject {
  return (TUNNEL_POLICY_KINDS as readonly string[]).includes(object.kind);
}

/** The policies of node tunnels, by name and by workload. */
export class TunnelPolicies {
  readonly #authorizations: TunnelAuthorizations;
  readonly #peerAuthentications: TunnelPeerAuthentications;
  readonly #objects = new Map<string, TunnelPolicyObject>();

  /**
   * @param mesh The mesh configuration: another configuration needs other policies.
   * @param objects Objects from the start.
   */
  constructor(mesh: TunnelMesh, objects: Iterable<TunnelPolicyObject> = []) {
    this.#authorizations = new TunnelAuthorizations(mesh);
    this.#peerAuthentications = new TunnelPeerAuthentications(mesh);
    for (const object of objects) this.put(object);
  }

  /** All objects. */
  objects(): Iterable<TunnelPolicyObject> {
    return this.#objects.values();
  }

  /** Puts an object in place of its earlier version. The cost is the change: see the two indexes. */
  put(object: TunnelPolicyObject): TunnelPolicyChange {
    const old = this.#objects.get(object.key);
    this.#objects.set(object.key, object);
    return this.#replace(old, object);
  }

  /** Takes an object out. Unknown keys change nothing. */
  remove(key: string): TunnelPolicyChange {
    const old = this.#objects.get(key);
    this.#objects.delete(key);
    return this.#replace(old, undefined);
  }

  #replace(old: TunnelPolicyObject | undefined, object: TunnelPolicyObject | undefined): TunnelPolicyChange {
    const of = <O extends TunnelPolicyObject>(one: TunnelPolicyObject | undefined, kind: O["kind"]): O[] =>
      one?.kind === kind ? [one as O] : [];
    switch ((object ?? old)?.kind) {
      case "AuthorizationPolicy":
        return this.#authorizations.update(
          of<AuthorizationPolicy>(old, "AuthorizationPolicy"),
          of<AuthorizationPolicy>(object, "AuthorizationPolicy"),
        );
      case "PeerAuthentication":
        return this.#peerAuthentications.update(
          of<PeerAuthentication>(old, "PeerAuthentication"),
          of<PeerAuthentication>(object, "PeerAuthentication"),
        );
      case undefined:
        return UNCHANGED;
    }
  }

  /** Names of all policies, `<namespace>/<name>`, in no order. */
  names(): string[] {
    return [...this.#authorizations.names(), ...this.#peerAuthentications.names()];
  }

  /**
   * The policy of a name, as tunnels get it. Undefined: there is none. The same object until an object behind the
   * policy changes.
   */
  authorization(name: string): TunnelAuthorization | undefined {
    return this.#authorizations.get(name) ?? this.#peerAuthentications.get(name);
  }

  /**
   * Names of the policies to be listed at a workload: the policies that choose the workload by labels in alphabetical
   * order, and then the policy of the workload's PeerAuthentications. The order is Istio's.
   */
  listed(workload: PolicyWorkload): readonly string[] {
    const peerTls = this.#peerAuthentications.listed(workload);
    const names = this.#authorizations.listed(workload);
    if (peerTls !== undefined) names.push(peerTls);
    return names.length === 0 ? NONE : names;
  }
}

const NONE: readonly string[] = [];
const UNCHANGED: TunnelPolicyChange = { names: new Set(), namespaces: new Set() };
