/** Machines that name a WorkloadGroup of a folder register at a running server with registration. */
import assert from "node:assert/strict";
import { QuestionClient } from "../question_client.ts";
import { withServer } from "../running.ts";
import { until } from "../../patience.ts";

const GROUP = `apiVersion: networking.mesh.io/v1
kind: WorkloadGroup
metadata: {name: machines, namespace: shop}
spec:
  metadata: {labels: {app: store}}
  template: {ports: {http: 8080}}
`;

for (const PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION of [true, false]) {
  const what = PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION ? "has an entry in memory until it leaves" : "has none";
  Deno.test(`PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION=${PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION}: a machine ${what}`, async () => {
    const settings = {
      ...{ PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: 10 },
      ...{ MESH_WORKLOAD_ENTRY_VALIDATE_IDENTITY: false, PILOT_DEBOUNCE_AFTER: 10 },
    };
    await withServer({ "group.yaml": GROUP }, async ({ ports, store }) => {
      const node = "sidecar~10.0.0.1~vm.shop~shop.svc.cluster.local";
      const client = await QuestionClient.connect(ports.grpc, node, undefined, { AUTO_REGISTER_GROUP: "machines" });
      await client.subscribe();
      const entries = () => store.list("WorkloadEntry").map(({ spec }) => spec.address);
      if (PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION) await until("the entry", () => entries().length === 1);
      assert.deepEqual(entries(), PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION ? ["10.0.0.1"] : []);
      client[Symbol.dispose]();
      await until("no entry", () => entries().length === 0);
    }, { settings });
  });
}
