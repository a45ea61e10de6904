import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { callerEcho } from "../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../envoy/path.ts";
import { askAs, strictWorkload } from "./support/mutual_client.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

Deno.test({
  name: "under COMPLIANCE_POLICY at both ends an agent gets certificate and configuration, and its Envoy serves them",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(5, async ([port = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const COMPLIANCE_POLICY = "fips-140-2";
      const files = { "world.yaml": strictWorkload(app.port, port) };
      await withTokenServer({ issuer, files, settings: { COMPLIANCE_POLICY } }, async (server) => {
        await using agent = await startTokenAgent(server, { name: "server", ports, env: { COMPLIANCE_POLICY } });
        await agent.says(/certificate valid until/);
        assert.equal(await askAs(port), "refused", "without a certificate nobody is let in");
        await until("Envoy has its certificate", async () => {
          const certs = await (await fetch(`http://127.0.0.1:${ports[0]}/certs`)).text();
          return certs.includes("spiffe://cluster.local/ns/demo/sa/server");
        });
      });
    }),
});
