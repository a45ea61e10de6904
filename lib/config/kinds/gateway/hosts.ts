/**
 * The hosts of a Gateway's servers.
 *
 * @module
 */
import type { ConfigObject } from "../../types.ts";
import type { GatewayServerSpec } from "./schema.ts";

/** A host of a server, and the namespace whose objects may be bound to the host. */
export interface ServerHost {
  /** A namespace, or `*`: any. */
  readonly namespace: string;
  /** Lower case; `*` and `*.example.com` are wildcards. */
  readonly host: string;
}

/**
 * Hosts of a server: `host` and `*\/host` of any namespace, `./host` of the object's own namespace, `ns/host` of
 * namespace `ns`.
 */
export function serverHosts(server: GatewayServerSpec, namespace: string): ServerHost[] {
  return server.hosts.map((text) => {
    const lower = text.toLowerCase();
    const slash = lower.indexOf("/");
    if (slash < 0) return { namespace: "*", host: lower };
    const written = lower.slice(0, slash);
    return { namespace: written === "." ? namespace : written, host: lower.slice(slash + 1) };
  });
}

/** The hosts of servers that pass connections on by the name in clients' requests (`AUTO_PASSTHROUGH`), as written. */
export function passedHosts({ meta, spec }: ConfigObject<"Gateway">): ServerHost[] {
  const passing = spec.servers.filter(({ tls }) => tls?.mode === "AUTO_PASSTHROUGH");
  return passing.flatMap((server) => serverHosts(server, meta.namespace));
}
