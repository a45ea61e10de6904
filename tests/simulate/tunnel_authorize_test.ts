import assert from "node:assert/strict";
import type { istio } from "../../proto/gen/types.ts";
import { authorizeConnection, matchesConnection, type TunnelConnection } from "../../lib/simulate/tunnel/authorize.ts";

type Match = istio.security.Match;

const web = "spiffe://corp.example/ns/shop/sa/web";
const connection: TunnelConnection = {
  source: "10.0.0.1",
  identity: web,
  destination: { ip: "2001:db8::1", port: 8080 },
};
const plain: TunnelConnection = { source: "10.0.0.1", destination: connection.destination };
const ip = (address: number[], length: number) => ({ address: Uint8Array.from(address), length });

const policy = (name: string, scope: 0 | 1 | 2, action: 0 | 1, ...matches: Match[][]) => ({
  name,
  namespace: name.split("/")[0]!,
  scope,
  action,
  groups: matches.map((one) => ({ rules: [{ matches: one }] })),
});
const table = (...policies: ReturnType<typeof policy>[]) => new Map(policies.map((one) => [one.name, one]));
const matches = (match: Match, of = connection) => matchesConnection(policy("p", 0, 1, [match]), of);

Deno.test("each field of a match compares its own fact; an empty match is skipped", () => {
  const yes: Match[] = [
    { namespaces: [{ exact: "shop" }] },
    { namespaces: [{ exact: "a" }, { prefix: "sh" }] },
    { namespaces: [{ presence: {} }], not_namespaces: [{ suffix: "x" }] },
    { principals: [{ prefix: "corp.example/" }] },
    { service_accounts: [{ namespace: "shop", serviceAccount: "web" }] },
    { source_ips: [ip([10, 0, 0, 0], 30)] },
    { destination_ips: [ip([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 32)] },
    { destination_ports: [80, 8080], not_destination_ports: [0] },
  ];
  const no: Match[] = [
    {},
    { namespaces: [] },
    { namespaces: [{}] },
    { namespaces: [{ presence: {} }], not_namespaces: [{ suffix: "op" }] },
    { principals: [{ prefix: "spiffe://corp.example/" }] },
    { service_accounts: [{ namespace: "pay", serviceAccount: "web" }] },
    { source_ips: [ip([10, 0, 0, 2], 31)] },
    { source_ips: [ip([10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 8)] },
    { destination_ports: [80] },
    { namespaces: [{ exact: "shop" }], destination_ports: [80] },
  ];
  assert.deepEqual(yes.map((one) => matches(one)), yes.map(() => true));
  assert.deepEqual(no.map((one) => matches(one)), no.map(() => false));
});

Deno.test("a plain connection has no identity: wanted identities fail, refused identities pass", () => {
  assert.equal(matches({ principals: [{ presence: {} }] }, plain), false);
  assert.equal(matches({ namespaces: [{ suffix: "" }], service_accounts: [{}] }, plain), false);
  assert.equal(matches({ not_principals: [{ presence: {} }] }, plain), true);
  assert.equal(matches({ not_namespaces: [{ exact: "shop" }], not_service_accounts: [{}] }, plain), true);
});

Deno.test("groups are alternatives, rules of a group must all match; no group matches nothing, no rule everything", () => {
  const [yes, no] = [{ matches: [{ destination_ports: [8080] }] }, { matches: [{ destination_ports: [1] }] }];
  const of = (...groups: istio.security.Group[]) => matchesConnection({ groups }, connection);
  assert.deepEqual([of(), of({}), of({ rules: [{}] })], [false, true, true]);
  assert.deepEqual([of({ rules: [yes, no] }), of({ rules: [no] }, { rules: [yes] }), of({ rules: [yes, {}] })], [
    false,
    true,
    true,
  ]);
});

Deno.test("DENY comes first, and without an ALLOW policy everything else is accepted", () => {
  const deny = policy("shop/deny", 2, 1, [{ destination_ports: [8080] }]);
  const allow = policy("shop/allow", 1, 0, [{ destination_ports: [8080] }]);
  const other = policy("shop/other", 0, 0, [{ destination_ports: [1] }]);
  const foreign = policy("pay/all", 1, 1, [{ not_destination_ports: [0] }]);
  const verdict = (policies: ReturnType<typeof table>, authorization_policies: string[] = []) =>
    authorizeConnection(connection, { namespace: "shop", authorization_policies }, policies);
  assert.deepEqual(verdict(table(deny, foreign)), { accepted: true, asked: [], unknown: [] });
  assert.deepEqual(verdict(table(deny, allow, other), ["shop/deny"]), {
    accepted: false,
    policy: "shop/deny",
    asked: ["shop/deny", "shop/allow", "shop/other"],
    unknown: [],
  });
  assert.deepEqual(verdict(table(allow, other)), {
    accepted: true,
    policy: "shop/allow",
    asked: ["shop/allow", "shop/other"],
    unknown: [],
  });
  assert.deepEqual(verdict(table(other)), { accepted: false, asked: ["shop/other"], unknown: [] });
});

Deno.test("a listed policy that the tunnel lacks is skipped and named", () => {
  const { accepted, unknown } = authorizeConnection(connection, { authorization_policies: ["shop/deny"] }, table());
  assert.deepEqual([accepted, unknown], [true, ["shop/deny"]]);
});
