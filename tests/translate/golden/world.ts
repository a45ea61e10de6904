/**
 * The resources of a golden's proxies, made as in the commands: texts in, resources of a proxy out.
 *
 * @module
 */
import type { MeshNetworks } from "../../../lib/config/mesh/types.ts";
import { parseMeshNetworks } from "../../../lib/config/mesh/parse.ts";
import { readSettings } from "../../../lib/kernel/settings/read.ts";
import { OfflineMesh } from "../../../lib/offline/offline_mesh.ts";
import { OnDemandResources } from "../../../lib/discovery/proxies/on_demand_resources.ts";
import type { EncodedResource } from "../../../lib/resource/encoded.ts";
import { InternedNames } from "../../../lib/resource/names.ts";
import type { ProxyState } from "../../../lib/translate/machine/per_proxy/proxy_state.ts";
import { TYPE } from "../../../lib/translate/encode/encode.ts";
import type { GoldenObject, GoldenProxy, GoldenSettings } from "./read.ts";
import { PROXY_ADDRESS } from "./read.ts";

/** Short names of resource types in goldens. */
const TYPES: Readonly<Record<string, string>> = {
  cluster: TYPE.cluster,
  endpoints: TYPE.assignment,
  listener: TYPE.listener,
  route: TYPE.route,
  secret: TYPE.secret,
  extension: TYPE.extension,
};

/** The resources of a proxy by `type/name`. */
export type Resources = ReadonlyMap<string, EncodedResource>;

/** A mesh of objects that proxies can join. */
export class GoldenWorld {
  readonly mesh: OfflineMesh;

  constructor(objects: readonly GoldenObject[], given: GoldenSettings) {
    const { tokenKeys } = given;
    this.mesh = new OfflineMesh({
      settings: readSettings("pilot-discovery", textsOf(given.settings ?? {})),
      domain: "cluster.local",
      meshConfig: JSON.stringify({ rootNamespace: "mesh-system", ...given.mesh }),
      hasMeshConfig: true,
      vhds: given.vhds ?? false,
      manifestServices: true,
      ...(given.networks ? { networks: networksOf(given.networks) } : {}),
      ...(tokenKeys ? { tokenKeys: { keysAt: (place) => tokenKeys[place], findings: () => [] } } : {}),
    });
    const encoder = new TextEncoder();
    const path = (at: number) => `${String(at).padStart(3, "0")}.json`;
    this.mesh.apply(objects.map((object, at) => ({ path: path(at), bytes: encoder.encode(JSON.stringify(object)) })));
  }

  /** The resources of a proxy. @throws the exception of a builder. */
  resourcesOf(proxy: GoldenProxy): Resources {
    const found = new Map<string, EncodedResource>();
    const state = this.join(proxy);
    const held = heldBy(state, proxy.calls ?? {});
    for (const [word, type] of Object.entries(TYPES)) {
      for (const set of held.resourceSets(type) ?? []) {
        for (const resource of set) {
          found.set(`${word}/${resource.name}`, resource);
          if (word === "route") addVirtualHosts(held, resource.name, found);
        }
      }
    }
    // Only agents that answer DNS ask for the table.
    if (state.proxy.asksNames) {
      for (const table of this.mesh.pipeline.translator.nameTable(state)) found.set("names/table", table);
    }
    return found;
  }

  /** The findings about the objects, each as its name, its object and the names in its message. The wording stays free. */
  findings(): string[] {
    return [
      ...new Set(
        this.mesh.findings().map(({ name, message, place: { objects: [object] } }) => {
          const of = object === undefined ? "" : ` of ${object.kind}/${object.namespace}/${object.name}`;
          return [`${name}${of}:`, ...namesIn(message)].join(" ");
        }),
      ),
    ];
  }

  /** The state of a proxy. */
  join({ type = "sidecar", namespace = "default", name = "app", address = PROXY_ADDRESS, ...node }: GoldenProxy) {
    const state = this.mesh.join({
      id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { NAMESPACE: namespace, LABELS: node.labels ?? {}, ...node.metadata },
      ...(node.extensions ? { extensions: node.extensions } : {}),
      ...(node.cluster === undefined ? {} : { cluster: node.cluster }),
    });
    const [failure] = this.mesh.failures;
    if (failure !== undefined) throw failure.error;
    return state;
  }
}

/** Hosts, addresses, ports, objects and fields of a message: words with a digit or a sign inside. */
function namesIn(message: string): string[] {
  const words = message.split(/[\s,;()"'{}]+/).map((word) => word.replace(/[.:]+$/, ""));
  return [...new Set(words.filter((word) => /[\d/|_*]|[^.]\.[^.]/.test(word)))];
}

/** What a proxy holds: of a sidecar that asks what its workload has called. */
type Held = Pick<ProxyState, "resourceSets" | "virtualHosts">;

function heldBy(state: ProxyState, calls: NonNullable<GoldenProxy["calls"]>): Held {
  if (!state.proxy.properties.onDemand) return state;
  const asked = new OnDemandResources(state);
  const questions = Object.entries(calls).flatMap(([route, hosts]) => hosts.map((host) => `${route}/${host}`));
  asked.wantHosts(new InternedNames().of(questions));
  for (const set of state.resourceSets(TYPE.route) ?? []) for (const { name } of set) asked.virtualHosts(name);
  const clusters = asked.clusters(state.resourceSets(TYPE.cluster) ?? []);
  const warmed = new Set(clusters.flatMap((set) => [...set]).flatMap(({ warms }) => warms));
  const endpoints = (state.resourceSets(TYPE.assignment) ?? []).map((set) =>
    set.table.from([...set].filter(({ name }) => warmed.has(name)))
  );
  return {
    resourceSets: (type) =>
      type === TYPE.cluster ? clusters : type === TYPE.assignment ? endpoints : state.resourceSets(type),
    virtualHosts: (route) => asked.virtualHosts(route),
  };
}

function addVirtualHosts(state: Held, route: string, found: Map<string, EncodedResource>): void {
  for (const set of state.virtualHosts(route)) {
    for (const resource of set) found.set(`virtualHost/${resource.name}`, resource);
  }
}

function networksOf(networks: Readonly<Record<string, unknown>>): MeshNetworks {
  const { value, findings } = parseMeshNetworks(JSON.stringify({ networks }));
  if (value === undefined) throw new RangeError(findings.map(({ message }) => message).join("; "));
  return value;
}

/** Variables in the form of an environment. */
function textsOf(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}
