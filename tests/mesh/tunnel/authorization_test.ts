import assert from "node:assert/strict";
import type { AuthorizationRule } from "../../../lib/config/kinds/authorization_policy/schema.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { MAX_VALUES, tunnelPolicy } from "../../../lib/mesh/tunnel/authorization.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { MESH, ROOT, selecting, written, type WrittenPolicy } from "./objects.ts";

const ALWAYS = { not_destination_ports: [0] };

function converted(spec: object, more: Partial<WrittenPolicy> = {}) {
  return tunnelPolicy(written("AuthorizationPolicy", { name: "p", namespace: "shop", spec, ...more }), MESH);
}

function groups(spec: object) {
  const { authorization } = converted(spec);
  return authorization?.groups?.map(({ rules = [] }) => rules.map(({ matches }) => matches));
}

/** A policy with rules that validation refuses. */
function unchecked(action: "ALLOW" | "DENY", rules: readonly AuthorizationRule[]) {
  const valid = written("AuthorizationPolicy", { name: "p", namespace: "shop", spec: { action, rules: [{}] } });
  const policy = { ...valid, spec: { ...valid.spec, rules } } as ConfigObject<"AuthorizationPolicy">;
  return tunnelPolicy(policy, MESH);
}

Deno.test("the scope of a policy is its selector, its namespace, or the mesh; the action goes along", () => {
  const cases: [object, string, object][] = [
    [{}, "shop", { scope: 1, action: 0 }],
    [{}, ROOT, { scope: 0, action: 0 }],
    [selecting("cart"), "shop", { scope: 2, action: 0 }],
    [{ ...selecting("cart"), action: "DENY", rules: [{}] }, ROOT, { scope: 2, action: 1 }],
  ];
  for (const [spec, namespace, expected] of cases) {
    const { authorization: { groups: _, ...head } = {} } = converted(spec, { namespace });
    assert.deepEqual(head, { name: "p", namespace, ...expected });
  }
});

Deno.test("tunnels get no policy for a named object, no dry run, no AUDIT and no CUSTOM policy, and the reason is said", () => {
  const target = { targetRefs: [{ kind: "Service", group: "", name: "cart" }] };
  const custom = { action: "CUSTOM", provider: { name: "x" }, rules: [{}] };
  assert.deepEqual(converted(target), { unsent: "target" });
  assert.deepEqual(converted({ targetRef: target.targetRefs[0] }), { unsent: "target" });
  assert.deepEqual(converted({}, { dryRun: true }), { unsent: "dry run" });
  assert.deepEqual(converted({ action: "AUDIT", rules: [{}] }), { unsent: "AUDIT" });
  assert.deepEqual(converted(custom), { unsent: "CUSTOM" });
});

Deno.test("operations, sources and conditions become rules that all must match, each with its alternatives", () => {
  const rules = [{
    to: [{ operation: { ports: ["80", "443"], notPorts: ["81"] } }, { operation: { ports: ["90"] } }],
    from: [
      { source: { namespaces: ["a", "b*"], notNamespaces: ["*c"], principals: ["*"], notPrincipals: ["x/ns/y/sa/z"] } },
      { source: { serviceAccounts: ["web", "pay/till"], ipBlocks: ["10.1.2.3", "2001:db8::/32"] } },
    ],
    when: [
      { key: "source.ip", values: ["10.0.0.0/8"], notValues: ["10.9.0.0/16"] },
      { key: "destination.ip", values: ["::ffff:10.0.0.0/104"] },
      { key: "destination.port", notValues: ["82"] },
      { key: "source.namespace", values: ["a"] },
      { key: "source.principal", values: ["spiffe://x/ns/y/sa/z"] },
      { key: "source.serviceAccount", values: ["web"] },
    ],
  }];
  const ip = (address: number[], length: number) => ({ address: Uint8Array.from(address), length });
  assert.deepEqual(groups({ rules }), [[
    [{ destination_ports: [80, 443], not_destination_ports: [81] }, { destination_ports: [90] }],
    [
      {
        principals: [{ presence: {} }],
        not_principals: [{ exact: "x/ns/y/sa/z" }],
        namespaces: [{ exact: "a" }, { prefix: "b" }],
        not_namespaces: [{ suffix: "c" }],
      },
      {
        service_accounts: [{ namespace: "shop", serviceAccount: "web" }, { namespace: "pay", serviceAccount: "till" }],
        source_ips: [ip([10, 1, 2, 3], 32), ip([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 32)],
      },
    ],
    [{ source_ips: [ip([10, 0, 0, 0], 8)], not_source_ips: [ip([10, 9, 0, 0], 16)] }],
    [{ destination_ips: [ip([10, 0, 0, 0], 8)] }],
    [{ not_destination_ports: [82] }],
    [{ namespaces: [{ exact: "a" }] }],
    [{ principals: [{ exact: "x/ns/y/sa/z" }] }],
    [{ service_accounts: [{ namespace: "shop", serviceAccount: "web" }] }],
  ]]);
});

Deno.test("an identity of the mesh's trust domain stands for all trust domains of the mesh", () => {
  const rules = [{
    from: [{ source: { principals: ["cluster.local/ns/a/sa/b"], notPrincipals: ["old.example/ns/a/sa/c"] } }],
  }];
  assert.deepEqual(groups({ rules }), [[[{
    principals: [{ exact: "corp.example/ns/a/sa/b" }, { exact: "old.example/ns/a/sa/b" }],
    not_principals: [{ exact: "corp.example/ns/a/sa/c" }, { exact: "old.example/ns/a/sa/c" }],
  }]]]);
});

Deno.test("without rules an ALLOW policy has no group; a rule without conditions is a group without rules", () => {
  assert.deepEqual(groups({}), []);
  assert.deepEqual(groups({ rules: [{}] }), [[]]);
});

Deno.test("an ALLOW rule with attributes of requests is left out, and its neighbours stay", () => {
  const rules = [
    { to: [{ operation: { paths: ["/a"], ports: ["80"] } }] },
    { to: [{ operation: { ports: ["80"] } }] },
    { when: [{ key: "request.headers[x]", values: ["1"] }] },
  ];
  const { authorization, inexact } = converted({ rules });
  assert.deepEqual(authorization?.groups, [{ rules: [{ matches: [{ destination_ports: [80] }] }] }]);
  assert.deepEqual(inexact, [
    { index: 0, omissions: [{ attribute: "paths", why: "request" }] },
    { index: 2, omissions: [{ attribute: "request.headers[x]", why: "request" }] },
  ]);
});

Deno.test("a DENY rule refuses without the attributes of requests, and no match is ever empty", () => {
  const deny = (rules: object[]) => groups({ action: "DENY", rules });
  assert.deepEqual(deny([{ to: [{ operation: { paths: ["/admin"] } }] }]), [[[ALWAYS]]]);
  assert.deepEqual(deny([{ to: [{ operation: { paths: ["/admin"], ports: ["80"] } }] }]), [[[{
    destination_ports: [80],
  }]]]);
  assert.deepEqual(
    deny([{
      from: [{ source: { remoteIpBlocks: ["10.0.0.1"] } }, {
        source: { namespaces: ["a"], notRequestPrincipals: ["*"] },
      }],
      to: [{ operation: { hosts: ["a"], notMethods: ["GET"] } }],
      when: [{ key: "connection.sni", values: ["a"] }],
    }]),
    [[[ALWAYS], [ALWAYS, { namespaces: [{ exact: "a" }] }], [ALWAYS]]],
  );
});

Deno.test("every omitted attribute is named as written, each once", () => {
  const operation = {
    hosts: ["a"],
    notHosts: ["b"],
    methods: ["GET"],
    notMethods: ["PUT"],
    paths: ["/a"],
    notPaths: ["/b"],
  };
  const source = {
    requestPrincipals: ["*"],
    notRequestPrincipals: ["a"],
    remoteIpBlocks: ["10.0.0.1"],
    notRemoteIpBlocks: ["10.0.0.2"],
  };
  const rule = {
    from: [{ source }, { source }],
    to: [{ operation }],
    when: [{ key: "request.auth.presenter", values: ["a"] }],
  };
  const { inexact } = converted({ rules: [rule] });
  const all = [...Object.keys(source), ...Object.keys(operation), "request.auth.presenter"];
  assert.deepEqual(inexact?.map(({ omissions }) => omissions.map(({ attribute }) => attribute).sort()), [all.sort()]);
});

Deno.test("a value that no tunnel compares counts as an unknown condition: one of many, the only one, wanted or refused", () => {
  const sources: readonly NonNullable<NonNullable<AuthorizationRule["from"]>[number]["source"]>[] = [
    { ipBlocks: ["10.0.0.1", "10.0.0.0/33"] },
    { notIpBlocks: ["here"] },
    { namespaces: ["a*b"] },
    { namespaces: ["*a*"] },
    { notPrincipals: [""] },
    { principals: ["a".repeat(1025)] },
    { principals: ["\ud800"] },
    { serviceAccounts: ["a/b/c"] },
    { serviceAccounts: ["*"] },
  ];
  for (const source of sources) {
    const [attribute = ""] = Object.keys(source);
    const inexact = [{ index: 0, omissions: [{ attribute, why: "value" }] }];
    const allow = unchecked("ALLOW", [{ from: [{ source }] }]);
    assert.deepEqual([allow.authorization?.groups, allow.inexact], [[], inexact]);
    const deny = unchecked("DENY", [{ from: [{ source }] }]);
    assert.deepEqual([deny.authorization?.groups, deny.inexact], [[{ rules: [{ matches: [ALWAYS] }] }], inexact]);
  }
  for (const port of ["http", "65536", "-1", ""]) {
    const { authorization } = unchecked("DENY", [{ to: [{ operation: { ports: ["80", port] } }] }]);
    assert.deepEqual(authorization?.groups, [{ rules: [{ matches: [ALWAYS] }] }]);
  }
});

Deno.test("sources, operations and values that are written but empty are no conditions", () => {
  const { authorization, inexact } = unchecked("DENY", [{ from: [{}, { source: { namespaces: [] } }], to: [] }]);
  assert.deepEqual([authorization?.groups, inexact], [[{ rules: [{ matches: [ALWAYS, ALWAYS] }] }], []]);
});

Deno.test("rules above the bound of values count as unknown: left out of ALLOW, refusing all in DENY", () => {
  const some = (count: number, first: number) => ({
    from: [{ source: { notIpBlocks: Array.from({ length: count }, (_, i) => `10.${first}.${i >> 8}.${i & 255}`) } }],
  });
  const rules = [some(MAX_VALUES - 1, 0), some(2, 1), some(1, 2)];
  for (const action of ["ALLOW", "DENY"]) {
    const { authorization, inexact } = converted({ action, rules });
    assert.deepEqual(inexact, [{ index: 1, omissions: [] }]);
    const sizes = authorization?.groups?.map((one) => one.rules?.[0]?.matches?.[0]?.not_source_ips?.length);
    assert.deepEqual(sizes, action === "ALLOW" ? [MAX_VALUES - 1, 1] : [MAX_VALUES - 1, undefined, 1]);
  }
});

Deno.test("the bytes are those of the tunnel's message", () => {
  const rules = [{
    from: [{ source: { principals: ["*"], ipBlocks: ["10.0.0.0/8"] } }, { source: { serviceAccounts: ["a/b"] } }],
  }];
  const { authorization = {} } = converted({ ...selecting("cart"), action: "DENY", rules });
  const bytes = encode("istio.security.Authorization", authorization);
  assert.deepEqual(readable("istio.security.Authorization", bytes), {
    name: "p",
    namespace: "shop",
    scope: "WORKLOAD_SELECTOR",
    action: "DENY",
    groups: [{
      rules: [{
        matches: [
          { principals: [{ presence: {} }], source_ips: [{ address: "CgAAAA==", length: 8 }] },
          { service_accounts: [{ namespace: "a", serviceAccount: "b" }] },
        ],
      }],
    }],
  });
  const first = "120e" + "1a022200" + "2a080a040a0000001008"; // principals: 3, presence: 4, source_ips: 5
  const second = "1208" + "5a060a0161120162"; // service_accounts: 11
  const head = "0a0170" + "120473686f70" + "1802" + "2001"; // name: 1, namespace: 2, scope: 3, action: 4
  const expected = head + "2a1c" + "0a1a" + first + second; // groups: 5, rules: 1, matches: 2
  assert.equal([...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""), expected);
});
