/**
 * RequestAuthentication on real Envoys: which tokens are accepted, the facts forwarded to the workload, and routing by
 * claims.
 */
import assert from "node:assert/strict";
import { SignJWT } from "jose";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { type AskedRequest, askWith, headerEcho } from "./support/header_echo.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const ignore = path === undefined;

const seconds = () => Math.floor(Date.now() / 1000);
const bearer = (token: string): AskedRequest => ({ headers: { authorization: `Bearer ${token}` } });

function sidecar(port: number, application: number): string {
  return `
apiVersion: networking.mesh.io/v1
kind: Sidecar
metadata: { name: server, namespace: demo }
spec:
  workloadSelector: { labels: { app: server } }
  ingress:
  - { port: { number: ${port}, protocol: HTTP, name: http }, defaultEndpoint: "127.0.0.1:${application}", bind: 127.0.0.1, captureMode: NONE }
`;
}

function authentication(name: string, rules: readonly object[], selector = "server"): string {
  const spec = { selector: { matchLabels: { app: selector } }, jwtRules: rules };
  const metadata = { name, namespace: "demo" };
  return `---\n${
    JSON.stringify({ apiVersion: "security.istio.io/v1", kind: "RequestAuthentication", metadata, spec })
  }\n`;
}

const server = { type: "sidecar", name: "server", namespace: "demo", address: "127.0.0.1", labels: { app: "server" } };

/** The second part of a token with nothing signed. */
const unsigned = (claims: object) => {
  const part = (value: object) =>
    btoa(JSON.stringify(value)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  return `${part({ alg: "none" })}.${part(claims)}.`;
};

/** Requests by name, each with the expected status. */
async function attempts(one: TestIssuer, two: TestIssuer) {
  await using thief = await TestIssuer.start();
  const good = await one.token();
  const goodOfTwo = await two.token({ aud: "other" });
  const [head, body] = good.split(".");
  const hmac = await new SignJWT(one.claims()).setProtectedHeader({ alg: "HS256", kid: "one" })
    .sign(new TextEncoder().encode(await one.publicPem()));
  const cases: Record<string, readonly [number, AskedRequest]> = {
    "no token": [200, {}],
    "a good token": [200, bearer(good)],
    "in a parameter": [200, { path: `/a?access_token=${good}` }],
    "another scheme is no token": [200, { headers: { authorization: "Basic YTpi" } }],
    "for another audience": [403, bearer(await one.token({ aud: "other" }))],
    "for one of several audiences": [200, bearer(await one.token({ aud: ["x", "mesh-ca"] }))],
    "without an audience": [403, bearer(await one.token({ aud: undefined as unknown as string }))],
    "of an issuer that no rule names": [401, bearer(await one.token({ iss: "https://elsewhere.test" }))],
    "that has expired": [401, bearer(await one.token({ exp: seconds() - 3600 }))],
    "not valid yet": [401, bearer(await one.token({ nbf: seconds() + 3600 }))],
    "signed with a forged key of the same name": [401, bearer(await one.token({}, thief.keys[0]!))],
    "signed with a key of another name": [401, bearer(await one.token({}, { ...thief.keys[0]!, kid: "x" }))],
    "algorithm none": [401, bearer(unsigned(one.claims()))],
    "signed with the public key as a secret": [401, bearer(hmac)],
    "with other claims under the signature": [
      401,
      bearer(good.replace(body!, unsigned(one.claims({ sub: "root" })).split(".")[1]!)),
    ],
    "without its signature": [401, bearer(`${head}.${body}.`)],
    "garbage": [401, bearer("x")],
    "of 30 kB": [401, bearer(`${head}.${"A".repeat(30_000)}.x`)],
    "of the second issuer": [200, bearer(goodOfTwo)],
    "of the second issuer, for the first one's audience": [403, bearer(await two.token())],
    "of the second issuer, in its own header": [200, { headers: { "x-jwt": `JWT ${goodOfTwo}` } }],
    "of the second issuer, in its own header without the prefix": [200, { headers: { "x-jwt": goodOfTwo } }],
    "of the second issuer, in its cookie": [200, { headers: { cookie: `session=${goodOfTwo}` } }],
    "a bad one in that cookie": [401, { headers: { cookie: "session=bad" } }],
    "of the second issuer, in its parameter": [200, { path: `/?token=${goodOfTwo}` }],
    "of the first issuer in the second one's header": [401, { headers: { "x-jwt": `JWT ${good}` } }],
    "two good tokens": [200, { headers: { authorization: `Bearer ${good}`, "x-jwt": `JWT ${goodOfTwo}` } }],
    "two tokens in one place": [401, { path: "/?token=bad&token=worse" }],
    "a browser's question, with a bad token": [200, {
      method: "OPTIONS",
      headers: { authorization: "Bearer x", origin: "http://a.test", "access-control-request-method": "GET" },
    }],
    "a bad token with method OPTIONS": [401, { method: "OPTIONS", headers: { authorization: "Bearer x" } }],
  };
  return cases;
}

Deno.test({
  name: "who is let in with which token, of two issuers: one by keys in the rule, one by address through the server",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho();
      await using one = await TestIssuer.start();
      await using two = await TestIssuer.start();
      const rules = [
        { issuer: one.url, audiences: ["mesh-ca"], jwks: await one.keySet() },
        {
          ...{ issuer: two.url, audiences: ["other", "more"], jwksUri: `${two.url}/keys`, fromParams: ["token"] },
          ...{ fromHeaders: [{ name: "x-jwt", prefix: "JWT " }, { name: "authorization", prefix: "Bearer " }] },
          fromCookies: ["session"],
        },
      ];
      await using mesh = await TestMesh.start({
        files: { "world.yaml": sidecar(port, app.port) + authentication("tokens", rules) },
      });
      const envoy = await mesh.attach(path!, { ...server, type: "sidecar" }, true);
      await envoy.ready(port);
      const cases = await attempts(one, two);
      const got: Record<string, number> = {};
      for (const [name, [, request]] of Object.entries(cases)) got[name] = (await askWith(port, request)).status;
      assert.deepEqual(got, Object.fromEntries(Object.entries(cases).map(([name, [status]]) => [name, status])));
      await mesh.settled();
      const page = await mesh.page<{ total: number; live: number; everywhere: boolean; why: string[] }>(
        "live?object=RequestAuthentication/demo/tokens&wait=90s",
      );
      assert.deepEqual(page.why, []);
      assert.deepEqual([page.total, page.live, page.everywhere], [1, 1, true]);
    }),
});

Deno.test({
  name: "the workload learns of a token what the rule says, and never what a client claims by itself",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho();
      await using issuer = await TestIssuer.start();
      const rule = {
        issuer: issuer.url,
        outputPayloadToHeader: "x-payload",
        outputClaimToHeaders: [{ header: "x-sub", claim: "sub" }, { header: "x-deep", claim: "a.b" }],
      };
      await using mesh = await TestMesh.start({
        files: { "world.yaml": sidecar(port, app.port), "policy.yaml": authentication("tokens", [rule]) },
      });
      const envoy = await mesh.attach(path!, { ...server, type: "sidecar" }, true);
      await envoy.ready(port);
      assert.deepEqual(issuer.asked, ["/.well-known/openid-configuration", "/keys"], "found by discovery");
      const token = await issuer.token({ a: { b: "deep" } });
      const lies = { "x-payload": "lie", "x-sub": "lie", "x-deep": "lie" };
      const seen = await askWith(port, { headers: { ...lies, authorization: `Bearer ${token}` } });
      const { headers } = seen.got!;
      assert.deepEqual([headers["x-sub"], headers["x-deep"]], ["system:serviceaccount:shop:cart", "deep"]);
      assert.equal(JSON.parse(atob(headers["x-payload"]!.replaceAll("-", "+").replaceAll("_", "/"))).iss, issuer.url);
      assert.equal(headers["authorization"], undefined, "the token is taken out");
      const without = await askWith(port, { headers: lies });
      assert.equal(without.status, 200);
      for (const name of Object.keys(lies)) assert.equal(without.got?.headers[name], undefined, name);
      await mesh.write("policy.yaml", authentication("tokens", [{ ...rule, forwardOriginalToken: true }]));
      await until("the token is forwarded", async () => {
        const { got } = await askWith(port, bearer(token));
        return got?.headers["authorization"] === `Bearer ${token}`;
      });
      await mesh.settled();
    }),
});

Deno.test({
  name: "a policy that demands a principal of a token admits its subject alone",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho();
      await using issuer = await TestIssuer.start();
      const rule = { issuer: issuer.url, jwksUri: `${issuer.url}/keys` };
      const source = { requestPrincipals: [`${issuer.url}/system:serviceaccount:shop:cart`] };
      const when = [{ key: "request.auth.claims[groups]", values: ["admin"] }];
      const spec = { rules: [{ from: [{ source }], when }] };
      const head = { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy" };
      const policy = JSON.stringify({ ...head, metadata: { name: "one", namespace: "demo" }, spec });
      await using mesh = await TestMesh.start({
        files: { "world.yaml": `${sidecar(port, app.port)}${authentication("tokens", [rule])}---\n${policy}\n` },
      });
      const envoy = await mesh.attach(path!, { ...server, type: "sidecar" }, true);
      await envoy.ready(port);
      const groups = ["user", "admin"];
      const cases: Record<string, readonly [number, AskedRequest]> = {
        "no token": [403, {}],
        "its subject, in the group": [200, bearer(await issuer.token({ groups }))],
        "its subject, without the group": [403, bearer(await issuer.token({ groups: ["user"] }))],
        "another subject": [403, bearer(await issuer.token({ groups, sub: "system:serviceaccount:shop:cart2" }))],
        "a forged token": [401, bearer(unsigned(issuer.claims({ groups })))],
      };
      const got: Record<string, number> = {};
      for (const [name, [, request]] of Object.entries(cases)) got[name] = (await askWith(port, request)).status;
      assert.deepEqual(got, Object.fromEntries(Object.entries(cases).map(([name, [status]]) => [name, status])));
      await mesh.settled();
    }),
});

Deno.test({
  name: "an issuer that is down at the start refuses every token and lets in requests without; keys change live",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using app = headerEcho();
      await using issuer = await TestIssuer.start();
      issuer.answer = () => new Response("down", { status: 503 });
      const rule = { issuer: issuer.url, jwksUri: `${issuer.url}/keys` };
      await using mesh = await TestMesh.start({
        files: { "world.yaml": sidecar(port, app.port) + authentication("tokens", [rule]) },
        settings: { PILOT_JWT_PUB_KEY_REFRESH_INTERVAL: 200 },
      });
      const envoy = await mesh.attach(path!, { ...server, type: "sidecar" }, true);
      await envoy.ready(port);
      const status = async (token: string) => (await askWith(port, bearer(token))).status;
      const first = await issuer.token();
      assert.deepEqual([(await askWith(port)).status, await status(first)], [200, 401]);
      const warnings = () => mesh.page<{ name: string; message: string }[]>("warningz");
      const reported = (await warnings()).filter(({ name }) => name === "keys-not-fetched");
      assert.equal(reported.length, 1);
      assert.match(
        reported[0]!.message,
        /^spec\.jwtRules\[0\]\.jwksUri: .*\/keys: status 503, expected 200; every token/,
      );
      issuer.answer = undefined;
      await until("the keys are there", async () => await status(first) === 200);
      assert.deepEqual((await warnings()).filter(({ name }) => name === "keys-not-fetched"), []);
      issuer.keys.pop();
      await issuer.addKey("two");
      const second = await issuer.token();
      await until("the new key is there, the old one is gone", async () => {
        return await status(second) === 200 && await status(first) === 401;
      });
      issuer.answer = () => new Response("down", { status: 503 });
      await until("the failure is said", async () =>
        (await warnings()).some(({ name, message }) =>
          name === "keys-not-fetched" && /stay in force$/.test(message)
        ));
      assert.equal(await status(second), 200, "the last keys stay");
      await mesh.settled();
    }),
});

function gateway(port: number, blue: number, green: number): string {
  const service = (name: string, port: number) => `
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${port} } }]
`;
  const route = (match: string, host: string) =>
    `  - { ${match}route: [{ destination: { host: ${host}.test, port: { number: 80 } } }] }`;
  const header = (name: string, value: string, field = "headers") => `match: [{ ${field}: { "${name}": ${value} } }], `;
  return `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: app, namespace: demo }
spec:
  hosts: [app.test]
  gateways: [door]
  http:
${route(header("@request.auth.claims.group", "{ exact: blue }"), "blue")}
${route(header("@request.auth.claims[a.b][c]", "{ prefix: gre }"), "green")}
${route(header("@request.auth.claims.scope", "{ exact: write }"), "blue")}
${route(header("@request.auth.claims.sub", "{}"), "green")}
  - { match: [{ uri: { prefix: /open } }], route: [{ destination: { host: green.test, port: { number: 80 } } }] }
${service("blue", blue)}${service("green", green)}`;
}

Deno.test({
  name: "a gateway routes by verified claims alone: by text, list, nested name and presence",
  ignore,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using blue = headerEcho("blue");
      await using green = headerEcho("green");
      await using issuer = await TestIssuer.start();
      const rule = { issuer: issuer.url, jwks: await issuer.keySet() };
      await using mesh = await TestMesh.start({
        files: { "world.yaml": gateway(port, blue.port, green.port) + authentication("tokens", [rule], "door") },
      });
      const door = { type: "router", name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
      const envoy = await mesh.attach(path!, { ...door, type: "router" }, true);
      await envoy.ready(port);
      const by = async (request: AskedRequest) => {
        const { status, by } = await askWith(port, request);
        return by === "" ? String(status) : by;
      };
      const withClaims = async (claims: Record<string, unknown>) => bearer(await issuer.token(claims));
      const cases: Record<string, readonly [string, AskedRequest]> = {
        "a claim": ["blue", await withClaims({ group: "blue" })],
        "a list that holds it": ["blue", await withClaims({ group: ["pink", "blue"] })],
        "one of several scopes": ["blue", await withClaims({ scope: "read write" })],
        "a nested claim": ["green", await withClaims({ "a.b": { c: "green" } })],
        "only the presence of a claim": ["green", await withClaims({ group: "pink" })],
        "no token": ["404", {}],
        "no token, an open path": ["green", { path: "/open" }],
        "a forged token": ["401", bearer(unsigned(issuer.claims({ group: "blue" })))],
        "a header of that name": ["404", { headers: { group: "blue", "x-jwt-claims": "group=blue" } }],
      };
      const wanted = Object.fromEntries(Object.entries(cases).map(([name, [who]]) => [name, who]));
      await until("the routes are there", async () => await by(cases["a claim"]![1]) === "blue");
      const got: Record<string, string> = {};
      for (const [name, [, request]] of Object.entries(cases)) got[name] = await by(request);
      assert.deepEqual(got, wanted);
      await mesh.settled();
    }),
});

Deno.test({
  name: "a proxy fetches keys itself from a service of the mesh, and the server those of other places (hybrid)",
  ignore,
  fn: () =>
    withPorts(2, async ([port = 0, keys = 0]) => {
      await using app = headerEcho();
      await using inside = await TestIssuer.start();
      await using outside = await TestIssuer.start();
      const entry = `
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: keys, namespace: demo }
spec:
  hosts: [keys.test]
  resolution: STATIC
  ports: [{ number: ${keys}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${new URL(inside.url).port} } }]
`;
      const rules = [
        { issuer: inside.url, jwksUri: `http://keys.test:${keys}/keys` },
        { issuer: outside.url, jwksUri: `${outside.url}/keys` },
      ];
      await using mesh = await TestMesh.start({
        files: { "world.yaml": sidecar(port, app.port) + authentication("tokens", rules) + entry },
        settings: { PILOT_JWT_ENABLE_REMOTE_JWKS: "hybrid" },
      });
      const envoy = await mesh.attach(path!, { ...server, type: "sidecar" }, true);
      await envoy.ready(port);
      const status = async (token: string) => (await askWith(port, bearer(token))).status;
      await until("the proxy has fetched", async () => await status(await inside.token()) === 200);
      assert.equal(await status(await outside.token()), 200);
      assert.equal(await status(await inside.token({ iss: outside.url })), 401);
      const found = await mesh.page<{ name: string }[]>("warningz");
      assert.deepEqual(found.filter(({ name }) => name === "keys-not-fetched"), []);
      await mesh.settled();
    }),
});
