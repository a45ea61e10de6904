/** A route configuration written host by host equals the whole. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { routesJson, takesHostsApart } from "../../lib/debug/routes_json.ts";
import { jsonPieces } from "../../lib/http/json_stream.ts";
import { encode, TYPE_URL_PREFIX } from "../../lib/pb/codec.ts";
import { anyJson } from "../../lib/pb/json.ts";

const ROUTES = "envoy.config.route.v3.RouteConfiguration";
const HOST = "envoy.config.route.v3.VirtualHost";

const host = fc.record({
  name: fc.string(),
  domains: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
  routes: fc.array(fc.record({ name: fc.string(), match: fc.record({ prefix: fc.string() }) }), { maxLength: 3 }),
});

Deno.test("with the virtual hosts that come one by one behind its own", () => {
  const configuration = fc.record({
    name: fc.string(),
    virtual_hosts: fc.array(host, { maxLength: 4 }),
    ignore_port_in_host_matching: fc.boolean(),
    vhds: fc.option(fc.constant({}), { nil: undefined }),
  });
  fc.assert(fc.property(configuration, fc.array(host, { maxLength: 3 }), (message, more) => {
    const resource = { name: message.name, typeUrl: TYPE_URL_PREFIX + ROUTES, value: encode(ROUTES, message) };
    const written = [...jsonPieces(routesJson(resource, more.map((one) => encode(HOST, one))), "", "")].join("");
    const all = encode(ROUTES, { ...message, virtual_hosts: [...message.virtual_hosts, ...more] });
    assert.deepEqual(JSON.parse(written), JSON.parse(JSON.stringify(anyJson(resource.typeUrl, all))));
    assert.equal(takesHostsApart(resource), message.vhds !== undefined);
  }));
});
