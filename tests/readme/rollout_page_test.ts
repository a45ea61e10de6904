/** The commands on docs/users/staged_rollout.md print what the page shows, at a server with the object of the page. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { page, withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";

const path = new URL("../../docs/users/staged_rollout.md", import.meta.url);
const text = await Deno.readTextFile(path);

/** Commands and the outputs on the page. */
const shown = [...text.matchAll(/^```sh\npilot-discovery ([^\n]*)\n```\n\n```(?:text|yaml)\n([\s\S]*?)^```/gm)]
  .map(([, command = "", output = ""]) => ({ command, output }));

const SERVICE = `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: cart, namespace: shop }
spec:
  hosts: [cart.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1 }]
`;

/** Durations and hashes differ with each run. The formatter of pages takes away blanks before a block's first word. */
const settled = (output: string) =>
  output.replaceAll(/\b(?:\d+h)?(?:\d+m)?\d+s\b/g, "0s").replaceAll(/[\w-]{22}/g, "HASH").replaceAll(/ {2,}/g, "  ")
    .trimStart();

Deno.test("the commands on docs/users/staged_rollout.md print what the page shows", async () => {
  const object = /^```yaml\n([\s\S]*?)^```/m.exec(text)![1]!;
  const kept = await Deno.makeTempDir();
  const files = { "services.yaml": SERVICE, "cart.yaml": object.replace("timeout: 5s", "timeout: 3s") };
  await withServer(files, async ({ ports }, folder) => {
    const proxies: TestProxy[] = [];
    for (let at = 1; at <= 20; at++) {
      proxies.push(
        await TestProxy.attach(ports.grpc, { id: `sidecar~10.0.1.${at}~web-${at}.shop~shop.svc.cluster.local` }),
      );
    }
    await Deno.writeTextFile(`${folder}/cart.yaml`, object);
    await until(
      "the first stage soaks",
      async () => /"soaking"/.test((await page(ports.http, "/debug/rollouts")).body),
    );
    const printed: string[] = [];
    for (const { command } of shown) {
      const { out, err } = await pilotDiscovery([...command.split(" "), `--server=127.0.0.1:${ports.http}`]);
      assert.equal(err, "", command);
      printed.push(out.replaceAll(`${folder}/`, "mesh/"));
    }
    if (Deno.env.get("UPDATE_TASKS") === "1") {
      let at = 0;
      const next = text.replaceAll(
        /^(```sh\npilot-discovery [^\n]*\n```\n\n```(?:text|yaml)\n)[\s\S]*?^```/gm,
        (_, before) => `${before}${printed[at++]}\`\`\``,
      );
      await Deno.writeTextFile(path, next);
    } else {
      for (const [at, { command, output }] of shown.entries()) {
        assert.equal(settled(printed[at]!), settled(output), command);
      }
    }
    for (const proxy of proxies) proxy[Symbol.dispose]();
  }, { settings: { MESH_ROLLOUT_DIR: kept, PILOT_DEBOUNCE_AFTER: 10 } });
  await Deno.remove(kept, { recursive: true });
  assert.ok(shown.length >= 3, "the page shows commands");
});
