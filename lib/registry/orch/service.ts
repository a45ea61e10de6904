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
import { EXPORT_TO_ANNOTATION } from "../../config/spelling/spelling.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

/** A service with facts only for the registry. */
export interface OrchService {
  /** `namespace/name`. */
  readonly id: string;
  readonly key: ServiceKey;
  readonly namespace: string;
  /** Absent: the service selects no pods. */
  readonly selector?: Labels;
  readonly service: Service;
  /** The ports as written, in the order of `service.ports`. */
  readonly ports: readonly ServicePortData[];
  /** The service has addresses of both families. */
  readonly dualStack: boolean;
  /** Ending endpoints drain, for sticky sessions. */
  readonly sticky: boolean;
}

const DISTRIBUTION = "networking.mesh.io/traffic-distribution";
const ACCOUNTS = "alpha.mesh.io/kubernetes-serviceaccounts";
const IDENTITIES = "alpha.mesh.io/canonical-serviceaccounts";

/**
 * @param home The object of the service's namespace. The namespace's annotations hold if the service lacks them.
 * @param standIn The stand-in for an API server's address; undefined: not needed.
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
    exportTo: commaList(annotations[EXPORT_TO_ANNOTATION] ?? ""),
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

/** Key of a service under its host of all clusters. @param id `namespace/name` */
export function sharedKey(id: string): ServiceKey {
  const [namespace = ""] = id.split("/");
  return serviceKey({ namespace, hostname: sharedHostname(id) });
}

/**
 * An imported service: the service with the import's name, in any cluster, at the import's addresses. Undefined: the
 * import has no address yet, or is headless, so that clients cannot dial the service. Unlike a Service's addresses, no
 * API server checks these addresses.
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
