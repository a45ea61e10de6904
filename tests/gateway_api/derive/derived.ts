/**
 * The Gateway and VirtualService that would be derived for the routes of one listener.
 *
 * @module
 */
import { objectFromSpec } from "../../../lib/config/object.ts";
import type { AnyConfigObject, Kind, SpecOf } from "../../../lib/config/types.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import { GATEWAY_SEMANTICS, merged, type RouteRules } from "../../../lib/gateway_api/derive/rules.ts";
import { inFile } from "../../config/origins.ts";

/** The listener of the routes. */
export interface ListenerHead {
  /** Default: 80. */
  readonly port?: number;
}

/** The objects. The Gateway is for workloads with the label `edge`. Mistakes throw. */
export function derivedObjects(routes: readonly RouteRules[], { port = 80 }: ListenerHead): AnyConfigObject[] {
  const hosts = ["shop.example.com"];
  const servers = [{ port: { number: port, protocol: "HTTP", name: "http" }, hosts }];
  return [
    derived("Gateway", "gw-http", { selector: { edge: "yes" }, servers }),
    derived("VirtualService", "gw-http-shop", {
      hosts,
      gateways: ["edge/gw-http"],
      http: merged(routes),
      internal: GATEWAY_SEMANTICS,
    }),
  ];
}

function derived<K extends Kind>(kind: K, name: string, spec: SpecOf<K>): AnyConfigObject {
  const meta = { name, namespace: "edge", labels: {}, annotations: {}, creationTimestamp: 0 };
  const { object, findings } = objectFromSpec(kind, meta, spec, inFile("derived.yaml"));
  if (object === undefined) throw new Error(findings.map(formatFinding).join("\n"));
  return object as AnyConfigObject;
}
