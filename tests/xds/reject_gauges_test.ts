import assert from "node:assert/strict";
import { NO_METRICS } from "../../lib/xds/protocol/metrics.ts";
import { RejectGauges } from "../../lib/xds/reject_gauges.ts";
import { calls } from "./support/counting.ts";
import { CLUSTER, LISTENER, SECRET } from "../../lib/xds/protocol/types.ts";

/** The gauges, and the view of a scrape. */
function gauges(): { rejects: RejectGauges; shown: Map<string, number> } {
  const shown = new Map<string, number>();
  const key = (name: string, labels: object) => [name, ...Object.values(labels)].join(" ");
  const rejects = new RejectGauges({
    ...NO_METRICS,
    gauge: (name, value, labels = {}) => shown.set(key(name, labels), value),
    forget: (name, labels) => shown.delete(key(name, labels)),
  });
  return { rejects, shown };
}

Deno.test("a rejection is shown by node and code, reset when everything is accepted, and removed with the node's last stream", () => {
  const { rejects, shown } = gauges();
  const [a, b] = [{}, {}];
  for (const stream of [a, b]) rejects.rejected(stream, "n", CLUSTER, 3);
  rejects.rejected(a, "n", LISTENER, 13);
  rejects.rejected(a, "n", SECRET, 13);
  const [cds, lds] = ["pilot_xds_cds_reject n InvalidArgument", "pilot_xds_lds_reject n Internal"];
  assert.deepEqual([...shown], [[cds, 1], [lds, 1]]);
  rejects.accepted(a, CLUSTER);
  assert.deepEqual(shown.get(cds), 1, "the other stream of the node still rejects");
  rejects.accepted(b, CLUSTER);
  assert.deepEqual([shown.get(cds), shown.get(lds)], [0, 1]);
  rejects.ended(a);
  assert.deepEqual([...shown], [[cds, 0]]);
  rejects.ended(b);
  assert.equal(shown.size, 0);
});

Deno.test("the number of series and the length of their names are bounded for any node ids and any codes", () => {
  const { rejects, shown } = gauges();
  const streams = Array.from({ length: 5000 }, () => ({}));
  for (const [i, stream] of streams.entries()) rejects.rejected(stream, `${i}`.padEnd(5000, "x"), CLUSTER, i);
  assert.ok(shown.size <= 1020, `${shown.size} series`);
  assert.ok([...shown.keys()].every((key) => key.length < 320));
  assert.equal(shown.get("pilot_xds_cds_reject other other"), 4000, "rejections of further nodes share one series");
  for (const stream of streams) rejects.ended(stream);
  assert.equal(shown.size, 0);
});

Deno.test("a rejection looks at no other stream, however many share its series", () => {
  const { rejects, shown } = gauges();
  const streams = Array.from({ length: 1000 }, () => ({}));
  const steps = calls(Object.getPrototypeOf(new Map().values()) as Iterator<unknown>, ["next"]);
  for (const stream of streams) rejects.rejected(stream, "n", CLUSTER, 3);
  for (const stream of streams) rejects.rejected(stream, "n", CLUSTER, 3);
  for (const stream of streams.slice(1)) rejects.accepted(stream, CLUSTER);
  assert.equal(steps.stop(), 0);
  assert.equal(shown.get("pilot_xds_cds_reject n InvalidArgument"), 1);
  rejects.accepted(streams[0]!, CLUSTER);
  assert.equal(shown.get("pilot_xds_cds_reject n InvalidArgument"), 0);
});
