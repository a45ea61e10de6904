/**
 * A service of the orchestrator in the terms of registries.
 *
 * @module
 */
import type { Fact, ServicePortData } from "../../config/facts/types.ts";
import { canBeService, canonicalIp, isIp } from "../address.ts";
import type { StandIn } from "../allocation/stand_ins.ts";
import type { Labels } from "../labels.ts";
import { portProtocol } from "../protocol.ts";
import { SHARED_DOMAIN } from "../shared_domain.ts";
import { distributionOf } from "../traffic_distribution.ts";
import { type Service, type ServiceKey, serviceKey, type ServicePort } from "../types.ts";
import type { OrchRegistryOptions } from "./options.ts";
import { externalNameOf, standInAddresses, writtenAddresses } from "./stand_in.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

/** A service with the facts that only the registry needs of it. */
export interface OrchService {
  /** `namespace/name`. */
  readonly id: string;
  readonly key: ServiceKey;
  readonly namespace: string;
  /** Absent: it has no pods of its own choice. */
  readonly selector?: Labels;
  readonly service: Service;
  /** Its ports as they are written, in the order of those of `service`. */
  readonly ports: readonly ServicePortData[];
  /** It has addresses of both families. */
  readonly dualStack: boolean;
  /** Its endpoints drain when they end, for sessions that stick to them. */
  readonly sticky: boolean;
}

const EXPORT_TO = "networking.mesh.io/exportTo";
const DISTRIBUTION = "networking.mesh.io/traffic-distribution";
const ACCOUNTS = "alpha.mesh.io/kubernetes-serviceaccounts";
const IDENTITIES = "alpha.mesh.io/canonical-serviceaccounts";

/**
 * @param home The object of its namespace, whose annotations hold where the service has none.
 * @param standIn The address that stands in for the one that an API server would give it; undefined: it needs none.
 */
export function convertService(
  fact: Fact<"Service">,
  home: Fact<"Namespace"> | undefined,
  options: OrchRegistryOptions,
  standIn: StandIn | undefined,
): OrchService {
  const { meta: { namespace, name, labels, annotations, creationTimestamp }, spec } = fact;
  const hostname = hostnameOf(fact, options);
  const externalName = externalNameOf(spec);
  const headless = spec.clusterIPs.includes("None");
  const placed: Pick<Service, "addresses" | "oneFamily"> = standIn === undefined
    ? { addresses: writtenAddresses(spec) }
    : standInAddresses(spec, standIn);
  const distribution = distributionOf(
    spec.trafficDistribution,
    annotations[DISTRIBUTION] || home?.meta.annotations[DISTRIBUTION],
  );
  const service: Service = {
    hostname,
    namespace,
    name,
    provider: "Orch",
    ports: spec.ports.map(convertPort),
    ...placed,
    resolution: headless && externalName === undefined ? "passthrough" : "static",
    meshExternal: externalName !== undefined,
    exportTo: commaList(annotations[EXPORT_TO] ?? ""),
    labels,
    subjectAltNames: identities(namespace, annotations, options.trustDomain()),
    headless,
    ...(externalName === undefined ? {} : { externalName }),
    ...(distribution === undefined ? {} : { trafficDistribution: distribution }),
    ...(spec.internalTrafficPolicy === "Local" ? { nodeLocal: true } : {}),
    ...(spec.publishNotReadyAddresses ? { publishNotReadyAddresses: true } : {}),
    creationTimestamp,
    cause: fact.key,
  };
  const selects = Object.keys(spec.selector).length > 0 && externalName === undefined;
  return {
    id: `${namespace}/${name}`,
    key: serviceKey(service),
    namespace,
    ...(selects ? { selector: spec.selector } : {}),
    service,
    ports: spec.ports,
    dualStack: !placed.oneFamily && placed.addresses.filter(isIp).length > 1,
    sticky: options.stickyLabels.some((label) => label !== "" && !!labels[label]),
  };
}

/** `name.namespace.svc.DOMAIN`. */
export function hostnameOf(
  { meta: { namespace, name } }: Fact<"Service">,
  { domain }: Pick<OrchRegistryOptions, "domain">,
): string {
  return `${name}.${namespace}.svc.${domain}`.toLowerCase();
}

/** `name.namespace.svc.clusterset.local`. @param id `namespace/name` */
export function sharedHostname(id: string): string {
  const [namespace = "", name = ""] = id.split("/");
  return `${name}.${namespace}.svc.${SHARED_DOMAIN}`.toLowerCase();
}

/** Key of a service under the name that it has in all clusters. @param id `namespace/name` */
export function sharedKey(id: string): ServiceKey {
  const [namespace = ""] = id.split("/");
  return serviceKey({ namespace, hostname: sharedHostname(id) });
}

/**
 * An imported service: that of its name, wherever it runs, at the addresses of the import; undefined: it has none yet, or is
 * headless, so that clients have no way to dial it. No API server looks at these addresses, as it does at a Service's.
 */
export function importedService(
  { key, meta: { namespace, name, creationTimestamp }, spec: { ips } }: Fact<"ServiceImport">,
  { domain }: Pick<OrchRegistryOptions, "domain">,
): Service | undefined {
  const addresses = [...new Set(ips.filter(canBeService).map(canonicalIp))];
  if (addresses.length === 0) return undefined;
  const hostname = `${name}.${namespace}.svc.${domain}`.toLowerCase();
  return {
    ...{ hostname: sharedHostname(`${namespace}/${name}`), namespace, name, provider: "Orch", addresses },
    ...{ ports: [], resolution: "static", meshExternal: false, exportTo: [], labels: {}, subjectAltNames: [] },
    ...{ headless: false, creationTimestamp, cause: key, importOf: serviceKey({ namespace, hostname }) },
  };
}

function convertPort({ name, port, protocol, appProtocol, targetPort }: ServicePortData): ServicePort {
  return {
    name,
    port,
    ...(typeof targetPort === "number" && targetPort > 0 ? { targetPort } : {}),
    protocol: portProtocol({ name, port, transport: protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }),
  };
}

function identities(namespace: string, annotations: Labels, trustDomain: string): readonly string[] {
  const accounts = commaList(annotations[ACCOUNTS] ?? "").map((name) =>
    `spiffe://${trustDomain}/ns/${namespace}/sa/${name}`
  );
  return [...new Set([...commaList(annotations[IDENTITIES] ?? ""), ...accounts])];
}
