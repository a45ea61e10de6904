import assert from "node:assert/strict";
import { workloadCheck } from "../../../lib/agent/health/readiness_probe.ts";
import { WorkloadHealth } from "../../../lib/agent/health/workload_health.ts";
import type { WorkloadReport } from "../../../lib/agent/health/health_state.ts";
import type { ReadinessProbe } from "../../../lib/config/kinds/common/schema.ts";
import { HealthService } from "../../../lib/grpc/health.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";
import { answering, application } from "../support/status_pages.ts";

const never = new AbortController().signal;

/** Why a workload is not well; undefined: the workload is well. */
async function reason(probe: ReadinessProbe, signal = never): Promise<string | undefined> {
  return await workloadCheck(probe, "127.0.0.1")(signal).then(() => undefined, (error: Error) => error.message);
}

Deno.test("an HTTP probe is well with 200 to 399, and sends its headers, each on one line", async () => {
  for (
    const [status, expected] of [[200, undefined], [302, undefined], [404, /status is 404/], [503, /status is 503/]]
  ) {
    await using app = await answering(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);
    const httpHeaders = [{ name: "Host", value: "cart.test" }, { name: "X-A", value: "b\r\nx-forged: 1" }];
    const found = await reason({ httpGet: { port: app.port, path: "well?a=b", httpHeaders } });
    if (expected instanceof RegExp) assert.match(found ?? "", expected);
    else assert.equal(found, undefined);
    assert.match(app.requests[0]!, /^GET \/well\?a=b HTTP\/1\.1\r\nhost: cart\.test\r\n/);
    assert.match(app.requests[0]!, /\r\nuser-agent: mesh-probe\/1\.0\r\n/);
    assert.match(app.requests[0]!, /\r\nx-a: b {2}x-forged: 1\r\n/);
  }
});

Deno.test("ports, commands and the gRPC health service say whether a workload is well", async () => {
  const open = await application(() => {});
  assert.equal(await reason({ tcpSocket: { port: open.port } }), undefined);
  await open[Symbol.asyncDispose]();
  assert.match(await reason({ tcpSocket: { host: "127.0.0.1", port: open.port } }) ?? "", /refused/i);
  assert.equal(await reason({ exec: { command: ["sh", "-c", 'test "$1" = "a b"', "x", "a b"] } }), undefined);
  assert.match(await reason({ exec: { command: ["sh", "-c", "exit 3"] } }) ?? "", /the command ended with 3/);
  assert.match(await reason({ exec: { command: ["/nowhere/at all"] } }) ?? "", /the command ended with 127/);
  const health = new HealthService();
  health.set("cart", "SERVING");
  const server = new GrpcServer([health.service]);
  const { port, close } = await listen({ host: "127.0.0.1", port: 0 }, (socket) => {
    server.accept(new SocketTransport(socket));
  });
  assert.equal(await reason({ grpc: { port, service: "cart" } }), undefined);
  assert.match(await reason({ grpc: { port } }) ?? "", /NotFound/);
  await close();
  await server.stop(0);
});

Deno.test("a command that does not end, whatever it does with signals, is ended with its time", async () => {
  const over = new AbortController();
  const running = reason({ exec: { command: ["sh", "-c", "trap '' TERM; while :; do :; done"] } }, over.signal);
  over.abort(new Error("too late"));
  assert.equal(await running, "too late");
});

Deno.test("a workload is probed again and again, and its changes are reported until the agent stops", async () => {
  const reports: WorkloadReport[] = [];
  const outcomes = [false, false, true, true, false, false];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const health = new WorkloadHealth({
    probe: { initialDelaySeconds: 0.01, periodSeconds: 0.01, failureThreshold: 2 },
    check: () => {
      const outcome = outcomes.shift();
      if (outcome === undefined) resolve();
      return outcome === false ? Promise.reject(new Error(`left ${outcomes.length}`)) : Promise.resolve();
    },
    report: (report) => void reports.push(report),
    ...{ clock: systemClock, log: silentLog().scope("healthcheck") },
  });
  health.start();
  await done;
  health.stop();
  assert.deepEqual(reports.slice(0, 3), [
    { healthy: false, reason: "left 4" },
    { healthy: true },
    { healthy: false, reason: "left 0" },
  ]);
});
