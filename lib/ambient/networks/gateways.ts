/**
 * Gateways into other networks: Gateways of the Gateway API with the label `topology.mesh.io/network` and a listener for
 * HBONE. A tunnel that reaches another network opens a tunnel to such a gateway, and in it a tunnel to the workload.
 *
 * @module
 */
import * as z from "zod";
import type { istio } from "../../../proto/gen/types.ts";
import type { ConfigObject } from "../../config/types.ts";
import { isIp } from "../../registry/address.ts";
import { NETWORK_LABEL } from "../../registry/labels.ts";
import { addressAlias, addressBytes, type AddressResource, GATEWAY_NAME, networkAddress } from "../addresses.ts";

type ApiGateway = ConfigObject<"ApiGateway">;

/** A gateway into a network. */
export interface TunnelGateway {
  readonly network: string;
  /** IP address or host name. */
  readonly address: string;
  /** Port of HBONE. */
  readonly port: number;
  /** The cluster of the Gateway. */
  readonly cluster: string;
  /** Key of the Gateway, if it belongs to the configuration of the own cluster. */
  readonly key?: string;
  readonly namespace: string;
  readonly name: string;
  /** The account that the gateway proves. */
  readonly account: string;
}

/** The cluster of a Gateway. */
export interface GatewayCluster {
  readonly id: string;
  /** Whether the server belongs to the cluster. */
  readonly isOwn: boolean;
  /** DNS suffix of services. */
  readonly domain: string;
}

const ACCOUNT = "gateway.mesh.io/service-account";

/** Classes and controllers by the two names of each: a Gateway describes a gateway, whoever serves its class. */
const REMOTE: ReadonlySet<string> = new Set([
  ...["mesh-remote", "istio-remote", "mesh.io/unmanaged-gateway", "istio.io/unmanaged-gateway"],
]);
const EAST_WEST: ReadonlySet<string> = new Set([
  ...["mesh-east-west", "istio-east-west", "mesh.io/eastwest-controller", "istio.io/eastwest-controller"],
]);

/** Most addresses of a Gateway that are read. An API server accepts 16. */
const MAX_ADDRESSES = 16;

const statusAddress = z.object({ type: z.string().default("IPAddress"), value: z.string().min(1).max(253) });
const status = z.object({ addresses: z.array(z.unknown()) });

type WrittenAddress = z.infer<typeof statusAddress>;

/**
 * The gateways of a Gateway, one for each address. A Gateway of the remote class names the addresses itself. A gateway
 * between networks has the addresses of its status; other clusters reach none that only its own cluster knows.
 *
 * @param controller The controller of the Gateway's class; undefined: the class has no object.
 */
export function networkGateways(
  gateway: ApiGateway,
  controller: string | undefined,
  { id, isOwn, domain }: GatewayCluster,
): TunnelGateway[] {
  const { key, meta: { namespace, name, labels, annotations }, spec } = gateway;
  const { gatewayClassName: className, listeners } = spec;
  const network = labels[NETWORK_LABEL];
  const port = listeners.find(({ protocol }) => protocol === "HBONE")?.port;
  if (!network || port === undefined) return [];
  const isOf = (classes: ReadonlySet<string>) => classes.has(controller ?? className);
  // What a remote cluster says about gateways of others is for that cluster.
  const isRemote = isOwn && isOf(REMOTE);
  if (!isRemote && !isOf(EAST_WEST)) return [];
  const account = annotations[ACCOUNT] || (isRemote ? `${name}-${className}` : name);
  const written = isRemote ? spec.addresses ?? [] : readStatus(gateway.status);
  const inCluster = `.svc.${domain}`;
  return written.flatMap(({ type = "IPAddress", value = "" }) => {
    const isName = type === "Hostname" && (isRemote || !value.endsWith(inCluster));
    if (value === "" || !(isName || type === "IPAddress" && isIp(value))) return [];
    return [{ network, address: value, port, cluster: id, ...isOwn ? { key } : {}, namespace, name, account }];
  });
}

/** Whether a Gateway describes a gateway of another network. @param controller as for {@linkcode networkGateways} */
export function isRemoteGateway({ spec }: ApiGateway, controller: string | undefined): boolean {
  return REMOTE.has(controller ?? spec.gatewayClassName);
}

function readStatus(written: unknown): readonly WrittenAddress[] {
  const rows = status.safeParse(written).data?.addresses.slice(0, MAX_ADDRESSES) ?? [];
  return rows.flatMap((row) => statusAddress.safeParse(row).data ?? []);
}

/** The field `network_gateway` of a workload behind a gateway. */
export function gatewayAddress({ network, address, port, namespace }: TunnelGateway): istio.workload.GatewayAddress {
  return isIp(address)
    ? { address: networkAddress(address, network), hbone_mtls_port: port }
    : { hostname: { namespace, hostname: address }, hbone_mtls_port: port };
}

/** Keys of the objects of configuration behind a gateway. */
export function gatewayCauses({ key }: TunnelGateway): readonly string[] {
  return key === undefined ? [] : [key];
}

/** The workload that stands for a gateway: tunnels take its identity, and find it by the address of a workload's gateway. */
export function gatewayWorkload(gateway: TunnelGateway, trustDomain: string): AddressResource {
  const { network, address, port, namespace, account } = gateway;
  const uid = `${GATEWAY_NAME}${network}/${address}/${port}`;
  const isAddress = isIp(address);
  return {
    name: uid,
    aliases: isAddress ? [addressAlias(network, addressBytes(address))] : [],
    message: {
      workload: {
        ...{ uid, name: uid, namespace, network, service_account: account },
        trust_domain: trustDomain === "cluster.local" ? "" : trustDomain,
        ...isAddress ? { addresses: [addressBytes(address)] } : { hostname: address },
      },
    },
    causes: gatewayCauses(gateway),
  };
}
