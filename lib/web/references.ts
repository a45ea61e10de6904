/**
 * The references of objects: gateways, hosts with their services and rules, delegates, and the selected workloads and
 * connected proxies.
 *
 * @module
 */
import type { AnyConfigObject, ConfigObject } from "../config/types.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { objectKey } from "../config/types.ts";
import type { DebugView } from "../debug/view.ts";
import { fullGateway, fullHost } from "../mesh/names.ts";
import { isSelecting, type SelectingObject, selectionOf } from "../mesh/selection/selection.ts";
import { type ObjectArrow, objectArrow } from "./arrow.ts";
import { gatewayApiReferences, type NamedReference, targetKey } from "./gateway_api_references.ts";
import { selectedBy, selects, workloadOf } from "./selected.ts";

/** The names in an object; the same list while the object is the same. */
const named = new WeakMap<ConfigObject, readonly NamedReference[]>();

/**
 * All arrows that begin or end at an object. The search reads every object, and for an object with a selector every
 * proxy.
 */
export function arrowsOf(key: string, view: DebugView): ObjectArrow[] {
  const hosts = definedHosts(view);
  const workload = view.store.list("WorkloadEntry").find((entry) => entry.key === key);
  const found: ObjectArrow[] = [];
  for (const kind of KINDS) {
    // A kind's list holds objects of that kind.
    for (const object of view.store.list(kind) as readonly AnyConfigObject[]) {
      for (const arrow of arrowsFrom(object, hosts, view)) {
        if (arrow.from === key || arrow.to === key) found.push(arrow);
      }
      if (object.key === key) found.push(...selectedBy(object, view));
      else if (workload !== undefined && selects(object, workloadOf(workload), view)) {
        found.push(objectArrow(object.key, key));
      }
    }
  }
  return found;
}

function arrowsFrom(object: AnyConfigObject, hosts: ReadonlyMap<string, readonly string[]>, view: DebugView) {
  const arrows = new Map<string, ObjectArrow>();
  const put = (to: string, missing: boolean) => {
    if (to !== object.key) arrows.set(to, objectArrow(object.key, to, missing));
  };
  for (const { sort, name } of namedBy(object, view)) {
    const objects = sort === "host" ? hosts.get(name) : [name];
    if (objects === undefined) put(name, true);
    for (const key of objects ?? []) put(key, sort === "object" && !exists(key, view));
  }
  return arrows.values();
}

function exists(key: string, { store }: DebugView): boolean {
  return store.at(key) !== undefined;
}

/** Objects about a host: the defining objects and the destination rules. */
function definedHosts(view: DebugView): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const { hostname, cause, otherCauses = [] } of view.services.services()) {
    hosts.set(hostname, [...hosts.get(hostname) ?? [], cause, ...otherCauses]);
  }
  for (const { key, spec, meta } of view.store.list("DestinationRule")) {
    const host = fullHost(spec.host, meta.namespace, view.domain);
    const there = hosts.get(host);
    // A rule defines no host.
    if (there !== undefined) there.push(key);
  }
  return hosts;
}

function namedBy(object: AnyConfigObject, view: DebugView): readonly NamedReference[] {
  let found = named.get(object);
  if (found === undefined) named.set(object, found = readReferences(object, view.domain));
  return found;
}

function readReferences(object: AnyConfigObject, domainSuffix: string): NamedReference[] {
  const { namespace } = object.meta;
  const host = (name: string): NamedReference => ({ sort: "host", name: fullHost(name, namespace, domainSuffix) });
  if (isSelecting(object.kind)) {
    const { targets } = selectionOf(object as SelectingObject);
    const named = targets.map(({ kind, name }): NamedReference => ({
      sort: "object",
      name: targetKey(kind, namespace, name),
    }));
    return object.kind === "Sidecar" ? [...named, ...sidecarReferences(object, host)] : named;
  }
  switch (object.kind) {
    case "VirtualService":
      return virtualServiceReferences(object, host);
    case "DestinationRule":
      return [host(object.spec.host)];
    default:
      return gatewayApiReferences(object, domainSuffix);
  }
}

function sidecarReferences(
  { spec }: ConfigObject<"Sidecar">,
  host: (name: string) => NamedReference,
): NamedReference[] {
  return (spec.egress ?? []).flatMap(({ hosts }) => hosts)
    .map((name) => name.slice(name.indexOf("/") + 1)).filter((name) => !name.startsWith("*")).map(host);
}

function virtualServiceReferences(
  { spec, meta: { namespace } }: ConfigObject<"VirtualService">,
  host: (name: string) => NamedReference,
): NamedReference[] {
  const { gateways = [], http = [], tls = [], tcp = [] } = spec;
  const routes = [...http, ...tls, ...tcp].flatMap(({ route = [] }) => route.map(({ destination }) => destination));
  const mirrors = http.flatMap((
    { mirror, mirrors = [] },
  ) => [mirror, ...mirrors.map(({ destination }) => destination)]);
  const destinations = [...routes, ...mirrors].flatMap((one) => one?.host ? [host(one.host)] : []);
  const delegates = http.flatMap(({ delegate }) =>
    delegate?.name ? [objectKey("VirtualService", delegate.namespace || namespace, delegate.name)] : []
  );
  const entrances = gateways.map((name) => fullGateway(name, namespace)).filter((name) => name.includes("/"))
    .map((name) => `Gateway/${name}`);
  const objects = [...delegates, ...entrances].map((name): NamedReference => ({ sort: "object", name }));
  return [...objects, ...destinations];
}
