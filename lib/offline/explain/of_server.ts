/**
 * Explains requests of proxies that are connected to a server, and of pods without a proxy.
 *
 * Permissions: read (the files of the objects, for the lines of fields).
 *
 * @module
 */
import { readRegularTextSync } from "../../kernel/files/regular.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import { type AskedServer, type ExplainAsked, type Explainer, NotExplained } from "../../debug/runners.ts";
import type { ProxyOnWay } from "../../debug/explanation.ts";
import { servedSecrets } from "../../debug/served_secrets.ts";
import { canonicalIp } from "../../registry/address.ts";
import { runsBeside } from "../beside.ts";
import { resourcesForRequest } from "../../simulate/for_request.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { findProxy, NoSuchProxy } from "../find_proxy.ts";
import { FieldPlaces } from "../field_place.ts";
import { encodedTables } from "../proxy_resources.ts";
import { describeAtServer } from "../describe/of_server.ts";
import { NoSuchService } from "../describe/find_service.ts";
import { connected, isLibrary, podsWithoutProxy } from "../server_workloads.ts";
import type { ImpliedProxy } from "../workloads.ts";
import { explainRequest } from "./explain.ts";
import { hiddenObjects } from "./hidden.ts";
import { onWay, resolverOf } from "./of_mesh.ts";
import { BadQuestion, readQuestion } from "./question.ts";
import type { TunnelWorld } from "./tunnel.ts";
import { tunnelWorldOfServer } from "./tunnel_server.ts";
import type { ExplainWorld } from "./world.ts";

/** Longest file read for the line of a field, in bytes. The question must not wait for longer files. */
const MAX_FILE = 2 * 1024 * 1024;

/** An explainer for a server with this DNS suffix. */
export function serverExplainer(domain: string): Explainer {
  return {
    explain: async ({ from, to, method, headers }: ExplainAsked, view) => {
      try {
        const question = readQuestion({ to, method, headers });
        const states = new Map([...view.translator.proxies()].map((state) => [state.proxy.nodeId, state]));
        const all = [...states.values()];
        // Most pods of a large mesh are in other namespaces.
        const bare = podsWithoutProxy(
          view.facts,
          ({ meta: { namespace }, spec: { addresses = [] } }) =>
            from.startsWith(`${namespace}/`) || from.endsWith(`.${namespace}`) || addresses.includes(canonicalIp(from)),
        );
        const known = [...all.map(connected), ...bare];
        const { proxy, note } = findProxy(from, known, { domain, gatewaysInNamespace: false });
        const state = states.get(proxy.node.id);
        if (state === undefined && proxy.runs !== false) throw new NoSuchProxy(note ?? `${from} is not connected`);
        if (state !== undefined && isLibrary(state)) {
          throw new NoSuchProxy(`${from} calls without a proxy: the work of a gRPC library is not judged`);
        }
        const proxies = all.filter((one) => !isLibrary(one)).map(connected);
        return await explainRequest(question, onWay(proxy), worldOfServer(view, states, proxies, domain));
      } catch (error) {
        if (error instanceof BadQuestion || error instanceof NoSuchProxy) throw new NotExplained(error.message);
        throw error;
      }
    },
    describe: (asked, view) => {
      try {
        return describeAtServer(asked, view, domain);
      } catch (error) {
        const isOfName = error instanceof NoSuchProxy || error instanceof NoSuchService;
        throw isOfName ? new NotExplained(error.message) : error;
      }
    },
  };
}

/** The workload of an endpoint without a proxy, according to the registry. */
function withoutProxy(address: string, { endpoints, services }: AskedServer): ProxyOnWay | undefined {
  const [placement] = endpoints.byAddress(address);
  if (placement === undefined) return undefined;
  const { service, endpoint: { namespace, workloadName, labels, serviceAccount, tlsMode } } = placement;
  const owner = services.service(service);
  // Injection labels the pods that get a proxy.
  const runs = owner?.provider === "Orch" ? tlsMode === "mesh" : runsBeside(labels, serviceAccount);
  if (runs !== false) return undefined;
  return { type: "sidecar", namespace, name: workloadName || (owner?.name ?? address), address, labels, id: "", runs };
}

function worldOfServer(
  view: AskedServer,
  states: ReadonlyMap<string, ProxyState>,
  proxies: readonly ImpliedProxy[],
  domain: string,
): ExplainWorld {
  const places = new FieldPlaces(readSmall);
  // Made when a workload without a proxy is met. A question sees the same tunnels from its first step to its last.
  let tunnels: TunnelWorld | undefined;
  const object = (key: string) => view.store.at(key) as AnyConfigObject | undefined;
  return {
    resolver: resolverOf({
      domain,
      services: view.services,
      index: view.translator.mesh.services,
      endpoints: view.endpoints,
      facts: view.facts,
      trustDomain: view.translator.mesh.config.trustDomain,
    }),
    resources: ({ id }, request) => {
      const state = states.get(id);
      if (state === undefined) throw new NoSuchProxy(`${id} is not connected any more`);
      const [connection] = [...view.xds.streams()].filter(({ stream }) => stream?.view.id === id);
      const secrets = servedSecrets(connection?.stream?.view);
      return Promise.resolve({ ...resourcesForRequest(encodedTables(state), request), secrets });
    },
    workloadAt: (address) => {
      const ip = canonicalIp(address);
      const found = proxies.find((proxy) => proxy.address === ip) ??
        podsWithoutProxy(
          view.facts,
          ({ spec: { addresses = [], hostNetwork } }) => !hostNetwork && addresses.includes(ip),
        )[0];
      return found === undefined ? withoutProxy(ip, view) : onWay(found);
    },
    // A proxy does not name its workload. The address connects the two.
    workloadOf: () => undefined,
    tunnels: () => view.tunnels && (tunnels ??= tunnelWorldOfServer(view.tunnels)),
    hidden: (host, client) => hiddenObjects(host, client, { mesh: view.translator.mesh, object }),
    object,
    place: (origin, field) => places.of(origin, field),
  };
}

/** The present text of a configuration file; undefined: the file is large, gone or unreadable. */
function readSmall(file: string): string | undefined {
  try {
    return readRegularTextSync(file, MAX_FILE);
  } catch {
    return undefined; // The place is then the place of the object.
  }
}
