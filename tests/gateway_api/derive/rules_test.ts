/** Rules of HTTPRoutes and GRPCRoutes as rules of VirtualServices. */
import assert from "node:assert/strict";
import type { HttpRoute } from "../../../lib/config/kinds/kinds.ts";
import { merged, rulesOf } from "../../../lib/gateway_api/derive/rules.ts";
import { backendsOf, hostOf, route, type RouteHead, rules } from "./routes.ts";

const to = (name: string, more: object = {}) => ({ name, port: 80, ...more });
const a = { destination: { host: hostOf("a"), port: { number: 80 } } };
const backendRefs = [to("a")];

/** The rules of one written rule, without names, sources and matches. */
function actions(rule: object, head: RouteHead = {}, context = {}): Partial<HttpRoute>[] {
  return rules(route([rule], head), context).rules.map(({ rule: { name: _, match: __, internal, ...rest } }) => {
    const { source: ___, ...more } = internal!;
    return { ...rest, ...(Object.keys(more).length > 0 ? { internal: internal! } : {}) };
  });
}

function action(rule: object, head: RouteHead = {}, context = {}): Partial<HttpRoute> {
  const [first, ...others] = actions(rule, head, context);
  assert.equal(others.length, 0);
  return first!;
}

const filter = (type: string, field: string, content: object) => ({
  backendRefs,
  filters: [{ type, [field]: content }],
});
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

const matches: [string, object | undefined, object][] = [
  ["no match takes every path", undefined, { uri: { prefix: "/" } }],
  ["a prefix, without its last slash", { path: { type: "PathPrefix", value: "/a/" } }, { uri: { prefix: "/a" } }],
  ["an exact path", { path: { type: "Exact", value: "/a/" } }, { uri: { exact: "/a/" } }],
  ["an expression", { path: { type: "RegularExpression", value: "/[0-9]+" } }, { uri: { regex: "/[0-9]+" } }],
  ["a method", { method: "GET" }, { uri: { prefix: "/" }, method: { exact: "GET" } }],
  [
    "the first of equal headers, in any letter case",
    { headers: [{ name: "Version", value: "1" }, { name: "version", value: "2" }] },
    { uri: { prefix: "/" }, headers: { version: { exact: "1" } } },
  ],
  [
    "query parameters, whose letter case counts",
    { queryParams: [{ name: "a", value: "1" }, { name: "A", value: "2", type: "RegularExpression" }] },
    { uri: { prefix: "/" }, queryParams: { a: { exact: "1" }, A: { regex: "2" } } },
  ],
];
for (const [name, match, expected] of matches) {
  Deno.test(`a match of an HTTPRoute: ${name}`, () => {
    const [first] = rules(route([{ backendRefs, ...(match && { matches: [match] }) }])).rules;
    assert.deepEqual(first?.rule.match, [expected]);
  });
}

const calls: [string, object | undefined, object][] = [
  ["every call", undefined, { prefix: "/" }],
  ["service and method", { service: "a.b.S", method: "M" }, { exact: "/a.b.S/M" }],
  ["a service", { service: "a.b.S" }, { prefix: "/a.b.S" }],
  ["a method of any service", { method: "M" }, { regex: "/[^/]+/M" }],
  ["expressions", { type: "RegularExpression", service: "a|b", method: "M.*" }, { regex: "/(?:a|b)/(?:M.*)" }],
  ["an expression for the method", { type: "RegularExpression", method: "M.*" }, { regex: "/[^/]+/(?:M.*)" }],
];
for (const [name, method, uri] of calls) {
  Deno.test(`a match of a GRPCRoute: ${name}`, () => {
    const written = { backendRefs, ...(method && { matches: [{ method }] }) };
    const [first] = rules(route([written], { kind: "GRPCRoute" })).rules;
    assert.deepEqual(first?.rule.match, [{ uri }]);
  });
}

const destinations: [string, object, object][] = [
  ["one backend", { backendRefs }, { route: [a] }],
  ["one backend beside backends of weight 0", { backendRefs: [to("a"), to("b", { weight: 0 })] }, { route: [a] }],
  [
    "the share of a missing backend gets 500",
    { backendRefs: [to("a", { weight: 3 }), to("missing")] },
    {
      route: [
        { ...a, weight: 3 },
        { destination: { host: "unresolved.invalid" }, weight: 1, internal: { unresolved: 500 } },
      ],
    },
  ],
  ["no backend", {}, { directResponse: { status: 500 } }],
  ["missing backends alone", { backendRefs: [to("missing"), to("missing2")] }, { directResponse: { status: 500 } }],
  ["weights whose sum is 0", { backendRefs: [to("a", { weight: 0 })] }, { directResponse: { status: 500 } }],
  [
    "changes of headers for one of several backends",
    {
      backendRefs: [
        to("a", { filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x"] } }] }),
        to("b"),
      ],
    },
    {
      route: [
        { ...a, headers: { request: { remove: ["x"] } }, weight: 1 },
        { destination: { host: hostOf("b"), port: { number: 80 } }, weight: 1 },
      ],
    },
  ],
];
for (const [name, rule, expected] of destinations) {
  Deno.test(`destinations: ${name}`, () => assert.deepEqual(json(action(rule)), expected));
}

Deno.test("calls without a backend are answered with UNAVAILABLE, which is the HTTP status 503", () => {
  assert.deepEqual(action({}, { kind: "GRPCRoute" }), { directResponse: { status: 503 } });
  const { route: shares } = action({ backendRefs: [to("a"), to("missing")] }, { kind: "GRPCRoute" });
  assert.deepEqual(shares?.[1]?.internal, { unresolved: 503 });
});

const redirects: [string, object, object][] = [
  ["nothing given", {}, { redirect: { derivePort: "FROM_REQUEST_PORT", redirectCode: 302 } }],
  ["a scheme has its own port", { scheme: "https" }, { redirect: { scheme: "https", redirectCode: 302 } }],
  [
    "host, port and status",
    { hostname: "b.com", port: 8443, statusCode: 308 },
    { redirect: { authority: "b.com", port: 8443, redirectCode: 308 } },
  ],
  [
    "a whole path",
    { scheme: "http", path: { type: "ReplaceFullPath", replaceFullPath: "new" } },
    { redirect: { uri: "/new", scheme: "http", redirectCode: 302 } },
  ],
];
for (const [name, content, expected] of redirects) {
  Deno.test(`a redirect: ${name}`, () => {
    const { internal: _, ...rule } = action({ filters: [{ type: "RequestRedirect", requestRedirect: content }] });
    assert.deepEqual(rule, expected);
  });
}

/** Prefix of the match, replacement, and the change as a rewrite and as a redirect. */
const prefixes: [string, string, object | undefined][] = [
  ["/foo", "/xyz", { prefix: "/xyz" }],
  ["/foo/", "/xyz/", { prefix: "/xyz" }],
  ["/foo", "xyz", { prefix: "/xyz" }],
  ["/foo", "/", { regex: { match: "^/foo/*", rewrite: "/" } }],
  ["/f.o", "", { regex: { match: "^/f\\.o/*", rewrite: "/" } }],
  ["/", "/xyz", { prefix: "/xyz/" }],
  ["/", "/", undefined],
];
for (const [value, replacePrefixMatch, change] of prefixes) {
  Deno.test(`prefix ${value} replaced by ${JSON.stringify(replacePrefixMatch)}`, () => {
    const path = { type: "ReplacePrefixMatch", replacePrefixMatch };
    const matched = { matches: [{ path: { value } }] };
    const rewritten = action({ ...matched, ...filter("URLRewrite", "urlRewrite", { path }) });
    const { prefix, regex } = (change ?? {}) as { prefix?: string; regex?: object };
    const rewrite = prefix ? { uri: prefix } : regex && { uriRegexRewrite: regex };
    assert.deepEqual(rewritten, { ...(rewrite && { rewrite }), route: [a] });
    const redirected = action({ ...matched, filters: [{ type: "RequestRedirect", requestRedirect: { path } }] });
    assert.deepEqual(redirected.internal?.redirectPath, change);
  });
}

const actionsOfFilters: [string, object, Partial<HttpRoute>][] = [
  [
    "a new host and a whole new path",
    filter("URLRewrite", "urlRewrite", {
      hostname: "b.com",
      path: { type: "ReplaceFullPath", replaceFullPath: "/a\\1" },
    }),
    { rewrite: { uriRegexRewrite: { match: "^/.*$", rewrite: "/a\\\\1" }, authority: "b.com" }, route: [a] },
  ],
  [
    "headers: the first of equal names, values literally",
    filter("RequestHeaderModifier", "requestHeaderModifier", {
      set: [{ name: "X-A", value: "100%" }, { name: "x-a", value: "2" }],
      add: [{ name: "x-b", value: "%ENVIRONMENT(HOME)%" }],
      remove: ["X-C", "x-c"],
    }),
    {
      headers: { request: { set: { "X-A": "100%%" }, add: { "x-b": "%%ENVIRONMENT(HOME)%%" }, remove: ["X-C"] } },
      route: [a],
    },
  ],
  [
    "headers of the answer",
    filter("ResponseHeaderModifier", "responseHeaderModifier", { set: [{ name: "x", value: "1" }] }),
    { headers: { response: { set: { x: "1" } } }, route: [a] },
  ],
  [
    "copies of a share with decimals, and all of the requests",
    {
      backendRefs,
      filters: [
        { type: "RequestMirror", requestMirror: { backendRef: to("b"), fraction: { numerator: 1, denominator: 8 } } },
        { type: "RequestMirror", requestMirror: { backendRef: to("missing") } },
        { type: "RequestMirror", requestMirror: { backendRef: to("c") } },
      ],
    },
    {
      route: [a],
      mirrors: [
        { destination: { host: hostOf("b"), port: { number: 80 } }, percentage: { value: 12.5 } },
        { destination: { host: hostOf("c"), port: { number: 80 } } },
      ],
    },
  ],
  [
    "origins: exact, with a wildcard, in the form of browsers",
    filter("CORS", "cors", {
      allowOrigins: ["https://WWW.a.com:443", "https://*.b.com"],
      allowMethods: ["GET"],
      exposeHeaders: ["*", "x-a"],
      allowCredentials: true,
    }),
    {
      corsPolicy: {
        allowOrigins: [{ exact: "https://www.a.com" }, { regex: "https://[^/?#]*\\.b\\.com" }],
        allowMethods: ["GET"],
        exposeHeaders: ["x-a"],
        maxAge: 5000,
        allowCredentials: true,
        unmatchedPreflights: "IGNORE",
      },
      route: [a],
    },
  ],
];
for (const [name, rule, expected] of actionsOfFilters) {
  Deno.test(`a filter: ${name}`, () => assert.deepEqual(action(rule), expected));
}

Deno.test("filters of the only backend act on the rule", () => {
  const rewrite = { type: "URLRewrite", urlRewrite: { hostname: "b.com" } };
  assert.deepEqual(action({ backendRefs: [to("a", { filters: [rewrite] })] }), {
    rewrite: { authority: "b.com" },
    route: [a],
  });
});

const limits: [string, object, Partial<HttpRoute>][] = [
  ["the whole request", { timeouts: { request: "2s" } }, { timeout: 2000 }],
  ["0 is no limit", { timeouts: { request: "0s", backendRequest: "0s" } }, {}],
  ["each try", { timeouts: { request: "2s", backendRequest: "1s" } }, {
    timeout: 2000,
    retries: { attempts: 2, perTryTimeout: 1000 },
  }],
  ["without retries the shorter time", { timeouts: { request: "2s", backendRequest: "1s" }, retry: { attempts: 0 } }, {
    timeout: 1000,
    retries: { attempts: 0 },
  }],
  ["statuses, attempts and pause", { retry: { codes: [503, 599], attempts: 4, backoff: "10ms" } }, {
    retries: {
      attempts: 4,
      retryOn: "connect-failure,refused-stream,unavailable,cancelled,503,599",
      backoff: 10,
    },
  }],
];
for (const [name, rule, expected] of limits) {
  Deno.test(`limits of time: ${name}`, () => {
    const { route: _, ...rest } = action({ backendRefs, ...rule });
    assert.deepEqual(rest, expected);
  });
}

Deno.test("the mesh's own retries get the time for a backend, and a mesh without retries limits the request", () => {
  const rule = { backendRefs, timeouts: { backendRequest: "1s" } };
  assert.deepEqual(action(rule, {}, { defaultRetry: { attempts: 5 } }).retries, { attempts: 5, perTryTimeout: 1000 });
  assert.equal(action(rule, {}, { defaultRetry: { attempts: 0 } }).timeout, 1000);
});

Deno.test("sessions are kept by a cookie with a name of its own, or by a header", () => {
  const session = (written: object) => action({ backendRefs, sessionPersistence: written }).internal?.session;
  const own = session({});
  assert.match(own?.name ?? "", /^mesh-session-[0-9a-f]{8}$/);
  assert.deepEqual({ ...own, name: "" }, { type: "cookie", name: "" });
  assert.deepEqual(session({ type: "Header", sessionName: "X-S" }), { type: "header", name: "x-s" });
  const permanent = { sessionName: "s", absoluteTimeout: "1h", cookieConfig: { lifetimeType: "Permanent" } };
  assert.deepEqual(session(permanent), { type: "cookie", name: "s", ttl: 3_600_000 });
});

Deno.test("a rule has its written name, or else the name of the route with its position; its source is told", () => {
  const [first, second] = rules(route([{ name: "mine" }, { matches: [{ method: "GET" }] }])).rules;
  assert.equal(first?.rule.name, "mine");
  assert.deepEqual(first?.rule.internal?.source, { kind: "HTTPRoute", namespace: "shop", name: "web", rule: 0 });
  assert.equal(second?.rule.name, "shop.web.1");
  assert.equal(second?.rule.internal?.source.match, 0);
});

Deno.test("a route without rules answers every request with an error", () => {
  const [only] = rules(route(undefined)).rules;
  assert.deepEqual(only?.rule.match, [{ uri: { prefix: "/" } }]);
  assert.deepEqual(only?.rule.directResponse, { status: 500 });
});

/** A rule that cannot be served, and the reason. */
const refusals: [string, object, string, RegExp][] = [
  [
    "a filter of another kind",
    { backendRefs, filters: [{ type: "ExtensionRef", extensionRef: { group: "", kind: "K", name: "n" } }] },
    "InvalidFilter",
    /^rules\[0\]\.filters\[0\]\.type: "ExtensionRef", expected a supported type/,
  ],
  [
    "a filter without content",
    { backendRefs, filters: [{ type: "CORS" }] },
    "InvalidFilter",
    /filters\[0\]\.cors, expected the content/,
  ],
  [
    "a changed prefix without a prefix",
    {
      ...filter("URLRewrite", "urlRewrite", { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } }),
      matches: [{ path: { type: "Exact", value: "/a" } }],
    },
    "InvalidFilter",
    /urlRewrite\.path\.type: "ReplacePrefixMatch"/,
  ],
  [
    "the Host header of answers",
    filter("ResponseHeaderModifier", "responseHeaderModifier", { set: [{ name: "Host", value: "x" }] }),
    "UnsupportedValue",
    /headers\.response\.set\.Host/,
  ],
];
for (const [name, rule, reason, message] of refusals) {
  Deno.test(`a rule that cannot be served answers 500, and the next rule serves: ${name}`, () => {
    const { rules: found, refusals } = rules(route([rule, { name: "next", backendRefs }]));
    assert.deepEqual(found.map(({ rule }) => rule.directResponse?.status ?? rule.route?.length), [500, 1]);
    assert.deepEqual(refusals.map((one) => [one.rule, one.reason]), [[0, reason]]);
    assert.match(refusals[0]?.message ?? "", message);
  });
}

Deno.test("a backend whose filters cannot be served gets no requests, its share gets 500", () => {
  const filters = [{ type: "URLRewrite", urlRewrite: { hostname: "b.com" } }];
  const { rules: [first], refusals } = rules(route([{ backendRefs: [to("a"), to("b", { filters })] }]));
  assert.deepEqual(
    first?.rule.route?.map(({ internal }) => internal && "unresolved" in internal ? internal.unresolved : undefined),
    [undefined, 500],
  );
  assert.equal(refusals[0]?.reason, "InvalidFilter");
});

Deno.test("a match that cannot be compared is left out, the other matches of the rule stay", () => {
  const matches = [{ path: { type: "RegularExpression", value: "(" } }, { path: { value: "/a" } }];
  const { rules: found, refusals } = rules(route([{ backendRefs, matches }]));
  assert.deepEqual(found.map(({ rule }) => rule.internal?.source.match), [1]);
  assert.deepEqual(refusals.map(({ reason }) => reason), ["UnsupportedValue"]);
});

Deno.test("rules of several routes: the more specific match first, then the older route, then by name", () => {
  const named = (name: string, match: object) => ({ name, matches: [match], backendRefs });
  const path = (type: string, value: string) => ({ path: { type, value } });
  const header = { name: "h", value: "1" };
  const old = route([
    named("any", path("PathPrefix", "/")),
    named("expression", path("RegularExpression", "/aaaaaaaaaaaaaaaa")),
    named("long", path("PathPrefix", "/aa/bb")),
    named("short", path("PathPrefix", "/aa")),
    named("short-query", { ...path("PathPrefix", "/aa"), queryParams: [{ name: "q", value: "1" }] }),
  ], { name: "z", created: "2020-01-01T00:00:00Z" });
  const young = route([
    named("exact", path("Exact", "/a")),
    named("short-young", path("PathPrefix", "/aa")),
    named("short-header", { ...path("PathPrefix", "/aa"), headers: [header] }),
    named("short-method", { ...path("PathPrefix", "/aa"), method: "GET" }),
    named("short-2-headers", { ...path("PathPrefix", "/aa"), headers: [header, { name: "i", value: "1" }] }),
  ], { name: "a", created: "2021-01-01T00:00:00Z" });
  const call = route([{ name: "call", matches: [{ method: { method: "M" } }], backendRefs }], {
    ...{ kind: "GRPCRoute", name: "a", created: "2021-01-01T00:00:00Z" },
  });
  assert.deepEqual(merged([young, old, call].map((one) => rules(one))).map(({ name }) => name), [
    ...["exact", "long", "short-method", "short-2-headers", "short-header", "short-query", "short", "short-young"],
    ...["expression", "call", "any"],
  ]);
});

Deno.test("rules are converted again only for another route object, other backends or other retries of the mesh", () => {
  const one = route([{ backendRefs }]);
  const first = rules(one);
  assert.equal(rulesOf(one, backendsOf(one), {}), first);
  const gone = rulesOf(one, [{ backends: [], mirrors: [] }], {});
  assert.equal(gone.rules[0]?.rule.directResponse?.status, 500);
  const again = rules(one);
  assert.notEqual(again, gone);
  assert.notEqual(rules(one, { defaultRetry: { attempts: 1 } }), again);
});
