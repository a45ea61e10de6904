/**
 * Redirection to the node tunnel: the rules as text, and real sockets in network namespaces, on both back ends and in
 * both families. The listeners on the tunnel's ports answer with their name and the intended destination.
 */
import assert from "node:assert/strict";
import { addressedFamilies, applyRedirection, type Task } from "../../lib/iptables/apply.ts";
import { findBackend } from "../../lib/iptables/backend.ts";
import { differences, explainedText } from "../../lib/iptables/change.ts";
import { families } from "../../lib/iptables/model/names.ts";
import { missingRoutes } from "../../lib/iptables/route.ts";
import { routingOf, rulesOf } from "../../lib/iptables/wanted.ts";
import { systemRun } from "../../lib/iptables/run.ts";
import { ambientConfig as config } from "./support/ambient.ts";
import { onlyBackend } from "./support/inputs.ts";
import { addresses, Cable, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const task: Task = { config, dualStack: false, reconcile: true, force: false, cleanup: false };
const quiet = { info() {}, warn() {} };

Deno.test("the rules of a pod in ambient mode: marks, DNS zones, redirects, each once", () => {
  const rules = explainedText(rulesOf(config, 4)).split("\n").filter((line) => /^[*-]/.test(line));
  assert.deepEqual(rules, [
    "*raw",
    "-A PREROUTING -j MESH_INBOUND",
    "-A OUTPUT -j MESH_OUTPUT",
    "-A MESH_OUTPUT -p udp -m udp --dport 53 -m mark --mark 0x539/0xfff -j CT --zone 1",
    "-A MESH_INBOUND -p udp -m udp --sport 53 -m mark ! --mark 0x539/0xfff -j CT --zone 1",
    "*mangle",
    "-A PREROUTING -j MESH_INBOUND",
    "-A OUTPUT -j MESH_OUTPUT",
    "-A MESH_INBOUND -m mark --mark 0x539/0xfff -j CONNMARK --set-xmark 0x111/0xfff",
    "-A MESH_OUTPUT -m connmark --mark 0x111/0xfff -j CONNMARK --restore-mark --nfmask 0xffffffff --ctmask 0xffffffff",
    "*nat",
    "-A PREROUTING -j MESH_INBOUND",
    "-A OUTPUT -j MESH_OUTPUT",
    "-A MESH_INBOUND -s 169.254.7.127/32 -p tcp -j ACCEPT",
    "-A MESH_INBOUND ! -d 127.0.0.1/32 -p tcp -m tcp ! --dport 15008 -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15006",
    "-A MESH_OUTPUT -d 169.254.7.127/32 -p tcp -j ACCEPT",
    "-A MESH_OUTPUT ! -o lo -p udp -m udp --dport 53 -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15053",
    "-A MESH_OUTPUT ! -d 127.0.0.1/32 -p tcp -m tcp --dport 53 -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15053",
    "-A MESH_OUTPUT -p tcp -m mark --mark 0x111/0xfff -j ACCEPT",
    "-A MESH_OUTPUT ! -d 127.0.0.1/32 -o lo -j ACCEPT",
    "-A MESH_OUTPUT ! -d 127.0.0.1/32 -p tcp -m mark ! --mark 0x539/0xfff -j REDIRECT --to-ports 15001",
  ]);
});

Deno.test("ingress mode takes no inbound connections; devices of virtual machines are outbound; a family can be left out", () => {
  const ingress = explainedText(
    rulesOf({ ...config, capturesInbound: false, capturesDns: false, virtualInterfaces: ["vm0"] }, 6),
  );
  assert.match(ingress, /-A MESH_INBOUND -i vm0 -p tcp -j REDIRECT --to-ports 15001/);
  assert.doesNotMatch(ingress, /15006|15053|raw/);
  assert.match(ingress, /! -d ::1\/128/);
  assert.equal(explainedText(rulesOf({ ...config, families: [4] }, 6)), "");
});

for (const kind of ["nft", "legacy"] as const) {
  packetTest(
    `in ambient mode connections go to the tunnel, and its own do not, with ${kind} in both families`,
    async () => {
      await using cable = await Cable.lay();
      const run = onlyBackend(kind, systemRun({ networkNamespace: cable.pod }));
      assert.deepEqual(await applyRedirection(task, run, quiet), { 4: "applied", 6: "applied" });
      assert.deepEqual(await applyRedirection(task, run, quiet), { 4: "unchanged", 6: "unchanged" });
      const [app, tunnel, client] = [
        cable.actor("pod", users.app),
        cable.actor("pod", users.proxy),
        cable.actor("client", users.root),
      ];
      for (const family of families) {
        const { pod, client: there } = addresses[family];
        const all = family === 4 ? "0.0.0.0" : "::";
        for (const [name, port] of [["outbound", 15001], ["inbound", 15006], ["hbone", 15008]] as const) {
          await tunnel.listen(name, all, port);
        }
        const localhost = family === 4 ? "127.0.0.1" : "::1";
        await tunnel.listen("dns", localhost, 15053, { protocol: "udp" });
        await app.listen("app", all, 8080);
        await client.listen("server", all, 8080);
        const reaches = async (from: typeof app, host: string, port: number, extra: Record<string, unknown> = {}) => {
          const { answer, error } = await from.dial(host, port, { timeout: 20, ...extra });
          return answer?.name ?? error;
        };
        assert.equal(await reaches(client, pod, 8080), "inbound", `IPv${family}: inbound is captured`);
        assert.equal(await reaches(client, pod, 15008), "hbone");
        assert.equal(await reaches(app, there, 8080), "outbound", `IPv${family}: outbound is captured`);
        assert.equal(await reaches(app, localhost, 8080), "app");
        assert.equal(await reaches(app, there, 53, { protocol: "udp" }), "dns");
        assert.equal(await reaches(tunnel, there, 8080, { mark: 0x539 }), "server", "the tunnel's own connections");
      }
    },
  );

  packetTest(
    `the wanted rules are read back: a flush, a lost route and a clean-up are seen, with ${kind}`,
    async () => {
      await using cable = await Cable.lay();
      const run = onlyBackend(kind, systemRun({ networkNamespace: cable.pod }));
      const drift = async () => {
        const lines: string[] = [];
        for (const family of await addressedFamilies(run)) {
          const rules = rulesOf(config, family);
          const { chosen } = await findBackend(rules, run);
          lines.push(...differences(chosen!.listing, rules), ...await missingRoutes(routingOf(config, family), run));
        }
        return lines;
      };
      assert.notEqual((await drift()).length, 0);
      await applyRedirection(task, run, quiet);
      assert.deepEqual(await drift(), []);
      await cable.exec("pod", `iptables-${kind}`, "-t", "nat", "-F", "MESH_OUTPUT");
      assert.match((await drift()).join(), /rule 1 of MESH_OUTPUT is missing/);
      await applyRedirection(task, run, quiet);
      await cable.exec("pod", "ip", "route", "flush", "table", "100");
      assert.match((await drift()).join(), /ip -4 route add local 0\.0\.0\.0\/0 dev lo table 100/);
      await cable.exec("pod", "ip", "rule", "del", "fwmark", "0x111/0xfff", "lookup", "100");
      assert.match((await drift()).join(), /ip -4 rule add fwmark 0x111\/0xfff pref 32764 lookup 100/);
      assert.deepEqual(await applyRedirection(task, run, quiet), { 4: "unchanged", 6: "unchanged" });
      assert.deepEqual(await drift(), []);
      await applyRedirection({ ...task, cleanup: true }, run, quiet);
      assert.doesNotMatch(await cable.exec("pod", `iptables-${kind}-save`), /MESH/);
      assert.doesNotMatch(await cable.exec("pod", "ip", "rule"), /0x111/);
      assert.doesNotMatch(await cable.exec("pod", "ip", "-6", "rule"), /0x111/);
    },
  );
}
