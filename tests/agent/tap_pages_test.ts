/** The agent's port for questions, against our own server: a workload's view of the control plane. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { service } from "../e2e/support/door.ts";
import { envoyPath } from "../envoy/path.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";

Deno.test({
  name:
    "a workload is shown its own proxy's pages by its agent and our server, nothing of other proxies, and nothing of the whole mesh",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(11, async ([tap = 0, ownerTap = 0, upstream = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      const files = { "a.yaml": service("app", upstream) };
      await withTokenServer({ issuer, files }, async (server) => {
        const env = (port: number) => ({
          PROXY_XDS_DEBUG_VIA_AGENT: "true",
          PROXY_XDS_DEBUG_VIA_AGENT_PORT: `${port}`,
        });
        await using web = await startTokenAgent(server, { name: "web", ports: ports.slice(0, 4), env: env(tap) });
        await using owner = await startTokenAgent(server, {
          ...{ name: "owner", ports: ports.slice(4), env: env(ownerTap) },
        });
        const asked = async (port: number, path: string): Promise<[number, string]> => {
          const response = await fetch(`http://127.0.0.1:${port}/debug/${path}`);
          return [response.status, await response.text()];
        };
        try {
          const [status, dump] = await asked(tap, "config_dump?proxyID=web-1.demo");
          assert.equal(status, 200, dump);
          const [clusters] = JSON.parse(dump).configs;
          const names = clusters.dynamic_active_clusters.map(({ cluster }: { cluster: { name: string } }) =>
            cluster.name
          );
          assert(names.some((name: string) => name.endsWith("||app.demo.svc.cluster.local")), `${names}`);
          assert.match((await asked(tap, "edsz?proxyID=web-1.demo"))[1], /^\{"configs":\[/);
          assert.match((await asked(tap, "config_dump?proxyID=owner-1.demo"))[1], /^no proxy whose connection id/);
          assert.equal((await asked(ownerTap, "config_dump?proxyID=owner-1.demo"))[0], 200);
          const [refused, why] = await asked(tap, "syncz");
          assert.equal(refused, 503);
          assert.match(why, /PermissionDenied: page "syncz": expected one of config_dump, ndsz, edsz/);
        } catch (error) {
          throw new Error(`${web.output}\n${owner.output}`, { cause: error });
        }
      });
    }),
});
