/** Pages of the status port that end or show the agent and the proxy beside the workload. */
import assert from "node:assert/strict";
import { statusRoutes } from "../../../lib/agent/status/routes.ts";
import { servePages } from "../support/status_pages.ts";

/** A status port with a count of orders. */
function world() {
  const done: string[] = [];
  const routes = statusRoutes({
    nameTable: () => undefined,
    notReady: () => Promise.resolve(undefined),
    quit: () => void done.push("quit"),
    drain: () => Promise.resolve(void done.push("drain")),
  });
  return { done, routes };
}

async function ask(port: number, method: string, path: string, headers: Record<string, string>): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  await connection.write(new TextEncoder().encode(text));
  const answer = await new Response(connection.readable).text();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

const FOREIGN: readonly (readonly [name: string, headers: Record<string, string>])[] = [
  ["a page whose name was bound to this machine", { host: "evil.example.com" }],
  ["a page of another site", { origin: "http://evil.example.com" }],
  ["a form of another site in an older browser", { "sec-fetch-site": "cross-site" }],
];

for (const [name, headers] of FOREIGN) {
  Deno.test(`${name} ends no agent, and drains none`, async () => {
    const { done, routes } = world();
    await using pages = await servePages(routes);
    for (const path of ["/quitquitquit", "/drain"]) {
      assert.equal(await ask(pages.port, "POST", path, headers), 403, path);
    }
    if (!("sec-fetch-site" in headers)) assert.equal(await ask(pages.port, "GET", "/debug/ndsz", headers), 403);
    assert.deepEqual(done, []);
  });
}

Deno.test("the workload beside it ends and drains it, by address or as localhost; GET changes nothing", async () => {
  const { done, routes } = world();
  await using pages = await servePages(routes);
  assert.equal(await ask(pages.port, "POST", "/quitquitquit", {}), 200);
  assert.equal(await ask(pages.port, "POST", "/drain", { host: "localhost" }), 200);
  assert.equal(await ask(pages.port, "GET", "/quitquitquit", {}), 405);
  assert.equal(await ask(pages.port, "GET", "/drain", {}), 405);
  assert.deepEqual(done, ["quit", "drain"]);
});
