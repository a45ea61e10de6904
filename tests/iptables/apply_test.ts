/**
 * Bringing the kernel to the wanted state and back: no work without a difference, repair without a gap, clean-up as the
 * inverse, and hands off the rules of others. On both back ends, against the kernel's own list.
 */
import assert from "node:assert/strict";
import type { Task } from "../../lib/iptables/apply.ts";
import { ApplyError } from "../../lib/iptables/outcome.ts";
import { buildRules } from "../../lib/iptables/rules/build.ts";
import { differences } from "../../lib/iptables/change.ts";
import { families } from "../../lib/iptables/model/names.ts";
import { hasOwnPart, parseListing } from "../../lib/iptables/state.ts";
import { applyIn, type Changes, configOf } from "./support/inputs.ts";
import { addresses, Cable, type Dialled, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const everything: Changes = {
  inboundPorts: "*",
  inboundPortsExcluded: "15021,15090",
  outboundRanges: "*",
  captureDns: true,
  captureAllDns: true,
  dropInvalid: true,
};

const tool = (kind: "nft" | "legacy", family: 4 | 6) => `${family === 4 ? "iptables" : "ip6tables"}-${kind}`;

/** The kernel's list of both families, without counters, comments and empty tables. */
async function list(cable: Cable, kind: "nft" | "legacy"): Promise<string> {
  const texts = await Promise.all(families.map((f) => cable.exec("pod", `${tool(kind, f)}-save`)));
  return texts.map((text, i) =>
    [...parseListing(text)].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([table, chains]) =>
      [...chains].filter(([chain, rules]) => rules.length > 0 || !/^[A-Z]+$/.test(chain)).map(([chain, rules]) =>
        `IPv${families[i]} ${table} ${chain}\n${rules.map((rule) => `  ${rule}\n`).join("")}`
      )
    ).join("")
  ).join("");
}

/** Rules of others, in the same chains and tables as ours. */
async function strangers(cable: Cable, kind: "nft" | "legacy"): Promise<void> {
  for (const family of families) {
    const on = (...args: string[]) => cable.exec("pod", tool(kind, family), ...args);
    await on("-t", "nat", "-N", "THEIRS");
    const comment = ["-m", "comment", "--comment", 'it\'s "theirs"'];
    await on("-t", "nat", "-A", "THEIRS", "-p", "tcp", "--dport", "1", "-j", "RETURN", ...comment);
    // Names and texts that look like our rules.
    for (const chain of ["MESH_OUTPUT_MINE", "MESH_", "mesh_output", "MESH_INBOUND2", "XMESH_OUTPUT"]) {
      await on("-t", "nat", "-N", chain);
      await on("-t", "nat", "-A", chain, "-p", "tcp", "-m", "comment", "--comment", "-j MESH_OUTPUT", "-j", "RETURN");
      await on("-t", "nat", "-A", "PREROUTING", "-p", "tcp", "--dport", "3", "-j", chain);
    }
    await on("-t", "nat", "-A", "OUTPUT", "-p", "udp", "-m", "comment", "--comment", "MESH_OUTPUT", "-j", "ACCEPT");
    await on("-t", "nat", "-A", "OUTPUT", "-j", "THEIRS");
    await on("-t", "nat", "-A", "PREROUTING", "-p", "udp", "--dport", "9", "-j", "REDIRECT", "--to-ports", "99");
    await on("-t", "filter", "-A", "INPUT", "-p", "tcp", "--dport", "2", "-j", "DROP");
    await on("-t", "mangle", "-A", "OUTPUT", "-p", "udp", "-j", "MARK", "--set-mark", "7");
  }
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`${kind}: a second run changes nothing, clean-up leaves the rules of before`, async (t) => {
    await using cable = await Cable.lay();
    await strangers(cable, kind);
    const before = await list(cable, kind);
    assert.match(before, /THEIRS/);

    for (
      const [name, changes] of Object.entries<Changes>({
        REDIRECT: everything,
        TPROXY: { ...everything, inboundMode: "TPROXY" },
        "a few ports": {
          inboundPorts: "80,90:99",
          outboundRanges: "10.0.0.0/8,fd00::/8",
          captureDns: true,
          groups: "7",
        },
        "a virtual machine": { outboundRanges: "*", virtualInterfaces: "tap0", interfacesExcluded: "eth9,net+" },
      })
    ) {
      await t.step(name, async () => {
        assert.deepEqual(await applyIn(cable.pod, kind, changes), { 4: "applied", 6: "applied" });
        const applied = await list(cable, kind);
        assert.notEqual(applied, before);
        assert.deepEqual(await applyIn(cable.pod, kind, changes), { 4: "unchanged", 6: "unchanged" });
        assert.equal(await list(cable, kind), applied);
        assert.deepEqual(await applyIn(cable.pod, kind, changes, { force: true }), { 4: "replaced", 6: "replaced" });
        assert.equal(await list(cable, kind), applied);
        // Clean-up does not know the applied rules.
        assert.deepEqual(await applyIn(cable.pod, kind, {}, { cleanup: true }), { 4: "cleaned", 6: "cleaned" });
        assert.equal(await list(cable, kind), before);
        assert.deepEqual(await applyIn(cable.pod, kind, {}, { cleanup: true }), { 4: "cleaned", 6: "cleaned" });
        assert.equal(await list(cable, kind), before);
      });
    }
  }, [kind]);

  packetTest(`${kind}: every drift is reported and refused, and repaired on request`, async (t) => {
    await using cable = await Cable.lay();
    await strangers(cable, kind);
    await applyIn(cable.pod, kind, everything);
    const good = await list(cable, kind);
    const drifts: [string, string[][], RegExp][] = [
      [
        "a rule is gone",
        [["-t", "nat", "-D", "MESH_OUTPUT", "-d", "127.0.0.1/32", "-j", "RETURN"]],
        /rule \d+ of MESH_OUTPUT/,
      ],
      ["a rule was put in", [["-t", "nat", "-I", "MESH_OUTPUT", "-j", "RETURN"]], /rule 1 of MESH_OUTPUT is -j RETURN/],
      [
        "a rule was added",
        [["-t", "nat", "-A", "MESH_REDIRECT", "-j", "RETURN"]],
        /MESH_REDIRECT has 1 rules too many/,
      ],
      ["the way in is gone", [["-t", "nat", "-D", "OUTPUT", "-j", "MESH_OUTPUT"]], /ways into our chains/],
      ["the way in is there twice", [["-t", "nat", "-A", "OUTPUT", "-j", "MESH_OUTPUT"]], /ways into our chains/],
      ["a way in from elsewhere", [["-t", "nat", "-A", "THEIRS", "-j", "MESH_REDIRECT"]], /ways into our chains/],
      ["a chain is empty", [["-t", "raw", "-F", "MESH_OUTPUT_DNS"]], /MESH_OUTPUT_DNS is missing/],
      ["a chain of another set-up", [["-t", "mangle", "-N", "MESH_TPROXY"], [
        "-t",
        "mangle",
        "-A",
        "MESH_TPROXY",
        "-j",
        "RETURN",
      ]], /MESH_TPROXY is not wanted/],
    ];
    for (const [name, commands, reported] of drifts) {
      await t.step(name, async () => {
        for (const command of commands) await cable.exec("pod", tool(kind, 4), ...command);
        const drifted = await list(cable, kind);
        await assert.rejects(applyIn(cable.pod, kind, everything), (error: Error) => {
          assert.ok(error instanceof ApplyError);
          assert.match(error.message, reported);
          assert.match(error.message, /--reconcile/);
          assert.doesNotMatch(error.message, /IPv6/);
          return true;
        });
        assert.equal(await list(cable, kind), drifted, "a refusal changes nothing");
        const outcome = await applyIn(cable.pod, kind, everything, { reconcile: true });
        assert.deepEqual(outcome, { 4: "replaced", 6: "unchanged" });
        // A repeated way in may have moved behind others' rules; the rest is as before.
        assert.deepEqual((await list(cable, kind)).split("\n").toSorted(), good.split("\n").toSorted());
      });
    }

    await t.step("routing that is gone comes back although the rules are in place", async () => {
      const tproxy: Changes = { ...everything, inboundMode: "TPROXY" };
      await applyIn(cable.pod, kind, tproxy, { reconcile: true });
      await cable.exec("pod", "ip", "rule", "del", "fwmark", "1337", "lookup", "133");
      await cable.exec("pod", "ip", "-6", "addr", "del", "::6/128", "dev", "lo");
      const lines: string[] = [];
      await applyIn(cable.pod, kind, tproxy, {}, lines);
      assert.match(await cable.exec("pod", "ip", "rule"), /fwmark 0x539 lookup 133/);
      assert.match(await cable.exec("pod", "ip", "-6", "addr", "show", "dev", "lo"), /::6\/128/);
      assert.ok(lines.some((line) => /ip -4 rule add fwmark 1337 lookup 133/.test(line)), lines.join("\n"));
    });
    await t.step("a change of mode takes the routing of the other away", async () => {
      await applyIn(cable.pod, kind, everything, { reconcile: true });
      assert.doesNotMatch(await cable.exec("pod", "ip", "rule"), /fwmark/);
      assert.match(await cable.exec("pod", "ip", "-6", "addr", "show", "dev", "lo"), /::6\/128/);
    });
  }, [kind]);

  packetTest(`${kind}: while rules are replaced again and again, no connection goes past the proxy`, async () => {
    await using cable = await Cable.lay();
    const proxy = cable.actor("pod", users.proxy);
    const app = cable.actor("pod", users.app);
    const client = cable.actor("client", users.root);
    await proxy.listen("proxy", "0.0.0.0", 15001);
    await proxy.listen("proxy", "0.0.0.0", 15006, { transparent: true });
    await app.listen("app", "0.0.0.0", 8080);
    await client.listen("server", "0.0.0.0", 8080);
    await applyIn(cable.pod, kind, everything);

    let running = true;
    const seen = new Map<string, number>();
    const dialOn = async (from: typeof app, host: string) => {
      while (running) {
        const said: Dialled = await from.dial(host, 8080, { timeout: 1 });
        const what = said.answer?.name ?? said.error ?? "nothing";
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
    };
    const dialling = Promise.all([dialOn(app, addresses[4].client), dialOn(client, addresses[4].pod)]);
    const modes: Changes[] = [
      { ...everything, inboundMode: "TPROXY" },
      { ...everything, inboundPortsExcluded: "1" },
      everything,
    ];
    const isEnough = () => (seen.get("proxy") ?? 0) > 100;
    for (let round = 0; round < 9 || (round < 90 && !isEnough()); round++) {
      await applyIn(cable.pod, kind, modes[round % 3] ?? everything, { reconcile: true });
    }
    running = false;
    await dialling;
    assert.ok(isEnough(), JSON.stringify([...seen]));
    assert.deepEqual(["app", "server"].filter((name) => seen.has(name)), [], JSON.stringify([...seen]));
  }, [kind]);

  packetTest(`${kind}: concurrent runs end in one set of rules`, async () => {
    await using cable = await Cable.lay();
    const together = async (task: Partial<Task>) => {
      await Promise.all(Array.from({ length: 12 }, () => applyIn(cable.pod, kind, everything, task)));
      return await Promise.all(
        families.map(async (family) => parseListing(await cable.exec("pod", `${tool(kind, family)}-save`))),
      );
    };
    const wanted = (family: 4 | 6) => buildRules(configOf(everything), family);
    for (const before of ["nothing is there", "the ways in are gone"]) {
      if (before !== "nothing is there") {
        for (const f of families) await cable.exec("pod", tool(kind, f), "-t", "nat", "-F", "OUTPUT");
      }
      const [four, six] = await together({ reconcile: true });
      assert.deepEqual([...differences(four!, wanted(4)), ...differences(six!, wanted(6))], [], before);
    }
    for (const listing of await together({ cleanup: true })) assert.equal(hasOwnPart(listing), false);
  }, [kind]);
}
