/**
 * The ports of a workload for connections by HBONE: a listener that ends HBONE, and an internal listener with the
 * chains of all targets.
 *
 *     connect_terminate ── main_internal ─ port of a target     its cluster
 *                                        ├ ports of the proxy   nowhere
 *                                        └ any other port       passed through
 *
 * Mutual TLS ends in the first listener, so the chains are for plain connections in every mode of the port. Policies
 * read the client's identity from filter state.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { type Finding, lossOf } from "../../../finding/finding.ts";
import { Authorization } from "../../authorization/authorization.ts";
import { hboneListening } from "../../hbone/ability.ts";
import { HBONE_PORT, MAIN_INTERNAL } from "../../hbone/names.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import type { FileSecret } from "../../message/file_secret.ts";
import type { Reader } from "../../reader/reader.ts";
import { secretsOf } from "../../tls/secret_source.ts";
import { mainInternalListener } from "../hbone/main_internal.ts";
import { connectTerminateListener, type NamedConnect } from "../hbone/terminate.ts";
import { inboundFilterChains } from "./chain.ts";
import { closedChain, PASSED } from "./passthrough.ts";
import { targetChain } from "./target_chain.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** The listeners. Empty if the proxy accepts no HBONE. */
export interface HboneListeners {
  readonly listeners: readonly Listener[];
  readonly secrets: readonly FileSecret[];
  readonly findings: readonly Finding[];
}

/** @param served Targets with a port of their own. */
export function hboneListeners(read: Reader, served: readonly InboundTarget[]): HboneListeners {
  const listening = hboneListening(read);
  if (!listening.asked) return { listeners: [], secrets: [], findings: [] };
  if ("why" in listening) {
    const text = `the proxy asks for HBONE by ENABLE_HBONE, but cannot accept connections by HBONE: ${listening.why}`;
    return { listeners: [], secrets: [], findings: [lossOf("not-as-written", [], text)] };
  }
  const { identity } = listening;
  const admission = { addresses: "dialledAddress", named: namedConnects(read, served) } as const;
  return {
    listeners: [
      connectTerminateListener(read, identity, admission),
      mainInternalListener(read, internalChains(read, served)),
    ],
    secrets: secretsOf([identity.certificate, identity.authorities]),
    findings: [],
  };
}

/** Clients in other networks know only the names of services. A service of scope GLOBAL is known to such clients. */
function namedConnects(read: Reader, served: readonly InboundTarget[]): NamedConnect[] {
  if (!read.settings.multiNetwork) return [];
  const named = new Map<string, NamedConnect>();
  for (const { port: at, service, servicePort, otherPorts = [], fromSidecarIngress } of served) {
    const own = fromSidecarIngress || service === undefined
      ? []
      : [{ namespace: service.namespace, host: service.hostname, port: servicePort.port }];
    for (const { namespace, host, port } of [...own, ...otherPorts]) {
      if (read.isGlobalService(`${namespace}/${host}`)) named.getOrInsert(`${host}:${port}`, { host, port, at });
    }
  }
  return [...named.values()];
}

function internalChains(read: Reader, served: readonly InboundTarget[]): FilterChain[] {
  const authorization = new Authorization(read, { hbone: true });
  const own = [...new Set([HBONE_PORT, read.mesh().proxyInboundListenPort])].filter((port) => port > 0);
  const hbone = { mesh: undefined, hbone: true } as const;
  return [
    ...own.map((port) => closedChain(`${MAIN_INTERNAL}-blackhole-${port}`, port)),
    ...inboundFilterChains(read, { ...PASSED, hbone: true }, authorization),
    ...served.filter(({ port }) => !own.includes(port))
      .flatMap((target) => inboundFilterChains(read, targetChain(read, target, hbone), authorization)),
  ];
}
