/**
 * Decisions of authorization policies, case by case: equal for connections of mutual TLS and of HBONE.
 *
 * @module
 */
import type { Asked, PolicyCase, PolicyDocument } from "./guarded.ts";

/** A policy with rules that admit. */
export const allow = (...rules: object[]): PolicyDocument => ({ spec: { rules } });
/** A policy with rules that refuse. */
export const deny = (...rules: object[]): PolicyDocument => ({ name: "deny", spec: { action: "DENY", rules } });
const from = (source: object) => ({ from: [{ source }] });
/** A rule about operations. */
export const to = (operation: object) => ({ to: [{ operation }] });
/** A rule with a condition. */
export const when = (key: string, values: string[], notValues?: string[]) => ({ when: [{ key, values, notValues }] });
/** Expects all requests to be admitted. */
export const ok = (...asked: Asked[]) => asked.map((one) => [one, 200] as const);
/** Expects all requests to be refused. */
export const no = (...asked: Asked[]) => asked.map((one) => [one, one.tcp ? "closed" : 403] as const);
/** The application, which speaks HTTP, also answers on the bytes port. */
const both = (asked: Asked) => [asked, { ...asked, tcp: true as const }];

const guest: Asked = { by: "guest" };
const alias: Asked = { by: "alias" };

/** Each case with requests as evidence. */
export const POLICY_CASES: readonly PolicyCase[] = [
  { name: "no policy", policies: [], asked: ok(...both({}), ...both(guest)) },
  { name: "a policy without rules admits nothing", policies: [{ spec: {} }], asked: no(...both({}), ...both(guest)) },
  {
    name: "an empty rule admits everything",
    policies: [{ spec: { rules: [{}] } }],
    asked: ok(...both({}), ...both(guest)),
  },
  {
    name: "a policy of another workload, of another namespace, and of a gateway is for nobody here",
    policies: [
      { spec: { selector: { matchLabels: { app: "another" } } } },
      { namespace: "other", spec: {} },
      { spec: { targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }] } },
    ].map((one, i) => ({ name: `p${i}`, ...one })),
    asked: ok({}, guest),
  },
  {
    name: "policies of the mesh, the namespace and the workload hold together",
    policies: [
      { name: "mesh", namespace: "mesh-system", spec: { action: "DENY", rules: [to({ paths: ["/mesh"] })] } },
      { name: "namespace", spec: { action: "DENY", rules: [to({ paths: ["/namespace"] })] } },
      {
        name: "workload",
        spec: { selector: { matchLabels: { app: "server" } }, rules: [from({ namespaces: ["demo"] })] },
      },
    ],
    asked: [...ok({}), ...no({ path: "/mesh" }, { path: "/namespace" }, guest)],
  },
  {
    name: "principals, with the aliases of the trust domain",
    policies: [allow(from({ principals: ["cluster.local/ns/demo/sa/friend"] }))],
    asked: [...ok(...both({}), ...both(alias)), ...no(...both(guest))],
  },
  {
    name: "principals by their end, in any trust domain, and of those not by another beginning",
    policies: [allow(from({ principals: ["*/ns/demo/sa/friend"], notPrincipals: ["old.example*"] }))],
    asked: [...ok(...both({})), ...no(...both(alias), ...both(guest))],
  },
  {
    name: "a principal must be matched as a whole",
    policies: [allow(from({ principals: ["cluster.local/ns/demo/sa/frien", "demo/sa/friend"] }))],
    asked: no({}, alias, guest),
  },
  {
    name: "namespaces, as a whole and in part",
    policies: [allow(from({ namespaces: ["dem", "emo", "o*r"], notNamespaces: ["demo"] }))],
    asked: [...ok(...both(guest)), ...no(...both({}))],
  },
  {
    name: "service accounts of the policy's namespace and of others",
    policies: [allow(from({ serviceAccounts: ["guest", "demo/friend"] }))],
    asked: [...ok(...both({}), alias), ...no(...both(guest))],
  },
  {
    name: "DENY has precedence over ALLOW",
    policies: [allow({}), deny(from({ principals: ["*/guest"] }))],
    asked: [...ok(...both({})), ...no(...both(guest))],
  },
  {
    name: "paths: exact, beginning, end, and no others",
    policies: [allow(to({ paths: ["/exact", "/begin*", "*.html"] }))],
    asked: [
      ...ok({ path: "/exact" }, { path: "/exact?a=/x" }, { path: "/begin" }, { path: "/beginning/x" }, {
        path: "/x.html",
      }),
      ...no({ path: "/exact/" }, { path: "/Exact" }, { path: "/exactly" }, { path: "/x.html5" }, { path: "/?/exact" }),
      ...no({ path: "/exact/../x" }, { path: "/begin/../x" }, { path: "/x?a=.html" }),
    ],
  },
  {
    name: "path templates: one segment, and any rest",
    policies: [allow(to({ paths: ["/v1/{*}/orders", "/files/{**}"] }))],
    asked: [
      ...ok({ path: "/v1/a/orders" }, { path: "/v1/a/orders?b=c" }, { path: "/files/a" }, { path: "/files/a/b" }),
      ...no({ path: "/v1/a/b/orders" }, { path: "/v1/orders" }, { path: "/v1/a/orders/" }, { path: "/files" }),
      ...no({ path: "/files/../x" }, { path: "/v1/a/orders/1" }),
    ],
  },
  {
    name: "what is written in other ways is still the denied path",
    policies: [deny(to({ paths: ["/admin", "/admin/*"] }))],
    asked: [
      ...no({ path: "/admin" }, { path: "/admin?x" }, { path: "/%61dmin" }, { path: "/./admin" }, {
        path: "/x/../admin",
      }),
      ...no({ path: "/x/%2e%2e/admin" }, { path: "/admin/x" }, { path: "//admin" }),
      ...no({ path: "/%2fadmin" }, { path: "/x%2f..%2fadmin" }, { path: "/x\\..\\admin" }, { path: "/admin%2Fx" }),
      ...no({ path: "/admin%5cx" }, { path: "//admin//x" }),
      // The application gets /x/admin: dot segments are removed before slashes are merged.
      ...ok({ path: "/x//..//admin" }),
      ...ok({ path: "/administrator" }, { path: "/x/admin" }, { path: "/ADMIN" }),
    ],
  },
  {
    name: "methods are what they are, also in part",
    policies: [allow(to({ methods: ["GET", "P*"], notMethods: ["PUT"] }))],
    asked: [...ok({}, { method: "POST" }, { method: "PATCH" }), ...no({ method: "PUT" }, { method: "DELETE" })],
  },
  {
    name: "hosts in any case and with any port",
    policies: [allow(to({ hosts: ["App.test", "*.example.com", "www.*", "b.test:81"] }))],
    asked: [
      ...ok({ host: "app.test" }, { host: "APP.TEST" }, { host: "app.test:8080" }, { host: "a.EXAMPLE.com" }),
      ...ok({ host: "a.example.com:1" }, { host: "www.x" }, { host: "b.test:81" }),
      ...no({ host: "app.test.evil" }, { host: "xapp.test" }, { host: "appxtest" }, { host: "example.com" }),
      ...no({ host: "b.test" }, { host: "b.test:82" }, { host: "app.test:80.evil" }),
    ],
  },
  {
    name: "a denied host cannot be reached by case or port",
    policies: [deny(to({ hosts: ["app.test"] }))],
    asked: [...no({}, { host: "App.Test" }, { host: "app.test:1" }), ...ok({ host: "other.test" })],
  },
  {
    name: "headers by value, beginning, end, presence and absence",
    policies: [allow(
      when("request.headers[X-Team]", ["a", "b*", "*c"]),
      when("request.headers[x-any]", ["*"], ["no"]),
    )],
    asked: [
      ...ok({ headers: { "x-team": "a" } }, { headers: { "X-TEAM": "bb" } }, { headers: { "x-team": "cc" } }),
      ...ok({ headers: { "x-any": "x" } }),
      ...no({}, { headers: { "x-team": "A" } }, { headers: { "x-team": "ab" } }, { headers: { "x-any": "no" } }),
    ],
  },
  {
    name: "addresses of the connection, which no header changes",
    policies: [allow(from({ ipBlocks: ["127.0.0.0/8"], notIpBlocks: ["127.0.0.2"] }))],
    asked: [
      ...ok(...both({}), { headers: { "x-forwarded-for": "127.0.0.2" } }),
      ...no(...both({ from: "127.0.0.2" }), { from: "127.0.0.2", headers: { "x-forwarded-for": "127.0.0.1" } }),
    ],
  },
  {
    name: "addresses of the original client",
    policies: [allow(from({ remoteIpBlocks: ["203.0.113.0/24"] }), when("remote.ip", ["2001:db8::/32"]))],
    asked: [
      ...ok({ headers: { "x-forwarded-for": "203.0.113.7" } }, { headers: { "x-forwarded-for": "2001:db8::1" } }),
      ...no({}, { headers: { "x-forwarded-for": "203.0.114.7" } }),
    ],
  },
  {
    name: "one source, one operation and all conditions of one rule must match",
    policies: [allow({
      from: [{ source: { namespaces: ["demo"] } }, { source: { principals: ["*/guest"], ipBlocks: ["127.0.0.1"] } }],
      to: [{ operation: { methods: ["GET"], paths: ["/a"] } }, { operation: { methods: ["POST"], paths: ["/b"] } }],
      ...when("request.headers[x]", ["1"]),
    })],
    asked: [
      ...ok({ path: "/a", headers: { x: "1" } }, { method: "POST", path: "/b", headers: { x: "1" }, by: "guest" }),
      ...no({ path: "/a" }, { path: "/b", headers: { x: "1" } }, { method: "POST", path: "/a", headers: { x: "1" } }),
      ...no({ path: "/a", headers: { x: "1" }, by: "guest", from: "127.0.0.3" }),
    ],
  },
  {
    name: "claims of tokens: without a verified token there are none",
    policies: [allow(
      from({ requestPrincipals: ["*"] }),
      when("request.auth.claims[groups]", ["*"]),
      when("request.auth.audiences", ["*"]),
    )],
    asked: no({}, { headers: { authorization: "Bearer e30.e30.e30" } }),
  },
  {
    name: "bytes: a rule about requests never admits them, and denies them by the rest of it",
    policies: [
      allow(from({ namespaces: ["demo", "other"] }), to({ methods: ["GET"] })),
      deny({ ...from({ namespaces: ["other"] }), ...to({ paths: ["/x"] }) }),
    ],
    asked: [...ok({}, guest, { tcp: true }), ...no({ by: "guest", tcp: true }, { by: "guest", path: "/x" })],
  },
  {
    name: "bytes: an ALLOW about requests alone admits none",
    policies: [allow(to({ methods: ["GET"] }))],
    asked: [...ok({}), ...no({ tcp: true }, { method: "POST" })],
  },
  {
    name: "a dry run admits",
    policies: [
      { ...deny({}), annotations: { "istio.io/dry-run": "true" } },
      { name: "tried", annotations: { "mesh.io/dry-run": "true" }, spec: {} },
    ],
    asked: ok(...both({})),
  },
  { name: "AUDIT admits", policies: [{ spec: { action: "AUDIT", rules: [{}] } }], asked: ok(...both({})) },
];
