/**
 * A mesh of derived objects, as the engine of derivations makes them, seen by a proxy.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { DerivedObject } from "../../lib/config/derive/derivation.ts";
import { objectFromSpec } from "../../lib/config/object.ts";
import type { AnyConfigObject, ConfigObject } from "../../lib/config/types.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import type { AuthorityObject, ListenerTlsView, ListenerView } from "../../lib/gateway_api/attach/types.ts";
import {
  listenerGateway,
  type ServedListener,
  type ServingGateway,
} from "../../lib/gateway_api/derive/listener_gateway.ts";
import { inFile } from "../config/origins.ts";
import { type AskedReader, meshReader, type ReaderWorld } from "../translate/mesh_reader.ts";

/** What a test says about a listener of Gateway `edge/gw`. */
export interface GivenListener {
  readonly protocol: "HTTP" | "HTTPS" | "TLS" | "TCP" | "UDP" | "HBONE";
  readonly name?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly tls?: ListenerTlsView;
  readonly autoPassthrough?: boolean;
  readonly from?: "All" | "Same" | "Selector";
  /** Namespace of the ListenerSet with the listener. Default: the listener is the Gateway's own. */
  readonly set?: string;
}

/** The parts of a listener's view for derivations. */
export function listener(given: GivenListener): ServedListener {
  const { protocol, name = "gw-of-test", hostname, port = 8080, tls, autoPassthrough = false, from, set = "edge" } =
    given;
  const allowedRoutes = from && { namespaces: { from } };
  return {
    owner: { meta: { namespace: set } } as ListenerView["owner"],
    spec: { name: "l", port, protocol, ...(hostname && { hostname }), ...(allowedRoutes && { allowedRoutes }) },
    protocol,
    derived: { namespace: "edge", name },
    ...(tls && { tls }),
    autoPassthrough,
  };
}

/** TLS of a listener with a certificate from Secret `pki/web`. */
export function ends(given: Partial<ListenerTlsView> = {}): ListenerTlsView {
  const certificates = [{ namespace: "pki", name: "web" }];
  const none = { authorities: [], cipherSuites: [] };
  return { mode: "Terminate", certificateFrom: "secrets", certificates, clients: "none", ...none, ...given };
}

/** TLS of a listener that passes through. */
export const PASSES: ListenerTlsView = ends({ mode: "Passthrough", certificateFrom: "none", certificates: [] });

/** An object with authorities. */
export function authority(kind: AuthorityObject["kind"], namespace: string, name: string): AuthorityObject {
  return { kind, namespace, name };
}

/** Gateway `edge/gw`, which workloads with label `app: gw` serve. */
export const GATEWAY: ServingGateway = {
  gateway: {
    meta: { namespace: "edge", name: "gw", annotations: {} },
    origin: inFile("test"),
    spec: { gatewayClassName: "mesh" },
  } as ServingGateway["gateway"],
  role: "gateway",
  addressing: { by: "managed", service: { namespace: "edge", name: "gw" }, host: "gw.edge.svc", ignored: [] },
  workloads: { app: "gw" },
};

/** The derived Gateway of a listener. */
export function gatewayOf(given: GivenListener, more: Partial<ServingGateway> = {}): DerivedObject<"Gateway"> {
  const derived = listenerGateway({ ...GATEWAY, ...more }, listener(given));
  assert.ok(derived);
  made(derived);
  return derived;
}

/** Objects as the engine makes them. Findings fail the test: a derived object is always valid. */
export function made(...derived: readonly DerivedObject[]): AnyConfigObject[] {
  return derived.map(({ kind, meta, spec }) => {
    const origin = {
      from: "derived",
      source: "gateway-api",
      of: "ApiGateway/edge/gw",
      parent: inFile("test"),
    } as const;
    const whole = { labels: {}, annotations: {}, creationTimestamp: 0, ...meta };
    const { object, findings } = objectFromSpec(kind, whole, spec as ConfigObject["spec"], origin);
    assert.deepEqual(findings.map(formatFinding), []);
    return object as AnyConfigObject;
  });
}

/** The reader of a gateway workload of namespace `edge` with the label of the listeners. */
export function gatewayReader(objects: readonly AnyConfigObject[], world: ReaderWorld = {}): AskedReader {
  const properties = { type: "router" as const, namespace: "edge", labels: { app: "gw" }, agent: true };
  return meshReader({ ...world, properties: { ...properties, ...world.properties }, objects });
}
