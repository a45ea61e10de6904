/**
 * The services to which backends, parents and addresses refer: Services of an orchestrator, hosts of ServiceEntries, and
 * ServiceImports.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import { apiGroupOfKind, EXPORT_TO_ANNOTATION } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { commaList } from "../../kernel/text/comma_list.ts";
import type { AttachOptions, AttachReader, KnownServiceKind, NamespacedName } from "./types.ts";

/** Groups of ServiceEntries and of references by host name, in both spellings. */
export const NETWORKING_GROUPS: readonly string[] = [
  apiGroupOfKind("ServiceEntry"),
  apiGroupOfKind("ServiceEntry", "istio.io"),
];

/** Port of a service. */
export interface NumberedPort {
  readonly number: number;
  readonly transport: "TCP" | "UDP" | "SCTP";
  /** Empty: no name. */
  readonly name: string;
}

/** A service that exists. */
export interface KnownService extends NamespacedName {
  readonly kind: KnownServiceKind;
  /** Full host name. */
  readonly host: string;
  /** Undefined: any port may exist. */
  readonly ports: readonly NumberedPort[] | undefined;
  /** Namespaces that see the service, as written: `*`, `.`, `~`, names. Empty: the mesh's default. */
  readonly exportTo: readonly string[];
  /** Namespace of the object with `exportTo`. */
  readonly home: string;
  /** Labels of the service's workloads; undefined: not said. */
  readonly selector: Readonly<Record<string, string>> | undefined;
}

/** Full host name of a Service. */
export function serviceHost({ namespace, name }: NamespacedName, domain: string): string {
  return `${name}.${namespace}.svc.${domain}`;
}

/** A Service by name; undefined: the Service does not exist. */
export function serviceNamed(
  at: NamespacedName,
  read: AttachReader,
  options: AttachOptions,
): KnownService | undefined {
  const host = serviceHost(at, options.domain);
  const fact = read.fact("Service", at.namespace, at.name);
  if (fact !== undefined) return ofFact(fact, host);
  if (!options.servicesFromEntries) return undefined;
  const entry = entryOfHost(host, read, { namespace: at.namespace });
  return entry && { ...ofEntry(entry, host), ...at, kind: "Service" };
}

/** The Service that a full host name means, whether it exists or not; undefined: a host outside of the cluster. */
export function serviceBehindHost(host: string, { domain }: Pick<AttachOptions, "domain">): NamespacedName | undefined {
  const [name = "", namespace = "", ...rest] = host.split(".");
  return rest.join(".") === `svc.${domain}` ? { namespace, name } : undefined;
}

/** Whose view of the services counts. */
export interface ServiceClients {
  readonly namespace: string;
  /** `defaultServiceExportTo` of the mesh. Absent: every namespace. */
  readonly defaultExportTo?: readonly string[];
}

/**
 * A service by full host name: a Service, or the ServiceEntry that clients get for the host. Only while clients see no
 * ServiceEntry with the host, a ServiceEntry that is hidden from them: it must not take the place of their own.
 */
export function serviceOfHost(
  host: string,
  clients: ServiceClients,
  read: AttachReader,
  options: AttachOptions,
): KnownService | undefined {
  const meant = serviceBehindHost(host, options);
  const found = meant && serviceNamed(meant, read, options);
  if (found !== undefined) return found;
  const entry = entryOfHost(host, read, clients);
  return entry && ofEntry(entry, host);
}

/** A service that all clusters of the set share; undefined: the service does not exist. */
export function importedService(
  at: NamespacedName,
  read: AttachReader,
  options: AttachOptions,
): KnownService | undefined {
  const known = serviceNamed(at, read, options);
  if (known === undefined) return undefined;
  return { ...known, kind: "ServiceImport", host: serviceHost(at, options.setDomain ?? options.domain) };
}

/**
 * Whether workloads of a namespace see a service.
 *
 * @param defaults `defaultServiceExportTo` of the mesh.
 */
export function isVisible(
  { exportTo, home }: Pick<KnownService, "exportTo" | "home">,
  namespace: string,
  defaults: readonly string[],
): boolean {
  const written = exportTo.length > 0 ? exportTo : defaults;
  if (written.length === 0 || written.includes("*")) return true;
  if (written.includes("~")) return false;
  return written.some((to) => (to === "." ? home : to) === namespace);
}

function ofFact({ meta: { namespace, name, annotations }, spec }: Fact<"Service">, host: string): KnownService {
  const ports = spec.ports.map(({ port, protocol, name }): NumberedPort => ({
    number: port,
    transport: protocol === "UDP" || protocol === "SCTP" ? protocol : "TCP",
    name,
  }));
  return {
    ...{ kind: "Service", namespace, name, host, ports, home: namespace },
    exportTo: commaList(annotations[EXPORT_TO_ANNOTATION] ?? ""),
    selector: Object.keys(spec.selector).length > 0 ? spec.selector : undefined,
  };
}

function ofEntry({ meta: { namespace, name }, spec }: ConfigObject<"ServiceEntry">, host: string): KnownService {
  const ports = (spec.ports ?? []).map(({ number, protocol, name }): NumberedPort => ({
    number,
    transport: protocol?.toUpperCase() === "UDP" ? "UDP" : "TCP",
    name,
  }));
  const { endpoints = [], workloadSelector, exportTo = [] } = spec;
  return {
    ...{ kind: "ServiceEntry", namespace, name, host, ports, exportTo, home: namespace },
    selector: workloadSelector?.labels ?? commonLabels(endpoints.map(({ labels = {} }) => labels)),
  };
}

/** The labels that all endpoints have; undefined: none. */
function commonLabels(
  [first, ...others]: readonly Readonly<Record<string, string>>[],
): Readonly<Record<string, string>> | undefined {
  const common = Object.entries(first ?? {}).filter(([key, value]) => others.every((labels) => labels[key] === value));
  return common.length === 0 ? undefined : Object.fromEntries(common);
}

/**
 * The ServiceEntries by host, the oldest first. A store gives one array until a ServiceEntry changes, so the work is done
 * once for all routes.
 */
const byHost = new WeakMap<readonly ConfigObject<"ServiceEntry">[], Map<string, ConfigObject<"ServiceEntry">[]>>();

/** The ServiceEntry of a host for clients: of their namespace, else visible, else any; the oldest. Undefined: none. */
function entryOfHost(
  host: string,
  read: AttachReader,
  { namespace, defaultExportTo = [] }: ServiceClients,
): ConfigObject<"ServiceEntry"> | undefined {
  const entries = read.objects("ServiceEntry");
  const found = byHost.getOrInsertComputed(entries, () => entriesByHost(entries)).get(host) ?? [];
  const isSeen = ({ meta, spec: { exportTo = [] } }: ConfigObject<"ServiceEntry">) =>
    isVisible({ exportTo, home: meta.namespace }, namespace, defaultExportTo);
  return found.find(({ meta }) => meta.namespace === namespace) ?? found.find(isSeen) ?? found[0];
}

function entriesByHost(entries: readonly ConfigObject<"ServiceEntry">[]): Map<string, ConfigObject<"ServiceEntry">[]> {
  const index = new Map<string, ConfigObject<"ServiceEntry">[]>();
  for (const entry of entries.toSorted((a, b) => a.meta.creationTimestamp - b.meta.creationTimestamp)) {
    for (const host of new Set(entry.spec.hosts)) index.getOrInsertComputed(host, () => []).push(entry);
  }
  return index;
}
