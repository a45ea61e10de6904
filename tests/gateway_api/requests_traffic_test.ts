/** Requests by the rules of HTTPRoutes in a folder, at listeners of several ports and hostnames, from a real Envoy. */
import assert from "node:assert/strict";
import { Authority, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { ask, type Asked, type Got } from "./derive/traffic.ts";
import { backendService, document, edgeGateway, httpRoute, ruleTo } from "./folder_world.ts";
import { withBackends, withFolder } from "./running_folder.ts";
import { tlsSecret } from "./running_listeners.ts";

const binary = envoyPath();
const ignore = binary === undefined;

const EDGE = { namespace: "shop", name: "edge" };

/** Sends a request to a port of the Gateway. With a server name: over TLS. */
type AskPort = (port: number, asked: Asked, servername?: string) => Promise<Got>;

/** Runs a folder with backends `a` and `b`. */
function withRequests(text: string, use: (askPort: AskPort) => Promise<void>): Promise<void> {
  return withBackends({ a: {}, b: {} }, async (ports) => {
    const services = Object.entries(ports).map(([name, port]) => backendService(name, port)).join("");
    await withFolder(
      binary!,
      text + services,
      EDGE,
      ({ socket }) =>
        use((port, asked, servername) =>
          ask({ socket: socket(port), ...(servername && { tls: { servername } }) }, asked)
        ),
    );
  });
}

const prefix = (value: string) => ({ matches: [{ path: { type: "PathPrefix", value } }] });

Deno.test({
  name: "a redirect names the port of the filter, else of the new scheme, else of the listener; never a default port",
  ignore: ignore || !openssl,
  async fn() {
    const authority = await Authority.make("test");
    try {
      const web = await authority.sign("web.example");
      const to = (path: string, requestRedirect: object) => ({
        ...prefix(path),
        filters: [{ type: "RequestRedirect", requestRedirect: { hostname: "new.example", ...requestRedirect } }],
      });
      const text = document(tlsSecret("shop", "web", web)) + edgeGateway([
        { name: "http", port: 80, protocol: "HTTP" },
        { name: "alt", port: 8080, protocol: "HTTP" },
        { name: "https", port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "web" }] } },
        {
          ...{ name: "named", port: 443, protocol: "HTTPS", hostname: "named.example" },
          tls: { certificateRefs: [{ name: "web" }] },
        },
      ]) + httpRoute("all", [
        to("/none", {}),
        to("/80", { port: 80 }),
        to("/443", { port: 443 }),
        to("/8443", { port: 8443 }),
        to("/http", { scheme: "http" }),
        to("/https", { scheme: "https" }),
        to("/https-443", { scheme: "https", port: 443 }),
        to("/http-8080", { scheme: "http", port: 8080 }),
      ]);
      await withRequests(text, async (askPort) => {
        const at: readonly [number, string, string | undefined, readonly string[]][] = [
          [80, "old.example", undefined, ["http", "http", "http :443", "http :8443"]],
          [80, "old.example:80", undefined, ["http", "http", "http :443", "http :8443"]],
          [8080, "old.example:8080", undefined, ["http :8080", "http", "http :443", "http :8443"]],
          [443, "old.example", "old.example", ["https", "https :80", "https", "https :8443"]],
          [443, "named.example", "named.example", ["https", "https :80", "https", "https :8443"]],
        ];
        for (const [port, host, servername, expected] of at) {
          const got: string[] = [];
          for (const path of ["/none", "/80", "/443", "/8443", "/http", "/https", "/https-443", "/http-8080"]) {
            const { status, headers } = await askPort(port, { host, path }, servername);
            const [, scheme, written = ""] = /^(https?):\/\/new\.example(:\d+)?\//.exec(headers["location"] ?? "") ??
              [];
            assert.equal(status, 302);
            got.push(`${scheme} ${written}`.trim());
          }
          assert.deepEqual(got, [...expected, "http", "https", "https", "http :8080"], `${host} at port ${port}`);
        }
      });
    } finally {
      await authority.remove();
    }
  },
});

Deno.test({
  name:
    "a route serves the hosts that it shares with a listener, whichever of both has the wildcard, and any port in Host",
  ignore,
  fn: () => {
    const http = (name: string, hostname: string) => ({ name, port: 80, protocol: "HTTP", hostname });
    const text = edgeGateway([
      http("one", "one.exact.example"),
      http("wild", "*.wild.example"),
      http("other", "*.other.example"),
    ]) +
      httpRoute("named", [ruleTo("a", prefix("/1"))], {
        hostnames: ["none.example", "*.none.example", "one.exact.example", "x.wild.example", "y.x.wild.example"],
      }) +
      httpRoute("wide", [ruleTo("b", prefix("/2"))], {
        hostnames: ["*.exact.example", "*.other.example", "wild.example"],
      });
    return withRequests(text, async (askPort) => {
      const served: readonly [string, string, string][] = [
        ["one.exact.example", "a", "b"],
        ["one.exact.example:1234", "a", "b"],
        ["two.exact.example", "404", "404"],
        ["none.example", "404", "404"],
        ["x.none.example", "404", "404"],
        ["x.wild.example", "a", "404"],
        ["y.x.wild.example", "a", "404"],
        ["z.wild.example", "404", "404"],
        ["wild.example", "404", "404"],
        ["x.other.example", "404", "b"],
        ["y.x.other.example", "404", "b"],
        ["other.example", "404", "404"],
      ];
      for (const [host, ...expected] of served) {
        const got: string[] = [];
        for (const path of ["/1", "/2"]) {
          const { status, seen } = await askPort(80, { host, path });
          got.push(seen?.backend ?? `${status}`);
        }
        assert.deepEqual(got, expected, host);
      }
    });
  },
});

Deno.test({
  name: "headers of requests are set, added and removed in any letter case, several at once",
  ignore,
  fn: () => {
    const pair = (name: string) => ({ name, value: `new-${name.toLowerCase()}` });
    const requestHeaderModifier = {
      set: [pair("X-Set"), pair("X-Set-Missing")],
      add: [pair("X-Add"), pair("X-Add-Missing")],
      remove: ["X-Remove", "X-Remove-Missing"],
    };
    const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier }];
    const text = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]) +
      httpRoute("web", [ruleTo("a", { filters })]);
    return withRequests(text, async (askPort) => {
      for (const written of [(name: string) => name.toLowerCase(), (name: string) => name.toUpperCase()]) {
        const headers = Object.fromEntries(
          ["x-set", "x-add", "x-remove", "x-other"].map((name) => [written(name), "old"]),
        );
        const { seen } = await askPort(80, { path: "/", headers });
        const got = Object.entries(seen?.headers ?? {}).filter(([name]) => /^x-(set|add|remove|other)/.test(name));
        assert.deepEqual(Object.fromEntries(got), {
          "x-set": "new-x-set",
          "x-set-missing": "new-x-set-missing",
          "x-add": "old, new-x-add",
          "x-add-missing": "new-x-add-missing",
          "x-other": "old",
        });
      }
    });
  },
});
