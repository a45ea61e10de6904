/**
 * The service graph: who may call whom and how, from configuration alone.
 *
 *     mesh ─> guards, visibility, routes ─> an arrow for each caller and service ─> nodes and edges
 *                                              (namespaces stand for their services, unless one is opened)
 *
 * Callers that no policy names are a single node, "any workload": otherwise an open mesh of 300 services would have
 * 90,000 edges. An edge with `except` is not for the namespaces that do not see its services.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import { type Service, type ServiceKey, serviceKey } from "../registry/types.ts";
import { callerName, type GraphCaller } from "./caller.ts";
import { type GraphEdge, GraphEdges } from "./edges.ts";
import { callerOfAccount, type JudgedCaller, type ServiceGuard, ServiceGuards, type ServiceTls } from "./guard.ts";
import { type Entrance, entrances, type RoutedPart, routedParts } from "./routes.ts";
import type { CallVerdict } from "./verdict.ts";
import { type Seers, sees, Visibility } from "./visibility.ts";

/** A node of the graph. */
export interface GraphNode {
  readonly id: string;
  readonly kind:
    | ("anyone" | "namespace" | "service" | "identity" | "pattern" | "gateway" | "waypoint" | "host")
    /** A workload with measured traffic that belongs to no service. */
    | "workload";
  readonly name: string;
  /** Of a service, an identity or a gateway: its namespace. */
  readonly namespace?: string;
  /** Of a namespace: the number of its services. */
  readonly services?: number;
  /** The number of services by mutual TLS. */
  readonly tls?: Readonly<Partial<Record<ServiceTls, number>>>;
  /** Of a service: where its own traffic goes, such as `v1 90 %`. */
  readonly shares?: readonly string[];
  /** Of a gateway: the identities of its workloads, `ns/NAMESPACE/sa/ACCOUNT`. */
  readonly accounts?: readonly string[];
}

/** Nodes and edges, sorted. */
export interface ServiceGraph {
  /** The opened namespace; absent: every namespace is a single node. */
  readonly opened?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What the graph is made of. */
export interface GraphSources {
  readonly mesh: Mesh;
  readonly gateways: readonly ConfigObject<"Gateway">[];
}

const ANYONE = "anyone";
const NO_GATEWAY: ReadonlySet<string> = new Set();

/** The graph. @param opened the namespace whose services are shown one by one */
export function serviceGraph({ mesh, gateways }: GraphSources, opened?: string): ServiceGraph {
  return new Drawing(mesh, gateways, opened).graph();
}

class Drawing {
  readonly #mesh: Mesh;
  readonly #opened: string | undefined;
  readonly #services: readonly Service[];
  readonly #entrances: ReadonlyMap<string, Entrance>;
  readonly #guards: ServiceGuards;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #tls = new Map<string, Partial<Record<ServiceTls, number>>>();
  readonly #edges = new GraphEdges();

  constructor(mesh: Mesh, gateways: readonly ConfigObject<"Gateway">[], opened: string | undefined) {
    this.#mesh = mesh;
    this.#opened = opened;
    this.#services = [...mesh.services.all()];
    this.#entrances = entrances(mesh, gateways, this.#services);
    this.#guards = new ServiceGuards(mesh);
  }

  graph(): ServiceGraph {
    const namespaces = [...new Set(this.#services.map(({ namespace }) => namespace))].sort();
    const visibility = new Visibility(this.#mesh, namespaces);
    for (const service of this.#services) this.#drawService(service, visibility.of(service));
    for (const part of routedParts(this.#mesh)) this.#drawRoute(part);
    const edges = this.#edges.all();
    const used = new Set(edges.flatMap(({ from, to }) => [from, to]));
    const opened = this.#opened;
    // With an opened namespace the nodes without a part in its traffic are left out.
    const nodes = [...this.#nodes.values()].filter(({ id, namespace }) =>
      opened === undefined || namespace === opened || used.has(id)
    );
    const sorted = nodes.map((node) => this.#complete(node, edges)).sort((a, b) => a.id < b.id ? -1 : 1);
    return { ...opened === undefined ? {} : { opened }, nodes: sorted, edges };
  }

  #complete(node: GraphNode, edges: readonly GraphEdge[]): GraphNode {
    const tls = this.#tls.get(node.id);
    const counts = Object.values(tls ?? {});
    const own = node.kind === "service" ? edges.find(({ from, to }) => from === node.id && to === node.id) : undefined;
    return {
      ...node,
      ...node.kind === "namespace" && counts.length > 0
        ? { services: counts.reduce((sum, count) => sum + count, 0) }
        : {},
      ...tls === undefined ? {} : { tls },
      ...own?.shares === undefined ? {} : { shares: own.shares },
    };
  }

  #drawService(service: Service, seers: Seers): void {
    const guard = this.#guards.of(service);
    const to = this.#serviceNode(service);
    const tls = this.#tls.getOrInsertComputed(to, () => ({}));
    tls[guard.tls] = (tls[guard.tls] ?? 0) + 1;
    for (const judged of guard.callers) this.#drawCaller(judged, to, seers);
    if (guard.waypoint !== undefined && this.#isOpen(service.namespace)) {
      const from = this.#node({ id: `waypoint ${guard.waypoint}`, kind: "waypoint", name: guard.waypoint });
      this.#edges.add({ from, to, kind: "entrance" }, OPEN);
    }
  }

  #drawCaller({ caller, verdict }: JudgedCaller, to: string, seers: Seers): void {
    if (caller.kind !== "anyone") {
      const isHidden = caller.kind !== "pattern" && !sees(seers, caller.namespace);
      return this.#drawCall(this.#callerNode(caller), to, verdict, { isHidden });
    }
    // An absent edge says that other callers are refused.
    if (verdict.result === "denied") return;
    if ("allBut" in seers) return this.#drawCall(this.#callerNode(caller), to, verdict, { except: seers.allBut });
    for (const namespace of seers.only) {
      this.#drawCall(this.#callerNode({ kind: "namespace", namespace }), to, verdict, {});
    }
  }

  #drawCall(
    from: string,
    to: string,
    verdict: CallVerdict,
    more: { readonly isHidden?: boolean; readonly except?: readonly string[] },
  ): void {
    if (this.#concerns(from, to)) this.#edges.add({ from, to, kind: "call" }, verdict, more);
  }

  #drawRoute({ from, namespace, to, share, isConditional, cause }: RoutedPart): void {
    const target = this.#mesh.services.visible(to, namespace);
    const end = target === undefined ? this.#hostNode(to) : this.#serviceNode(target);
    if ("gateway" in from) {
      const entrance = this.#entrances.get(from.gateway);
      const name = entrance?.name ?? from.gateway;
      const start = this.#node({
        id: `gateway ${name}`,
        kind: "gateway",
        name,
        namespace: name.slice(0, name.indexOf("/")),
        accounts: [...entrance?.accounts ?? []].sort(),
      });
      const verdict = this.#ofEntrance(entrance?.accounts ?? NO_GATEWAY, target, { isConditional, cause });
      if (this.#concerns(start, end)) this.#edges.add({ from: start, to: end, kind: "entrance" }, verdict, { share });
      return;
    }
    const source = this.#mesh.services.visible(from.host, namespace);
    const start = source === undefined ? this.#hostNode(from.host) : this.#serviceNode(source);
    if (this.#concerns(start, end)) {
      this.#edges.add({ from: start, to: end, kind: "route" }, routeVerdict({ isConditional, cause }), { share });
    }
  }

  /** Whether the policies of a service let a gateway in. */
  #ofEntrance(
    accounts: ReadonlySet<string>,
    target: Service | undefined,
    rule: { readonly isConditional: boolean; readonly cause: string },
  ): CallVerdict {
    const route = routeVerdict(rule);
    if (target === undefined) return route;
    const guard: ServiceGuard = this.#guards.of(target);
    const callers: readonly GraphCaller[] = accounts.size === 0
      ? [{ kind: "anyone" }]
      : [...accounts].map(callerOfAccount);
    const verdicts = callers.map((caller) => guard.verdict(caller));
    const worst = verdicts.find(({ result }) => result === "denied") ??
      verdicts.find(({ result }) => result === "conditional");
    if (worst === undefined) return route;
    return { ...worst, conditions: [...worst.conditions, ...route.conditions], causes: [rule.cause, ...worst.causes] };
  }

  /** Whether an edge is part of what was asked for. */
  #concerns(from: string, to: string): boolean {
    const opened = this.#opened;
    return opened === undefined || this.#nodes.get(from)?.namespace === opened ||
      this.#nodes.get(to)?.namespace === opened;
  }

  #isOpen(namespace: string): boolean {
    return namespace === this.#opened;
  }

  #serviceNode(service: Service): string {
    const { namespace, hostname } = service;
    if (!this.#isOpen(namespace)) return this.#namespaceNode(namespace);
    const key: ServiceKey = serviceKey(service);
    return this.#node({ id: `service ${key}`, kind: "service", name: hostname, namespace });
  }

  #namespaceNode(namespace: string): string {
    return this.#node({ id: `namespace ${namespace}`, kind: "namespace", name: namespace });
  }

  #hostNode(host: string): string {
    return this.#node({ id: `host ${host}`, kind: "host", name: host });
  }

  #callerNode(caller: GraphCaller): string {
    const name = callerName(caller);
    if (caller.kind === "anyone") return this.#node({ id: ANYONE, kind: ANYONE, name });
    if (caller.kind === "pattern") return this.#node({ id: `pattern ${name}`, kind: "pattern", name });
    const { namespace } = caller;
    if (caller.kind === "namespace" || !this.#isOpen(namespace)) {
      // The opened namespace as a caller stands beside its services.
      return this.#isOpen(namespace)
        ? this.#node({ id: `namespace ${namespace}`, kind: "namespace", name: namespace, namespace })
        : this.#namespaceNode(namespace);
    }
    return this.#node({ id: `identity ${name}`, kind: "identity", name, namespace });
  }

  #node(node: GraphNode): string {
    if (!this.#nodes.has(node.id)) this.#nodes.set(node.id, node);
    return node.id;
  }
}

const OPEN: CallVerdict = { result: "allowed", conditions: [], causes: [] };

function routeVerdict(
  { isConditional, cause }: { readonly isConditional: boolean; readonly cause: string },
): CallVerdict {
  return isConditional
    ? { result: "conditional", conditions: ["match of the route"], causes: [cause] }
    : { result: "allowed", conditions: [], causes: [cause] };
}
