/** Answers to clients of a sidecar by route, from a real Envoy. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpRoute } from "../../../lib/config/kinds/kinds.ts";
import { sidecarRouteConfiguration } from "../../../lib/translate/route/configuration.ts";
import { outboundVirtualHosts } from "../../../lib/translate/route/sidecar.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { envoyPath } from "../../envoy/path.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";
import { request, withEnvoy } from "../gateway/running_envoy.ts";
import { ports, service, virtualService } from "./objects.ts";
import { routeListener } from "./route_listener.ts";

const binary = envoyPath();
const ignore = binary === undefined;
const HOST = "a.default.svc.cluster.local";

/** Sends a request: host, path, further header lines; gives `status what-the-upstream-saw`. */
type HttpQuestion = (host: string, path: string, ...headers: string[]) => Promise<string>;

/** Runs Envoy with a route configuration in front of upstreams that report received requests. */
async function withRoutes(name: string, world: ReaderWorld, use: (ask: HttpQuestion) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const upstream = createServer((got, answer) => {
    if (got.url === "/hang") return;
    const { host, "x-cluster": cluster, "x-added": added } = got.headers;
    const text = `${cluster} ${host}${got.url}${added ? ` ${added}` : ""}`;
    answer.writeHead(200, { "content-length": text.length, "x-upstream": "1" });
    answer.end(text);
  });
  try {
    await new Promise<void>((ready) => upstream.listen(0, "127.0.0.1", ready));
    const read = meshReader(world);
    const hosts = [...(world.services ?? []).map((s) => s.hostname), ...Object.keys(world.virtualServices ?? {})];
    const virtualHosts = [...new Set(hosts)].flatMap((host) => outboundVirtualHosts(read, host))
      .filter(({ routeConfiguration }) => routeConfiguration === name)
      .map(({ virtualHost }) => ({ ...virtualHost, routes: virtualHost.routes!.map(tellingCluster) }));
    const { message } = sidecarRouteConfiguration(read, name, virtualHosts);
    const clusters = [...clustersOf(virtualHosts)].map((cluster) =>
      upstreamCluster(cluster, upstream.address() as AddressInfo)
    );
    const listeners = [routeListener(message, `${folder}/envoy`)];
    await withEnvoy(binary!, { listeners, routes: new Map(), clusters }, () =>
      use(async (host, path, ...headers) => {
        const [head = "", body = ""] = (await request({ socket: `${folder}/envoy` }, host, path, headers)).split(
          "\r\n\r\n",
        );
        const location = /\r\nlocation: (\S+)/.exec(head)?.[1];
        return [head.split(" ")[1], location, body].filter(Boolean).join(" ");
      }));
  } finally {
    upstream.closeAllConnections();
    upstream.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** All upstreams are one server: a header names the cluster of the request. */
function tellingCluster(route: envoy.config.route.v3.Route): envoy.config.route.v3.Route {
  if (!route.route) return route;
  const header = { header: { key: "x-cluster", value: "%UPSTREAM_CLUSTER%" } };
  return { ...route, request_headers_to_add: [...(route.request_headers_to_add ?? []), header] };
}

function clustersOf(virtualHosts: readonly envoy.config.route.v3.VirtualHost[]): Set<string> {
  const actions = virtualHosts.flatMap((vh) => vh.routes ?? []).flatMap((route) => route.route ?? []);
  const weighted = actions.flatMap((action) => action.weighted_clusters?.clusters ?? []).map((c) => c.name!);
  return new Set([...actions.flatMap((action) => action.cluster ?? []), ...weighted]);
}

function upstreamCluster(name: string, { address, port }: AddressInfo): envoy.config.cluster.v3.Cluster {
  const lb_endpoints = [{ endpoint: { address: { socket_address: { address, port_value: port } } } }];
  return {
    name,
    connect_timeout: { seconds: 1 },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints }] },
  };
}

function world(http: readonly HttpRoute[]): ReaderWorld {
  return {
    services: [service({ hostname: HOST }), service({ hostname: "b.com" })],
    virtualServices: { [HOST]: virtualService(http, { hosts: [HOST] }) },
  };
}

const to = (subset: string) => [{ destination: { host: "b.com", subset } }];
const saw = (subset: string, rest: string) => `200 outbound|80|${subset}|b.com ${rest}`;

Deno.test({
  name: "the first rule whose conditions all hold takes the request",
  ignore,
  fn: () =>
    withRoutes(
      "80",
      world([
        { match: [{ uri: { exact: "/exact" }, ignoreUriCase: true }], route: to("exact") },
        { match: [{ headers: { user: { regex: "j.*n" } }, queryParams: { v: { exact: "2" } } }], route: to("both") },
        { match: [{ uri: { prefix: "/w" }, withoutHeaders: { user: { exact: "jason" } } }], route: to("without") },
        { match: [{ uri: { prefix: "/n" }, withoutHeaders: { user: {} } }], route: to("absent") },
        { match: [{ method: { exact: "GET" }, uri: { regex: "/[0-9]+" } }], route: to("digits") },
        { route: to("rest") },
      ]),
      async (ask) => {
        const cases: [string, string[], string][] = [
          ["/EXACT", [], "exact"],
          ["/exact/more", [], "rest"],
          ["/?v=2", ["user: jason"], "both"],
          ["/?v=2", ["user: jane"], "rest"],
          ["/?v=3", ["user: jason"], "rest"],
          ["/w", ["user: jane"], "without"],
          ["/w", [], "without"],
          ["/w", ["user: jason"], "rest"],
          ["/n", [], "absent"],
          ["/n", ["user: x"], "rest"],
          ["/42", [], "digits"],
          ["/42x", [], "rest"],
        ];
        for (const [path, headers, subset] of cases) {
          assert.equal(await ask("a", path, ...headers), saw(subset, `a${path}`), `${path} ${headers}`);
        }
      },
    ),
});

Deno.test({
  name: "every name of a service reaches it, with a port or without; other names go by the outbound policy",
  ignore,
  fn: () =>
    withRoutes(
      "80",
      {
        services: [service({ hostname: HOST, addresses: ["10.0.0.1"] })],
        outboundTrafficPolicy: { mode: "REGISTRY_ONLY" },
      },
      async (ask) => {
        for (const host of [HOST, `${HOST}.`, "a", "a.default", "a.default.svc", "10.0.0.1", "a:80", `${HOST}:8080`]) {
          assert.equal(await ask(host, "/"), `200 outbound|80||${HOST} ${host}/`);
        }
        for (const host of ["b", "a.other", "10.0.0.2"]) assert.equal(await ask(host, "/"), "502");
      },
    ),
});

Deno.test({
  name: "at the HTTP proxy port the port in the Host header selects the service's port",
  ignore,
  fn: () => {
    const services = [service({ hostname: HOST, ports: ports([80, "HTTP"], [8080, "HTTP"]) })];
    const policy = { outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } } as const;
    return withRoutes("http_proxy", { services, ...policy, properties: { httpProxyPort: 15007 } }, async (ask) => {
      assert.equal(await ask("a", "/"), `200 outbound|80||${HOST} a/`);
      assert.equal(await ask("a:80", "/"), `200 outbound|80||${HOST} a:80/`);
      assert.equal(await ask("a:8080", "/"), `200 outbound|8080||${HOST} a:8080/`);
      assert.equal(await ask("a:81", "/"), "502");
    });
  },
});

Deno.test({
  name: "paths, authority and headers are rewritten on the way",
  ignore,
  fn: () =>
    withRoutes(
      "80",
      world([
        { match: [{ uri: { prefix: "/old" } }], rewrite: { uri: "/new", authority: "x.com" }, route: to("p") },
        {
          match: [{ uri: { prefix: "/re" } }],
          rewrite: { uriRegexRewrite: { match: "/re/([^/]+)/(.*)", rewrite: "/\\2/\\1" } },
          headers: { request: { set: { "x-added": "rule" } } },
          route: [{
            destination: { host: "b.com", subset: "h" },
            headers: { request: { add: { "x-added": "too" }, set: { host: "h.com" } } },
          }],
        },
      ]),
      async (ask) => {
        assert.equal(await ask("a", "/old/x?q=1"), saw("p", "x.com/new/x?q=1"));
        assert.equal(await ask("a", "/re/a/b/c", "x-added: client"), saw("h", "h.com/b/c/a rule, too"));
      },
    ),
});

Deno.test({
  name: "weights share requests out; a request that no rule takes gets 404",
  ignore,
  fn: () => {
    const both = [{ ...to("v1")[0]!, weight: 3 }, { ...to("v2")[0]!, weight: 1 }, { ...to("v3")[0]!, weight: 0 }];
    return withRoutes("80", world([{ match: [{ uri: { prefix: "/w" } }], route: both }]), async (ask) => {
      const counts = new Map<string, number>();
      for (let i = 0; i < 200; i++) {
        const subset = (await ask("a", "/w")).split("|")[2]!;
        counts.set(subset, (counts.get(subset) ?? 0) + 1);
      }
      assert.deepEqual([...counts.keys()].sort(), ["v1", "v2"]);
      // 150 expected; a fair share leaves 110..190 less often than once in a billion runs.
      assert.ok(counts.get("v1")! > 110 && counts.get("v1")! < 190, `${counts.get("v1")} of 200`);
      assert.equal(await ask("a", "/other"), "404");
    });
  },
});

Deno.test({
  name: "the proxy itself answers redirects, direct responses and aborted requests, and cuts slow ones",
  ignore,
  fn: () =>
    withRoutes(
      "80",
      world([
        { match: [{ uri: { prefix: "/moved" } }], redirect: { uri: "/to", authority: "x.com", redirectCode: 307 } },
        { match: [{ uri: { prefix: "/text" } }], directResponse: { status: 418, body: { string: "tea" } } },
        {
          match: [{ uri: { prefix: "/abort" } }],
          fault: { abort: { httpStatus: 555, percentage: { value: 100 } } },
          route: to("x"),
        },
        { match: [{ uri: { prefix: "/hang" } }], timeout: 50, retries: { attempts: 0 }, route: to("x") },
        {
          match: [{ uri: { prefix: "/cut" } }],
          rewrite: { uri: "/hang" },
          timeout: 50,
          retries: { attempts: 0 },
          route: to("x"),
        },
      ]),
      async (ask) => {
        assert.equal(await ask("a", "/moved"), "307 http://x.com/to");
        assert.equal(await ask("a", "/text"), "418 tea");
        assert.equal(await ask("a", "/abort"), "555 fault filter abort");
        assert.equal(await ask("a", "/hang"), "504 upstream request timeout");
        assert.equal(await ask("a", "/cut"), "504 upstream request timeout");
      },
    ),
});
