/**
 * Resources that let nothing in, for a proxy that rejects what guards and has no earlier version.
 *
 * What a proxy lacks is not always closed: without a listener of an outbound port, or a virtual host, the proxy passes
 * connections and requests on to where they wanted to go.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { decodeApi, encodeApi } from "../../pb/envoy_api.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import { TYPE } from "../encode/encode.ts";

type Listener = envoy.config.listener.v3.Listener;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;

const LISTENER = "envoy.config.listener.v3.Listener";
const ROUTE = "envoy.config.route.v3.RouteConfiguration";
const VIRTUAL_HOST = "envoy.config.route.v3.VirtualHost";
const DIRECT_RESPONSE = "envoy.extensions.filters.network.direct_response.v3.Config";

/** Status of answers to requests that a closed virtual host gets. */
const CLOSED_STATUS = 503;

/**
 * A resource in place of another one: a listener that closes each connection, a virtual host that answers 503. Undefined: a
 * proxy without the resource is closed, as without a cluster, or there is no resource to say where.
 *
 * @param plain The resource without patches.
 * @param causes Objects that it is not open for.
 */
export function closedResource(
  plain: EncodedResource | undefined,
  causes: readonly string[],
): EncodedResource | undefined {
  if (plain === undefined) return undefined;
  const { typeUrl, name, value } = plain;
  const encoded = closedMessage(typeUrl, value);
  return encoded && encodeResource(typeUrl, name, encoded, { causes, aliases: plain.aliases });
}

function closedMessage(typeUrl: string, value: Uint8Array): Uint8Array | undefined {
  switch (typeUrl) {
    case TYPE.listener:
      return encodeApi(LISTENER, closedListener(decodeApi(LISTENER, value) as Listener));
    case TYPE.virtualHost:
      return encodeApi(VIRTUAL_HOST, closedHost(decodeApi(VIRTUAL_HOST, value) as VirtualHost));
    case TYPE.route: {
      const routes = decodeApi(ROUTE, value) as RouteConfiguration;
      return encodeApi(ROUTE, { name: routes.name, virtual_hosts: (routes.virtual_hosts ?? []).map(closedHost) });
    }
    default:
      return undefined;
  }
}

/** It listens where the other one does, and looks at nothing. */
function closedListener(listener: Listener): object {
  const { name, address, additional_addresses, bind_to_port, traffic_direction, transparent, freebind } = listener;
  const kept = { name, address, additional_addresses, bind_to_port, traffic_direction, transparent, freebind };
  const config = { type_url: TYPE_URL_PREFIX + DIRECT_RESPONSE, value: encodeApi(DIRECT_RESPONSE, {}) };
  const filters = [{ name: "closed", typed_config: config }];
  const present = Object.fromEntries(Object.entries(kept).filter(([, one]) => one !== undefined));
  return { ...present, default_filter_chain: { filters } };
}

function closedHost({ name, domains }: VirtualHost): VirtualHost {
  const direct_response = { status: CLOSED_STATUS };
  return { name: name!, domains: domains!, routes: [{ name: "closed", match: { prefix: "/" }, direct_response }] };
}
