/** A walk through the pages of a filled mesh in ambient mode, in a real browser. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { TunnelClient } from "../discovery/ambient/tunnel_client.ts";
import { withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";
import { ambientMeshOf, ambientPages, REJECTED, WAYPOINT_PROXY } from "./support/ambient_mesh.ts";
import { Browser, noBrowser } from "./support/browser.ts";
import { faultsOf } from "./support/faults.ts";

const changes = {
  options: { clusterId: "Kubernetes", manifestServices: true },
  settings: { PILOT_ENABLE_AMBIENT: true, PILOT_ENABLE_AMBIENT_WAYPOINTS: true, XDS_AUTH: false },
} as const;

/** What each filled page must show, so that an empty page fails the walk. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  pods: /captured[\s\S]*NACKed by[\s\S]*at the waypoint shop\/gate/,
  podsOfPolicy: /\b1 in all/,
  services: /shop\/gate/,
  policies: /shop\/partners/,
  tree: /filter chain/,
};

for (const services of [5, 300]) {
  Deno.test({
    name: `no page of ${services} services in ambient mode overflows, cuts or fades a text in any width or scheme`,
    ignore: noBrowser !== undefined,
    async fn() {
      await withServer(ambientMeshOf(services), async ({ ports }) => {
        using held = new DisposableStack();
        const tunnels = ["n0", "n1", "n2"].map((node) =>
          held.use(
            new TunnelClient(ports.grpc!, {
              id: `ztunnel~10.0.0.9~ztunnel-${node}.mesh-system~mesh-system.svc.cluster.local`,
              node: `worker-pool-large-eu-central-1-${node}`,
              holds: node === "n2",
            }),
          )
        );
        tunnels[1]!.isWrong = (name) =>
          name === REJECTED ? "address 10.1.0.0 is the network of another node" : undefined;
        held.use(await TestProxy.attach(ports.grpc, WAYPOINT_PROXY));
        for (const tunnel of tunnels) await tunnel.until(() => tunnel.isReady, "both types");
        await until("a rejection", async () => {
          const got = await fetch(`http://127.0.0.1:${ports.http}/debug/ambient_pods`);
          return /"rejected":\[\{/.test((await got.text()).replaceAll(/\s/g, ""));
        });
        await using browser = await Browser.start();
        const tab = await browser.tab();
        const faults: Record<string, string[]> = {};
        for (const [name, path] of Object.entries(ambientPages())) {
          await tab.open(`http://127.0.0.1:${ports.http}${path}`);
          const found = await faultsOf(tab);
          const expected = SHOWN[name];
          if (expected !== undefined) {
            const text = await tab.text();
            if (!expected.test(text)) found.push(`expected ${expected} in ${text.slice(0, 400)}`);
          }
          if (found.length > 0) faults[path] = found;
        }
        assert.deepEqual(faults, {});
        assert.deepEqual(tab.complaints, []);
      }, changes);
    },
  });
}
