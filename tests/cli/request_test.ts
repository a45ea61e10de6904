import assert from "node:assert/strict";
import { UsageError } from "../../lib/cli/command.ts";
import { requestCommand } from "../../lib/cli/request.ts";

async function withServer(handler: Deno.ServeHandler, work: (port: number) => Promise<void>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  try {
    await work(server.addr.port);
  } finally {
    await server.shutdown();
  }
}

function ask(port: number, ...args: string[]) {
  let text = "";
  let err = "";
  const output = { out: (t: string) => void (text += t), err: (t: string) => void (err += t) };
  return requestCommand(args, { host: "127.0.0.1", port }, output).then((code) => ({ code, text, err }));
}

Deno.test("a request prints the body and a line break, and nothing else", async () => {
  await withServer(
    (r) => new Response(`${r.method} ${new URL(r.url).pathname}${new URL(r.url).search}`),
    async (port) => {
      assert.deepEqual(await ask(port, "GET", "debug/syncz?x=1"), { code: 0, text: "GET /debug/syncz?x=1\n", err: "" });
      assert.deepEqual(await ask(port, "post", "/a"), { code: 0, text: "POST /a\n", err: "" });
    },
  );
});

Deno.test("a body is sent", async () => {
  await withServer(async (r) => new Response(`got ${await r.text()}`), async (port) => {
    assert.equal((await ask(port, "POST", "x", "häi")).text, "got häi\n");
  });
});

Deno.test("the text of a page that does not exist goes to standard error, with exit code 1; another refusal is an error", async () => {
  await withServer(
    (r) => new Response("no such page", { status: r.url.endsWith("gone") ? 404 : 503 }),
    async (port) => {
      assert.deepEqual(await ask(port, "GET", "gone"), { code: 1, text: "", err: "no such page\n" });
      await assert.rejects(
        ask(port, "GET", "down"),
        (e: unknown) => e instanceof UsageError && /status 503: no such page/.test(e.message),
      );
    },
  );
});

Deno.test("a server that is not there is named", async () => {
  let free = 0;
  await withServer(() => new Response(""), (port) => Promise.resolve(void (free = port)));
  await assert.rejects(ask(free, "GET", "x"), /GET http:\/\/127\.0\.0\.1:\d+\/x: .*; is the server running\?/);
});

Deno.test("a word that is no method is refused before a request is sent", async () => {
  await assert.rejects(ask(1, "GE T", "x"), /got method "GE T"/);
});
