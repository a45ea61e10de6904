import assert from "node:assert/strict";
import fc from "fast-check";
import { formatOf, type MetricsFormat, offeredFormats } from "../../../lib/agent/scrape/format.ts";
import { mergeMetrics } from "../../../lib/agent/scrape/merge.ts";
import { MAX_LINE } from "../../../lib/agent/scrape/whole_lines.ts";

const encoder = new TextEncoder();

/** A source: text in parts, then the end or an error. */
async function* parts(text: string, cuts: readonly number[], error?: Error): AsyncGenerator<Uint8Array> {
  const bytes = encoder.encode(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [i, from] of places.slice(0, -1).entries()) {
    yield await Promise.resolve(bytes.slice(from, places[i + 1]));
  }
  if (error !== undefined) throw error;
}

interface Given {
  readonly text: string;
  readonly hasFormat?: boolean;
  readonly cuts?: readonly number[];
  readonly error?: Error;
}

async function merged(format: MetricsFormat, given: readonly Given[]): Promise<{ text: string; failures: string[] }> {
  const failures: string[] = [];
  const sources = given.map(({ text, hasFormat = false, cuts = [], error }, i) => ({
    bytes: parts(text, cuts, error),
    hasFormat,
    failed: (reason: unknown) => void failures.push(`${i}: ${(reason as Error).message}`),
  }));
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of mergeMetrics(format, sources)) text += decoder.decode(bytes, { stream: true });
  return { text: text + decoder.decode(), failures };
}

const cutsOf = fc.array(fc.nat(5000), { maxLength: 30 });
/** Lines of any text, also such as no format has. */
const anyText = fc.array(fc.string({ unit: "binary" }).map((line) => line.replaceAll("\n", " ")), { minLength: 1 })
  .map((lines) => `${lines.join("\n")}\n`).filter((text) => text.isWellFormed());

Deno.test("in the text format nothing is rewritten, whichever parts the sources come in", async () => {
  await fc.assert(fc.asyncProperty(anyText, anyText, cutsOf, cutsOf, async (one, other, a, b) => {
    const { text, failures } = await merged("text", [{ text: one, cuts: a }, {
      text: other,
      cuts: b,
      hasFormat: true,
    }]);
    assert.equal(Buffer.from(text).toString("hex"), Buffer.from(encoder.encode(one + other)).toString("hex"));
    assert.deepEqual(failures, []);
  }));
});

const APPLICATION = "# HELP a A.\n# TYPE a counter\na_total 1\n# EOF\n";
const ENVOY = '# HELP b B.\n# TYPE b counter\n\nb{x="# EOF"} 1\n# a remark\n\n# TYPE c untyped\nc 2\n';

Deno.test("in OpenMetrics the end mark is written once, and comments that only the text format has are dropped", async () => {
  const expected =
    '# HELP b B.\n# TYPE b counter\nb{x="# EOF"} 1\nc 2\n# HELP a A.\n# TYPE a counter\na_total 1\n# EOF\n';
  await fc.assert(fc.asyncProperty(cutsOf, cutsOf, async (a, b) => {
    const { text } = await merged("openmetrics 1.0.0", [
      { text: ENVOY, cuts: a },
      { text: APPLICATION, cuts: b, hasFormat: true },
    ]);
    assert.equal(text, expected);
  }));
});

Deno.test("a source that breaks off leaves whole lines, and the others whole", async () => {
  await fc.assert(fc.asyncProperty(fc.nat(ENVOY.length), cutsOf, async (length, cuts) => {
    const broken = ENVOY.slice(0, length);
    const { text, failures } = await merged("text", [
      { text: broken, cuts, error: new Error("broke off") },
      { text: APPLICATION, hasFormat: true },
    ]);
    assert.equal(text, broken.slice(0, broken.lastIndexOf("\n") + 1) + APPLICATION);
    assert.deepEqual(failures, ["0: broke off"]);
  }));
});

Deno.test("a last line without an end gets one; a line without end ends its source", async () => {
  const { text } = await merged("text", [{ text: "a 1" }, { text: "b 2" }]);
  assert.equal(text, "a 1\nb 2\n");
  const long = await merged("text", [{ text: `a 1\n${"x".repeat(MAX_LINE + 1)}`, cuts: [4] }, { text: "b 2\n" }]);
  assert.equal(long.text, "a 1\nb 2\n");
  assert.match(long.failures.join(), /0: a line is longer than/);
});

Deno.test("the application is offered the formats that can be merged, and its answer decides the format", () => {
  const prometheus = "application/openmetrics-text;version=1.0.0;q=0.6,application/vnd.google.protobuf;" +
    "proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  assert.equal(
    offeredFormats(prometheus),
    "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
  );
  assert.equal(offeredFormats("application/vnd.google.protobuf"), "text/plain;version=0.0.4");
  assert.equal(offeredFormats(""), "text/plain;version=0.0.4");
  const types: Readonly<Record<string, MetricsFormat | undefined>> = {
    "application/openmetrics-text; version=1.0.0; charset=utf-8": "openmetrics 1.0.0",
    'application/OpenMetrics-text; version="0.0.1"': "openmetrics 0.0.1",
    "application/openmetrics-text": "openmetrics 0.0.1",
    "application/openmetrics-text; version=7": "text",
    "text/plain; version=0.0.4": "text",
    "": "text",
    "application/vnd.google.protobuf; encoding=delimited": undefined,
    "application/json": undefined,
  };
  for (const [type, format] of Object.entries(types)) assert.equal(formatOf(type), format, type);
});
