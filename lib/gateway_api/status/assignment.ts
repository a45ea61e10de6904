/**
 * Addresses of a Gateway, and whether the services in front of its proxies serve.
 *
 * @module
 */
import { isIpAddress } from "../../config/validation/network.ts";
import type { ConditionVerdict, GatewayView } from "../attach/types.ts";
import { fails, holds, joined, REMOTE_PROGRAMMED } from "../attach/verdicts.ts";
import type { ProgressSum } from "../../status/progress.ts";

/** The present state of a service in front of the proxies of a Gateway. */
export interface GatewayService {
  /** Full host name. */
  readonly host: string;
  readonly namespace: string;
  /** Ports of the service. */
  readonly ports: readonly ServicePortState[];
  /** Addresses from outside: of the load balancer, external IPs, the external name. */
  readonly external: readonly string[];
  /** Virtual addresses. */
  readonly internal: readonly string[];
  /** Whether the service still waits for the address of a load balancer. */
  readonly isPending: boolean;
}

/** A port of a service. */
export interface ServicePortState {
  readonly port: number;
  /** Port of the workloads, if it is known. */
  readonly targetPort?: number;
  readonly hasEndpoints: boolean;
}

/** The present state of the services and proxies of a Gateway. */
export interface GatewayRuntime {
  /** The existing services of the Gateway's addressing. */
  readonly services: readonly GatewayService[];
  /** What the Gateway's connected proxies have of this version of its listeners. */
  readonly proxies: ProgressSum;
}

/** An address of a status. */
export interface StatusAddress {
  readonly type: "IPAddress" | "Hostname";
  readonly value: string;
}

/** The addresses, and whether the services serve. */
export interface AssignedGateway {
  readonly addresses: readonly StatusAddress[];
  readonly verdict: ConditionVerdict;
}

/** Most addresses of a status. */
const MOST_ADDRESSES = 16;

/** The addresses of a Gateway, and whether its services serve. */
export function assignedAddresses(view: GatewayView, { services }: Pick<GatewayRuntime, "services">): AssignedGateway {
  const { addressing, gateway } = view;
  if (addressing.by === "remote") {
    const addresses = (gateway.spec.addresses ?? []).flatMap(({ type = "IPAddress", value }) =>
      value && (type === "IPAddress" || type === "Hostname") ? [{ type, value } as const] : []
    );
    return { addresses, verdict: REMOTE_PROGRAMMED };
  }
  const hosts = addressing.by === "managed" ? [addressing.host] : addressing.hosts;
  const ports = [...new Set(view.listeners.filter(({ serves }) => serves).map(({ spec }) => spec.port))];
  const judged = hosts.map((host) => judgeHost(host, ports, gateway.meta.namespace, services));
  const good = judged.flatMap((one) => one.service && one.fault === undefined ? [one.service] : []);
  const addresses = good.flatMap((service) => addressesOf(service, view)).slice(0, MOST_ADDRESSES);
  const faults = [
    ...missingAddresses(view, addresses, judged),
    ...judged.flatMap(({ fault }) => fault === undefined ? [] : [fault]),
  ];
  const [first] = faults;
  if (first !== undefined) {
    return { addresses, verdict: fails(first.reason, joined(faults.map(({ message }) => message))) };
  }
  const places = good.flatMap(({ host }) => ports.map((port) => `${host}:${port}`)).join(" and ");
  return { addresses, verdict: holds("Programmed", `served at ${places}`) };
}

interface HostFault {
  readonly reason: "AddressNotAssigned" | "AddressNotUsable";
  readonly message: string;
}

interface JudgedHost {
  readonly service?: GatewayService;
  readonly fault?: HostFault;
}

function judgeHost(
  host: string,
  ports: readonly number[],
  namespace: string,
  services: readonly GatewayService[],
): JudgedHost {
  const service = services.find((one) => one.host === host);
  const notUsable = (message: string): JudgedHost => ({ fault: { reason: "AddressNotUsable", message } });
  if (service === undefined) return notUsable(`service ${host} does not exist`);
  if (service.namespace !== namespace) {
    const expected = `namespace ${namespace}, the namespace of the Gateway`;
    return notUsable(`service ${host} is in namespace ${service.namespace}, expected ${expected}`);
  }
  for (const port of ports) {
    const found = service.ports.find((one) => one.port === port);
    if (found === undefined) return notUsable(portText(port, service));
    if (!found.hasEndpoints) {
      const message = `service ${host} has no ready endpoint at port ${port}`;
      return { service, fault: { reason: "AddressNotAssigned", message } };
    }
  }
  if (!service.isPending) return { service };
  return {
    service,
    fault: { reason: "AddressNotAssigned", message: `service ${host} has no address of a load balancer yet` },
  };
}

function portText(port: number, { host, ports }: GatewayService): string {
  const meant = ports.find(({ targetPort }) => targetPort === port);
  const hint = meant === undefined ? "" : ` (port ${meant.port} leads to port ${port} of the workloads)`;
  return `a listener has port ${port}, expected a port of service ${host}: ${
    ports.map((one) => one.port).join(", ")
  }${hint}`;
}

/** The addresses of a service: from outside, else of the cluster as the class or the Gateway's annotation says. */
function addressesOf(service: GatewayService, { gateway, role }: GatewayView): StatusAddress[] {
  if (service.external.length > 0) return service.external.map(statusAddress);
  const wanted = gateway.meta.annotations["networking.mesh.io/address-type"];
  const names: readonly StatusAddress[] = [{ type: "Hostname", value: service.host }];
  const ips = service.internal.map(statusAddress);
  if (wanted === "IPAddress") return ips;
  if (wanted === "Hostname" || role === "gateway") return [...names];
  return [...ips, ...names];
}

function statusAddress(value: string): StatusAddress {
  return { type: isIpAddress(value) ? "IPAddress" : "Hostname", value };
}

/**
 * Requested IP addresses that the service does not have. A pending service may still get the one requested address, but
 * a service never gets several.
 */
function missingAddresses(
  { gateway, addressing }: GatewayView,
  addresses: readonly StatusAddress[],
  judged: readonly JudgedHost[],
): HostFault[] {
  if (addressing.by !== "managed") return [];
  const requested = (gateway.spec.addresses ?? []).flatMap(({ type = "IPAddress", value }) =>
    type === "IPAddress" && value ? [value] : []
  );
  const [service] = judged;
  if (service?.service === undefined || (service.fault !== undefined && requested.length < 2)) return [];
  const missing = requested.filter((value) => !addresses.some((one) => one.value === value));
  return missing.map((value) => ({
    reason: "AddressNotUsable",
    message: `addresses: "${value}", expected an address that the service of the Gateway has`,
  }));
}
