/** The metrics of a scrape while proxies and files come and go. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import { notBuiltNames } from "../../lib/kernel/not_built/catalogue.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { TestProxy } from "../debug/proxy.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

Deno.test("a rejection is counted with the code's name, and reset when the client takes the next response", async () => {
  await withServer({}, async ({ ports, pipeline }) => {
    const scrape = async () => (await page(ports.monitoring, "/metrics")).body;
    const client = new grpc.Client(`127.0.0.1:${ports.grpc}`, grpc.credentials.createInsecure());
    const call = client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
    call.on("error", () => {});
    const next = () => new Promise<Uint8Array>((resolve) => call.once("data", resolve));
    const send = (request: object) =>
      call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: CLUSTERS, ...request }));
    const nonce = (bytes: Uint8Array) =>
      (decode("envoy.service.discovery.v3.DiscoveryResponse", bytes) as { nonce: string }).nonce;
    try {
      let answer = next();
      send({ node: { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" } });
      send({ response_nonce: nonce(await answer), error_detail: { code: 3, message: "no" } });
      // The answer comes after the rejection: the stream is one queue.
      send({ response_nonce: "stale" });
      while (!/expired_nonce\{type="cds"\} 1/.test(await scrape())) await new Promise((r) => setTimeout(r, 5));
      const node = 'node="sidecar~10.0.0.1~a.x~x.svc.cluster.local"';
      assert.ok((await scrape()).includes(`pilot_xds_cds_reject{${node},err="InvalidArgument"} 1`));
      answer = next();
      pipeline.configChanged([], []);
      pipeline.meshChanged({ ...pipeline.mesh, outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } }, { networks: {} });
      pipeline.flush();
      send({ response_nonce: nonce(await answer) });
      while (!(await scrape()).includes(`err="InvalidArgument"} 0`)) await new Promise((r) => setTimeout(r, 5));
    } finally {
      call.cancel();
      client.close();
    }
  });
});

Deno.test("a rejection that follows the acknowledgement is on metrics, in the log, on syncz and push_status, once", async () => {
  const { log, lines } = openLog();
  await withServer({}, async ({ ports }) => {
    using proxy = await TestProxy.attach(ports.grpc);
    proxy.rejectLate("no module");
    proxy.rejectLate("no module");
    await proxy.ask("type.googleapis.com/envoy.config.listener.v3.Listener");
    const { body } = await page(ports.monitoring, "/metrics");
    assert.match(body, /^pilot_total_xds_rejects\{type="cds"\} 1$/m);
    assert.match(body, /^pilot_xds_cds_reject\{node="sidecar~10.0.0.1~a.x~x.svc.cluster.local",err="Internal"\} 1$/m);
    const said = lines.filter(({ msg }) => msg === "a client rejected a response");
    assert.deepEqual(said.map(({ message, late, level }) => [message, late, level]), [["no module", true, "warn"]]);
    const [row] = JSON.parse((await page(ports.http, "/debug/syncz")).body);
    assert.equal(row.resources[CLUSTERS].lastError, "no module");
    assert.equal(row.cluster_acked, row.cluster_sent);
    assert.match((await page(ports.http, "/debug/push_status")).body, /"message":"no module"/);
  }, { log });
});

Deno.test("a text without a readable name is counted by its file", async () => {
  await withServer({ "broken.yaml": "apiVersion: networking.mesh.io/v1\na: [\n" }, async ({ ports }) => {
    const { body } = await page(ports.monitoring, "/metrics");
    assert.match(body, /^pilot_total_rejected_configs\{type="unknown",name="broken.yaml"\} 1$/m);
  });
});

Deno.test("a metric that nothing feeds yet is not shown: 0 would be a statement", async () => {
  await withServer({}, async ({ ports }) => {
    const { body } = await page(ports.monitoring, "/metrics");
    assert.deepEqual(notBuiltNames("metric").filter((name) => body.includes(name)), []);
    assert.match(body, /^pilot_services 0$/m);
  });
});
