/**
 * The description of a pod or of a service: which objects of the mesh concern it, and what they make of it.
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import type { Labels } from "../registry/labels.ts";
import type { NodeType } from "../translate/reader/proxy_profile.ts";

/** A port of a service, and the ports of workloads behind it. */
export interface DescribedPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  /** Ports of the workloads, ascending; empty: no workload is known. */
  readonly targets: readonly number[];
}

/** A subset of a destination rule. */
export interface DescribedSubset {
  readonly name: string;
  readonly labels: Labels;
  /** Whether the described pod is in the subset; absent: no pod is described. */
  readonly matches?: boolean;
  /** Endpoints of the service in the subset. */
  readonly endpoints: number;
}

/** A DestinationRule for a service. */
export interface DescribedRule {
  /** The object in its author's spelling: `DestinationRule/shop/reviews`. */
  readonly object: string;
  /** Whether clients of the service's namespace follow the rule. */
  readonly inForce: boolean;
  readonly subsets: readonly DescribedSubset[];
  /** The settings of its traffic policy: `tls ISTIO_MUTUAL`, `outlierDetection`. */
  readonly policy: readonly string[];
}

/** A destination of a route. */
export interface DescribedTarget {
  readonly host: string;
  readonly subset?: string;
  /** Part of the requests of the route, in percent; absent: all. */
  readonly percent?: number;
  /** Whether the destination is the described service. */
  readonly isHere: boolean;
  /** Whether requests of this destination may reach the described pod; absent: no pod, or another service. */
  readonly reachesPod?: boolean;
}

/** A route of a VirtualService, or of an object that became one. */
export interface DescribedRoute {
  readonly protocol: "http" | "tls" | "tcp";
  /** Name, or the position counted from 1. */
  readonly name: string;
  /** The condition in words; `every request` or `every connection`. */
  readonly when: string;
  readonly to: readonly DescribedTarget[];
  /** What is answered in place of a destination: `redirect`, `directResponse`. */
  readonly answers?: string;
}

/** Routes for a service. */
export interface DescribedRoutes {
  readonly object: string;
  readonly hosts: readonly string[];
  /** `mesh`, and gateways as `namespace/name`. */
  readonly gateways: readonly string[];
  /** Whether sidecars of the service's namespace follow the routes; absent: the routes are only for gateways. */
  readonly inForce?: boolean;
  readonly routes: readonly DescribedRoute[];
}

/** A Gateway that leads to a service, or that a pod serves. */
export interface DescribedGateway {
  readonly object: string;
  /** `HTTPS 443 for shop.example`. */
  readonly servers: readonly string[];
}

/** What a caller may do. */
export interface DescribedCaller {
  readonly caller: string;
  readonly result: "allowed" | "conditional" | "denied";
  readonly conditions: readonly string[];
}

/** The waypoint of a service. */
export interface DescribedWaypoint {
  /** `namespace/name`. */
  readonly name: string;
  /** Where connections of node tunnels go. */
  readonly way: "waypoint" | "direct" | "pods" | "closed";
  /** The way, and why the waypoint is not used. */
  readonly text: string;
}

/** A service with everything that decides about its traffic. */
export interface DescribedService {
  readonly host: string;
  readonly namespace: string;
  readonly object: string;
  readonly ports: readonly DescribedPort[];
  /** Absent: the service asks for no waypoint. */
  readonly waypoint?: DescribedWaypoint;
  readonly rules: readonly DescribedRule[];
  readonly routes: readonly DescribedRoutes[];
  /** The gateways by which routes lead to the service. */
  readonly gateways: readonly DescribedGateway[];
}

/** A policy for a workload or a service. */
export interface DescribedPolicy {
  readonly kind: string;
  readonly object: string;
  /** `root namespace`, `namespace`, `workload`, or `waypoint NAME`. */
  readonly level: string;
  /** What the policy does, in words. */
  readonly text: string;
}

/** Mutual TLS of a workload. */
export interface DescribedTls {
  readonly mode: "DISABLE" | "PERMISSIVE" | "STRICT";
  /** Modes of ports of the workload with a mode of their own. */
  readonly ports: Readonly<Record<string, string>>;
  /** The PeerAuthentication objects behind the modes; empty: the default of the mesh. */
  readonly objects: readonly string[];
}

/** What every description has. */
interface CommonDescription {
  /** Keys of all objects in the description, for their findings. */
  readonly keys: readonly string[];
  /** How the name was read, and what is not known, a sentence each. */
  readonly notes: readonly string[];
}

/** The description of a pod, or of another workload. */
export interface PodDescription extends CommonDescription {
  readonly pod: string;
  readonly type: NodeType;
  readonly address?: string;
  readonly account?: string;
  readonly labels: Labels;
  /** `9080 http (reviews)`: the ports that containers declare. */
  readonly containerPorts: readonly string[];
  /** The proxy beside the workload, in words. */
  readonly proxy: string;
  /** Ambient mode, in words; absent: the server knows no such pod. */
  readonly ambient?: string;
  readonly services: readonly DescribedService[];
  /** The Gateways that the pod serves. */
  readonly serves: readonly DescribedGateway[];
  /** Absent: a gateway, to which PeerAuthentication does not apply. */
  readonly tls?: DescribedTls;
  readonly policies: readonly DescribedPolicy[];
}

/** The description of a service. */
export interface MeshServiceDescription extends CommonDescription {
  readonly service: DescribedService;
  /** Addresses for clients. */
  readonly addresses: readonly string[];
  readonly endpoints: { readonly all: number; readonly healthy: number };
  /** The workloads behind it, `namespace/name`. */
  readonly workloads: readonly string[];
  /** Mutual TLS at its workloads: `strict`, `permissive`, `none`, `mixed`, `outside`. */
  readonly tls: string;
  readonly callers: readonly DescribedCaller[];
  readonly policies: readonly DescribedPolicy[];
}

/** A description with the findings about its objects. */
export type WithFindings<D extends PodDescription | MeshServiceDescription> = Omit<D, "keys"> & {
  readonly findings: readonly Finding[];
};
