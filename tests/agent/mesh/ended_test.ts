/** An Envoy that ends unasked. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../../scripts/demo/load.ts";
import { sidecarFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

Deno.test({
  name:
    "an Envoy that is killed ends its agent with 128 and the signal, in words; who starts the agent again in the same place is served",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(6, async ([port = 0, there = 0, ...ports]) => {
      await using app = callerEcho();
      const sidecar = sidecarFile({ name: "server", port: there, application: app.port });
      await using mesh = await IdentityMesh.start({ port, files: { "sidecar.yaml": sidecar } });
      try {
        let folder: string | undefined;
        for (const [signal, code] of [["SIGKILL", 137], ["SIGSEGV", 139], ["SIGTERM", 0]] as const) {
          const agent = await mesh.agent({ name: "server", ports, ...(folder === undefined ? {} : { folder }) });
          folder = agent.folder;
          await until("it serves", async () => await oneRequest(there, "app.test") === "nobody");
          Deno.kill(await agent.envoy(), signal);
          assert.equal(await agent.ended, code, agent.output);
          const said = code === 0 ? "code=0" : `signal=${signal}`;
          assert.match(agent.output, new RegExp(`error.*Envoy ended by itself, and the agent with it\t${said}`));
          assert.equal(await oneRequest(there, "app.test"), "refused");
        }
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
