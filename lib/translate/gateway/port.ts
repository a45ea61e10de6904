/**
 * From the port of a Gateway server to the proxy's listening port.
 *
 * Users write the port that clients dial at the gateway's service (80). The workload listens on the service's target
 * port (8080), which an unprivileged process may open.
 *
 * @module
 */
import type { ServiceTarget } from "../../registry/inbound.ts";

/** Label that turns port translation off for a service: servers name ports of the workload. */
export const NO_PORT_TRANSLATION_LABEL = "experimental.mesh.io/disable-gateway-port-translation";

/**
 * The listening port: the workload's port behind the first service port with the number, else the number itself.
 *
 * @param number Port of the server, 0 for a Unix socket.
 * @param targets Ports of the services that select the gateway's workload, by precedence of the service.
 */
export function listeningPort(
  number: number,
  targets: readonly ServiceTarget[],
  transport: "TCP" | "UDP" = "TCP",
): number {
  const found = targets.find(({ service, port, endpointPort }) =>
    port.port === number && (port.protocol === "UDP") === (transport === "UDP") && endpointPort > 0 &&
    !Object.hasOwn(service.labels, NO_PORT_TRANSLATION_LABEL)
  );
  return found?.endpointPort ?? number;
}
