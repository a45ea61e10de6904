/**
 * Cases of parity: an input, and the set of codes with objects in the findings of an analysis.
 * @module
 */

/** A case of parity. */
export interface ParityCase {
  /** The subject of Istio's analyzer of the codes. */
  readonly about: string;
  /** The codes of the case; findings with other codes are not compared. */
  readonly codes: readonly `MSH${string}`[];
  readonly input: readonly WrittenObject[];
  /** Mesh configuration. */
  readonly mesh?: Readonly<Record<string, unknown>>;
  /** `MSH0101 VirtualService shop/reviews`, each once. */
  readonly expected: readonly string[];
  /** A different verdict of Istio on such an input, and the reason for our verdict. */
  readonly differs?: string;
}

/** An object in written form; JSON is YAML. */
export interface WrittenObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [part: string]: unknown;
}

/** Of conflicts of two objects. */
export const ONE_FACT = "Istio reports two objects that exclude each other at both; ours once, at the younger";

const GROUPS: Readonly<Record<string, string>> = {
  AuthorizationPolicy: "security.istio.io/v1",
  RequestAuthentication: "security.istio.io/v1",
  Telemetry: "telemetry.istio.io/v1",
  EnvoyFilter: "networking.istio.io/v1alpha3",
  Deployment: "apps/v1",
  Namespace: "v1",
  Pod: "v1",
  Secret: "v1",
  Service: "v1",
};

/** Parts of an object beside its kind and name. */
type Parts = Readonly<Record<string, unknown>>;

/** An object with a spec. `name`: `namespace/name`, or the name alone for a Namespace. */
export function object(
  kind: string,
  name: string,
  spec: Parts = {},
  meta: Parts = {},
  more: Parts = {},
): WrittenObject {
  const [namespace, own] = name.includes("/") ? name.split("/") : [undefined, name];
  const metadata = { name: own, ...(namespace === undefined ? {} : { namespace }), ...meta };
  return { apiVersion: GROUPS[kind] ?? "networking.istio.io/v1", kind, metadata, spec, ...more };
}

/** A pod with labels. */
export function pod(name: string, labels: Parts = {}, meta: Parts = {}, spec: Parts = {}): WrittenObject {
  return object("Pod", name, { containers: [{ name: "app", image: "x" }], ...spec }, { labels, ...meta });
}

/** A Deployment with labels for its pods. */
export function deployment(name: string, labels: Parts, spec: Parts = {}, meta: Parts = {}): WrittenObject {
  const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "x" }], ...spec } };
  return object("Deployment", name, { selector: { matchLabels: labels }, template }, meta);
}

/** A Namespace with labels. */
export function namespace(name: string, labels: Parts = {}, annotations: Parts = {}): WrittenObject {
  return object("Namespace", name, {}, { labels, annotations });
}

/** A service of the orchestrator. */
export function service(name: string, ports: readonly Parts[], selector: Parts = {}, more: Parts = {}): WrittenObject {
  return object("Service", name, { ports, selector, ...more });
}

/** A service entry for a host, with one HTTP port and labelled endpoints. */
export function entry(name: string, host: string, labels: readonly Parts[] = [{}], more: Parts = {}): WrittenObject {
  return object("ServiceEntry", name, {
    hosts: [host],
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    resolution: "STATIC",
    endpoints: labels.map((one, at) => ({ address: `10.0.0.${at + 1}`, labels: one })),
    ...more,
  });
}

/** An HTTP route of a VirtualService to destinations. */
export function to(...hosts: readonly (string | Parts)[]): Parts {
  return { route: hosts.map((host) => ({ destination: typeof host === "string" ? { host } : host })) };
}

/** A VirtualService with HTTP rules. */
export function routes(
  name: string,
  hosts: readonly string[],
  http: readonly Parts[],
  more: Parts = {},
): WrittenObject {
  return object("VirtualService", name, { hosts, http, ...more });
}

/** A Gateway with a selector and a single server. */
export function gateway(
  name: string,
  selector: Parts,
  port: number,
  hosts: readonly string[],
  credentialName?: string,
): WrittenObject {
  const tls = credentialName === undefined ? {} : { tls: { mode: "SIMPLE", credentialName } };
  const protocol = credentialName === undefined ? "HTTP" : "HTTPS";
  return object("Gateway", name, {
    selector,
    servers: [{ port: { number: port, name: "p", protocol }, hosts, ...tls }],
  });
}
