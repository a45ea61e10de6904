/**
 * A port of a workload, as input of its filter chains.
 *
 * @module
 */
import type { envoy } from "../../../../proto/gen/types.ts";
import { inboundClusterName, type InboundTarget } from "../../inbound/target.ts";
import { objectMetadata } from "../../message/object_metadata.ts";
import type { Reader } from "../../reader/reader.ts";
import { inboundRouteConfiguration } from "../../route/configuration.ts";
import { afterTlsTermination } from "../../service/protocol.ts";
import { type InboundChain, inboundStatPrefix, type MeshTls } from "./chain.ts";
import { hostOf, inboundName } from "./port.ts";

/** TLS on the port of a target. */
export interface TargetTls {
  readonly mesh: MeshTls | undefined;
  /** TLS of the Sidecar. */
  readonly tls?: envoy.config.core.v3.TransportSocket;
  /** Connections came by HBONE. */
  readonly hbone?: true;
}

/** The chain of a target. */
export function targetChain(read: Reader, target: InboundTarget, { mesh, tls, hbone }: TargetTls): InboundChain {
  const { servicePort, service, port } = target;
  const name = inboundName(read, target);
  const cluster = inboundClusterName(port);
  const facts = { host: hostOf(target), port: servicePort.port, portName: servicePort.name };
  return {
    name: { http: name, tcp: name },
    statPrefix: {
      http: `inbound_${name}`,
      tcp: inboundStatPrefix(read, cluster, service ? { ...facts, service } : facts),
    },
    port,
    protocol: tls ? afterTlsTermination(servicePort.protocol) : servicePort.protocol,
    cluster,
    routes: inboundRouteConfiguration(target, cluster),
    ...(tls ? { tls } : {}),
    ...(mesh ? { mesh } : {}),
    ...(hbone ? { hbone } : {}),
    ...(target.sidecar ? { metadata: objectMetadata(`Sidecar/${target.sidecar}`) } : {}),
  };
}
