/** `proxy-status` and `proxy-config` beside a real Envoy: what the server says, and what Envoy says of itself. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();
const first = new URL("../../examples/first-steps/mesh", import.meta.url).pathname;
const files = Object.fromEntries([...Deno.readDirSync(first)].map(({ name }) => [
  name,
  Deno.readTextFileSync(`${first}/${name}`),
]));
/** A table without the bootstrap's own resources. */
const rows = (out: string) => out.split("\n").filter((line) => !/^(?:xds|prometheus|agent|sds)/.test(line));

Deno.test({
  name: "the tables of a server and of the proxy itself agree; the proxy alone has a bootstrap and log levels",
  ignore: path === undefined,
  fn: () =>
    withPorts(2, async ([proxyListenPort, proxyInboundListenPort]) => {
      await using mesh = await TestMesh.start({
        onDemand: false,
        files,
        meshConfig: { proxyListenPort, proxyInboundListenPort },
      });
      const identity = { type: "sidecar", name: "one", namespace: "demo", address: "127.0.0.1", labels: {} } as const;
      const running = await mesh.attach(path!, identity, true, { interceptionMode: "REDIRECT" });
      await mesh.settled();
      const server = `--server=127.0.0.1:${mesh.server.ports.http}`;
      const stdin = (await running.admin("config_dump?include_eds"))!;
      const config = (...args: string[]) => pilotDiscovery(["proxy-config", ...args], { stdin });

      const status = await pilotDiscovery(["proxy-status", server]);
      assert.equal(status.code, 0, status.out);
      assert.match(
        status.out,
        /\none\.demo +\S+ +SYNCED \(\S+\) +SYNCED \(\S+\) +SYNCED \(\S+\) +SYNCED \(\S+\) +IGNORED/,
      );
      for (const table of ["listeners", "routes"]) {
        const [ours, theirs] = await Promise.all([config(table, "one.demo", server), config(table, "-f=-")]);
        assert.deepEqual(ours.out.split("\n"), theirs.out.split("\n"));
        assert.ok(ours.out.split("\n").length > 3);
      }
      const [ours, theirs] = await Promise.all([config("clusters", "one.demo", server), config("clusters", "-f=-")]);
      for (const line of rows(ours.out).slice(1)) {
        const words = line.split(/\s+/);
        assert.ok(theirs.out.split("\n").some((one) => one.split(/\s+/).join(" ") === words.join(" ")), line);
      }
      const endpoints = await config("endpoints", "-f=-", "--cluster=outbound|80||hello.demo.svc.cluster.local");
      assert.match(endpoints.out, /\n127\.0\.0\.1:9081 +HEALTHY +- +outbound\|80\|\|hello/);

      const admin = `--admin=${running.adminAddress}`;
      const live = await config("endpoints", admin, "--cluster=outbound|80||hello.demo.svc.cluster.local");
      assert.match(live.out, /\n127\.0\.0\.1:9081 +HEALTHY +OK +outbound\|80\|\|hello/);
      assert.equal((await config("routes", admin)).out, (await config("routes", "-f=-")).out);

      assert.match((await config("log", admin, "--level=http:debug,router:trace")).out, /\n +http: debug\n/);
      assert.match((await config("log", admin)).out, /\n +router: trace\n/);
      assert.match((await config("log", admin, "--reset")).out, /\n +http: warning\n/);
      const refused = await config("log", admin, "--level=nonsense:debug");
      assert.deepEqual([refused.code, refused.out], [2, ""]);

      const { node } = JSON.parse((await config("bootstrap", "-f=-", "-o=json")).out);
      assert.match(node.id, /^sidecar~127\.0\.0\.1~one\.demo~/);
    }),
});
