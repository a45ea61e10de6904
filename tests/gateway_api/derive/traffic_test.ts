/** Requests through a real Envoy by the rules of HTTPRoutes. */
import assert from "node:assert/strict";
import { envoyPath } from "../../envoy/path.ts";
import { route, rules } from "./routes.ts";
import { type Asked, type Got, type Traffic, withTraffic } from "./traffic.ts";

const binary = envoyPath();
const ignore = binary === undefined;

const to = (name: string, more: object = {}) => ({ name, port: 80, ...more });
const prefix = (value: string) => [{ path: { type: "PathPrefix", value } }];

/** A test with the rules of one route. */
function test(name: string, written: readonly object[], use: (traffic: Traffic) => Promise<void>, port = 80): void {
  Deno.test({ name, ignore, fn: () => withTraffic(binary!, [rules(route(written))], { port }, use) });
}

const location = ({ status, headers }: Got) => `${status} ${headers["location"]}`;

test("redirects change scheme, host, port and path, and never name a default port", [
  { matches: prefix("/all"), filters: [redirect({ scheme: "https", hostname: "b.com", port: 443, statusCode: 301 })] },
  { matches: prefix("/port"), filters: [redirect({ port: 8443 })] },
  { matches: prefix("/full"), filters: [redirect({ path: full("/new") })] },
  { matches: prefix("/old"), filters: [redirect({ path: replaced("/new") })] },
  { matches: prefix("/gone"), filters: [redirect({ path: replaced("/"), statusCode: 308 })] },
], async ({ ask }) => {
  const cases: [string, string][] = [
    ["/all/x?q=1", "301 https://b.com/all/x?q=1"],
    ["/port", "302 http://shop.example.com:8443/port"],
    ["/full/x?q=1", "302 http://shop.example.com/new?q=1"],
    ["/old/x?q=1", "302 http://shop.example.com/new/x?q=1"],
    ["/old", "302 http://shop.example.com/new"],
    ["/gone", "308 http://shop.example.com/"],
    ["/gone/x?q=1", "308 http://shop.example.com/x?q=1"],
  ];
  for (const [path, expected] of cases) assert.equal(location(await ask({ path })), expected, path);
  assert.equal((await ask({ path: "/older" })).status, 404, "a prefix means whole segments");
});

test("redirects on a listener with another port keep the listener's port, unless the scheme changes", [
  { matches: prefix("/same"), filters: [redirect({ path: full("/new") })] },
  { matches: prefix("/tls"), filters: [redirect({ scheme: "https" })] },
], async ({ ask }) => {
  const cases: [string, string, string][] = [
    ["shop.example.com:8080", "/same", "302 http://shop.example.com:8080/new"],
    ["shop.example.com", "/same", "302 http://shop.example.com:8080/new"],
    ["shop.example.com", "/tls", "302 https://shop.example.com/tls"],
    ["shop.example.com:8080", "/tls", "302 https://shop.example.com:443/tls"],
  ];
  for (const [host, path, expected] of cases) assert.equal(location(await ask({ host, path })), expected, host + path);
}, 8080);

test("rewrites change host and path before the backend, and the query stays", [
  { matches: prefix("/full"), backendRefs: [to("a")], filters: [rewrite({ hostname: "b.com", path: full("/one") })] },
  { matches: prefix("/old"), backendRefs: [to("a")], filters: [rewrite({ path: replaced("/new/") })] },
  { matches: prefix("/gone"), backendRefs: [to("a")], filters: [rewrite({ path: replaced("") })] },
  { matches: prefix("/"), backendRefs: [to("a")], filters: [rewrite({ path: replaced("/all") })] },
], async ({ ask }) => {
  const cases: [string, string][] = [
    ["/full/x?q=1", "b.com /one?q=1"],
    ["/old/x?q=1", "shop.example.com /new/x?q=1"],
    ["/old", "shop.example.com /new"],
    ["/gone", "shop.example.com /"],
    ["/gone/", "shop.example.com /"],
    ["/gone/x?q=1", "shop.example.com /x?q=1"],
    ["/other", "shop.example.com /all/other"],
  ];
  for (const [path, expected] of cases) {
    const { seen } = await ask({ path });
    assert.equal(`${seen?.host} ${seen?.path}`, expected, path);
  }
});

test("a missing backend's share gets 500 and the other backend keeps its share; no backend at all is 500", [
  { matches: prefix("/half"), backendRefs: [to("a"), to("missing")] },
  { matches: prefix("/none") },
  { matches: prefix("/missing"), backendRefs: [to("missing")] },
  { matches: prefix("/zero"), backendRefs: [to("a", { weight: 0 })] },
  { matches: prefix("/filter"), backendRefs: [to("a")], filters: [{ type: "CORS" }] },
  { matches: prefix("/right"), backendRefs: [to("a"), to("missing", { weight: 0 })] },
], async ({ ask }) => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask({ path: "/half" })));
  const served = answers.filter(({ status, seen }) => status === 200 && seen?.backend === "a").length;
  const failed = answers.filter(({ status }) => status === 500).length;
  assert.equal(served + failed, 200);
  assert.ok(served > 60 && failed > 60, `${served} served, ${failed} failed`);
  for (const path of ["/none", "/missing", "/zero", "/filter"]) assert.equal((await ask({ path })).status, 500, path);
  assert.equal((await ask({ path: "/right" })).seen?.backend, "a");
});

Deno.test({
  name: "a call without a backend ends with UNAVAILABLE",
  ignore,
  fn: () => {
    const written = [{ matches: [{ method: { service: "a.S" } }], backendRefs: [to("missing")] }];
    return withTraffic(binary!, [rules(route(written, { kind: "GRPCRoute" }))], {}, async ({ ask }) => {
      const got = await ask({ path: "/a.S/M", method: "POST", headers: { "content-type": "application/grpc" } });
      assert.deepEqual([got.status, got.headers["grpc-status"]], [200, "14"]);
    });
  },
});

test("headers are changed for the rule and for one of its backends, values are sent as written", [
  {
    matches: prefix("/rule"),
    backendRefs: [to("a")],
    filters: [
      {
        type: "RequestHeaderModifier",
        requestHeaderModifier: {
          set: [{ name: "X-Set", value: "100%" }],
          add: [{ name: "x-add", value: "%REQ(x-secret)%" }],
          remove: ["x-remove"],
        },
      },
      { type: "ResponseHeaderModifier", responseHeaderModifier: { set: [{ name: "x-backend-of", value: "rule" }] } },
    ],
  },
  {
    matches: prefix("/backend"),
    backendRefs: [
      to("a", {
        filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "x", value: "a" }] } }],
      }),
      to("b", {
        filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "x", value: "b" }] } }],
      }),
    ],
  },
], async ({ ask }) => {
  const headers = { "x-set": "old", "x-add": "old", "x-remove": "old", "x-secret": "secret" };
  const got = await ask({ path: "/rule", headers });
  const { "x-set": set, "x-add": add, "x-remove": removed } = got.seen?.headers ?? {};
  assert.deepEqual([set, add, removed], ["100%", "old, %REQ(x-secret)%", undefined]);
  assert.equal(got.headers["x-backend-of"], "rule");
  for (let i = 0; i < 20; i++) {
    const { seen } = await ask({ path: "/backend" });
    assert.equal(seen?.headers["x"], seen?.backend);
  }
});

test("every mirror gets a copy, and the answer is the backend's own", [
  {
    backendRefs: [to("a")],
    filters: [
      { type: "RequestMirror", requestMirror: { backendRef: to("b") } },
      { type: "RequestMirror", requestMirror: { backendRef: to("missing") } },
      { type: "RequestMirror", requestMirror: { backendRef: to("c"), percent: 100 } },
      { type: "RequestMirror", requestMirror: { backendRef: to("d"), percent: 0 } },
    ],
  },
], async (traffic) => {
  assert.equal((await traffic.ask({ path: "/x" })).seen?.backend, "a");
  while (traffic.seen.length < 3) await traffic.next();
  assert.deepEqual(traffic.seen.map(({ backend, path }) => `${backend}${path}`).sort(), ["a/x", "b/x", "c/x"]);
});

test("preflights are answered: an allowed origin is named in the answer, another origin is not", [
  {
    matches: prefix("/some"),
    backendRefs: [to("a")],
    filters: [cors({
      ...{ allowOrigins: ["https://www.a.com", "https://*.b.com"], allowMethods: ["GET", "OPTIONS"] },
      ...{ allowHeaders: ["x-1", "x-2"], exposeHeaders: ["x-3"], allowCredentials: true, maxAge: 3600 },
    })],
  },
  { matches: prefix("/any"), backendRefs: [to("a")], filters: [cors({ allowOrigins: ["*"], allowMethods: ["PUT"] })] },
  {
    matches: prefix("/all"),
    backendRefs: [to("a")],
    filters: [cors({ allowOrigins: ["*"], allowMethods: ["*"], allowHeaders: ["*"], allowCredentials: true })],
  },
  {
    matches: prefix("/open"),
    backendRefs: [to("a")],
    filters: [cors({ allowOrigins: ["*"], allowMethods: ["*"], allowHeaders: ["*"] })],
  },
], async ({ ask }) => {
  const preflight = (path: string, origin: string, more: Record<string, string> = {}): Asked => ({
    ...{ path, method: "OPTIONS" },
    headers: { origin, "access-control-request-method": "GET", ...more },
  });
  const answeredHeaders = ({ headers }: Got, ...names: string[]) =>
    names.map((name) => headers[`access-control-${name}`]);
  const all = ["allow-origin", "allow-methods", "allow-headers", "expose-headers", "max-age", "allow-credentials"];
  const answered = await ask(preflight("/some", "https://www.a.com"));
  assert.deepEqual([answered.status, answered.seen], [200, undefined]);
  assert.deepEqual(answeredHeaders(answered, ...all), [
    "https://www.a.com",
    "GET,OPTIONS",
    "x-1,x-2",
    "x-3",
    "3600",
    "true",
  ]);
  for (const origin of ["https://x.b.com", "https://y.x.b.com"]) {
    assert.deepEqual(answeredHeaders(await ask(preflight("/some", origin)), "allow-origin"), [origin]);
  }
  for (const origin of ["https://b.com", "https://xb.com", "https://www.a.com.evil.com", "http://x.b.com"]) {
    const refused = await ask(preflight("/some", origin));
    assert.deepEqual([refused.status, refused.seen], [200, undefined], origin);
    // Without an allowed origin a browser permits nothing, whatever the other headers say.
    assert.deepEqual(answeredHeaders(refused, "allow-origin"), [undefined]);
    const plain = await ask({ path: "/some", headers: { origin } });
    assert.deepEqual([plain.seen?.method, ...answeredHeaders(plain, "allow-origin")], ["GET", undefined]);
  }
  const simple = await ask({ path: "/some", headers: { origin: "https://x.b.com" } });
  assert.deepEqual([simple.seen?.method, ...answeredHeaders(simple, "allow-origin")], ["GET", "https://x.b.com"]);
  const any = await ask(preflight("/any", "https://c.com:12345"));
  assert.deepEqual(answeredHeaders(any, "allow-origin", "allow-methods", "allow-credentials", "max-age"), [
    ...["https://c.com:12345", "PUT", undefined, "5"],
  ]);
  const wide = await ask(preflight("/all", "https://c.com", {
    ...{ "access-control-request-method": "PATCH", "access-control-request-headers": "x-1, x-2" },
  }));
  assert.deepEqual(answeredHeaders(wide, "allow-origin", "allow-methods", "allow-headers", "allow-credentials"), [
    ...["https://c.com", "PATCH", "x-1, x-2", "true"],
  ]);
  const open = await ask(preflight("/open", "https://c.com", { "access-control-request-headers": "x-1, x-2" }));
  assert.equal(open.status, 200);
  assert.deepEqual(answeredHeaders(open, "allow-credentials"), [undefined]);
  assert.match(`${answeredHeaders(open, "allow-methods")}`, /^(GET|\*)$/);
  assert.match(`${answeredHeaders(open, "allow-headers")}`, /^(x-1, x-2|\*)$/);
});

test("statuses of a rule are tried again, as often as the rule says", [
  { matches: prefix("/status/503"), backendRefs: [to("a")], retry: { codes: [503], attempts: 3, backoff: "1ms" } },
  { matches: prefix("/status/500"), backendRefs: [to("a")], retry: { codes: [503], attempts: 3, backoff: "1ms" } },
], async ({ ask, seen }) => {
  assert.equal((await ask({ path: "/status/503" })).status, 503);
  assert.equal(seen.length, 4);
  assert.equal((await ask({ path: "/status/500" })).status, 500);
  assert.equal(seen.length, 5);
});

test("a session cookie is set for a rule with sessions alone", [
  { matches: prefix("/in"), backendRefs: [to("a")], sessionPersistence: { sessionName: "s" } },
  { matches: prefix("/out"), backendRefs: [to("a")] },
], async ({ ask }) => {
  assert.match(`${(await ask({ path: "/in" })).headers["set-cookie"]}`, /^s=/);
  assert.equal((await ask({ path: "/out" })).headers["set-cookie"], undefined);
});

function redirect(requestRedirect: object): object {
  return { type: "RequestRedirect", requestRedirect };
}

function rewrite(urlRewrite: object): object {
  return { type: "URLRewrite", urlRewrite };
}

function cors(content: object): object {
  return { type: "CORS", cors: content };
}

function full(replaceFullPath: string): object {
  return { type: "ReplaceFullPath", replaceFullPath };
}

function replaced(replacePrefixMatch: string): object {
  return { type: "ReplacePrefixMatch", replacePrefixMatch };
}
