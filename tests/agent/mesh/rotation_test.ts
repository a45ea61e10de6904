/** Certificates of real workloads, replaced while requests run over connections that are never old. */
import assert from "node:assert/strict";
import type { AgentProcess } from "../../../scripts/demo/agent.ts";
import { envoyCount, SHORT_LEAVES } from "../../../scripts/demo/identity_mesh.ts";
import { Load } from "../../../scripts/demo/load.ts";
import { shortConnectionsFile } from "../../../scripts/demo/workloads.ts";
import { envoyPath } from "../../envoy/path.ts";
import { envoySerials } from "../support/envoy_serials.ts";
import { CLIENT, withSidecarPair } from "../support/sidecar_pair.ts";
import { until } from "../../patience.ts";

/** A root of 40 s, replaced 4 s after it was made (its 160 s begin two minutes earlier), checked each 200 ms. */
const SHORT_ROOTS = {
  CITADEL_SELF_SIGNED_CA_CERT_TTL: "40s",
  CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE: "22",
  CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: "200ms",
  CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR: "false",
};

const renewals = ({ output }: AgentProcess) => output.split("certificate valid until").length - 2;

Deno.test({
  name:
    "three rotations of both leaves and one of the root fail no request and no handshake; both Envoys hold the new ones",
  ignore: envoyPath() === undefined,
  fn: () =>
    withSidecarPair(
      { mode: "STRICT", env: SHORT_ROOTS, files: { "short.yaml": shortConnectionsFile(3) }, agents: SHORT_LEAVES },
      async ({ mesh, here, server, client, admins }) => {
        const [, ofClient] = admins;
        const before = await Promise.all(admins.map(envoySerials));
        const errors = () => envoyCount(ofClient, "^cluster.outbound.*ssl.(connection_error|fail_verify)");
        const [handshakes, wrong] = [await envoyCount(ofClient, "^cluster.outbound.*ssl.handshake$"), await errors()];
        await using load = new Load(here, "app.test");
        await until("three renewals of both", () => renewals(server) >= 3 && renewals(client) >= 3);
        await until("a new root", () => mesh.output.includes("replaced the root certificate"));
        await until("both Envoys have the new root", async () => {
          const now = await Promise.all(admins.map(envoySerials));
          return now.every(({ own, roots }, i) =>
            own !== before[i]!.own && roots.some((root) => !before[i]!.roots.includes(root))
          );
        });
        await load.more(200);
        const { answers, failures } = load.take();
        assert.deepEqual([Object.keys(answers), failures], [[CLIENT], {}]);
        assert(
          (await envoyCount(ofClient, "^cluster.outbound.*ssl.handshake$")) > handshakes + 20,
          "handshakes went on",
        );
        assert.equal(await errors(), wrong, "handshakes that failed");
      },
    ),
});
