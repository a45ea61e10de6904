/** Random worlds are worth something: validation accepts the objects, and the objects reach proxies. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import { inFile } from "../config/origins.ts";
import { texts } from "./fixture.ts";
import { manySteps, play, SETTINGS } from "./random_steps.ts";
import { transportSettings } from "./random_transport.ts";
import { tree } from "./random_trees.ts";

/** The same worlds each time. */
const SEED = 21;

Deno.test("of the objects that are drawn, of any kind, validation takes four of five", () => {
  const counts = new Map<string, { taken: number; drawn: number }>();
  for (const one of fc.sample(tree, { numRuns: 2000, seed: SEED })) {
    const { object } = parseObject(one, inFile("test"), { defaultNamespace: "default" });
    const { taken, drawn } = counts.get(one.kind) ?? { taken: 0, drawn: 0 };
    counts.set(one.kind, { taken: taken + (object === undefined ? 0 : 1), drawn: drawn + 1 });
  }
  assert.deepEqual([...counts].filter(([, { taken, drawn }]) => taken < 0.8 * drawn), []);
});

/** Each is in the resources of some proxy of some world. */
const FORMS = {
  "header before a connection": "UpstreamTransport",
  "header that a gateway expects": "listener.proxy_protocol.v3.ProxyProtocol",
  "tunnel by CONNECT": '"hostname":"x.com:443"',
  "tunnel by POST": '"use_post":true',
  "HBONE, sent": "connect_originate",
  "HBONE, taken": "connect_terminate",
  "services behind waypoints": "inbound-vip|",
  "workloads behind waypoints": '"cluster":"direct',
  "gateways through waypoints": '"waypoint":{"stringValue":"172.16.0.20:15008"}',
  "HTTP/3": "QuicDownstreamTransport",
  "Redis": "RedisProxy",
  "MongoDB": "MongoProxy",
  "hosts that proxies resolve": "dynamic_forward_proxy",
  "hosts by a wildcard": "*.wild.com",
  "ways into networks": "1.2.3.5",
  "connections by server name": "outbound_.80_._.",
  "endpoints of another cluster": "172.17.0.1",
  "keys of tokens": "JwtAuthentication",
  "policies": "rbac.v3.RBAC",
  "answers of an authorizer": "ext_authz.v3.ExtAuthz",
  "modules": "wasmplugin",
  "patches": '"merged.com"',
  "metrics": "access_loggers.stats",
  "logs to a service": "HttpGrpcAccessLog",
  "spans": "OpenTelemetryConfig",
  "listeners of libraries": '"api_listener"',
  "ports that libraries serve": "non_forwarding_action",
};

Deno.test("in random worlds each way of transport, policy, extension, patch and telemetry comes about", () => {
  const missing = new Set(Object.keys(FORMS));
  fc.assert(
    fc.property(manySteps, transportSettings, (steps, transport) => {
      if (missing.size === 0) return;
      const { joined } = play(steps, true, { ...SETTINGS, ...transport });
      const text = joined.flatMap(({ state }) => Object.values(texts(state))).join("\n");
      for (const [form, part] of Object.entries(FORMS)) if (text.includes(part)) missing.delete(form);
    }),
    { numRuns: 200, seed: SEED },
  );
  assert.deepEqual([...missing], []);
});
