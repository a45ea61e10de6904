/**
 * Every flag and every variable of `mesh-iptables` changes something: the rules, by this table, or the actions, by the
 * tests of the command.
 */
import assert from "node:assert/strict";
import { iptablesFlags, type IptablesFlagValues } from "../../cmd/pilot-agent/iptables_flags.ts";
import { redirectionInputs } from "../../cmd/pilot-agent/mesh_iptables.ts";
import { dryRunText } from "../../lib/iptables/dry_run.ts";
import { readInputs } from "../../lib/iptables/input.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { around } from "./support/inputs.ts";

type Settings = ReturnType<typeof defaultSettings<"pilot-agent">>;
type Flags = Partial<IptablesFlagValues>;

const settings = defaultSettings("pilot-agent");
const defaults = Object.fromEntries(
  Object.entries(iptablesFlags).map(([name, flag]) => [name, flag.default]),
) as unknown as IptablesFlagValues;

/** Rules of flags and variables. */
function rules(flags: Flags, variables: Partial<Settings> = {}): string[] {
  const given = new Set(Object.keys(flags));
  const inputs = redirectionInputs({ ...defaults, ...flags }, given, { ...settings, ...variables });
  return dryRunText(readInputs(inputs, around).config).split("\n").filter((line) => !line.startsWith("# IPv"));
}

const all: Flags = { "mesh-inbound-ports": "*", "mesh-service-cidr": "*" };
const tproxy: Flags = { ...all, "mesh-inbound-interception-mode": "TPROXY" };
const dns: Flags = { ...all, "redirect-dns": true };

/** A flag's value, the other flags, and a line caused by the flag alone. */
const inRules: Readonly<Partial<Record<keyof IptablesFlagValues, readonly [value: string | boolean, Flags, RegExp]>>> =
  {
    "proxy-port": ["16001", all, /-A MESH_REDIRECT -p tcp -j REDIRECT --to-ports 16001/],
    "inbound-capture-port": ["16006", all, /-A MESH_IN_REDIRECT -p tcp -j REDIRECT --to-ports 16006/],
    "inbound-tunnel-port": ["16008", all, /-A MESH_INBOUND .*--dport 16008 -j RETURN/],
    "mesh-exclude-interfaces": ["eth1", all, /-A MESH_OUTPUT -o eth1 -j RETURN/],
    "mesh-inbound-interception-mode": ["TPROXY", all, /-j TPROXY --on-port 15006/],
    "mesh-inbound-ports": ["80", {}, /-A MESH_INBOUND .*--dport 80 -j MESH_IN_REDIRECT/],
    "mesh-inbound-tproxy-mark": ["77", tproxy, /--tproxy-mark 0x4d\/0xffffffff/],
    "mesh-inbound-tproxy-route-table": ["88", tproxy, /ip -4 rule add fwmark 1337 lookup 88/],
    "mesh-local-exclude-ports": ["81", all, /-A MESH_INBOUND .*--dport 81 -j RETURN/],
    "orch-virt-interfaces": ["tap0", all, /-A MESH_INBOUND -i tap0 -j MESH_REDIRECT/],
    "mesh-local-outbound-ports-exclude": ["22", all, /-A MESH_OUTPUT .*-m udp --dport 22 -j RETURN/],
    "mesh-outbound-ports": ["443", {}, /-A MESH_OUTPUT .*--dport 443 -j MESH_REDIRECT/],
    "mesh-service-cidr": ["fd00::/8", {}, /-A MESH_OUTPUT -d fd00::\/8 -j MESH_REDIRECT/],
    "mesh-service-exclude-cidr": ["10.9.0.0/16", all, /-A MESH_OUTPUT -d 10\.9\.0\.0\/16 -j RETURN/],
    "proxy-gid": ["2000", all, /--gid-owner 2000 -j RETURN/],
    "proxy-uid": ["2000", all, /--uid-owner 2000 -j RETURN/],
    "redirect-dns": [true, all, /-A MESH_OUTPUT_DNS -d 10\.77\.0\.1\/32 .*--dport 53 -j REDIRECT --to-ports 15053/],
    "capture-all-dns": [true, dns, /-A MESH_OUTPUT_DNS -p udp -m udp --dport 53 -j REDIRECT --to-ports 15053/],
    "drop-invalid": [true, all, /-A MESH_DROP -j DROP/],
  };

/** Flags with an effect on actions: the tests of the command, in command_test.ts, cover these flags. */
const inDeeds = [
  ...["cleanup-only", "cni-mode", "dry-run", "dual-stack", "force-apply", "iptables-probe-port", "network-namespace"],
  ...["probe-timeout", "reconcile", "run-validation", "skip-rule-apply"],
];

Deno.test("every flag is in one of the two lists, and the command's tests name the flags with an effect", async () => {
  assert.deepEqual([...Object.keys(inRules), ...inDeeds].toSorted(), Object.keys(iptablesFlags).toSorted());
  const tests = await Deno.readTextFile(new URL("./command_test.ts", import.meta.url));
  // The short form of the flag counts too.
  for (const name of inDeeds) assert.match(tests, new RegExp(name === "dry-run" ? `"-n"` : `--${name}\\b`));
});

for (const [name, [value, beside, line]] of Object.entries(inRules)) {
  Deno.test(`--${name} changes the rules`, () => {
    const without = rules(beside);
    assert.doesNotMatch(without.join("\n"), line);
    assert.match(rules({ ...beside, [name]: value }).join("\n"), line);
  });
}

/** Variables without a flag of their name: a value, the flags, and a line caused by the variable alone. */
const variables: readonly (readonly [Partial<Settings>, Flags, RegExp])[] = [
  [{ PROXY_USER: "root" }, all, /--uid-owner 0 -j RETURN/],
  [{ INBOUND_INTERCEPTION_MODE: "TPROXY" }, all, /-j TPROXY --on-port 15006/],
  [{ INBOUND_TPROXY_MARK: "77" }, tproxy, /--tproxy-mark 0x4d\/0xffffffff/],
  [{ MESH_OUTBOUND_OWNER_GROUPS: "java" }, all, /--gid-owner 202 -j MESH_OUTPUT_GROUPS/],
  [{ MESH_OUTBOUND_OWNER_GROUPS_EXCLUDE: "java" }, all, /--gid-owner 202 -j RETURN/],
  [{ MESH_OUTBOUND_IPV4_LOOPBACK_CIDR: "127.0.0.0/8" }, all, /-A MESH_OUTPUT -d 127\.0\.0\.0\/8 -j RETURN/],
  [{ DNS_PROXY_ADDR: "localhost:5353" }, dns, /--to-ports 5353/],
];

for (const [variable, beside, line] of variables) {
  Deno.test(`${Object.keys(variable)[0]} changes the rules`, () => {
    assert.doesNotMatch(rules(beside).join("\n"), line);
    assert.match(rules(beside, variable).join("\n"), line);
  });
}
