/**
 * What guards a service: mutual TLS at its workloads, and the verdicts of authorization policies about callers.
 *
 * @module
 */
import type { AuthorizationPolicy } from "../mesh/authorization_policy.ts";
import type { Mesh } from "../mesh/mesh.ts";
import { peerTlsModeOf } from "../mesh/peer_authentication.ts";
import type { PolicyWorkload } from "../mesh/selection/remembered.ts";
import { serviceTargets } from "../mesh/waypoints/index.ts";
import { isHboneEndpoint } from "../registry/labels.ts";
import type { Service } from "../registry/types.ts";
import { callerName, type GraphCaller } from "./caller.ts";
import { type CallVerdict, judge, namedCallers, type PolicySurroundings } from "./verdict.ts";

/** Mutual TLS at the workloads of a service. `mixed`: ports or workloads differ. `outside`: not in the mesh. */
export type ServiceTls = "strict" | "permissive" | "none" | "mixed" | "outside";

/** A caller and the verdict about it. */
export interface JudgedCaller {
  readonly caller: GraphCaller;
  readonly verdict: CallVerdict;
}

/** The guards of a service. */
export interface ServiceGuard {
  readonly tls: ServiceTls;
  /** `namespace/name`; absent: the service has no waypoint. */
  readonly waypoint?: string;
  /** The callers that policies name, and the other callers. */
  readonly callers: readonly JudgedCaller[];
  /** The verdict about a further caller. */
  verdict(caller: GraphCaller): CallVerdict;
}

const MODES = { STRICT: "strict", PERMISSIVE: "permissive", DISABLE: "none" } as const;
const IDENTITY: Readonly<Record<ServiceTls, PolicySurroundings["identity"]>> = {
  strict: "always",
  permissive: "maybe",
  mixed: "maybe",
  none: "never",
  outside: "never",
};
const OPEN: CallVerdict = { result: "allowed", conditions: [], causes: [] };
const ANYONE: GraphCaller = { kind: "anyone" };

/** Policies that hold together. The lists are shared between workloads with the same policies. */
type PolicyList = readonly AuthorizationPolicy[];

/** The guards of all services. Services with the same policies share the verdicts. */
export class ServiceGuards {
  readonly #mesh: Mesh;
  readonly #judged = new Map<PolicyList, Map<string, readonly JudgedCaller[]>>();
  readonly #bare = new Map<string, PolicyWorkload>();

  constructor(mesh: Mesh) {
    this.#mesh = mesh;
  }

  /** The guards of a service. */
  of(service: Service): ServiceGuard {
    if (service.meshExternal) {
      return { tls: "outside", callers: [{ caller: ANYONE, verdict: OPEN }], verdict: () => OPEN };
    }
    const { tls, lists } = this.#workloads(service);
    const around: PolicySurroundings = { mesh: this.#mesh.config, identity: IDENTITY[tls] };
    const waypoint = this.#mesh.waypointOf(service);
    if (waypoint === undefined) {
      const verdict = (caller: GraphCaller) => together(lists.map((list) => judge(list, caller, around)));
      const [only] = lists;
      const callers = lists.length === 1 && only !== undefined
        ? this.#shared(only, around)
        : this.#all(lists, around, verdict);
      return { tls, callers, verdict };
    }
    return { tls, waypoint, ...this.#behind(waypoint, service, lists, around) };
  }

  /** A waypoint judges the caller; the workloads see the waypoint as the caller. */
  #behind(waypoint: string, service: Service, lists: readonly PolicyList[], around: PolicySurroundings) {
    const { targets } = this.#mesh.waypoint(waypoint);
    const [namespace = ""] = waypoint.split("/");
    const ofWaypoint = [...targets, ...serviceTargets(service)];
    const list = this.#mesh.authorizationPolicies.of({ namespace, labels: {}, ofWaypoint });
    const passes = this.#passes(waypoint, lists, around);
    // Tunnels and waypoints always speak mutual TLS.
    const proven: PolicySurroundings = { ...around, identity: "always" };
    const verdict = (caller: GraphCaller) => inTurn(judge(list, caller, proven), passes);
    return { callers: this.#all([list], proven, verdict), verdict };
  }

  /** Whether the workloads take connections of their waypoint. */
  #passes(waypoint: string, lists: readonly PolicyList[], around: PolicySurroundings): CallVerdict {
    if (lists.every((list) => list.length === 0)) return OPEN;
    const host = this.#mesh.waypointHost(waypoint);
    const found = host === undefined ? undefined : this.#mesh.services.of(host)[0];
    const accounts = found === undefined ? [] : this.#mesh.identities(found).accounts;
    if (accounts.length === 0) {
      const causes = lists.flatMap((list) => list.map(({ key }) => key));
      return { result: "conditional", conditions: ["identity of the waypoint"], causes };
    }
    const proven: PolicySurroundings = { ...around, identity: "always" };
    return together(accounts.flatMap((text) => {
      const caller = callerOfAccount(text);
      return lists.map((list) => judge(list, caller, proven));
    }));
  }

  #shared(list: PolicyList, around: PolicySurroundings): readonly JudgedCaller[] {
    return this.#judged.getOrInsertComputed(list, () => new Map<string, readonly JudgedCaller[]>())
      .getOrInsertComputed(around.identity, () => this.#all([list], around, (caller) => judge(list, caller, around)));
  }

  #all(
    lists: readonly PolicyList[],
    { mesh }: PolicySurroundings,
    verdict: (caller: GraphCaller) => CallVerdict,
  ): readonly JudgedCaller[] {
    const named = new Map<string, GraphCaller>();
    for (const list of lists) {
      for (const caller of namedCallers(list, mesh)) named.set(`${caller.kind} ${callerName(caller)}`, caller);
    }
    return [...named.values(), ANYONE].map((caller) => ({ caller, verdict: verdict(caller) }));
  }

  /** Mutual TLS at the workloads, and the distinct lists of their policies. */
  #workloads(service: Service): { readonly tls: ServiceTls; readonly lists: readonly PolicyList[] } {
    const { peerAuthentications, authorizationPolicies } = this.#mesh;
    const modes = new Set<ServiceTls>();
    const lists = new Set<PolicyList>();
    const seen = new Set<object>();
    for (const endpoint of this.#mesh.endpoints(service)) {
      const mode = MODES[peerTlsModeOf(peerAuthentications.of(endpoint), endpoint.port)];
      // A tunnel offers mutual TLS whatever its workload asks for.
      modes.add(mode === "none" && isHboneEndpoint(endpoint) ? "permissive" : mode);
      if (seen.has(endpoint.labels)) continue;
      seen.add(endpoint.labels);
      lists.add(authorizationPolicies.of(endpoint));
    }
    if (lists.size === 0) {
      const { namespace } = service;
      const bare = this.#bare.getOrInsertComputed(namespace, () => ({ namespace, labels: {} }));
      modes.add(MODES[peerAuthentications.of(bare).mode]);
      lists.add(authorizationPolicies.of(bare));
    }
    const [only = "mixed"] = modes;
    return { tls: modes.size === 1 ? only : "mixed", lists: [...lists] };
  }
}

/** The caller of `ns/NAMESPACE/sa/ACCOUNT`. */
export function callerOfAccount(text: string): GraphCaller {
  const [, namespace = "", , account = ""] = text.split("/");
  return { kind: "identity", namespace, account };
}

/** The verdict about connections to any of several workloads. */
function together(verdicts: readonly CallVerdict[]): CallVerdict {
  const [first = OPEN, ...others] = verdicts;
  if (others.every(({ result }) => result === first.result && result !== "conditional")) {
    return { ...first, causes: unique(verdicts.flatMap(({ causes }) => causes)) };
  }
  const differ = others.some(({ result }) => result !== first.result);
  return {
    result: "conditional",
    conditions: unique([...verdicts.flatMap(({ conditions }) => conditions), ...differ ? ["workload"] : []]),
    causes: unique(verdicts.flatMap(({ causes }) => causes)),
  };
}

/** The verdict about connections that pass two places. */
function inTurn(first: CallVerdict, second: CallVerdict): CallVerdict {
  for (const one of [first, second]) if (one.result === "denied") return one;
  return {
    result: first.result === "allowed" && second.result === "allowed" ? "allowed" : "conditional",
    conditions: unique([...first.conditions, ...second.conditions]),
    causes: unique([...first.causes, ...second.causes]),
  };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
