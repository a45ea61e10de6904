import assert from "node:assert/strict";
import { parseRanges } from "../../lib/iptables/address.ts";
import { normalRule, ruleWords } from "../../lib/iptables/normal.ts";

/** Texts of the same rule in the styles of versions, back ends and people. */
const same: readonly (readonly string[])[] = [
  [
    "-p udp -m udp --dport 53 -j REDIRECT --to-ports 15053",
    "-p udp --dport 53 -j REDIRECT --to-port 15053",
    "--protocol 17 -m udp --destination-port 53 --jump REDIRECT --to-ports 15053",
  ],
  ["-j MARK --set-xmark 0x539/0xffffffff", "-j MARK --set-mark 1337", "-j MARK --set-xmark 0x539"],
  ["-p tcp -m mark --mark 0x539 -j RETURN", "-m mark --mark 1337/0xffffffff -p tcp -j RETURN"],
  [
    "-s 127.0.0.6/32 -o lo -j RETURN",
    "-o lo -s 127.0.0.6 -j RETURN",
    "--out-interface lo --src 127.0.0.6/32 -j RETURN",
  ],
  ["! -d ::1/128 -o lo -j RETURN", "-o lo ! -d ::1 -j RETURN", "-o lo ! -d 0:0::1/128 -j RETURN"],
  [
    "-j TPROXY --on-port 15006 --on-ip 0.0.0.0 --tproxy-mark 0x539/0xffffffff",
    "-j TPROXY --tproxy-mark 1337/0xffffffff --on-port 15006",
  ],
  ["-m conntrack --ctstate RELATED,ESTABLISHED -j X", "-m conntrack --ctstate ESTABLISHED,RELATED -j X"],
  ["-j CONNMARK --save-mark --nfmask 0xffffffff --ctmask 0xffffffff", "-j CONNMARK --save-mark"],
  ["-m owner --uid-owner 1337 -j RETURN", "-m owner --uid-owner 1337-1337 -j RETURN"],
  [
    "-m owner ! --gid-owner 5 -m owner ! --gid-owner 6 -j RETURN",
    "-m owner ! --gid-owner 6 -m owner ! --gid-owner 5 -j RETURN",
  ],
  ["-j RETURN", "-d 0.0.0.0/0 -j RETURN"],
];

/** Rules that must never count as equal. */
const different: readonly (readonly [string, string])[] = [
  ["-p tcp -j RETURN", "-p udp -j RETURN"],
  ["! -d ::1/128 -j RETURN", "-d ::1/128 -j RETURN"],
  ["! -d ::1/128 -o lo -j RETURN", "-d ::1/128 ! -o lo -j RETURN"],
  ["-s 10.0.0.1/32 -j RETURN", "-d 10.0.0.1/32 -j RETURN"],
  ["-s 10.0.0.0/8 -j RETURN", "-s 10.0.0.0/9 -j RETURN"],
  ["-m owner --uid-owner 5 -j RETURN", "-m owner --gid-owner 5 -j RETURN"],
  ["-m owner ! --uid-owner 5 -j RETURN", "-m owner --uid-owner 5 -j RETURN"],
  ["-p tcp -m tcp --dport 5 -j RETURN", "-p tcp -m tcp --sport 5 -j RETURN"],
  ["-p tcp -m tcp --dport 5 -j RETURN", "-p tcp -j RETURN"],
  ["-m mark --mark 0x1 -j RETURN", "-m connmark --mark 0x1 -j RETURN"],
  ["-m mark --mark 0x1 -j RETURN", "-m mark --mark 0x1/0x1 -j RETURN"],
  ["-j MESH_OUTPUT", "-g MESH_OUTPUT"],
  ["-j CT --zone 1", "-j CT --zone 2"],
  ["-j CT --zone 1", "-j CT --zone-orig 1"],
  ['-m comment --comment "a b" -j RETURN', "-m comment --comment a -j RETURN"],
];

Deno.test("texts of one rule have one normal form", () => {
  for (const texts of same) {
    assert.deepEqual([...new Set(texts.map(normalRule))].length, 1, JSON.stringify(texts.map(normalRule)));
  }
});

Deno.test("different rules have different normal forms", () => {
  for (const [a, b] of different) assert.notEqual(normalRule(a), normalRule(b));
});

Deno.test("quoted words are one", () => {
  assert.deepEqual(ruleWords('-m comment --comment "it\'s \\"theirs\\"" -j X'), [
    "-m",
    "comment",
    "--comment",
    'it\'s "theirs"',
    "-j",
    "X",
  ]);
});

Deno.test("IPv6 addresses that end in dotted decimals stay IPv6 addresses", () => {
  for (const [dotted, plain] of [["::0.1.0.0/112", "::1:0/112"], ["::1.2.3.4/128", "::102:304/128"]] as const) {
    assert.equal(normalRule(`-d ${dotted} -j RETURN`), normalRule(`-d ${plain} -j RETURN`));
    for (const text of [dotted, plain]) assert.deepEqual(parseRanges([text], () => assert.fail(text))[6], [dotted]);
  }
  const refused: string[] = [];
  parseRanges(["::ffff:1.2.3.4", "::1.2.3.256", "::1.2.3"], (text) => refused.push(text));
  assert.deepEqual(refused, ["::ffff:1.2.3.4", "::1.2.3.256", "::1.2.3"]);
});
