import assert from "node:assert/strict";
import { type AttachedBytesRoute, bytesVirtualService } from "../../lib/gateway_api/derive/bytes_rules.ts";
import { type GivenListener, listener, made } from "./derived_world.ts";
import { attached } from "./routes.ts";

const destination = (host: string) => ({ host: `${host}.svc`, port: { number: 1 } });
const CLOSED = { destination: { host: "unresolved.invalid" }, internal: { closed: true } };

function specOf(given: GivenListener, routes: readonly AttachedBytesRoute[]) {
  const derived = bytesVirtualService(listener(given), routes);
  if (derived === undefined) return undefined;
  made(derived);
  assert.deepEqual(derived.spec.gateways, ["edge/gw-of-test"]);
  const { tls, tcp } = derived.spec;
  return { ...(tls && { tls }), ...(tcp && { tcp }) };
}

Deno.test("the oldest TCPRoute or UDPRoute has the whole listener; routes of other kinds have no part in it", () => {
  const routes = [
    attached("TCPRoute", { new: 1 }, { age: 3 }),
    attached("TLSRoute", { tls: 1 }, { age: 1 }),
    attached("TCPRoute", { last: 1 }, { age: 2, name: "b" }),
    attached("TCPRoute", { old: 1 }, { age: 2, name: "a" }),
    attached("UDPRoute", { datagrams: 1 }),
  ];
  const rule = (host: string) => ({ tcp: [{ route: [{ destination: destination(host), weight: 1 }] }] });
  assert.deepEqual(specOf({ protocol: "TCP" }, routes), rule("old"));
  assert.deepEqual(specOf({ protocol: "UDP" }, routes), rule("datagrams"));
  assert.equal(specOf({ protocol: "HTTP" }, routes), undefined);
  assert.equal(specOf({ protocol: "TCP" }, []), undefined);
});

Deno.test("an unusable backend keeps its share; a rule without any share closes connections", () => {
  const routeOf = (to: Readonly<Record<string, number>>) =>
    specOf({ protocol: "TCP" }, [attached("TCPRoute", to)])?.tcp?.[0]?.route;
  assert.deepEqual(routeOf({ a: 7, closed: 3, b: 0 }), [
    { destination: destination("a"), weight: 7 },
    { ...CLOSED, weight: 3 },
  ]);
  assert.deepEqual(routeOf({ a: 0 }), [CLOSED]);
  assert.deepEqual(routeOf({}), [CLOSED]);
  assert.deepEqual(routeOf({ closed: 1 }), [{ ...CLOSED, weight: 1 }]);
});

Deno.test("each TLSRoute has its server names; the listener's own name stays closed unless a route has it", () => {
  const rule = (host: string, ...sniHosts: readonly string[]) => ({
    match: [{ sniHosts }],
    route: [{ destination: destination(host), weight: 1 }],
  });
  const closed = { match: [{ sniHosts: ["*.example.com"] }], route: [CLOSED] };
  const own: GivenListener = { protocol: "TLS", hostname: "*.example.com" };
  const [one, rest] = [
    attached("TLSRoute", { a: 1 }, { age: 1, hostnames: ["a.example.com"] }),
    attached("TLSRoute", { rest: 1 }, { age: 2, hostnames: ["*.example.com", "b.example.com"] }),
  ];
  assert.deepEqual(specOf(own, [rest, one]), {
    tls: [rule("a", "a.example.com"), rule("rest", "*.example.com", "b.example.com")],
  });
  assert.deepEqual(specOf(own, [one]), { tls: [rule("a", "a.example.com"), closed] });
  assert.deepEqual(specOf(own, []), { tls: [closed] });
  assert.deepEqual(specOf({ protocol: "TLS" }, [attached("TLSRoute", { a: 1 })]), { tls: [rule("a", "*")] });
  assert.deepEqual(specOf(own, [attached("TCPRoute", { bytes: 1 })]), {
    tcp: [{ route: [{ destination: destination("bytes"), weight: 1 }] }],
  });
});
