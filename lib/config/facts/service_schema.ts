/**
 * How services and endpoints of an orchestrator are read.
 *
 * @module
 */
import * as z from "zod";
import { ownLabels } from "../spelling/spelling.ts";
import { defined, fields, integer, listOf, mapOf, optional, text, textOr, texts } from "./foreign_schema.ts";
import type { NodeData } from "./types.ts";
import type {
  EndpointData,
  EndpointPortData,
  EndpointsData,
  EndpointSliceData,
  ServiceData,
  ServiceImportData,
} from "./service_data.ts";
import { FAMILY_POLICIES, IP_FAMILIES, untoldFamilies } from "./ip_families.ts";
import { SERVICE_LABEL } from "./usual_endpoints.ts";

const trueOrFalse = z.boolean({ error: "true or false" });

const portOrName = z.union([integer, text], { error: "a port number or name" });

const servicePort = fields({
  name: textOr(""),
  port: integer,
  protocol: textOr("TCP"),
  appProtocol: optional(text),
  targetPort: optional(portOrName),
  nodePort: optional(integer),
}, "a port").transform(({ name, port, protocol, ...rest }) => ({ name, port, protocol, ...defined(rest) }));

const ingress = fields({ ip: optional(text), hostname: optional(text) }, "an address");

/** Kind `Service`, in every spelling. */
export const service = fields({
  spec: fields({
    type: textOr("ClusterIP"),
    clusterIP: textOr(""),
    clusterIPs: texts,
    ipFamilies: listOf(z.enum(IP_FAMILIES, { error: "IPv4 or IPv6" }), "a list of IPv4 and IPv6"),
    ipFamilyPolicy: optional(z.enum(FAMILY_POLICIES, { error: FAMILY_POLICIES.join(", ") })),
    externalIPs: texts,
    externalName: optional(text),
    selector: mapOf(text),
    ports: listOf(servicePort, "a list of ports"),
    publishNotReadyAddresses: optional(trueOrFalse),
    trafficDistribution: optional(text),
    internalTrafficPolicy: optional(text),
  }),
  status: optional(fields({ loadBalancer: optional(fields({ ingress: listOf(ingress, "a list of addresses") })) })),
}).transform(({ spec, status }): ServiceData => {
  const { type, clusterIP, clusterIPs, externalIPs, externalName, selector, ports } = spec;
  const { publishNotReadyAddresses, trafficDistribution, internalTrafficPolicy } = spec;
  const written = clusterIPs.length > 0 || clusterIP === "" ? clusterIPs : [clusterIP];
  return {
    type,
    clusterIPs: written,
    ...defined({ families: untoldFamilies(written, spec.ipFamilies, spec.ipFamilyPolicy) }),
    externalIPs,
    ...(externalName === undefined ? {} : { externalName }),
    selector: ownLabels(selector),
    ports,
    loadBalancers: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []),
    ...(publishNotReadyAddresses === true ? { publishNotReadyAddresses } : {}),
    ...defined({ trafficDistribution, internalTrafficPolicy }),
  };
});

const endpointPort = fields({
  name: textOr(""),
  port: optional(integer),
  protocol: textOr("TCP"),
  appProtocol: optional(text),
}, "a port").transform(({ name, port, protocol, appProtocol }): EndpointPortData => ({
  name,
  protocol,
  ...defined({ port, appProtocol }),
}));

const endpointPorts = listOf(endpointPort, "a list of ports");

const targetRef = optional(fields({ kind: textOr(""), name: textOr("") }));

function podOf(target: z.output<typeof targetRef>): string | undefined {
  return target?.kind === "Pod" && target.name !== "" ? target.name : undefined;
}

const address = fields({ ip: text, nodeName: optional(text), targetRef }, "an address");

const addresses = listOf(address, "a list of addresses");

function endpointsOf(written: z.output<typeof addresses>, ready: boolean): EndpointsData["subsets"][0]["endpoints"] {
  return written.map(({ ip, nodeName, targetRef }) => ({
    addresses: [ip],
    ready,
    ...defined({ nodeName, pod: podOf(targetRef) }),
  }));
}

/** Kind `Endpoints`. */
export const endpoints = fields({
  subsets: listOf(fields({ addresses, notReadyAddresses: addresses, ports: endpointPorts }), "a list of subsets"),
}).transform(({ subsets }): EndpointsData => ({
  subsets: subsets.map(({ addresses, notReadyAddresses, ports }) => ({
    endpoints: [...endpointsOf(addresses, true), ...endpointsOf(notReadyAddresses, false)],
    ports,
  })),
}));

const nodeAddress = fields({ type: textOr(""), address: textOr("") }, "an address");

/** Kind `Node`. */
export const node = fields({
  status: optional(fields({ addresses: listOf(nodeAddress, "a list of addresses") })),
}).transform(({ status }): NodeData => {
  const found = (status?.addresses ?? []).filter(({ type, address }) => type === "ExternalIP" && address !== "");
  return found.length === 0 ? {} : { externalAddresses: found.map(({ address }) => address) };
});

/** Kind `ServiceImport`. */
export const serviceImport = fields({
  spec: optional(fields({ type: textOr("ClusterSetIP"), ips: texts })),
}).transform(({ spec }): ServiceImportData => ({ ips: spec?.type === "ClusterSetIP" ? spec.ips.toSorted() : [] }));

const sliceEndpoint = fields({
  addresses: z.array(text, { error: "a list of addresses" }).min(1, { error: "at least one address" }),
  conditions: optional(fields({
    ready: optional(trueOrFalse),
    serving: optional(trueOrFalse),
    terminating: optional(trueOrFalse),
  })),
  nodeName: optional(text),
  zone: optional(text),
  targetRef,
}, "an endpoint").transform(({ addresses, conditions, nodeName, zone, targetRef }): EndpointData => ({
  addresses,
  // Endpoints without this field are ready.
  ready: conditions?.ready ?? true,
  ...defined({ serving: conditions?.serving, terminating: conditions?.terminating }),
  ...defined({ nodeName, zone, pod: podOf(targetRef) }),
}));

/** Kind `EndpointSlice`, in every spelling. */
export const endpointSlice = fields({
  metadata: fields({ labels: optional(z.record(z.string(), z.unknown())) }),
  addressType: textOr("IPv4"),
  endpoints: listOf(sliceEndpoint, "a list of endpoints"),
  ports: endpointPorts,
}).transform(({ metadata, addressType, endpoints, ports }): EndpointSliceData => ({
  service: String(metadata.labels?.[SERVICE_LABEL] ?? ""),
  addressType,
  endpoints,
  ports,
}));
