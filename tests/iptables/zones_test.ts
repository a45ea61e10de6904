/**
 * DNS over UDP where a client and the program that answers it (the agent or the node tunnel) happen to use the same
 * source port: the kernel must keep the two queries apart.
 */
import assert from "node:assert/strict";
import { applyRedirection } from "../../lib/iptables/apply.ts";
import { systemRun } from "../../lib/iptables/run.ts";
import { tunnelMark } from "../../lib/iptables/model/ambient_config.ts";
import { ambientConfig } from "./support/ambient.ts";
import { applyIn, onlyBackend } from "./support/inputs.ts";
import { addresses, Cable, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const SERVER = "dns server";
/** The resolver answers the application, and the server answers the resolver. */
const RIGHT = { app: "resolver", proxy: SERVER };

/** Both ask the same server from the same port, one right after the other. */
type BothAsk = (family: 4 | 6, first: "app" | "proxy", timeout?: number) => Promise<typeof RIGHT>;

/** An application, a resolver in its pod, and a server outside of the pod. @param mark Of the resolver's own questions. */
async function resolving(cable: Cable, mark?: number): Promise<BothAsk> {
  const proxy = cable.actor("pod", users.proxy);
  const app = cable.actor("pod", users.app);
  const server = cable.actor("client", users.root);
  for (const [localhost, host] of [["127.0.0.1", addresses[4].client], ["::1", addresses[6].client]] as const) {
    await proxy.listen("resolver", localhost, 15053, { protocol: "udp" });
    await server.listen(SERVER, host, 53, { protocol: "udp" });
  }
  let port = 40000;
  return async (family, first, timeout = 60) => {
    const { pod, client } = addresses[family];
    const from = { protocol: "udp", source: pod, sourcePort: ++port, timeout };
    const ask = {
      app: () => app.dial(client, 53, from),
      proxy: () => proxy.dial(client, 53, { ...from, ...mark !== undefined && { mark } }),
    };
    const answers = { app: "", proxy: "" };
    for (const asker of first === "app" ? (["app", "proxy"] as const) : (["proxy", "app"] as const)) {
      const said = await ask[asker]();
      answers[asker] = said.answer?.name ?? said.error ?? "";
    }
    return answers;
  };
}

for (const kind of ["nft", "legacy"] as const) {
  packetTest(`${kind}: client and agent may ask from one port, because they are tracked in two zones`, async (t) => {
    await using cable = await Cable.lay();
    const bothAsk = await resolving(cable);
    for (const all of [true, false]) {
      await applyIn(cable.pod, kind, { captureDns: true, captureAllDns: all }, { reconcile: true });
      for (const family of [4, 6] as const) {
        for (const first of ["app", "proxy"] as const) {
          const which = all ? "all DNS" : "the servers in use";
          await t.step(`IPv${family}, ${which}, the ${first} first: each gets its own answer`, async () => {
            assert.deepEqual(await bothAsk(family, first), RIGHT);
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
      assert.notDeepEqual(await bothAsk(4, "app", 1), RIGHT);
    });
  }, [kind]);

  packetTest(`${kind}: in ambient mode client and node tunnel may ask from one port`, async (t) => {
    await using cable = await Cable.lay();
    const bothAsk = await resolving(cable, tunnelMark.value);
    const run = onlyBackend(kind, systemRun({ networkNamespace: cable.pod }));
    const task = { config: ambientConfig, dualStack: false, reconcile: true, force: false, cleanup: false };
    const apply = () => applyRedirection(task, run, { info() {}, warn() {} });
    await apply();
    for (const family of [4, 6] as const) {
      for (const first of ["app", "proxy"] as const) {
        const name = first === "app" ? "application" : "tunnel";
        await t.step(`IPv${family}, the ${name} first: each gets its own answer`, async () => {
          assert.deepEqual(await bothAsk(family, first), RIGHT);
        });
      }
    }
    await t.step("the kernel tracks the tunnel's questions with their answers in a zone of their own", async () => {
      const listed = await cable.exec("pod", "conntrack", "-L", "-p", "udp");
      const inZone = listed.split("\n").filter((line) => line.includes("zone=1"));
      assert.ok(inZone.length >= 2, listed);
      for (const line of inZone) assert.doesNotMatch(line, /UNREPLIED|sport=15053/);
    });
    for (const [chain, first] of [["MESH_OUTPUT", "app"], ["MESH_INBOUND", "proxy"]] as const) {
      await t.step(`without the zone in ${chain} an answer is wrong: the cases above can fail`, async () => {
        await cable.exec("pod", `iptables-${kind}`, "-t", "raw", "-F", chain);
        assert.notDeepEqual(await bothAsk(4, first, 1), RIGHT);
        await apply();
        assert.deepEqual(await bothAsk(4, first), RIGHT);
      });
    }
  }, [kind]);
}
