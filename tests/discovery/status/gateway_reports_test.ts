/** What a new leader makes of the reports of other servers. */
import assert from "node:assert/strict";
import { GatewayApiProgress } from "../../../lib/discovery/status/gateway_progress.ts";
import { GatewayProxies } from "../../../lib/discovery/status/gateway_proxies.ts";
import { GatewayReports } from "../../../lib/discovery/status/gateway_reports.ts";
import { GATEWAY_KINDS, OwnReport } from "../../../lib/discovery/status/server_reports.ts";
import { GatewayApiVerdicts } from "../../../lib/gateway_api/groups/verdicts.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { PushLedger } from "../../../lib/xds/ledger.ts";
import { AttachWorld } from "../../gateway_api/attach_world.ts";
import { ObjectsApi } from "./objects_api.ts";

const NAMESPACE = "mesh-system";
const INTERVAL = 500;

/** The state of a Gateway that no known proxy serves, at a server that begins to lead and three seconds later. */
async function statesAt(api: ObjectsApi, clock: ReturnType<typeof createFakeClock>): Promise<string[]> {
  const log = silentLog().scope("status");
  const reports = new GatewayReports({
    ...{ client: api.client, namespace: NAMESPACE, server: "new", interval: INTERVAL, log },
  });
  const view = new AttachWorld(`apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, generation: 1}
spec: {gatewayClassName: mesh, listeners: [{name: a, port: 80, protocol: HTTP}]}
`).view("gw");
  const progress = new GatewayApiProgress({
    ...{ verdicts: new GatewayApiVerdicts(), proxies: new GatewayProxies(new PushLedger(), () => []) },
    ...{ changedIn: () => 0, isPushed: () => true, meshRoutes: { row: () => undefined } },
    ...{ others: () => reports.all(), areEarly: () => reports.areEarly },
  });
  const over = new AbortController();
  const led = reports.lead(over.signal);
  await reports.read();
  const states = [progress.gateway(view).state];
  await clock.advance(6 * INTERVAL - 1);
  states.push(progress.gateway(view).state);
  await clock.advance(1);
  states.push(progress.gateway(view).state);
  over.abort();
  api.close();
  await led;
  return states;
}

Deno.test("the report of the leader before may lack an object, so a new leader does not say at once that no proxy has it", async () => {
  const clock = createFakeClock();
  const api = new ObjectsApi(clock);
  const other = new OwnReport(api.client, NAMESPACE, "old", GATEWAY_KINDS);
  await other.write(new Map(), 0, new AbortController().signal);
  assert.deepEqual(await statesAt(api, clock), ["pending", "pending", "nowhere"]);
});

Deno.test("a server without others knows at once that no proxy is connected", async () => {
  const clock = createFakeClock();
  assert.deepEqual(await statesAt(new ObjectsApi(clock), clock), ["nowhere", "nowhere", "nowhere"]);
});
