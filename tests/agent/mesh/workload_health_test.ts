/** The health of a workload outside the orchestrator: probed by its agent, in force at the server. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { envoyPath } from "../../envoy/path.ts";
import { PATIENCE, until } from "../../patience.ts";

const files = (port: number) => ({
  "vm.yaml": `
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: vm-1, namespace: demo, annotations: { proxy.mesh.io/health-checks-enabled: "true" } }
spec: { address: 127.0.0.1, serviceAccount: vm, labels: { app: vm } }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: vm, namespace: demo }
spec:
  hosts: [vm.test]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, protocol: HTTP, name: http }]
  workloadSelector: { labels: { app: vm } }
`,
});

/** Health of the service's only endpoint, as the server knows it. */
async function health(mesh: IdentityMesh): Promise<string> {
  const text = JSON.stringify(await mesh.page("endpointShardz"));
  return /"health":"(\w+)"/.exec(text)?.[1] ?? text;
}

Deno.test({
  name:
    "a workload on a machine has the health that its agent's probe finds, through changes, a server that comes back, and its end",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(6, async ([port = 0, http = 0, ...ports]) => {
      await using mesh = await IdentityMesh.start({ port, files: files(http) });
      // A loaded machine may need more than the default second to start a command.
      const times = { periodSeconds: 1, timeoutSeconds: PATIENCE / 1000, failureThreshold: 1 };
      const readinessProbe = { exec: { command: ["test", "-f", "./well"] }, ...times };
      try {
        const agent = await mesh.agent({ name: "vm", ports, proxy: { readinessProbe } });
        await agent.says(/the workload is unhealthy/);
        await until("the server hears that, too", async () => await health(mesh) === "unhealthy");
        await agent.write("well", "");
        await until("the server hears that it is well", async () => await health(mesh) === "healthy");
        await mesh.killServer();
        await mesh.startServer();
        assert.equal(await health(mesh), "healthy", "before its agent is back");
        await until("the agent is back", async () =>
          (await mesh.page<{ totalClients: number }>("connections")).totalClients > 0);
        assert.equal(await health(mesh), "healthy");
        await Deno.remove(`${agent.folder}/well`);
        await until("the server hears that it is not", async () =>
          await health(mesh) === "unhealthy");
        await agent.write("well", "");
        await until("it is well", async () => await health(mesh) === "healthy");
        agent.signal("SIGTERM");
        assert.equal(await agent.ended, 0);
        await until("nobody reports any more", async () => await health(mesh) === "unhealthy");
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
