import assert from "node:assert/strict";
import type { RelayVariant } from "../../../lib/agent/relay/messages.ts";
import { ProxyAnswers } from "../../../lib/agent/relay/proxy_answers.ts";
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";

const PREFIX = "type.googleapis.com/envoy.config.";
const TYPES = {
  cds: `${PREFIX}cluster.v3.Cluster`,
  eds: `${PREFIX}endpoint.v3.ClusterLoadAssignment`,
  lds: `${PREFIX}listener.v3.Listener`,
  rds: `${PREFIX}route.v3.RouteConfiguration`,
};

/** An answer to a response. With a code, the answer is a rejection. */
function answer(variant: RelayVariant, type: string, nonce: string, code?: number): Uint8Array {
  const [typeField, nonceField, errorField] = variant === "delta" ? [2, 6, 7] as const : [4, 5, 6] as const;
  const error = code === undefined ? undefined : new MessageWriter().varint(1, code).string(2, "no").finish();
  return new MessageWriter().string(typeField, type).string(nonceField, nonce).bytes(errorField, error).finish();
}

function observed() {
  const metrics = createMetrics("pilot-agent");
  /** Lines of the page about rejections. */
  const lines = async () =>
    (await metrics.scrape()).body.split("\n").filter((line) => /^pilot_(xds_.ds_reject|total_xds_rejects)/.test(line));
  return { answers: new ProxyAnswers(metrics, "proxy"), lines };
}

const gauge = (type: string, value: number, err = "Internal") =>
  `pilot_xds_${type}_reject{node="proxy",err="${err}"} ${value}`;

for (const variant of ["sotw", "delta"] as const) {
  for (const [short, type] of Object.entries(TYPES)) {
    Deno.test(`a rejection of ${short} (${variant}) is shown until a later response is accepted, and ends with its stream`, async () => {
      const { answers, lines } = observed();
      answers.opened(1);
      answers.requested(1, variant, answer(variant, type, "1"));
      assert.deepEqual(await lines(), []);
      answers.requested(1, variant, answer(variant, type, "2", 13));
      const count = `pilot_total_xds_rejects{type="${short}"} 1`;
      assert.deepEqual(await lines(), [count, gauge(short, 1)]);
      answers.requested(1, variant, answer(variant, type, "2"));
      answers.requested(1, variant, answer(variant, type, ""));
      assert.deepEqual(await lines(), [count, gauge(short, 1)], "it asks for other names");
      answers.requested(1, variant, answer(variant, type, "3"));
      assert.deepEqual(await lines(), [count, gauge(short, 0)]);
      answers.closed(1);
      assert.deepEqual(await lines(), [count]);
    });
  }
}

Deno.test("the end of a stream that another one took the place of changes nothing, and neither do its late requests", async () => {
  const { answers, lines } = observed();
  answers.opened(1);
  answers.requested(1, "delta", answer("delta", TYPES.lds, "1", 13));
  answers.opened(2);
  assert.deepEqual((await lines()).length, 1, "the gauge of the first one is gone");
  answers.requested(2, "delta", answer("delta", TYPES.cds, "1", 13));
  answers.requested(1, "delta", answer("delta", TYPES.lds, "1", 13));
  answers.closed(1);
  const counts = ["lds", "cds"].map((type) => `pilot_total_xds_rejects{type="${type}"} 1`);
  assert.deepEqual(await lines(), [...counts, gauge("cds", 1)]);
});

Deno.test("a new reason replaces the former reason, unknown codes share one label, and other types are only counted", async () => {
  const { answers, lines } = observed();
  answers.opened(1);
  answers.requested(1, "sotw", answer("sotw", TYPES.rds, "1", 13));
  answers.requested(1, "sotw", answer("sotw", TYPES.rds, "2", 99));
  answers.requested(1, "sotw", answer("sotw", "strange", "3", 13));
  answers.requested(1, "sotw", new Uint8Array([255, 255]));
  assert.deepEqual(await lines(), [
    'pilot_total_xds_rejects{type="rds"} 2',
    'pilot_total_xds_rejects{type="other"} 1',
    gauge("rds", 0),
    gauge("rds", 1, "other"),
  ]);
});
