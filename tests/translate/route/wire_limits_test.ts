import assert from "node:assert/strict";
import type { HttpRoute } from "../../../lib/config/kinds/kinds.ts";
import { regexMatcher } from "../../../lib/translate/values/regex.ts";
import { httpRoutes } from "../../../lib/translate/route/virtual_service.ts";
import { boundedWeights } from "../../../lib/translate/values/wire_limits.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { meshReader } from "../mesh_reader.ts";
import { virtualService } from "./objects.ts";
import { routeListener } from "./route_listener.ts";

const route = [{ destination: { host: "x.com" } }];
const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`h${i}`, "1"]));

/** Rules that Envoy would refuse unchanged. */
const unsendable: [string, Partial<HttpRoute>, RegExp][] = [
  ["a line break in a rewritten path", { rewrite: { uri: "/a\nb" } }, /rewrite.uri has line breaks/],
  ["a line break in a rewritten authority", { rewrite: { authority: "a\rb" } }, /rewrite.authority has line breaks/],
  ["a line break in a redirect's path", { redirect: { uri: "/a\nb" } }, /redirect.uri has line breaks/],
  ["a NUL in a redirect's authority", { redirect: { authority: "a\0b" } }, /redirect.authority has line breaks or NUL/],
  ["a query parameter without name", { match: [{ queryParams: { "": {} } }] }, /parameter without a name/],
  ["a line break in a header's name", { headers: { request: { set: { "a\n": "1" } } } }, /"a\\n" is not a header name/],
  ["a removed header without name", { headers: { response: { remove: [""] } } }, /"" is not a header name/],
  ["too many headers", { headers: { request: { add: many } } }, /more than 1000 operations/],
];

/** Rules that are adapted to Envoy's limits. */
const bounded: [string, Partial<HttpRoute>][] = [
  ["endless timeouts", { timeout: 1e18, retries: { attempts: 1, perTryTimeout: 1e18, backoff: 1e18 } }],
  ["an endless delay", { fault: { delay: { fixedDelay: 1e18, percentage: { value: 1 } } } }],
  ["huge weights", { route: [2 ** 31, 2 ** 31, 1].map((weight) => ({ ...route[0]!, weight })) }],
  ["a large expression", { match: [{ uri: { regex: "/(users|orders|items|carts)/[a-f0-9-]{36}(/.*)?" } }] }],
  ["a short expression that counts", { match: [{ headers: { a: { regex: "\\pL{200}" } } }] }],
  ["a large rewrite", { rewrite: { uriRegexRewrite: { match: "[\\w.-]{300}", rewrite: "\\9\\" } } }],
];

const translate = (rule: Partial<HttpRoute>) =>
  httpRoutes(virtualService([{ route, ...rule }]), { read: meshReader(), port: 80, gateways: ["mesh"], tls: false });

for (const [name, rule, expected] of unsendable) {
  Deno.test(`a rule with ${name} is left out and reported`, () => {
    const { routes, warnings } = translate(rule);
    assert.deepEqual(routes, []);
    assert.match(warnings.map(({ text }) => text).join(), expected);
  });
}

Deno.test("weights keep their proportion, and no weight becomes 0", () => {
  assert.deepEqual(boundedWeights([3, 1]), [3, 1]);
  const [a, b, c] = boundedWeights([2 ** 32, 2 ** 31, 1]);
  assert.ok(Math.abs(a! / b! - 2) < 1e-6);
  assert.equal(c, 1);
  assert.ok(a! + b! + c! < 2 ** 32);
});

Deno.test("only expressions that may be large carry a limit of their own", () => {
  for (const small of ["/a.*", "^(.*?;)?(user=jason)(;.*)?$", "a|b"]) {
    assert.deepEqual(regexMatcher(small), { regex: small });
  }
  for (const large of ["a{99}", "\\pL", "x".repeat(31)]) assert.ok(regexMatcher(large).google_re2, large);
});

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy takes bounded values, and expressions of surely small size without a limit",
  ignore: envoyBinary === undefined,
  async fn() {
    const small = [".".repeat(30), "(?i)äöüäöüäöüäöüäöüäöüäöüäöüäö", "[^/]".repeat(7), "\\S\\W\\D".repeat(5)];
    const rules = [...bounded.map(([, rule]) => rule), ...small.map((regex) => ({ match: [{ uri: { regex } }] }))];
    for (const regex of small) assert.equal(regexMatcher(regex).google_re2, undefined, regex);
    const routes = rules.flatMap((rule) => translate(rule).routes);
    assert.equal(routes.length, rules.length);
    const virtual_hosts = [{ name: "v", domains: ["*"], routes }];
    const message = { name: "r", virtual_hosts, validate_clusters: { value: false } };
    const verdict = await validate(envoyBinary!, { listeners: [routeListener(message, 0)] });
    assert.ok(verdict.accepted, verdict.output);
  },
});
