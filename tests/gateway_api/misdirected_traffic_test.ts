/** Requests for the host of another HTTPS listener than that of their connection, from a real Envoy. */
import assert from "node:assert/strict";
import { Authority, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { ask } from "./derive/traffic.ts";
import { api, backendService, document, edgeGateway, httpRoute, ruleTo } from "./folder_world.ts";
import { withBackends, withFolder } from "./running_folder.ts";
import { tlsSecret } from "./running_listeners.ts";

const binary = envoyPath();
const ignore = binary === undefined || !openssl;

const EDGE = { namespace: "shop", name: "edge" };

function https(name: string, hostname?: string) {
  const tls = { certificateRefs: [{ name: "web" }] };
  return { name, port: 443, protocol: "HTTPS", ...(hostname && { hostname }), tls };
}

/** Runs a folder with a certificate in Secret `shop/web` and backends `a`, `b`, `c`. */
async function withHttps(
  text: string,
  use: (answerTo: (serverName: string, host: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const authority = await Authority.make("test");
  try {
    const web = await authority.sign("web.example.com");
    await withBackends({ a: {}, b: {}, c: {} }, async (ports) => {
      const services = Object.entries(ports).map(([name, port]) => backendService(name, port)).join("");
      const secret = document(tlsSecret("shop", "web", web));
      await withFolder(binary!, text + services + secret, EDGE, ({ socket }) =>
        use(async (servername, host) => {
          const { status, seen } = await ask({ socket: socket(443), tls: { servername } }, { host, path: "/x" });
          return seen?.backend ?? `${status}`;
        }));
    });
  } finally {
    await authority.remove();
  }
}

Deno.test({
  name: "a request for the host of another HTTPS listener of the port is misdirected, an unknown host is not found",
  ignore,
  fn: () => {
    const text = edgeGateway([
      https("any"),
      https("one", "one.example"),
      https("wild", "*.wild.example"),
      https("inner", "in.wild.example"),
    ]) +
      httpRoute("any", [ruleTo("a")], { sectionName: "any", hostnames: ["own.example"] }) +
      httpRoute("one", [ruleTo("b")], { sectionName: "one" }) +
      httpRoute("wild", [ruleTo("c")], { sectionName: "wild" }) +
      httpRoute("inner", [ruleTo("a")], { sectionName: "inner" });
    return withHttps(text, async (answerTo) => {
      const cases: [string, string, string][] = [
        ["own.example", "own.example", "a"],
        ["own.example", "one.example", "421"],
        ["own.example", "one.example:443", "421"],
        ["own.example", "x.wild.example", "421"],
        ["own.example", "unknown.example", "404"],
        ["one.example", "one.example", "b"],
        ["one.example", "own.example", "421"],
        ["one.example", "unknown.example", "421"],
        ["x.wild.example", "x.wild.example", "c"],
        ["x.wild.example", "y.x.wild.example", "c"],
        ["x.wild.example", "in.wild.example", "421"],
        ["x.wild.example", "one.example", "421"],
        ["in.wild.example", "in.wild.example", "a"],
        ["in.wild.example", "x.wild.example", "421"],
        ["unknown.example", "own.example", "a"],
        ["unknown.example", "unknown.example", "404"],
      ];
      for (const [name, host, expected] of cases) {
        assert.equal(await answerTo(name, host), expected, `${name} with host ${host}`);
      }
    });
  },
});

Deno.test({
  name: "without a listener for all hosts, a host of no listener is not found; listeners of ListenerSets count too",
  ignore,
  fn: () => {
    const text = edgeGateway([https("one", "one.example"), https("empty", "*.empty.example")], {
      allowedListeners: { namespaces: { from: "Same" } },
    }) +
      api("ListenerSet", "more", { parentRef: { name: "edge" }, listeners: [https("two", "two.example")] }) +
      api("HTTPRoute", "two", { parentRefs: [{ kind: "ListenerSet", name: "more" }], rules: [ruleTo("b")] }) +
      httpRoute("one", [ruleTo("a")], { sectionName: "one" });
    return withHttps(text, async (answerTo) => {
      const cases: [string, string, string][] = [
        ["one.example", "one.example", "a"],
        ["one.example", "two.example", "421"],
        ["one.example", "x.empty.example", "421"],
        ["one.example", "empty.example", "404"],
        ["two.example", "two.example", "b"],
        ["two.example", "one.example", "421"],
        ["x.empty.example", "one.example", "421"],
        ["x.empty.example", "x.empty.example", "404"],
      ];
      for (const [name, host, expected] of cases) {
        assert.equal(await answerTo(name, host), expected, `${name} with host ${host}`);
      }
    });
  },
});
