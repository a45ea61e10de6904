/** Machines of other kinds: both back ends in use, no IPv6, no addresses, an application whose ports are taken. */
import assert from "node:assert/strict";
import { applyRedirection, type Task } from "../../lib/iptables/apply.ts";
import { namespacePath, systemRun } from "../../lib/iptables/run.ts";
import { applyIn, type Changes, configOf, onlyBackend } from "./support/inputs.ts";
import { addresses, Cable, type Dialled, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const everything: Changes = { inboundPorts: "*", outboundRanges: "*" };
const task = { dualStack: false, reconcile: false, force: false, cleanup: false };

/** Applies with both back ends installed. */
async function applyFreely(cable: Cable, changes: Changes, more: Partial<typeof task> = {}) {
  const lines: string[] = [];
  const report = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) };
  const run = systemRun({ networkNamespace: cable.pod });
  const outcome = await applyRedirection({ ...task, ...more, config: configOf(changes) }, run, report);
  return { outcome, lines };
}

packetTest("if the legacy back end has rules of other programs, our rules go there too", async () => {
  await using cable = await Cable.lay();
  await cable.exec("pod", "iptables-legacy", "-A", "INPUT", "-p", "tcp", "--dport", "2", "-j", "DROP");
  const { outcome, lines } = await applyFreely(cable, everything);
  assert.deepEqual(outcome, { 4: "applied", 6: "applied" });
  assert.ok(lines.some((line) => /^IPv4: iptables-legacy: .*, 1 of others$/.test(line)), lines.join("\n"));
  assert.match(await cable.exec("pod", "iptables-legacy-save"), /MESH_OUTPUT/);
  assert.doesNotMatch(await cable.exec("pod", "iptables-nft-save"), /MESH_OUTPUT/);
  // IPv6 is decided separately.
  assert.match(await cable.exec("pod", "ip6tables-nft-save"), /MESH_OUTPUT/);
  assert.deepEqual((await applyFreely(cable, everything)).outcome, { 4: "unchanged", 6: "unchanged" });
});

packetTest(
  "our rules in both back ends are drift; reconciling keeps them in one back end, cleaning removes them from both",
  async () => {
    await using cable = await Cable.lay();
    await applyIn(cable.pod, "legacy", everything);
    await applyIn(cable.pod, "nft", everything);
    await assert.rejects(applyFreely(cable, everything), /iptables-legacy has rules of ours too/);
    assert.deepEqual((await applyFreely(cable, everything, { reconcile: true })).outcome, {
      4: "replaced",
      6: "replaced",
    });
    assert.match(await cable.exec("pod", "iptables-nft-save"), /MESH/);
    assert.doesNotMatch(await cable.exec("pod", "iptables-legacy-save"), /MESH/);

    await applyIn(cable.pod, "legacy", everything);
    await applyFreely(cable, {}, { cleanup: true });
    for (const tool of ["iptables-nft-save", "iptables-legacy-save", "ip6tables-nft-save", "ip6tables-legacy-save"]) {
      assert.doesNotMatch(await cable.exec("pod", tool), /MESH/);
    }
  },
);

const vmap = "ip daddr 10.1.0.0/16 numgen inc mod 2 vmap { 0 : accept, 1 : return }";

/** Things with words in nft alone: in a separate chain, and in the chain that leads to our chain. */
const native = (chain: string) =>
  `table ip nat {\n chain ${chain} {\n  type nat hook output priority -100\n  ${vmap}\n }\n}\n`;

for (const chain of ["mine", "OUTPUT"]) {
  packetTest(`a native rule of nft in chain ${chain} of a table that rules need is never touched`, async () => {
    await using cable = await Cable.lay();
    const file = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(file, native(chain));
      await cable.exec("pod", "nft", "-f", file);
    } finally {
      await Deno.remove(file);
    }
    const list = async () => await cable.exec("pod", "nft", "list", "table", "ip", "nat");
    const before = await list();
    const nft = (task: Partial<Task> = {}) => applyIn(cable.pod, "nft", everything, task);
    if (chain === "OUTPUT") {
      // Unlisted rules would be beyond repair, too: each run would add more.
      await assert.rejects(nft(), /table nat has parts that only the tool nft can list/);
      assert.equal(await list(), before);
      await assert.rejects(nft({ cleanup: true }), /could not be seen/);
    } else {
      assert.equal((await nft())[4], "applied");
      assert.equal((await nft())[4], "unchanged");
      assert.equal((await nft({ cleanup: true }))[4], "cleaned");
      assert.ok((await list()).startsWith(before.replace(/}\s*$/, "")), await list());
      assert.doesNotMatch(await list(), /MESH/);
    }
  });
}

packetTest(
  "where IPv6 is switched off, its rules are applied as a precaution, and its address is left out",
  async () => {
    await using cable = await Cable.lay();
    await cable.exec("pod", "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6");
    const { outcome } = await applyFreely(cable, { ...everything, inboundMode: "TPROXY" });
    assert.deepEqual(outcome, { 4: "applied", 6: "applied" });
    assert.doesNotMatch(await cable.exec("pod", "ip", "-6", "addr"), /::6/);
    // With IPv6 demanded explicitly, the failure is an error.
    await assert.rejects(
      applyFreely(cable, everything, { dualStack: true, reconcile: true }),
      /ip -6 addr add ::6\/128/,
    );
  },
);

packetTest("an IPv6 address that comes after the rules does not go past the proxy", async () => {
  await using cable = await Cable.lay();
  await cable.exec("pod", "ip", "-6", "addr", "flush", "dev", "eth0");
  assert.deepEqual((await applyFreely(cable, everything)).outcome, { 4: "applied", 6: "applied" });
  await cable.exec("pod", "ip", "-6", "addr", "add", `${addresses[6].pod}/64`, "dev", "eth0", "nodad");
  const app = cable.actor("pod", users.app);
  const server = cable.actor("client", users.root);
  await server.listen("server", "::", 8080);
  assert.equal((await app.dial(addresses[6].client, 8080)).error, "refused", "the proxy's port has no listener");
});

packetTest(
  "packets of no known connection are dropped if the setting is on, but never on excluded devices",
  async () => {
    await using cable = await Cable.lay();
    const client = cable.actor("client", users.root);
    const { pod, client: source } = addresses[4];
    for (const kind of ["nft", "legacy"] as const) {
      const stray = async (changes: Changes, timeout: number) => {
        await applyIn(cable.pod, kind, changes, { reconcile: true });
        const said = await client.ask<Dialled>({ do: "stray", source, host: pod, port: 8080, timeout });
        return said.answer?.name ?? said.error;
      };
      assert.equal(await stray({}, 60), "reset");
      assert.equal(await stray({ dropInvalid: true }, 1), "timeout");
      assert.equal(await stray({ dropInvalid: true, interfacesExcluded: "eth0" }, 60), "reset");
      await applyIn(cable.pod, kind, {}, { cleanup: true });
    }
  },
);

packetTest("tools of the legacy back end wait for the machine's lock, or only for the namespace's lock", async () => {
  await using cable = await Cable.lay();
  const { code } = await new Deno.Command("flock", { args: ["--version"], stdout: "null" }).output();
  assert.equal(code, 0);
  const holder = new Deno.Command("flock", {
    args: ["/run/xtables.lock", "sh", "-c", "echo held; read line || true"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = holder.stdout.getReader();
  await reader.read();
  const apply = (lockFile: string | undefined, changes: Changes) => {
    const run = onlyBackend("legacy", systemRun({ networkNamespace: cable.pod, lockFile }));
    const quiet = { info: () => {}, warn: () => {} };
    return applyRedirection({ ...task, reconcile: true, config: configOf(changes) }, run, quiet);
  };
  // The machine's lock is held all the while.
  assert.deepEqual(await apply(namespacePath(cable.pod), everything), { 4: "applied", 6: "applied" });
  let done = false;
  const waiting = apply(undefined, { inboundPorts: "80" }).then(() => (done = true));
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(done, false);
  await holder.stdin.close();
  await waiting;
  await reader.cancel();
  await holder.status;
}, ["legacy"]);
