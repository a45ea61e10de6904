/**
 * Contributions of listeners for tests.
 *
 * @module
 */
import fc from "fast-check";
import type { Protocol } from "../../../lib/registry/types.ts";
import type { ListenerContribution } from "../../../lib/translate/listener/contribution.ts";
import { listenerKind } from "../../../lib/translate/service/protocol.ts";

/** A contribution at all addresses (`0.0.0.0_80`), where HTTP is sniffed. */
export function everywhere(
  hostname: string,
  protocol: Protocol,
  given: Partial<ListenerContribution> = {},
): ListenerContribution {
  const kind = listenerKind(protocol)!;
  const proxy = { statPrefix: hostname, clusters: [{ name: `outbound|80||${hostname}`, weight: 1 }] };
  return {
    key: "0.0.0.0_80",
    binds: ["0.0.0.0"],
    port: 80,
    bindToPort: false,
    kind,
    protocol,
    hostname,
    servicePort: 80,
    ...(kind === "tcp" ? {} : { routeName: "80", sniffed: true }),
    chains: kind === "http" ? [] : [{ sni: [], cidrs: [], proxy }],
    egress: 0,
    ownPort: false,
    created: 0,
    causes: [`ServiceEntry/default/${hostname}`],
    ...given,
  };
}

/** A contribution at loopback, where everything on an HTTP port is HTTP. */
export function loopback(
  hostname: string,
  protocol: Protocol,
  given: Partial<ListenerContribution> = {},
): ListenerContribution {
  const sniffed = protocol === "Unsupported";
  return everywhere(hostname, protocol, {
    key: "127.0.0.1_80",
    binds: ["127.0.0.1"],
    bindToPort: true,
    ...(listenerKind(protocol) === "tcp" ? {} : { sniffed }),
    ...given,
  });
}

const anyPart = fc.record({
  hostname: fc.constantFrom("a", "b", "c", "d", "e"),
  protocol: fc.constantFrom<Protocol>("HTTP", "GRPC-Web", "TCP", "TLS", "Unsupported", "MySQL"),
  created: fc.integer({ min: 0, max: 3 }),
  egress: fc.integer({ min: 0, max: 1 }),
  sni: fc.subarray(["a.com", "b.com", "*.c.com"]),
  cidrs: fc.subarray(["10.0.0.0/8", "10.1.2.3/8", "0.0.0.0/0", "2001:db8::/32"]),
}).map(({ hostname, protocol, created, egress, sni, cidrs }) => {
  const proxy = { statPrefix: hostname, clusters: [{ name: hostname, weight: 1 }] };
  const chains = listenerKind(protocol) === "http" ? [] : [{ sni: protocol === "TLS" ? sni : [], cidrs, proxy }];
  return everywhere(hostname, protocol, { created, egress, ownPort: egress === 0, chains });
});

/** A contribution per host and egress listener, as in builders. */
export const anyParts = fc.uniqueArray(anyPart, { maxLength: 8, selector: (p) => `${p.hostname}/${p.egress}` });
