/**
 * Routes whose parent is a Service or ServiceEntry: routes for the clients of the service.
 *
 * @module
 */
import type { ParentReference } from "../../config/kinds/kinds.ts";
import { coversHost } from "./hostnames.ts";
import { NETWORKING_GROUPS, serviceBehindHost, serviceNamed } from "./services.ts";
import type { ApiRoute, AttachOptions, AttachReader, RouteAtParent } from "./types.ts";
import { fails, faultText, holds } from "./verdicts.ts";

/** Kinds of routes that may have a service as parent. */
const MESH_ROUTES: readonly string[] = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"];

/** A service that routes may name as a parent. */
interface ParentService {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
}

/**
 * A route at a service; undefined: the parent is of another kind.
 *
 * @param field Path of the reference from the spec of the route.
 */
export function attachToService(
  route: ApiRoute,
  { group, kind, namespace = route.meta.namespace, name, port, sectionName }: ParentReference,
  field: string,
  { read, options }: { readonly read: AttachReader; readonly options: AttachOptions },
): Pick<RouteAtParent, "accepted" | "fault" | "mesh"> | undefined {
  const isService = group === "" && kind === "Service";
  const isEntry = NETWORKING_GROUPS.includes(group) && kind === "ServiceEntry";
  if (!isService && !isEntry) return undefined;
  const parent = isService ? ofService(namespace, name, read, options) : ofEntry(namespace, name, read);
  const refuse = (reason: string, part: string, value: unknown, expected: string) => {
    const fault = { field: `${field}.${part}`, value, expected };
    return { accepted: fails(reason, faultText(fault)), fault };
  };
  if (parent === undefined) {
    return refuse("NoMatchingParent", "name", name, `a ${kind} that exists (${namespace}/${name} does not)`);
  }
  if (!MESH_ROUTES.includes(route.kind)) {
    return refuse("NotAllowedByListeners", "kind", kind, `a Gateway or ListenerSet for a ${route.kind}`);
  }
  if (sectionName !== undefined) {
    return refuse("NoMatchingParent", "sectionName", sectionName, `no sectionName for a ${kind}; port chooses a port`);
  }
  if (port !== undefined && !parent.ports.includes(port)) {
    const known = parent.ports.length === 0 ? "there is none" : parent.ports.join(", ");
    return refuse("NoMatchingParent", "port", port, `a port of ${kind} ${namespace}/${name} (${known})`);
  }
  // A route for the clients of all namespaces must not be a route for another namespace's Service.
  const hosts = namespace === route.meta.namespace
    ? parent.hosts.filter((host) => !meansOthers(host, namespace, options))
    : parent.hosts;
  if (hosts.length === 0) {
    return refuse("NoMatchingParent", "name", name, `a ${kind} with a host that is no Service of another namespace`);
  }
  return {
    accepted: holds("Accepted", "clients of the service use the route"),
    mesh: {
      hosts,
      ...(port === undefined ? {} : { port }),
      ...(namespace === route.meta.namespace ? {} : { consumers: route.meta.namespace }),
    },
  };
}

/** Whether a host means, or covers, Services of other namespaces. */
function meansOthers(host: string, namespace: string, options: AttachOptions): boolean {
  const lower = host.toLowerCase();
  const service = serviceBehindHost(lower, options);
  return service === undefined ? coversHost(lower, `*.svc.${options.domain}`) : service.namespace !== namespace;
}

function ofService(
  namespace: string,
  name: string,
  read: AttachReader,
  options: AttachOptions,
): ParentService | undefined {
  const found = serviceNamed({ namespace, name }, read, options);
  return found && { hosts: [found.host], ports: (found.ports ?? []).map(({ number }) => number) };
}

function ofEntry(namespace: string, name: string, read: AttachReader): ParentService | undefined {
  const found = read.object("ServiceEntry", namespace, name);
  return found && { hosts: found.spec.hosts, ports: (found.spec.ports ?? []).map(({ number }) => number) };
}
