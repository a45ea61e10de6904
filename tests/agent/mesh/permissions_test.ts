/**
 * The permission sets of deno.json: programs run with exactly these sets in a place where nothing else may be written.
 */
import assert from "node:assert/strict";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../../scripts/demo/load.ts";
import { pairFiles } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

/** Unlike `/tmp`, a place outside of the folders in the sets. */
const PLACE = "/var/tmp";

Deno.test({
  name: "outside of the folders that anybody may write, agents and server need no more than their permission sets",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([port = 0, here = 0, there = 0, ...ports]) => {
      await using app = callerEcho();
      await using mesh = await IdentityMesh.start({
        ...{ port, place: PLACE },
        files: pairFiles({ client: here, server: there, application: app.port, mode: "STRICT" }),
      });
      try {
        const env = { OUTPUT_CERTS: "./var/certs" };
        const server = await mesh.agent({ name: "server", ports: ports.slice(0, 4), env });
        const client = await mesh.agent({ name: "client", ports: ports.slice(4, 8), env });
        await until("a request passes both sidecars", async () =>
          await oneRequest(here, "app.test") === "spiffe://cluster.local/ns/demo/sa/client");
        const files = (folder: string) =>
          [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
        for (const { folder } of [server, client]) {
          assert.deepEqual(files(folder), ["etc", "var"]);
          assert.deepEqual(files(`${folder}/var/certs`), ["cert-chain.pem", "key.pem", "root-cert.pem"]);
        }
        assert.deepEqual(files(mesh.folder), ["config", "var"]);
        assert.match(mesh.folder + server.folder, /^\/var\/tmp\/.*\/var\/tmp\//);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
