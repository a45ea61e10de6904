/**
 * The built filters admit exactly what a small model of the documentation admits. The model reads policies in written
 * form. The simulator judges the filters, and `tests/e2e` and `tests/simulate` compare the simulator with real Envoys.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type {
  AuthorizationPolicySpec,
  AuthorizationRule,
} from "../../../lib/config/kinds/authorization_policy/schema.ts";
import type { AuthorizationPolicy } from "../../../lib/mesh/authorization_policy.ts";
import { refusal } from "../../../lib/simulate/authorization.ts";
import type { NormalizedRequest } from "../../../lib/simulate/http_request.ts";
import { Authorization } from "../../../lib/translate/authorization/authorization.ts";
import { inFile } from "../../config/origins.ts";
import { meshReader } from "../mesh_reader.ts";
import { runs } from "../../properties.ts";

/** A request, or bytes without HTTP fields. */
interface Traffic {
  readonly http: boolean;
  /** Empty: no certificate. */
  readonly identity: string;
  readonly ip: string;
  readonly port: number;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Values of the header. Empty: the header is missing. */
  readonly header: readonly string[];
  readonly groups: string | readonly string[] | undefined;
}

const domains = ["cluster.local", "old.example", "other.example"];
const identities = domains.flatMap((domain) =>
  ["a", "ab"].flatMap((ns) => ["x", "y"].map((sa) => `${domain}/ns/${ns}/sa/${sa}`))
);

const traffic: fc.Arbitrary<Traffic> = fc.record({
  http: fc.boolean(),
  identity: fc.constantFrom("", ...identities),
  ip: fc.constantFrom("10.0.0.1", "10.0.1.1", "192.0.2.1"),
  port: fc.constantFrom(80, 90),
  method: fc.constantFrom("GET", "PUT", "POST"),
  host: fc.constantFrom("a.test", "A.test:80", "b.a.test", "b.test", "xa.test"),
  path: fc.constantFrom("/", "/a", "/a/b", "/a/b/c", "/b?q=/a"),
  header: fc.array(fc.constantFrom("one", "two", "other"), { maxLength: 2 }),
  groups: fc.constantFrom(undefined, "admin", ["admin", "user"], ["user"]),
});

const some = (...values: string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }), { nil: undefined });

const principals = some(...identities.slice(0, 3), "*/ns/a/sa/x", "old.example/*", "*", "*/sa/y");
const namespaces = some("a", "ab", "a*", "*b", "*");
const source = fc.record({
  principals,
  notPrincipals: principals,
  namespaces,
  notNamespaces: namespaces,
  ipBlocks: some("10.0.0.0/16", "10.0.1.0/24", "192.0.2.1"),
  notIpBlocks: some("10.0.0.1", "0.0.0.0/0"),
});
const paths = some("/", "/a", "/a/*", "*/b", "*", "/a/{*}", "/a/{**}");
const hosts = some("a.test", "*.test", "A.TEST:80", "b.*", "*");
const operation = fc.record({
  hosts,
  notHosts: hosts,
  methods: some("GET", "P*", "*"),
  notMethods: some("PUT"),
  paths,
  notPaths: paths,
  ports: some("80", "90"),
  notPorts: some("90"),
});
const condition = fc.constantFrom(
  { key: "request.headers[x]", values: ["one", "t*"] },
  { key: "request.headers[x]", notValues: ["*"] },
  { key: "request.auth.claims[groups]", values: ["admin"] },
  { key: "request.auth.claims[groups]", notValues: ["us*"] },
  { key: "source.namespace", values: ["a"] },
  { key: "source.ip", notValues: ["10.0.0.1"] },
  { key: "destination.port", values: ["80"] },
);
const rule: fc.Arbitrary<AuthorizationRule> = fc.record({
  from: fc.option(fc.array(fc.record({ source }), { minLength: 1, maxLength: 2 }), { nil: undefined }),
  to: fc.option(fc.array(fc.record({ operation }), { minLength: 1, maxLength: 2 }), { nil: undefined }),
  when: fc.option(fc.array(condition, { minLength: 1, maxLength: 2 }), { nil: undefined }),
}).map((one) => JSON.parse(JSON.stringify(one)) as AuthorizationRule);
const spec: fc.Arbitrary<AuthorizationPolicySpec> = fc.record({
  action: fc.constantFrom("ALLOW" as const, "DENY" as const, "AUDIT" as const),
  rules: fc.array(rule, { maxLength: 3 }),
}).map(({ action, rules }) => rules.length > 0 ? { action, rules } : { action });

/** Compares a text with a wildcard pattern. */
function like(pattern: string, text: string): boolean {
  if (pattern === "*") return text !== "";
  if (pattern.startsWith("*")) return text.endsWith(pattern.slice(1));
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}

function inBlock(block: string, ip: string): boolean {
  const number = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const [address = "", bits = "32"] = block.split("/");
  const size = 2 ** (32 - Number(bits));
  return Math.floor(number(address) / size) === Math.floor(number(ip) / size);
}

function isCaller(pattern: string, identity: string): boolean {
  if (identity === "") return false;
  const local = pattern.startsWith("cluster.local/") || pattern.startsWith("old.example/ns/");
  const forms = local ? ["cluster.local", "old.example"].map((one) => pattern.replace(/^[^/]*/, one)) : [pattern];
  return forms.some((form) => like(form, identity));
}

function isHost(pattern: string, host: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), host.toLowerCase()];
  return like(wanted, given) || !wanted.includes(":") && like(wanted, given.replace(/:\d+$/, ""));
}

function isPath(pattern: string, path: string): boolean {
  const plain = path.replace(/\?.*/, "");
  if (!pattern.includes("{")) return like(pattern, plain);
  const [wanted, given] = [pattern.split("/"), plain.split("/")];
  if (wanted.at(-1) === "{**}") return given.length >= wanted.length && given[1] === wanted[1];
  return wanted.length === given.length &&
    wanted.every((part, i) => part === "{*}" ? given[i] !== "" : part === given[i]);
}

/** Whether a condition holds. Undefined for a condition on requests when bytes arrive. */
function holds(
  given: { readonly values: readonly string[] | undefined; readonly not: readonly string[] | undefined },
  matches: (value: string) => boolean,
  exists = true,
): boolean | undefined {
  if (!given.values && !given.not) return true;
  if (!exists) return undefined;
  return (given.values?.some(matches) ?? true) && !given.not?.some(matches);
}

type Holding = boolean | undefined;

function conditionsOf({ when = [] }: AuthorizationRule, t: Traffic): Holding[] {
  return when.map(({ key, values, notValues: not }) => {
    const given = { values, not };
    const groups = typeof t.groups === "string" ? [t.groups] : t.groups ?? [];
    switch (key) {
      case "request.headers[x]":
        return holds(given, (one) => t.header.some((value) => like(one, value)), t.http);
      case "request.auth.claims[groups]":
        return holds(given, (one) => groups.some((group) => like(one, group)), t.http);
      case "source.namespace":
        return holds(given, (one) => t.identity !== "" && like(one, t.identity.split("/")[2]!));
      case "source.ip":
        return holds(given, (one) => inBlock(one, t.ip));
      default:
        return holds(given, (one) => Number(one) === t.port);
    }
  });
}

function callers({ from = [{}] }: AuthorizationRule, t: Traffic): Holding[][] {
  return from.map(({ source: s = {} }) => [
    holds({ values: s.principals, not: s.notPrincipals }, (one) => isCaller(one, t.identity)),
    holds(
      { values: s.namespaces, not: s.notNamespaces },
      (one) => t.identity !== "" && like(one, t.identity.split("/")[2]!),
    ),
    holds({ values: s.ipBlocks, not: s.notIpBlocks }, (one) => inBlock(one, t.ip)),
  ]);
}

function requests({ to = [{}] }: AuthorizationRule, t: Traffic): Holding[][] {
  return to.map(({ operation: o = {} }) => [
    holds({ values: o.hosts, not: o.notHosts }, (one) => isHost(one, t.host), t.http),
    holds({ values: o.methods, not: o.notMethods }, (one) => like(one, t.method), t.http),
    holds({ values: o.paths, not: o.notPaths }, (one) => isPath(one, t.path), t.http),
    holds({ values: o.ports, not: o.notPorts }, (one) => Number(one) === t.port),
  ]);
}

/** A condition that bytes cannot satisfy never matches in an ALLOW, and is ignored in a DENY. */
function matchesRule(rule: AuthorizationRule, action: "ALLOW" | "DENY", t: Traffic): boolean {
  const [from, to, when] = [callers(rule, t), requests(rule, t), conditionsOf(rule, t)];
  if (action === "ALLOW" && [...from.flat(), ...to.flat(), ...when].includes(undefined)) return false;
  const all = (list: readonly Holding[]) => list.every((one) => one !== false);
  return from.some(all) && to.some(all) && all(when);
}

function modelAdmits(specs: readonly AuthorizationPolicySpec[], t: Traffic): boolean {
  const matched = (action: "ALLOW" | "DENY") =>
    specs.some((one) => one.action === action && (one.rules ?? []).some((rule) => matchesRule(rule, action, t)));
  if (matched("DENY")) return false;
  return !specs.some(({ action }) => action === "ALLOW") || matched("ALLOW");
}

function builtAdmits(specs: readonly AuthorizationPolicySpec[], t: Traffic): boolean {
  const authorizationPolicies = specs.map((one, i): AuthorizationPolicy => ({
    kind: "AuthorizationPolicy",
    key: `AuthorizationPolicy/a/p${i}`,
    meta: { name: `p${i}`, namespace: "a", labels: {}, annotations: {}, creationTimestamp: 0 },
    spec: one,
    origin: inFile("test"),
    hash: "",
  }));
  const authorization = new Authorization(
    meshReader({
      authorizationPolicies,
      properties: { namespace: "a" },
      mesh: { trustDomainAliases: ["old.example"] },
    }),
  );
  const side = t.http ? authorization.http : authorization.tcp;
  assert.ok("slots" in side);
  const metadata = { "envoy.filters.http.jwt_authn": { payload: { groups: t.groups } } };
  const request: NormalizedRequest = {
    method: t.method,
    authority: t.host,
    path: t.path,
    scheme: "http",
    headers: new Map(t.header.length === 0 ? [] : [["x", t.header]]),
    metadata,
  };
  const connection = {
    direction: "inbound",
    destination: { ip: "10.9.9.9", port: t.port },
    source: { ip: t.ip },
    protocol: "tls",
    identity: t.identity === "" ? "" : `spiffe://${t.identity}`,
    metadata,
  } as const;
  const why = refusal(side.slots.authorization ?? [], {
    connection,
    terminatesTls: true,
    ...(t.http ? { http: request } : {}),
  });
  return why === undefined;
}

Deno.test("the built filters admit exactly what the model admits, for requests and for bytes", () => {
  fc.assert(
    fc.property(fc.array(spec, { maxLength: 3 }), fc.array(traffic, { minLength: 1, maxLength: 8 }), (specs, all) => {
      for (const one of all) assert.equal(builtAdmits(specs, one), modelAdmits(specs, one), JSON.stringify(one));
    }),
    { numRuns: runs(1500) },
  );
});

Deno.test("the model admits many and refuses many of the property's requests, so that agreement means something", () => {
  const samples = fc.sample(fc.tuple(fc.array(spec, { minLength: 1, maxLength: 3 }), traffic), {
    numRuns: runs(1000),
    seed: 1,
  });
  const admitted = samples.filter(([specs, one]) => modelAdmits(specs, one)).length;
  assert.ok(admitted > 100 && admitted < 900, `${admitted} of 1000`);
});
