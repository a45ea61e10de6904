/**
 * DNS over UDP where a client and the agent happen to use the same source port: the kernel must keep the two queries
 * apart.
 */
import assert from "node:assert/strict";
import { applyIn } from "./support/inputs.ts";
import { addresses, Cable, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`${kind}: client and agent may ask from one port, because they are tracked in two zones`, async (t) => {
    await using cable = await Cable.lay();
    const proxy = cable.actor("pod", users.proxy);
    const app = cable.actor("pod", users.app);
    const server = cable.actor("client", users.root);
    for (const [localhost, host] of [["127.0.0.1", addresses[4].client], ["::1", addresses[6].client]] as const) {
      await proxy.listen("agent", localhost, 15053, { protocol: "udp" });
      await server.listen("dns server", host, 53, { protocol: "udp" });
    }
    let port = 40000;
    /** Both ask the same server from the same port, one right after the other. */
    const bothAsk = async (family: 4 | 6, first: "app" | "proxy", timeout = 60) => {
      const { pod, client } = addresses[family];
      const from = { protocol: "udp", source: pod, sourcePort: ++port, timeout };
      const ask = { app: () => app.dial(client, 53, from), proxy: () => proxy.dial(client, 53, from) };
      const answers = { app: "", proxy: "" };
      for (const asker of first === "app" ? (["app", "proxy"] as const) : (["proxy", "app"] as const)) {
        const said = await ask[asker]();
        answers[asker] = said.answer?.name ?? said.error ?? "";
      }
      return answers;
    };

    for (const all of [true, false]) {
      await applyIn(cable.pod, kind, { captureDns: true, captureAllDns: all }, { reconcile: true });
      for (const family of [4, 6] as const) {
        for (const first of ["app", "proxy"] as const) {
          const which = all ? "all DNS" : "the servers in use";
          await t.step(`IPv${family}, ${which}, the ${first} first: each gets its own answer`, async () => {
            assert.deepEqual(await bothAsk(family, first), { app: "agent", proxy: "dns server" });
          });
        }
      }
    }
    await t.step("the kernel tracks them in zones 1 and 2", async () => {
      const listed = await cable.exec("pod", "conntrack", "-L", "-p", "udp");
      assert.match(listed, /dport=53 .*zone=1/);
      assert.match(listed, /dport=53 .*sport=15053 .*zone=2/);
    });
    await t.step("without the zones an answer is wrong: the cases above can fail", async () => {
      await cable.exec("pod", `iptables-${kind}`, "-t", "raw", "-F");
      assert.notDeepEqual(await bothAsk(4, "app", 1), { app: "agent", proxy: "dns server" });
    });
  }, [kind]);
}
