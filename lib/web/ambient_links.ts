/**
 * Links from an object or a service to what the pages of ambient mode tell about it.
 *
 * @module
 */
import { withQuery } from "../debug/links.ts";
import type { DebugView } from "../debug/view.ts";
import { type Html, markup } from "./html.ts";

const SERVICES = "/debug/ambient_services";
const PODS = "/debug/ambient_pods";
const RESOURCES = "/debug/ambientz";

/** Links of kinds of objects. @param name `namespace/name` */
const OF_KIND: Readonly<Record<string, (name: string) => readonly (readonly [title: string, link: string])[]>> = {
  ApiGateway: (name) => [["Services that ask for this Gateway", withQuery(SERVICES, { waypoint: name })]],
  AuthorizationPolicy: (name) => [
    ["Pods whose tunnels have the policy", withQuery(PODS, { policy: name })],
    ["Tunnels that acknowledged the policy", withQuery(RESOURCES, { sort: "policy", q: name })],
  ],
  PeerAuthentication: (name) => [
    [
      "Tunnels that acknowledged the policies of the namespace",
      withQuery(RESOURCES, { sort: "policy", namespace: name.slice(0, name.indexOf("/")) }),
    ],
  ],
  ServiceEntry: (name) => [
    ["The services of the namespace", withQuery(SERVICES, { namespace: name.slice(0, name.indexOf("/")) })],
    ["Its workloads", withQuery(RESOURCES, { sort: "workload", q: `ServiceEntry/${name}/` })],
  ],
  WorkloadEntry: (name) => [["Its workload", withQuery(RESOURCES, { sort: "workload", q: `WorkloadEntry/${name}` })]],
};

/** The links of an object. Undefined: there are none, or the server serves no tunnels. */
export function ambientLinks(key: string, { tunnels }: DebugView): Html | undefined {
  const slash = key.indexOf("/");
  const kind = key.slice(0, slash);
  if (tunnels === undefined || !Object.hasOwn(OF_KIND, kind)) return undefined;
  return linkList(OF_KIND[kind]!(key.slice(slash + 1)));
}

/** The link of a service. @param service `namespace/host` */
export function ambientServiceLink(service: string, { tunnels }: DebugView): Html | undefined {
  return tunnels && linkList([["its waypoint and tunnels", withQuery(SERVICES, { q: service })]]);
}

function linkList(links: readonly (readonly [title: string, link: string])[]): Html {
  const shown = links.map(([title, link], at) => markup`${at > 0 && ", "}<a href="${link}">${title}</a>`);
  return markup`<p>In ambient mode: ${shown}</p>`;
}
