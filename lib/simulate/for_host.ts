/**
 * The resources of one proxy as far as a request to one host may meet them: of a route configuration with thousands of
 * virtual hosts a few are decoded.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { type EncodedMessage, resourcesFrom } from "./decoded.ts";
import { type RouteParts, routeParts } from "./route_parts.ts";
import type { ProxyResources } from "./types.ts";

const ROUTES = "envoy.config.route.v3.RouteConfiguration";

/**
 * What a request to one host may meet: of route configurations the virtual hosts alone that may match. The others have
 * exact domains of other hosts.
 *
 * @param host As the client names it, with or without port.
 */
export function resourcesForHost(messages: Iterable<EncodedMessage>, host: string): ProxyResources {
  const all = [...messages];
  const routes = new Map(all.filter(({ typeUrl }) => typeUrl.endsWith(`/${ROUTES}`)).map((one) => [one.name, one]));
  const partsOf = (name: string) => {
    const encoded = routes.get(name);
    return encoded && routeParts(encoded.value);
  };
  return { ...resourcesFrom(all), routes: new RoutesForHost(partsOf, host) };
}

/** Route configurations with those of their virtual hosts that may match; each is decoded when it is asked for. */
class RoutesForHost extends Map<string, envoy.config.route.v3.RouteConfiguration> {
  readonly #parts: (name: string) => RouteParts | undefined;
  readonly #names: ReadonlySet<string>;

  constructor(parts: (name: string) => RouteParts | undefined, host: string) {
    super();
    this.#parts = parts;
    const lower = host.toLowerCase();
    this.#names = new Set([lower, withoutPort(lower)]);
  }

  override get(name: string): envoy.config.route.v3.RouteConfiguration | undefined {
    const found = this.#parts(name);
    if (found === undefined) return undefined;
    const hosts = found.hosts.filter(({ domains }) => domains.some((domain) => this.#mayMatch(domain.toLowerCase())));
    return { ...found.head, virtual_hosts: hosts.map((host) => host.message()) };
  }

  #mayMatch(domain: string): boolean {
    return domain.includes("*") || this.#names.has(domain) || this.#names.has(withoutPort(domain));
  }
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}
