/**
 * Routes for connections and datagrams as attachment resolves them.
 *
 * @module
 */
import type { ResolvedBackend } from "../../lib/gateway_api/attach/types.ts";
import type { AttachedBytesRoute, BytesRoute } from "../../lib/gateway_api/derive/bytes_rules.ts";

const NO_BACKEND = { field: "rules[0].backendRefs[0].name", value: "closed", expected: "a Service that exists" };

/** Further facts of a route. */
export interface GivenRoute {
  /** Smaller is older. */
  readonly age?: number;
  readonly name?: string;
  /** Default: any. */
  readonly hostnames?: readonly string[];
  /** Port of the backends. Default: 1. */
  readonly port?: number;
}

/**
 * A route to port 1 of hosts `NAME.svc`, with weights. A name with a dot is a whole host, and the name `closed` stands
 * for an unusable backend.
 */
export function attached(
  kind: BytesRoute["kind"],
  to: Readonly<Record<string, number>>,
  { age = 0, name = "r", hostnames = ["*"], port = 1 }: GivenRoute = {},
): AttachedBytesRoute {
  const backends = Object.entries(to).map(([name, weight]): ResolvedBackend =>
    name === "closed" ? { weight, reason: "BackendNotFound", fault: NO_BACKEND } : {
      host: name.includes(".") ? name : `${name}.svc`,
      port,
      weight,
      target: { kind: "Service", namespace: "edge", name },
    }
  );
  const meta = { namespace: "edge", name, creationTimestamp: age };
  return { route: { kind, meta } as BytesRoute, hostnames, resolved: { rules: [{ backends, mirrors: [] }] } };
}
