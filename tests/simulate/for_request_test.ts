/** The part of a proxy's resources for one request is enough: the request ends as with all resources. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { any, encode, TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { wrap } from "../../lib/pb/wellknown.ts";
import { type EncodedMessage, resourcesFrom, tablesOf } from "../../lib/simulate/decoded.ts";
import { resourcesForRequest } from "../../lib/simulate/for_request.ts";
import { simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import { TrafficDirection } from "../../proto/gen/enums.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { runs } from "../properties.ts";

type Listener = envoy.config.listener.v3.Listener;

const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

const domain = fc.constantFrom(
  ...["a", "A", "a:80", "a.x", "A.X:8080", "*", "*.x", "a.*", "b", "b.x", "bb", "a@x", "[::1]", "[::1]:80", "::1"],
);
const port = fc.constantFrom(80, 8080, 3306);
const address = fc.record({
  address: fc.constantFrom("0.0.0.0", "10.0.0.1", "::"),
  port_value: port,
  ipv4_compat: fc.boolean(),
}).map((socket_address) => ({ socket_address }));

const world = fc.record({
  domains: fc.array(fc.array(domain, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
  addresses: fc.array(fc.tuple(address, fc.option(address, { nil: undefined })), { maxLength: 5 }),
  apart: fc.boolean(),
  virtual: fc.constantFrom("virtualOutbound", "other"),
});

const request = fc.record({
  host: domain,
  destination: fc.record({ ip: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1"), port }),
  direction: fc.constantFrom<SimulatedRequest["direction"]>("outbound", "direct"),
  protocol: fc.constantFrom<SimulatedRequest["protocol"]>("http", "tcp"),
});

type Address = envoy.config.core.v3.Address;

/** Domains of the virtual hosts, addresses of the listeners. */
interface World {
  readonly domains: readonly string[][];
  readonly addresses: readonly (readonly [Address, Address | undefined])[];
  /** Virtual hosts are separate resources. */
  readonly apart: boolean;
  /** Name of the listener for redirected connections. */
  readonly virtual: string;
}

function messages({ domains, addresses, apart, virtual }: World) {
  const hosts = domains.map((of, i) => ({
    name: `h${i}`,
    domains: of,
    routes: [{ match: { prefix: "/" }, route: { cluster: `c${i}` } }],
  }));
  const http = any(HCM, { stat_prefix: "x", rds: { route_config_name: "80" } });
  const chain = { filters: [{ name: "http", typed_config: http }] };
  const listeners: Listener[] = [
    {
      name: virtual,
      address: { socket_address: { address: "0.0.0.0", port_value: 15001 } },
      use_original_dst: wrap(true),
      traffic_direction: TrafficDirection.OUTBOUND,
      filter_chains: [chain],
    },
    ...addresses.map(([first, second], i): Listener => ({
      name: `l${i}`,
      address: first,
      ...(second === undefined ? {} : { additional_addresses: [{ address: second }] }),
      filter_chains: [chain],
    })),
  ];
  const routes = { name: "80", ...(apart ? { vhds: {} } : { virtual_hosts: hosts }) };
  return [
    ...listeners.map((one) => message("envoy.config.listener.v3.Listener", one.name!, one)),
    message("envoy.config.route.v3.RouteConfiguration", "80", routes),
    ...(apart ? hosts : []).map((one) => message("envoy.config.route.v3.VirtualHost", `80/${one.name}`, one)),
  ];
}

function message(type: string, name: string, value: object): EncodedMessage {
  return { name, typeUrl: TYPE_URL_PREFIX + type, value: encode(type, value) };
}

Deno.test("any request ends as with all resources", () => {
  fc.assert(
    fc.property(world, request, (made, asked) => {
      const all = messages(made);
      const some = resourcesForRequest(tablesOf(all), asked);
      assert.deepEqual(simulate(some, asked), simulate(resourcesFrom(all), asked));
    }),
    { numRuns: runs(500) },
  );
});

Deno.test("of 5,000 virtual hosts and 1,000 listeners only the ones that the request may meet are decoded", () => {
  const domains = Array.from({ length: 5000 }, (_, i) => [`s${i}.x`, `s${i}.x:80`, `s${i}`]);
  const addresses = Array.from({ length: 1000 }, (_, i): [Address, undefined] => [
    { socket_address: { address: `10.0.${i >> 8}.${i & 255}`, port_value: i === 7 ? 80 : 3306 } },
    undefined,
  ]);
  const tables = tablesOf(messages({ domains, addresses, apart: true, virtual: "virtualOutbound" }));
  const { listeners, virtualHosts } = resourcesForRequest(tables, {
    host: "s4999.x",
    destination: { ip: "10.0.0.7", port: 80 },
  });
  assert.deepEqual([...listeners.keys()], ["virtualOutbound", "l7"]);
  assert.deepEqual([...virtualHosts.keys()], ["80/h4999"]);
});
