/**
 * Resources that let nothing in, for a proxy that rejects a guarding resource and has no earlier version.
 *
 * A missing resource does not always close anything: without the listener of an outbound port, or without a virtual
 * host, the proxy passes connections and requests on to their destination.
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

/** Status of answers from a closed virtual host. */
const CLOSED_STATUS = 503;

/**
 * A closed substitute for a resource: a listener that closes each connection, or a virtual host that answers 503.
 * Undefined when a proxy without the resource is closed anyway (a cluster), or when no resource says where to listen.
 *
 * @param plain The resource without patches.
 * @param causes Objects for which the resource is closed.
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

/** Listens at the addresses of the original listener, without inspecting anything. */
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
