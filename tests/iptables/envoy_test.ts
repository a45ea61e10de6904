/**
 * A pod with a real Envoy behind the rules: the server and the listener for each client, and the application's view.
 * REDIRECT and TPROXY, IPv4 and IPv6.
 */
import assert from "node:assert/strict";
import { applyIn } from "./support/inputs.ts";
import { envoyPath } from "../envoy/path.ts";
import { EnvoyInPod, virtualAddress } from "./support/envoy.ts";
import { addresses, Cable, users } from "./support/pod.ts";
import { packetTest } from "./support/tools.ts";

const binary = envoyPath();

for (const mode of ["REDIRECT", "TPROXY"] as const) {
  for (const kind of ["nft", "legacy"] as const) {
    packetTest(`a real Envoy behind ${mode} on ${kind}`, async (t) => {
      if (binary === undefined) throw new Error("no Envoy: deno task setup brings it");
      await using cable = await Cable.lay();
      const app = cable.actor("pod", users.app);
      const client = cable.actor("client", users.root);
      for (const any of ["0.0.0.0", "::"]) {
        for (const port of [8080, 9000]) await app.listen("app", any, port);
        for (const port of [8080, 9100]) await client.listen("server", any, port);
      }
      await applyIn(cable.pod, kind, {
        inboundMode: mode,
        inboundPorts: "*",
        inboundPortsExcluded: "9000",
        outboundRanges: "*",
        outboundPortsExcluded: "9100",
      });
      await using envoy = await EnvoyInPod.start(cable, binary, mode === "TPROXY");

      for (const family of [4, 6] as const) {
        const { pod, client: there, other } = addresses[family];
        const shown = (host: string) => (family === 6 ? `[${host}]` : host);
        const passthrough = family === 4 ? "127.0.0.6" : "::6";
        const text = (...parts: string[]) => new RegExp(`^${parts.join(" ").replace(/[[\].]/g, "\\$&")}$`);

        await t.step(
          `IPv${family}: inbound goes through the inbound listener to the port that was dialled`,
          async () => {
            const { answer } = await client.dial(pod, 8080, { source: other });
            assert.equal(answer?.name, "app");
            assert.equal(answer?.peer, mode === "TPROXY" ? other : passthrough);
            await envoy.line(text("CONN inbound", other, `${shown(pod)}:8080`, `${shown(pod)}:8080`));
          },
        );
        await t.step(
          `IPv${family}: outbound goes through the outbound listener to the address that was dialled`,
          async () => {
            const { answer } = await app.dial(there, 8080);
            assert.deepEqual([answer?.name, answer?.peer], ["server", pod]);
            await envoy.line(text("CONN outbound", pod, `${shown(there)}:8080`, `${shown(there)}:8080`));
          },
        );
        await t.step(`IPv${family}: an application that calls its own service goes through both`, async () => {
          const { answer } = await app.dial(virtualAddress[family], 8080);
          assert.equal(answer?.name, "app");
          assert.equal(answer?.peer, mode === "TPROXY" ? pod : passthrough);
          await envoy.line(text("CONN outbound", pod, `${shown(virtualAddress[family])}:8080`, `${shown(pod)}:8080`));
          await envoy.line(text("CONN inbound", pod, `${shown(pod)}:8080`, `${shown(pod)}:8080`));
        });
        await t.step(`IPv${family}: what is excluded, localhost and an own address meet no Envoy`, async () => {
          assert.equal((await client.dial(pod, 9000, { source: there })).answer?.peer, there);
          assert.equal((await app.dial(there, 9100)).answer?.name, "server");
          assert.equal((await app.dial(family === 4 ? "127.0.0.1" : "::1", 8080)).answer?.name, "app");
          assert.equal((await app.dial(pod, 8080)).answer?.peer, pod);
          // A last connection through Envoy: all earlier connections are logged by now.
          await client.dial(pod, 8080, { source: there });
          await envoy.line(text("CONN inbound", there, `${shown(pod)}:8080`, `${shown(pod)}:8080`));
          assert.deepEqual(envoy.connections(), []);
        });
      }
      await t.step("without Envoy nothing gets past it: inbound and outbound fail closed", async () => {
        await envoy[Symbol.asyncDispose]();
        const inbound = await client.dial(addresses[4].pod, 8080, { timeout: 10 });
        const outbound = await app.dial(addresses[4].client, 8080, { timeout: 10 });
        assert.deepEqual([inbound.answer, outbound.answer], [undefined, undefined]);
      });
    }, [kind]);
  }
}
