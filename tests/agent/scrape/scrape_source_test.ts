import assert from "node:assert/strict";
import { formatOf } from "../../../lib/agent/scrape/format.ts";
import { askSource } from "../../../lib/agent/scrape/scrape_source.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";

const METRICS = "# TYPE app_x counter\napp_x 1\n";

async function packed(text: string, format: "gzip" | "deflate"): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The text of a source with the given answer. */
async function scraped(body: BodyInit, headers: Record<string, string>): Promise<string> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(body, { headers }),
  );
  const { bytes } = await askSource({
    url: `http://127.0.0.1:${server.addr.port}/metrics`,
    headers: {},
    times: { head: 60_000, body: 60_000 },
    signal: new AbortController().signal,
    clock: systemClock,
  });
  let text = "";
  for await (const part of bytes) text += new TextDecoder().decode(part);
  return text;
}

Deno.test("an answer that is packed without being asked for is unpacked", async () => {
  const gzip = await packed(METRICS, "gzip");
  assert.equal(await scraped(gzip, { "content-encoding": "gzip" }), METRICS);
  assert.equal(await scraped(gzip, { "content-encoding": "X-GZIP" }), METRICS);
  assert.equal(await scraped(await packed(METRICS, "deflate"), { "content-encoding": "deflate" }), METRICS);
  assert.equal(await scraped(METRICS, { "content-encoding": "identity" }), METRICS);
  assert.equal(await scraped(METRICS, {}), METRICS);
});

Deno.test("an answer of an encoding that is not known is left out, with the encoding", async () => {
  for (const encoding of ["br", "gzip, br", "foo"]) {
    await assert.rejects(scraped("bytes", { "content-encoding": encoding }), /content-encoding: got "(br|foo)"/);
  }
});

Deno.test("an answer that is declared as gzip, but is not gzip, fails alone", async () => {
  await assert.rejects(scraped(METRICS, { "content-encoding": "gzip" }));
});

Deno.test("only plain text and OpenMetrics are metrics", () => {
  for (const type of ["", "text/plain", "text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0"]) {
    assert.notEqual(formatOf(type), undefined, type);
  }
  for (
    const type of [
      "text/html",
      "TEXT/HTML; charset=utf-8",
      "text/xml",
      "application/xhtml+xml",
      "image/png",
      "text/css",
    ]
  ) {
    assert.equal(formatOf(type), undefined, type);
  }
});
