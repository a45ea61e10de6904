import assert from "node:assert/strict";
import { decode } from "../../../lib/pb/reflect.ts";
import { encodeInlineRouteConfiguration, encodeVirtualHost } from "../../../lib/translate/encode/encode.ts";
import type { envoy } from "../../../proto/gen/types.ts";

type VirtualHost = envoy.config.route.v3.VirtualHost;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const hosts: VirtualHost[] = [
  { name: "a.test:80", domains: ["a.test"] },
  { name: "ü".repeat(200), domains: ["b.test", "c.test"] },
];

Deno.test("a virtual host as a resource bears the resource's name, by which Envoy drops it", () => {
  const resource = encodeVirtualHost("http.80", { message: hosts[0]!, causes: [] });
  assert.equal(resource.name, "http.80/a.test:80");
  assert.equal(decode<VirtualHost>("envoy.config.route.v3.VirtualHost", resource.value).name, resource.name);
});

Deno.test("inside a route configuration virtual hosts bear their short names", () => {
  const resources = hosts.map((host) => encodeVirtualHost("http.80", { message: host, causes: [] }));
  const inline = encodeInlineRouteConfiguration({ message: { name: "http.80" }, causes: [] }, resources);
  const message = decode<RouteConfiguration>("envoy.config.route.v3.RouteConfiguration", inline.value);
  assert.deepEqual(message, { name: "http.80", virtual_hosts: hosts });
});
