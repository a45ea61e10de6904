/**
 * Services that are gateways of a network, and their addresses outside of the network.
 *
 * @module
 */
import * as z from "zod";
import type { Fact } from "../../config/facts/types.ts";
import { isEastWestPart, type Labels, NETWORK_LABEL } from "../labels.ts";
import type { NetworkEntrance } from "../types.ts";

const PORT_LABEL = "networking.mesh.io/gatewayPort";
const NODES_ANNOTATION = "traffic.mesh.io/nodeSelector";

/** Port of a network's gateway, unless its label names another port. */
const GATEWAY_PORT = 15443;
/** Port of a gateway between networks that takes HBONE. */
const HBONE_PORT = 15008;

/** A gateway named in the mesh networks by the host of its service. */
export type NamedGateway = Pick<NetworkEntrance, "network" | "port" | "hbone">;

/** Whether clients reach a service by addresses of nodes. */
export function needsNodes({ meta: { annotations }, spec: { type } }: Fact<"Service">): boolean {
  return type === "NodePort" && annotations[NODES_ANNOTATION] !== undefined;
}

/**
 * The entrances that a service provides.
 *
 * @param named Gateways for this service in the mesh networks; the service's own label comes first.
 * @param nodes All nodes; asked for only if {@linkcode needsNodes} says so.
 */
export function entrancesOf(
  fact: Fact<"Service">,
  named: readonly NamedGateway[],
  nodes: () => Iterable<Fact<"Node">>,
): readonly NetworkEntrance[] {
  const gateways = labelled(fact.meta.labels) ?? named;
  if (gateways.length === 0) return [];
  const { type, ports, loadBalancers, externalIPs } = fact.spec;
  const byNode = needsNodes(fact);
  const balanced = type === "LoadBalancer" ? loadBalancers : [];
  const addresses = [...balanced, ...externalIPs, ...byNode ? nodeAddresses(fact, nodes()) : []];
  const nodePort = (port: number) => byNode ? ports.find((one) => one.port === port)?.nodePort : undefined;
  return addresses.flatMap((address) =>
    gateways.map(({ port, ...gateway }) => ({ ...gateway, address, port: nodePort(port) ?? port }))
  );
}

function labelled(labels: Labels): readonly NamedGateway[] | undefined {
  const network = labels[NETWORK_LABEL];
  if (!network) return undefined;
  // The Service of a deployed gateway for HBONE has the labels of its Gateway.
  if (isEastWestPart(labels)) return [{ network, port: HBONE_PORT, hbone: true }];
  const port = Number(labels[PORT_LABEL]);
  return [{ network, port: Number.isInteger(port) && port > 0 && port < 65536 ? port : GATEWAY_PORT }];
}

const labelsText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "JSON" });
    return z.NEVER;
  }
}).pipe(z.record(z.string(), z.string()));

/** Addresses of the nodes with the annotation's labels; none if the annotation is not a JSON object. */
function nodeAddresses({ meta: { annotations } }: Fact<"Service">, nodes: Iterable<Fact<"Node">>): string[] {
  const wanted = labelsText.safeParse(annotations[NODES_ANNOTATION]);
  if (!wanted.success) return [];
  const labels = Object.entries(wanted.data);
  return [...nodes].filter(({ meta }) => labels.every(([key, value]) => meta.labels[key] === value))
    .flatMap(({ spec }) => spec.externalAddresses?.slice(0, 1) ?? []).toSorted();
}
