/**
 * The connection managers of inbound ports. Workloads with the same policies share everything but names and routes.
 *
 * @module
 */
import type { Finding } from "../../../finding/finding.ts";
import type { Protocol } from "../../../registry/types.ts";
import { Authorization } from "../../authorization/authorization.ts";
import { tokenFilters } from "../../filters/http/jwt_authn/filter.ts";
import type { InboundTarget } from "../../inbound/target.ts";
import type { Reader } from "../../reader/reader.ts";
import { listenerKind } from "../../service/protocol.ts";
import type { ManagerOptions } from "../http_connection_manager.ts";
import { type ManagerTemplate, managerTemplate } from "../manager_template.ts";

/** Differences between connection managers of a workload, beside names and routes. */
export interface ManagerShape {
  /** Port at the workload; 0: any. */
  readonly port: number;
  readonly grpcWeb: boolean;
  /** Connections came by HBONE. */
  readonly hbone?: true;
}

/** A connection manager of inbound ports. */
export interface InboundManager {
  /** Absent: a policy needs a filter that the proxy's build lacks, so the port must be closed. */
  readonly template?: ManagerTemplate;
  /** Parts of the policies that are not in force as written. */
  readonly findings: readonly Finding[];
}

/** Connection managers by the name of their shape. */
export type InboundManagers = ReadonlyMap<string, InboundManager>;

/** No shared managers: each chain makes its own. */
export const NO_MANAGERS: InboundManagers = new Map();

/** A port is closed if its connection manager could not be built. */
export const CLOSED_MANAGER: InboundManager = { findings: [] };

/** The shape for a port. */
export function managerShape(
  { port, protocol, hbone }: { readonly port: number; readonly protocol: Protocol; readonly hbone?: true },
): ManagerShape {
  const shape = { port, grpcWeb: protocol === "GRPC-Web" };
  return hbone ? { ...shape, hbone } : shape;
}

/** A unique name of a shape. */
export function shapeName({ port, grpcWeb, hbone }: ManagerShape): string {
  return `${port}${grpcWeb ? " gRPC-Web" : ""}${hbone ? " HBONE" : ""}`;
}

/** Shapes of the ports that carry requests, or may. */
export function managerShapes(targets: readonly InboundTarget[]): ManagerShape[] {
  return targets.filter(({ servicePort }) => listenerKind(servicePort.protocol) !== "tcp")
    .map(({ port, servicePort }) => managerShape({ port, protocol: servicePort.protocol }));
}

/** The connection manager of a shape. */
export function inboundManager(read: Reader, shape: ManagerShape): InboundManager {
  const authorization = new Authorization(read);
  const options = inboundManagerOptions(read, shape, authorization);
  return {
    ...(options ? { template: managerTemplate(read, options) } : {}),
    findings: authorization.findings(),
  };
}

/** Undefined when a policy needs a filter that the proxy's build lacks. */
export function inboundManagerOptions(
  read: Reader,
  shape: ManagerShape,
  { http }: Authorization,
): ManagerOptions | undefined {
  const authentication = tokenFilters(read);
  if ("closed" in http || authentication === undefined) return undefined;
  return { direction: "inbound", ...shape, slots: { ...http.slots, authentication } };
}
