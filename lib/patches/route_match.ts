/**
 * The matching of patches to route configurations, virtual hosts and routes.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { CompiledPatch, PatchContext } from "./types.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** A route configuration, with the properties that patches match. */
export interface PatchedRoutes {
  readonly context: PatchContext;
  readonly name: string;
  /** Service ports for a gateway's port, if known. */
  readonly servicePorts?: readonly number[];
  /** Gateway servers of the routes. Absent: taken from the name. */
  readonly servers?: readonly PatchedServer[];
}

/** A server of a gateway, by the names in patches. */
export interface PatchedServer {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
  readonly portName: string;
}

/** Whether a patch matches a route configuration. */
export function matchesRoutes(of: PatchedRoutes, { routeConfiguration: match }: CompiledPatch): boolean {
  if (match === undefined) return true;
  if (match.name && match.name !== of.name) return false;
  if (of.context !== "GATEWAY") return !match.portNumber || match.portNumber === sidecarPort(of.name);
  const { port, ...named } = gatewayParts(of.name);
  const isSought = ({ portName, gateway }: PatchedServer) =>
    (!match.portName || match.portName === portName) && (!match.gateway || match.gateway === gateway);
  if (!(of.servers ?? [named]).some(isSought)) return false;
  return !match.portNumber || (of.servicePorts ?? [port]).includes(match.portNumber);
}

/** `8080`, or `inbound|8080||`; another name has no port. */
function sidecarPort(name: string): number {
  return Number(name.startsWith("inbound|") ? name.split("|")[1] : /^\d+$/.test(name) ? name : 0);
}

/** The port in the name of a gateway's route configuration; 0: there is none. */
export function portOfRoutes(name: string): number {
  return gatewayParts(name).port;
}

/** The parts of `http.8080` or `https.443.<port name>.<gateway>.<namespace>`. Only the second form has the server. */
function gatewayParts(name: string): { readonly port: number; readonly portName: string; readonly gateway: string } {
  const [kind, port = "", portName = "", gateway = "", namespace = ""] = name.split(".");
  if (kind === "https") return { port: Number(port), portName, gateway: `${namespace}/${gateway}` };
  return { port: kind === "http" ? Number(port) : 0, portName: "", gateway: "" };
}

/** Whether a patch matches a virtual host of a matching route configuration. */
export function matchesVirtualHost({ name = "", domains = [] }: VirtualHost, patch: CompiledPatch): boolean {
  const match = patch.routeConfiguration?.vhost;
  return match === undefined ||
    (!match.name || match.name === name) && (!match.domainName || domains.includes(match.domainName));
}

/** The test for the routes in a patch's match. Undefined when the patch has no match for routes. */
export function soughtRoute({ routeConfiguration }: CompiledPatch): ((route: Route) => boolean) | undefined {
  const match = routeConfiguration?.vhost?.route;
  return match && ((route) => {
    if (match.name && match.name !== route.name) return false;
    const action = actionOf(route);
    return match.action === "ANY" || action === undefined || action === match.action;
  });
}

/** Undefined for an action without a name in patches. Such an action matches every name. */
function actionOf(route: Route): "ROUTE" | "REDIRECT" | "DIRECT_RESPONSE" | undefined {
  if (route.route !== undefined) return "ROUTE";
  if (route.redirect !== undefined) return "REDIRECT";
  return route.direct_response !== undefined ? "DIRECT_RESPONSE" : undefined;
}
