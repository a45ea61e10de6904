/**
 * Services in the usual spelling of orchestrators, read without a schema. A server starts with thousands of services,
 * and zod takes 60 times as long, the kinds' schema language ten times (record 40).
 *
 * @module
 */
import { ownLabels } from "../spelling/spelling.ts";
import { FAMILY_POLICIES, type FamilyPolicy, IP_FAMILIES, untoldFamilies } from "./ip_families.ts";
import type { IpFamily, ServiceData, ServicePortData } from "./service_data.ts";
import {
  areTexts,
  eachUsual,
  isFields,
  isOptionalBoolean,
  isOptionalInteger,
  isOptionalText,
  isTextMap,
  NO_FIELDS,
} from "./usual_fields.ts";

/** The service; undefined: the schema must read the service, or report the mistakes. */
export function usualService(written: unknown): ServiceData | undefined {
  if (!isFields(written) || !isFields(written["spec"])) return undefined;
  const { spec, status = NO_FIELDS } = written as { readonly spec: typeof NO_FIELDS; readonly status?: unknown };
  const { type = "ClusterIP", clusterIP = "", clusterIPs = [], externalIPs = [], selector = NO_FIELDS } = spec;
  const { ipFamilies = [], ipFamilyPolicy } = spec;
  const { externalName, ports = [], publishNotReadyAddresses, trafficDistribution, internalTrafficPolicy } = spec;
  if (typeof type !== "string" || typeof clusterIP !== "string" || !isOptionalText(externalName)) return undefined;
  if (!areTexts(clusterIPs) || !areTexts(externalIPs) || !isTextMap(selector) || !Array.isArray(ports)) {
    return undefined;
  }
  if (!isOptionalBoolean(publishNotReadyAddresses)) return undefined;
  if (!isOptionalText(trafficDistribution) || !isOptionalText(internalTrafficPolicy)) return undefined;
  if (!areFamilies(ipFamilies) || !mayBePolicy(ipFamilyPolicy)) return undefined;
  const addresses = clusterIPs.length > 0 || clusterIP === "" ? clusterIPs : [clusterIP];
  const families = untoldFamilies(addresses, ipFamilies, ipFamilyPolicy);
  const loadBalancers = usualLoadBalancers(status);
  const read = eachUsual(ports, usualPort);
  if (loadBalancers === undefined || read === undefined) return undefined;
  return {
    type,
    clusterIPs: addresses,
    ...(families === undefined ? {} : { families }),
    externalIPs,
    ...(externalName === undefined ? {} : { externalName }),
    selector: ownLabels(selector),
    ports: read,
    loadBalancers,
    ...(publishNotReadyAddresses === true ? { publishNotReadyAddresses } : {}),
    ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
    ...(internalTrafficPolicy === undefined ? {} : { internalTrafficPolicy }),
  };
}

function areFamilies(written: unknown): written is readonly IpFamily[] {
  return areTexts(written) && written.every((one) => (IP_FAMILIES as readonly string[]).includes(one));
}

function mayBePolicy(written: unknown): written is FamilyPolicy | undefined {
  return isOptionalText(written) && (written === undefined || (FAMILY_POLICIES as readonly string[]).includes(written));
}

function usualPort(written: unknown): ServicePortData | undefined {
  if (!isFields(written)) return undefined;
  const { name = "", port, protocol = "TCP", appProtocol, targetPort, nodePort } = written;
  if (typeof name !== "string" || typeof protocol !== "string" || port === undefined) return undefined;
  if (!isOptionalInteger(port) || !isOptionalInteger(nodePort) || !isOptionalText(appProtocol)) return undefined;
  if (!isOptionalInteger(targetPort) && !isOptionalText(targetPort)) return undefined;
  const read: { -readonly [K in keyof ServicePortData]: ServicePortData[K] } = { name, port: port!, protocol };
  if (appProtocol !== undefined) read.appProtocol = appProtocol;
  if (targetPort !== undefined) read.targetPort = targetPort;
  if (nodePort !== undefined) read.nodePort = nodePort;
  return read;
}

function usualLoadBalancers(status: unknown): readonly string[] | undefined {
  if (!isFields(status)) return undefined;
  const { loadBalancer = NO_FIELDS } = status;
  if (!isFields(loadBalancer)) return undefined;
  const { ingress = [] } = loadBalancer;
  return Array.isArray(ingress) ? eachUsual(ingress, usualAddress)?.flat() : undefined;
}

function usualAddress(written: unknown): readonly string[] | undefined {
  if (!isFields(written)) return undefined;
  const { ip, hostname } = written;
  if (!isOptionalText(ip) || !isOptionalText(hostname)) return undefined;
  const address = ip ?? hostname;
  return address === undefined ? [] : [address];
}
