/**
 * The policies that admit waypoints at the workloads behind them (`PILOT_AUTO_ALLOW_WAYPOINT_POLICY`). Each Gateway with
 * an HBONE listener has a policy for the accounts of its pods. Without a pod the policy admits nobody: a waypoint that
 * is down opens nothing.
 *
 * @module
 */
import { Action, Scope } from "../../proto/gen/enums.ts";
import type { Fact } from "../config/facts/types.ts";
import { GATEWAY_NAME_LABEL } from "../config/spelling/spelling.ts";
import type { ConfigObject } from "../config/types.ts";
import type { TunnelAuthorization } from "../mesh/tunnel/authorization.ts";

type AdmissionObject = Fact<"Pod"> | ConfigObject<"ApiGateway">;

/** Begin of the names, which are Istio's. No object has such a name. */
const PREFIX = "istio_allow_waypoint_";

/** The name of the policy for a waypoint, both `namespace/name`. */
export function admissionName(waypoint: string): string {
  const [namespace = "", name = ""] = waypoint.split("/");
  return `${namespace}/${PREFIX}${namespace}_${name}`;
}

/** The waypoint, `namespace/name`, that a policy admits. Undefined: the policy is of another sort. */
export function admittedWaypoint(policy: string): string | undefined {
  const slash = policy.indexOf("/");
  const [namespace, name] = [policy.slice(0, slash), policy.slice(slash + 1)];
  const start = `${PREFIX}${namespace}_`;
  return name.startsWith(start) ? `${namespace}/${name.slice(start.length)}` : undefined;
}

/** Whether a Gateway takes connections of tunnels, so that a policy admits the Gateway's pods. */
export function takesTunnels({ spec: { listeners } }: ConfigObject<"ApiGateway">): boolean {
  return listeners.some(({ protocol }) => protocol === "HBONE");
}

/** The Gateways and their pods. */
export class WaypointAdmissions {
  /** Keys of the Gateways, by name: `namespace/name`. */
  readonly #gateways = new Set<string>();
  /** Accounts by key of the pod, by name of the Gateway. */
  readonly #accounts = new Map<string, Map<string, string>>();
  /** The Gateway of each pod, by key of the pod. */
  readonly #gatewayOf = new Map<string, string>();

  /** Takes an object that came or changed. @returns names of policies that may have changed */
  put(object: AdmissionObject): readonly string[] {
    const { key, meta: { namespace, name } } = object;
    if (object.kind === "ApiGateway") {
      if (!takesTunnels(object)) return this.remove(key);
      this.#gateways.add(`${namespace}/${name}`);
      return [admissionName(`${namespace}/${name}`)];
    }
    const before = this.remove(key);
    const { labels, serviceAccount, phase } = object.spec;
    const gateway = labels[GATEWAY_NAME_LABEL];
    if (gateway === undefined || phase === "Succeeded" || phase === "Failed") return before;
    const of = `${namespace}/${gateway}`;
    this.#gatewayOf.set(key, of);
    this.#accounts.getOrInsertComputed(of, () => new Map()).set(key, serviceAccount);
    return [...before, admissionName(of)];
  }

  /** Takes the key of an object that is gone. @returns names of policies that may have changed */
  remove(key: string): readonly string[] {
    const [kind, namespace, name] = key.split("/");
    if (kind === "ApiGateway") {
      return this.#gateways.delete(`${namespace}/${name}`) ? [admissionName(`${namespace}/${name}`)] : [];
    }
    const of = this.#gatewayOf.get(key);
    if (of === undefined) return [];
    this.#gatewayOf.delete(key);
    const pods = this.#accounts.get(of);
    pods?.delete(key);
    if (pods?.size === 0) this.#accounts.delete(of);
    return [admissionName(of)];
  }

  /** Names of all policies. */
  names(): string[] {
    return [...this.#gateways].map(admissionName);
  }

  /** The policy of a name. Undefined: there is none. */
  policy(policy: string, trustDomain: string): TunnelAuthorization | undefined {
    const waypoint = admittedWaypoint(policy);
    if (waypoint === undefined || !this.#gateways.has(waypoint)) return undefined;
    const [namespace = "", name = ""] = policy.split("/");
    const accounts = [...new Set(this.#accounts.get(waypoint)?.values() ?? [])].sort();
    const principals = accounts.map((account) => ({ exact: `${trustDomain}/ns/${namespace}/sa/${account}` }));
    const groups = principals.length === 0 ? [] : [{ rules: [{ matches: [{ principals }] }] }];
    return { name, namespace, scope: Scope.WORKLOAD_SELECTOR, action: Action.ALLOW, groups };
  }
}
