/** The admin page's client against pages unlike Envoy's. */
import assert from "node:assert/strict";
import { envoyAdmin } from "../../../lib/agent/envoy/admin.ts";

/**
 * Asks a server that reads the head of a request and answers with the given bytes; `stays` keeps the connection open.
 */
async function asked(answer: string, stays: boolean): Promise<string> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const serving = (async () => {
    const connection = await listener.accept();
    open.push(connection);
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode(answer));
    if (!stays) connection.close();
  })().catch((error) => {
    // The asker gives up in time, perhaps before it was answered.
    if (!stays) throw error;
  });
  const { port } = listener.addr as Deno.NetAddr;
  try {
    return await envoyAdmin({ address: `127.0.0.1:${port}`, ownPorts: [], deadline: stays ? 100 : 60_000 }).page(
      "stats",
    );
  } finally {
    await serving;
    if (stays) open.forEach((connection) => connection.close());
  }
}

Deno.test("a page comes whole, with letters beyond ASCII", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n";
  assert.equal(await asked(`${head}aä1`, false), "aä1");
});

Deno.test("a refusal is told with its status and text", async () => {
  const answer = "HTTP/1.1 503 Busy\r\ncontent-length: 5\r\n\r\nlater";
  await assert.rejects(asked(answer, false), { message: "admin page stats: status 503: later" });
});

Deno.test("an answer that breaks off is an error, not a shorter page", async () => {
  await assert.rejects(
    asked("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart", false),
    /^Error: admin page stats: /,
  );
});

Deno.test("an Envoy that does not answer, or stops in the middle, is given up in time", async () => {
  for (const answer of ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart"]) {
    await assert.rejects(asked(answer, true), { message: "admin page stats: no answer within 0.1 s" });
  }
});
