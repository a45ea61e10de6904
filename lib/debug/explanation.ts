/**
 * The explanation of a request: the proxies on its way, their steps in the words of configuration, and the end.
 *
 * @module
 */
import type { Labels } from "../registry/labels.ts";
import type { SimulatedRequest, Simulation } from "../simulate/types.ts";
import type { NodeType } from "../translate/reader/proxy_profile.ts";

/** A place in a file. */
export interface FieldPlace {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, of the value; absent: not known. */
  readonly column?: number;
}

/** A proxy on the way. */
export interface ProxyOnWay {
  readonly type: NodeType;
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
  readonly labels: Labels;
  /** Node id. */
  readonly id: string;
  /** Service account of the workload; absent: not known. */
  readonly account?: string;
  /** Whether a proxy runs. False: texts say that no proxy runs beside the workload. Absent: not known. */
  readonly runs?: boolean;
}

/** A step in words for people. */
export interface ExplainedStep {
  readonly what: "listener" | "chain" | "routes" | "host" | "rule" | "rewrite" | "mirror" | "answer" | "cluster";
  /** Of the thing: `0.0.0.0_80`, `reviews`, `1 "beta"`, `v2`. */
  readonly name: string;
  /** Whether the rule matches; only for rules. */
  readonly matches?: boolean;
  /** The step in words, with its reason. */
  readonly text: string;
  /** Key of the nearest object behind the step. */
  readonly object?: string;
  /** Path of the field in the object. */
  readonly field?: string;
  /** The place of the field. */
  readonly place?: FieldPlace;
}

/** A proxy on the way, and its steps. */
export interface ExplainedHop {
  readonly proxy: ProxyOnWay;
  readonly direction: SimulatedRequest["direction"];
  readonly steps: readonly ExplainedStep[];
  /** The result of the simulator. */
  readonly simulation: Simulation;
}

/** How the way ends. */
export interface ExplainedEnd {
  readonly kind: Simulation["outcome"]["kind"];
  /** Status of an answer by a proxy itself. */
  readonly status?: number;
  /** `10.0.0.7:9080`, where an endpoint gets the request. */
  readonly endpoint?: string;
  /** A single sentence. */
  readonly text: string;
}

/** A share of requests: a way by the weights of their rule, or the way of copies. */
export interface ExplainedShare {
  /** 0 to 1: of the requests of the rule. */
  readonly share: number;
  /** Name of the cluster, as people read it: `v2 of reviews:80`. */
  readonly cluster: string;
  /** The proxy of the endpoint; absent: no proxy is known there, or no endpoint gets the request. */
  readonly hop?: ExplainedHop;
  readonly end: ExplainedEnd;
}

/** The way of a request. */
export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly authority: string;
    readonly path: string;
    /** Values by name in lower case, in the written order. */
    readonly headers: Readonly<Record<string, readonly string[]>>;
    readonly scheme: string;
    /** Address dialled by the client. */
    readonly destination: string;
    /** Key of the object behind the service with the host; absent: no service has the host. */
    readonly service?: string;
  };
  /**
   * The client's proxy, then the endpoint's proxy. Of several shares: the largest share that reaches an endpoint. A
   * workload without a proxy has no hop.
   */
  readonly hops: readonly ExplainedHop[];
  readonly end: ExplainedEnd;
  /**
   * All ways of divided requests, the largest share first. The way in `hops` is among them. Empty: all requests take
   * the same way.
   */
  readonly shares: readonly ExplainedShare[];
  /**
   * Copies of the request, in the order of the rule. `share` is the share of the rule's requests. Answers to copies are
   * thrown away.
   */
  readonly mirrors: readonly ExplainedShare[];
  /** Notes about how the question was read, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * The share whose way the explanation tells in full: the largest share that reaches an endpoint, or else the largest.
 */
export function mainShare(shares: readonly ExplainedShare[]): ExplainedShare | undefined {
  return shares.find(({ end }) => end.kind === "forwarded") ?? shares[0];
}

/** Whether every request is served: by an endpoint, or by a proxy with a status below 400. */
export function isServed({ end, shares }: Pick<Explanation, "end" | "shares">): boolean {
  return [end, ...shares.map((share) => share.end)].every(({ kind, status = 200 }) =>
    kind === "forwarded" || (kind === "answered" && status < 400)
  );
}
