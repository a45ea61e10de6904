/** A web page of another site, in a browser of this machine, gets nothing from the debug pages, and changes nothing. */
import assert from "node:assert/strict";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";
import { withServer } from "../discovery/running.ts";
import { exchange } from "../http/support/serve.ts";

/** Asks by hand: `fetch` would set host and origin. */
async function ask(
  port: number,
  request: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; body: string }> {
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await exchange(port, `${request} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body };
}

const introspection = { address: "127.0.0.1:0", required: true, args: [], environment: { SECRET: "s3cret" } };

/** Pages of the three ports. */
const PAGES = [["http", "/debug/configz"], ["monitoring", "/debug/configz"], ["introspection", "/envj"]] as const;

Deno.test("a host that is neither an address, localhost nor the server's own name is refused on every port of debug pages", async () => {
  await withServer({}, async ({ ports }) => {
    for (const [port, path] of PAGES) {
      const status = async (host: string) => (await ask(ports[port]!, `GET ${path}`, { host })).status;
      const own = [
        `localhost:${ports[port]}`,
        "LOCALHOST",
        "app.localhost:80",
        "127.0.0.1",
        "10.1.2.3:8080",
        "[::1]:1",
      ];
      for (const host of [...own, `${Deno.hostname()}:8080`, "debug.example.com", "Debug.Example.com:8080"]) {
        assert.equal(await status(host), 200, `${port} ${host}`);
      }
      const foreign = [
        "evil.example.com",
        `evil.example.com:${ports[port]}`,
        "localhost.evil.com",
        "127.0.0.1.evil.com",
      ];
      for (const host of [...foreign, "localhost@evil.com", "1", "a b", "evil.example.com:localhost"]) {
        assert.equal(await status(host), 403, `${port} ${host}`);
      }
      const { body } = await ask(ports[port]!, `GET ${path}`, { host: "evil.example.com:1" });
      assert.match(
        body,
        /^header host: got "evil\.example\.com:1", expected an IP address, localhost, .*MESH_DEBUG_HOSTS/,
      );
    }
    // Probes and scrapers ask by any name.
    assert.equal((await ask(ports.http, "GET /ready", { host: "meshd.mesh-system" })).status, 200);
    assert.equal((await ask(ports.monitoring, "GET /metrics", { host: "meshd.mesh-system" })).status, 200);
  }, { options: { introspection }, settings: { MESH_DEBUG_HOSTS: "debug.example.com, other.example.com" } });
});

Deno.test("a page of another origin is refused, a page from the server itself is not", async () => {
  await withServer({}, async ({ ports }) => {
    for (const [port, path] of PAGES) {
      const host = `localhost:${ports[port]}`;
      const status = async (origin: string) => (await ask(ports[port]!, `GET ${path}`, { host, origin })).status;
      for (const origin of [`http://${host}`, `http://LOCALHOST:${ports[port]}`]) {
        assert.equal(await status(origin), 200);
      }
      for (const origin of ["https://evil.example.com", "http://localhost", "http://localhost:1", "null", ""]) {
        assert.equal(await status(origin), 403, `${port} ${origin}`);
      }
      const { body } = await ask(ports[port]!, `GET ${path}`, { host, origin: "http://evil.example.com" });
      assert.equal(body, `header origin: got "http://evil.example.com", expected none, or http://${host}\n`);
    }
  }, { options: { introspection } });
});

Deno.test("every change is refused to a page of another site, and nothing changes", async () => {
  const log = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, targets: [] });
  await withServer({}, async ({ ports, pipeline }) => {
    const before = { states: log.states(), pushes: pipeline.pushes };
    const changes: [keyof typeof ports, string][] = [
      ["http", "POST /debug/scopez?scope=ads&level=debug"],
      ["http", "PUT /debug/scopez?scope=ads&level=debug"],
      ["http", "POST /debug/adsz?push=any"],
      ["introspection", "PUT /scopej/ads"],
      ["introspection", "PUT /homej/exit"],
    ];
    for (const [port, request] of changes) {
      const own = { host: `localhost:${ports[port]}` };
      const sites: Readonly<Record<string, string>>[] = [
        { host: "evil.example.com" },
        { ...own, origin: "http://evil.example.com" },
        { ...own, "sec-fetch-site": "cross-site" },
      ];
      for (const headers of sites) assert.equal((await ask(ports[port]!, request, headers)).status, 403, request);
    }
    assert.deepEqual({ states: log.states(), pushes: pipeline.pushes }, before);
  }, { log, options: { introspection } });
});
