/**
 * Follows a finding in its mesh: compares the claim with the resources and the behaviour of proxies.
 * @module
 */
import { TYPE_URL_PREFIX } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { Finding } from "../../../lib/finding/finding.ts";
import { encodedTables } from "../../../lib/offline/proxy_resources.ts";
import { resourcesIn } from "../../../lib/simulate/decoded.ts";
import { simulate, type SimulatedRequest } from "../../../lib/simulate/mod.ts";
import { parseOutboundClusterName } from "../../../lib/translate/destination/names.ts";
import type { ProxyState } from "../../../lib/translate/machine/per_proxy/proxy_state.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import {
  changedBy,
  type ProofWorld,
  rebuilt,
  statesIn,
  valueAt,
  without,
  type WrittenDocument,
} from "./proof_world.ts";
import type { Proof } from "./proofs.ts";

/** Why the finding does not hold; undefined: the finding holds. */
export type Verdict = string | undefined | "not mechanical";

/** Follows a finding. */
export function followed(proof: Proof, finding: Finding, world: ProofWorld): Verdict {
  switch (proof.by) {
    case "removal": {
      const rest = without(world, finding, proof.of);
      if (rest === undefined) return "not mechanical";
      const proxies = world.proxies.filter(({ standsIn }) => proof.among !== "known" || !standsIn);
      const changed = changedBy({ ...world, proxies }, rest);
      return changed.length === 0 ? undefined : `without it these change: ${changed.slice(0, 5).join(", ")}`;
    }
    case "requests": {
      const rest = without(world, finding, proof.of);
      return rest === undefined ? "not mechanical" : otherEnd(world, rest);
    }
    case "reach":
      return reached(finding, world);
    case "authorities":
      return verified(finding, world);
    case "winner":
      return withoutWinner(finding, world);
    case "refusal":
      return inForce(finding, world);
    case "test":
      return "not mechanical";
  }
}

/** Paths and headers that random rules distinguish. */
const PATHS = ["/", "/api", "/api/v2", "/a", "/a/b", "/beta"];
const HEADERS = [{}, { "x-beta": "1" }, { "x-beta": "yes" }, { h: "x" }];

function* requestsOf({ documents }: ProofWorld, isRouter: boolean): Iterable<SimulatedRequest> {
  const hosts = new Set(
    documents.flatMap(({ spec }) => ((spec as { hosts?: string[] } | undefined)?.hosts ?? []))
      .map((host) => host.replace(/^\*/, "any")),
  );
  const ip = isRouter ? "10.1.0.3" : "203.0.113.9";
  for (const host of hosts) {
    for (const port of [80, 443, 9090]) {
      const to = { direction: isRouter ? "direct" : "outbound", destination: { ip, port } } as const;
      for (const path of PATHS) {
        for (const headers of HEADERS) yield { ...to, protocol: "http", host, path, headers };
      }
      yield { ...to, protocol: "tls", sni: host };
    }
    yield { direction: "outbound", destination: { ip, port: 3306 }, protocol: "tcp" };
  }
}

function endOf(state: ProxyState, request: SimulatedRequest): string {
  const { outcome, steps } = simulate(resourcesIn(encodedTables(state)), request);
  const action = steps.find((step) => step.step === "action");
  return JSON.stringify([outcome, action?.path, action?.authority]);
}

/** A request that ends differently when other documents replace the world's. */
function otherEnd(world: ProofWorld, documents: readonly WrittenDocument[]): Verdict {
  const [before, after] = [statesIn(world.mesh, world), statesIn(rebuilt(documents), world)];
  for (const [at, state] of before.entries()) {
    for (const request of requestsOf(world, state.proxy.properties.type === "router")) {
      const [was, is] = [endOf(state, request), endOf(after[at]!, request)];
      if (was !== is) return `${JSON.stringify(request)} ends in ${was}, and without it in ${is}`;
    }
  }
  return undefined;
}

interface NamedDestination {
  readonly host: string;
  readonly subset?: string;
  readonly port?: { readonly number?: number };
}

/** The destination of a finding: in a rule, or a subset of a DestinationRule. */
function destinationOf(finding: Finding, world: ProofWorld): NamedDestination | undefined {
  const { field, objects: [object] } = finding.place;
  const document = world.documents.find(({ kind, metadata }) =>
    kind === object?.kind && (metadata as { name?: string }).name === object?.name &&
    (metadata as { namespace?: string }).namespace === object?.namespace
  );
  if (document === undefined) return undefined;
  const rule = /^(.*\.(?:destination|mirror))(?:\.|$)/.exec(field)?.[1];
  if (rule !== undefined) return valueAt(document, rule) as NamedDestination | undefined;
  const subset = /^spec\.subsets\[\d+\]/.exec(field)?.[0];
  if (subset === undefined) return undefined;
  const { host } = document["spec"] as { readonly host: string };
  return { host, subset: (valueAt(document, subset) as { readonly name: string }).name };
}

/** A cluster of the destination with an endpoint, against a finding of an unserved destination. */
function reached(finding: Finding, world: ProofWorld): Verdict {
  const destination = destinationOf(finding, world);
  const [object] = finding.place.objects;
  if (destination === undefined || object === undefined) return "not mechanical";
  const { subset = "", port: { number } = {} } = destination;
  const wanted = destination.host.includes(".")
    ? destination.host
    : `${destination.host}.${object.namespace}.svc.cluster.local`;
  const client = /namespace (\S+) (?:sees|\()/.exec(finding.message)?.[1];
  const key = `${object.kind}/${object.namespace}/${object.name}`;
  for (const state of statesIn(world.mesh, world)) {
    if (client !== undefined && state.proxy.namespace !== client) continue;
    const { clusters, assignments, causesOf } = resourcesIn(encodedTables(state));
    for (const name of clusters.keys()) {
      const target = parseOutboundClusterName(name);
      if (target?.host !== wanted || target.subset !== subset || (number !== undefined && target.port !== number)) {
        continue;
      }
      const endpoints = assignments.get(clusters.get(name)?.eds_cluster_config?.service_name || name)?.endpoints ?? [];
      if (!endpoints.some(({ lb_endpoints = [] }) => lb_endpoints.length > 0)) continue;
      if (!leadsTo(state, key, name)) continue;
      return `${name} has endpoints at ${state.proxy.nodeId} (${causesOf?.("clusters", name)})`;
    }
  }
  return undefined;
}

/** Whether a route of the object leads to the cluster; for other objects than rules: always. */
function leadsTo(state: ProxyState, key: string, cluster: string): boolean {
  if (!key.startsWith("VirtualService/")) return true;
  const { virtualHosts, routes } = resourcesIn(encodedTables(state));
  const hosts = [...virtualHosts.values(), ...[...routes.values()].flatMap(({ virtual_hosts = [] }) => virtual_hosts)];
  const [, namespace, name] = key.split("/");
  const isOwn = (one: envoy.config.route.v3.Route) =>
    JSON.stringify(one.metadata ?? {}).includes(`/namespaces/${namespace}/virtual-service/${name}`);
  return hosts.some((host) =>
    (host.routes ?? []).some((route) => isOwn(route) && JSON.stringify(route.route ?? {}).includes(`"${cluster}"`))
  );
}

type ClientTlsContext = envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;

const CONTEXT = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/** A cluster of the rule's host and port with a verified server. */
function verified(finding: Finding, { mesh, documents, proxies }: ProofWorld): Verdict {
  const [object] = finding.place.objects;
  const { spec } = documents.find(({ kind, metadata }) =>
    kind === object?.kind && (metadata as { name?: string }).name === object?.name
  ) as { spec: { host: string } };
  const port = /at port (\d+)/.exec(finding.message)?.[1];
  let seen = 0;
  for (const state of statesIn(mesh, { proxies })) {
    const { clusters } = resourcesIn(encodedTables(state));
    for (const [name, { transport_socket }] of clusters) {
      const target = parseOutboundClusterName(name);
      if (target?.host !== spec.host || (port !== undefined && target.port !== Number(port))) continue;
      const packed = transport_socket?.typed_config;
      if (packed?.type_url !== TYPE_URL_PREFIX + CONTEXT) continue;
      const { common_tls_context: common = {} } = decode<ClientTlsContext>(CONTEXT, packed.value!);
      if (
        common.validation_context ?? common.combined_validation_context ?? common.validation_context_sds_secret_config
      ) {
        return `${name} verifies its server`;
      }
      seen++;
    }
  }
  return seen === 0 ? "not mechanical" : undefined;
}

/** Nothing changes when the winner in the finding is removed. */
function withoutWinner(finding: Finding, world: ProofWorld): Verdict {
  const winner = /: (\S+) has the (?:listener|port), so/.exec(finding.message)?.[1];
  const listener = /^listener (\S+):/.exec(finding.message)?.[1];
  const [loser] = finding.place.objects;
  if (winner === undefined || listener === undefined || loser === undefined) {
    return "not mechanical";
  }
  const rest = world.documents.filter(({ kind, spec }) =>
    kind !== "ServiceEntry" || !(spec as { hosts: string[] }).hosts.includes(winner)
  );
  if (rest.length === world.documents.length) return "not mechanical";
  const changed = changedBy(world, rest).filter((name) => name.includes(listener));
  return changed.length > 0 ? undefined : `without ${winner} listener ${listener} is the same`;
}

/** The object that the finding calls refused. */
function inForce(finding: Finding, { mesh }: ProofWorld): Verdict {
  const [object] = finding.place.objects;
  if (finding.severity !== "error" || object === undefined || object.name === "") return "not mechanical";
  const key = `${object.kind}/${object.namespace}/${object.name}`;
  return mesh.objects.has(key) ? `${key} is in force` : undefined;
}
