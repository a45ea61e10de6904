/**
 * The choice of a back end, by the output of tools on machines of all kinds; and the errors when something is missing.
 */
import assert from "node:assert/strict";
import { findBackend } from "../../lib/iptables/backend.ts";
import { applyRedirection } from "../../lib/iptables/apply.ts";
import { explainedText } from "../../lib/iptables/change.ts";
import { buildRules } from "../../lib/iptables/rules/build.ts";
import { NOT_FOUND, type Run } from "../../lib/iptables/run.ts";
import { configOf } from "./support/inputs.ts";

/** The abilities of a machine's back end. */
interface Machine {
  /** Output of `-save`. */
  readonly saved?: string;
  /** A line of input refused by the kernel, and the tool's error. */
  readonly refuses?: RegExp;
  readonly says?: string;
}

/** Tools of a machine, by name without `ip6`. Other tools are not installed. */
function machine(backends: Readonly<Record<string, Machine>>, tried: string[] = [], addresses = ""): Run {
  return (command, args, input = "") => {
    if (command === "ip") return Promise.resolve({ code: 0, stdout: addresses, stderr: "" });
    const [, name = "", tool] = /^(.*?)(-save|-restore)?$/.exec(command.replace("ip6", "ip")) ?? [];
    const backend = backends[name];
    if (backend === undefined) return Promise.resolve({ code: NOT_FOUND, stdout: "", stderr: "not found" });
    if (args.includes("--version")) {
      const kind = name.endsWith("nft") ? " (nf_tables)" : "";
      return Promise.resolve({ code: 0, stdout: `iptables v1.8.9${kind}\n`, stderr: "" });
    }
    if (tool === "-save") return Promise.resolve({ code: 0, stdout: backend.saved ?? "", stderr: "" });
    tried.push(name);
    const refused = backend.refuses !== undefined && backend.refuses.test(input);
    return Promise.resolve({ code: refused ? 2 : 0, stdout: "", stderr: refused ? backend.says ?? "refused" : "" });
  };
}

const rules = buildRules(configOf({ inboundPorts: "*", outboundRanges: "*" }), 4);
const theirs = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -j DROP\nCOMMIT\n";
const ours = "*nat\n:OUTPUT ACCEPT [0:0]\n:MESH_OUTPUT - [0:0]\n-A OUTPUT -j MESH_OUTPUT\nCOMMIT\n";

const choices: [string, Record<string, Machine>, string | undefined][] = [
  ["nft when nothing speaks against it", { "iptables-nft": {}, "iptables-legacy": {} }, "iptables-nft"],
  [
    "legacy when others have rules there",
    { "iptables-nft": {}, "iptables-legacy": { saved: theirs } },
    "iptables-legacy",
  ],
  ["nft when others have rules there", { "iptables-nft": { saved: theirs }, "iptables-legacy": {} }, "iptables-nft"],
  ["the one with our rules", { "iptables-nft": {}, "iptables-legacy": { saved: ours } }, "iptables-legacy"],
  ["ours before others'", { "iptables-nft": { saved: ours }, "iptables-legacy": { saved: theirs } }, "iptables-nft"],
  ["legacy when nft cannot", { "iptables-nft": { refuses: /REDIRECT/ }, "iptables-legacy": {} }, "iptables-legacy"],
  ["the plain name when there is no other", { iptables: {} }, "iptables"],
  ["none when all refuse", { "iptables-nft": { refuses: /nat/ }, "iptables-legacy": { refuses: /nat/ } }, undefined],
  ["none when nothing is installed", {}, undefined],
];

for (const [name, backends, expected] of choices) {
  Deno.test(`the choice is ${name}`, async () => {
    const { chosen, evidence } = await findBackend(rules, machine(backends));
    assert.equal(chosen?.name, expected, evidence.join("\n"));
    assert.ok(evidence.length > 0);
  });
}

Deno.test("our rules in a back end that is not chosen are reported for removal", async () => {
  const { chosen, stale } = await findBackend(
    rules,
    machine({ "iptables-nft": { saved: ours }, "iptables-legacy": { saved: ours } }),
  );
  assert.deepEqual([chosen?.name, stale.map(({ name }) => name)], ["iptables-nft", ["iptables-legacy"]]);
});

Deno.test("a feature that the kernel lacks is named with the module that brings it", async () => {
  const { chosen, evidence } = await findBackend(
    rules,
    machine({ "iptables-legacy": { refuses: /-m owner/, says: "Extension owner revision 0 not supported" } }),
  );
  assert.equal(chosen, undefined);
  assert.deepEqual(evidence, [
    "iptables-nft: not installed",
    "iptables-legacy: version 1.8.9, legacy, has no rules of ours, 0 of others",
    "iptables-legacy: owner in table nat is not available; load the kernel module xt_owner on the machine",
    "iptables-legacy: a trial failed: Extension owner revision 0 not supported",
  ]);
});

Deno.test("a table that the kernel lacks is named, without each feature of the table", async () => {
  const { evidence } = await findBackend(rules, machine({ "iptables-legacy": { refuses: /\*nat/, says: "no nat" } }));
  assert.deepEqual(evidence.slice(2), [
    "iptables-legacy: table nat is not available; load the kernel module iptable_nat on the machine",
    "iptables-legacy: a trial failed: no nat",
  ]);
});

Deno.test("existing rules are not tried out, new rules are tried out once", async () => {
  const tried: string[] = [];
  await findBackend(rules, machine({ "iptables-nft": { saved: explainedText(rules) } }, tried));
  assert.deepEqual(tried, []);
  await findBackend(rules, machine({ "iptables-nft": {} }, tried));
  assert.deepEqual(tried, ["iptables-nft"]);
});

for (
  const says of [
    "Another app is currently holding the xtables lock.",
    "Fatal: can't open lock file /run/xtables.lock: Read-only file system",
    "iptables-restore v1.8.9 (legacy): Permission denied (you must be root)",
  ]
) {
  Deno.test(`no kernel module is blamed for the tool's message: ${says}`, async () => {
    const tried: string[] = [];
    const { chosen, evidence } = await findBackend(
      rules,
      machine({ "iptables-legacy": { refuses: /./, says } }, tried),
    );
    assert.equal(chosen, undefined);
    assert.deepEqual(evidence.slice(2), [`iptables-legacy: a trial failed: ${says}`]);
    // Each would wait for the lock again.
    assert.deepEqual(tried, ["iptables-legacy"]);
  });
}

const unlisted = "# Table `nat' is incompatible, use 'nft' tool.\n";

Deno.test("a back end that cannot list a needed table is not chosen, with the reason", async () => {
  const { chosen, evidence } = await findBackend(rules, machine({ "iptables-nft": { saved: unlisted } }));
  assert.equal(chosen, undefined);
  assert.match(evidence.join("\n"), /iptables-nft: table nat has parts that only the tool nft can list/);
  const both = await findBackend(rules, machine({ "iptables-nft": { saved: unlisted }, "iptables-legacy": {} }));
  assert.equal(both.chosen?.name, "iptables-legacy");
  const unneeded = await findBackend(rules, machine({ "iptables-nft": { saved: unlisted.replace("nat", "filter") } }));
  assert.equal(unneeded.chosen?.name, "iptables-nft");
});

const task = {
  config: configOf({ outboundRanges: "*" }),
  dualStack: false,
  reconcile: false,
  force: false,
  cleanup: false,
};
const quiet = { info: () => {}, warn: () => {} };

Deno.test("a family with addresses that cannot be set up fails with the evidence of every back end", async () => {
  const run = machine({}, [], "2: eth0 inet 10.0.0.1/24\n");
  await assert.rejects(applyRedirection(task, run, quiet), (error: Error) => {
    assert.match(error.message, /IPv4: no back end/);
    assert.match(error.message, /iptables-legacy: not installed/);
    assert.doesNotMatch(error.message, /IPv6/);
    return true;
  });
});

Deno.test("both families must be set up for a machine with both, or when both are asked for", async () => {
  for (
    const [addresses, dualStack] of [["2: eth0 inet 10.0.0.1/24\n3: eth0 inet6 fd00::1/64\n", false], [
      "",
      true,
    ]] as const
  ) {
    await assert.rejects(
      applyRedirection({ ...task, dualStack }, machine({}, [], addresses), quiet),
      /IPv6: no back end/,
    );
  }
});

Deno.test("a run that could set up neither family fails, although neither has addresses", async () => {
  await assert.rejects(applyRedirection(task, machine({}), quiet), /IPv4: no back end.*IPv6: no back end/s);
});

Deno.test("a lack of rights is reported with the capability needed", async () => {
  const refuses = { refuses: /./, says: "Permission denied (you must be root)" };
  await assert.rejects(applyRedirection(task, machine({ "iptables-nft": refuses }), quiet), /needs NET_ADMIN/);
});

Deno.test("clean-up does not claim success where nothing could be looked at", async () => {
  const run = machine({}, [], "2: eth0 inet 10.0.0.1/24\n");
  await assert.rejects(applyRedirection({ ...task, cleanup: true }, run, quiet), /IPv4: no back end/);
  const blind = machine({ "iptables-nft": { saved: unlisted }, "iptables-legacy": {} });
  await assert.rejects(applyRedirection({ ...task, cleanup: true }, blind, quiet), /IPv4: .* could not be seen/);
});
