/** A server that crashes under load, and comes back. */
import assert from "node:assert/strict";
import { envoyCount, type IdentityMesh, SHORT_LEAVES } from "../../../scripts/demo/identity_mesh.ts";
import { Load, oneRequest } from "../../../scripts/demo/load.ts";
import { serviceFile } from "../../../scripts/demo/workloads.ts";
import { envoyPath } from "../../envoy/path.ts";
import { CLIENT, withSidecarPair } from "../support/sidecar_pair.ts";
import { until } from "../../patience.ts";

/** Number of clusters, listeners and routes made by an Envoy. */
const made = (admin: number) =>
  envoyCount(
    admin,
    "cluster_manager.cluster_(added|modified)$|listener_manager.listener_(added|modified)$|config_reload$",
  );

/** Greatest size of a response without resources, bytes: type, version and nonce, once also the name of the server. */
const EMPTY = 130;

/** Types with more than empty responses from the server. */
async function sent(mesh: IdentityMesh): Promise<string[]> {
  const [responses, bytes] = [
    await mesh.metric("pilot_xds_pushes"),
    await mesh.metric("pilot_xds_config_size_bytes_sum"),
  ];
  return [...bytes].filter(([type, sum]) => sum > EMPTY * responses.get(type)!).map(([type]) => type).sort();
}

for (
  const [how, variables] of [["", {}], [", also if sidecars ask for what they call", {
    MESH_META_ON_DEMAND: "true",
  }]] as const
) {
  Deno.test({
    name:
      `a server that is killed while certificates are due, and comes back, fails no request and sends no Envoy anything again${how}`,
    ignore: envoyPath() === undefined,
    fn: () =>
      withSidecarPair(
        { mode: "STRICT", agents: { ...SHORT_LEAVES, ...variables } },
        async ({ mesh, here, there, server, client, admins }) => {
          await mesh.live("Sidecar/demo/server");
          await using load = new Load(here, "app.test");
          const before = await Promise.all(admins.map(made));
          assert(before.every((count) => count > 0), `${before}`);
          assert.deepEqual(await sent(mesh), ["cds", "eds", "lds", "rds", "vhds"]);
          for (const round of [1, 2]) {
            await mesh.killServer();
            await until(
              "both agents miss it",
              () => [server, client].every(({ output }) => output.split("no discovery server").length > round),
            );
            await load.more(50);
            await until(
              "a certificate is due meanwhile",
              () => [server, client].some(({ output }) => output.includes("no certificate: ")),
            );
            await mesh.startServer();
            const rows = () => mesh.page<{ synced: boolean }[]>("syncz");
            await until("both are there again", async () => (await rows()).filter(({ synced }) => synced).length === 2);
            await load.more(50);
            assert.deepEqual(await sent(mesh), [], "resources that were sent again");
            assert.deepEqual(await Promise.all(admins.map(made)), before, "what the Envoys made anew");
          }
          await mesh.write(
            "service.yaml",
            serviceFile(here, [{ port: there }]).replace("app.test]", "app.test, new.test]"),
          );
          await until("what changes is in force", async () => await oneRequest(here, "new.test") === CLIENT);
          assert.notDeepEqual(await sent(mesh), []);
          const renewed = () => client.output.split("certificate valid until").length;
          const had = renewed();
          await until("certificates are renewed again", () => renewed() > had);
          const { answers, failures } = load.take();
          assert.deepEqual([Object.keys(answers), failures], [[CLIENT], {}]);
        },
      ),
  });
}
