/** Route configurations in parts equal the whole, and treat a host like the whole. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { routeParts } from "../../lib/simulate/route_parts.ts";

const ROUTES = "envoy.config.route.v3.RouteConfiguration";

Deno.test("any configuration is its head and its hosts, in order", () => {
  const host = fc.record({
    name: fc.string(),
    domains: fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }),
    include_request_attempt_count: fc.boolean(),
    routes: fc.array(fc.record({ name: fc.string(), match: fc.record({ prefix: fc.string() }) }), { maxLength: 3 }),
  });
  const configuration = fc.record({
    name: fc.string(),
    virtual_hosts: fc.array(host, { maxLength: 5 }),
    validate_clusters: fc.record({ value: fc.boolean() }),
    ignore_port_in_host_matching: fc.boolean(),
  });
  fc.assert(fc.property(configuration, (message) => {
    const bytes = encode(ROUTES, message);
    const whole = decode<{ readonly virtual_hosts?: readonly unknown[] }>(ROUTES, bytes);
    const { head, hosts } = routeParts(bytes);
    const messages = hosts.map((one) => one.message());
    assert.deepEqual({ ...head, ...(messages.length > 0 ? { virtual_hosts: messages } : {}) }, whole);
    assert.deepEqual(
      hosts.map(({ name, domains }) => ({ name, domains })),
      message.virtual_hosts.map(({ name, domains }) => ({ name, domains })),
    );
  }));
});
