/** The ports of a workload: owner, address of the listener, and inspectors. */
import assert from "node:assert/strict";
import type { InboundTarget } from "../../../lib/translate/inbound/target.ts";
import { inboundTargets } from "../../../lib/translate/inbound/targets.ts";
import { inboundListeners } from "../../../lib/translate/listener/inbound/inbound.ts";
import { meshReader } from "../mesh_reader.ts";
import { port, service } from "../make.ts";

function target(number: number, given: Partial<InboundTarget> = {}): InboundTarget {
  return { port: number, servicePort: port(number), captureMode: "DEFAULT", fromSidecarIngress: false, ...given };
}

function names(listeners: ReturnType<typeof inboundListeners>) {
  return listeners.listeners.map(({ message }) => message.name);
}

Deno.test("the older of two services has a port of the workload; the other is reported only if it speaks another protocol", () => {
  const targets = [
    { service: service("a"), port: port(80), endpointPort: 8080 },
    { service: service("b"), port: port(81), endpointPort: 8080 },
    { service: service("c"), port: port(82, "TCP"), endpointPort: 8080 },
  ];
  const listed = inboundTargets({ targets, sidecar: undefined, addresses: [], mergeServicePorts: false });
  const { conflicts } = inboundListeners(meshReader(), listed);
  assert.deepEqual(conflicts, [{ port: 8080, accepted: "a", rejected: "c", causes: ["Service/default/c"] }]);
});

Deno.test("a proxy that captures nothing serves the ports that its Sidecar lists, at the workload's own address, and nothing else", () => {
  const sidecar = { ingress: [{ port: { number: 9000, protocol: "HTTP" }, captureMode: "DEFAULT" as const }] };
  const input = { targets: [], sidecar, addresses: ["10.0.0.1"], mergeServicePorts: false, sidecarName: "default/own" };
  const read = meshReader({ properties: { interceptionMode: "NONE" } });
  assert.deepEqual(names(inboundListeners(read, inboundTargets({ ...input, capturesNothing: true }))), [
    "10.0.0.1_9000",
  ]);
  assert.deepEqual(names(inboundListeners(read, [target(8080)])), []);
});

Deno.test("replicas of a workload share captured listeners: no address of the proxy is asked for", () => {
  const sidecar = { ingress: [{ port: { number: 9000, protocol: "HTTP" }, captureMode: "DEFAULT" as const }] };
  const of = (addresses: string[]) => inboundTargets({ targets: [], sidecar, addresses, mergeServicePorts: false });
  assert.deepEqual(of(["10.0.0.1"]), of(["10.0.0.2"]));
});

Deno.test("an unprivileged proxy binds no ports below 1024, and serves captured ports below 1024", () => {
  const read = meshReader({ properties: { isUnprivileged: true } });
  const bound = target(80, { captureMode: "NONE", bind: "10.0.0.1", fromSidecarIngress: true });
  assert.deepEqual(inboundListeners(read, [bound]).conflicts.map((c) => c.accepted), ["privileged ports"]);
  assert.deepEqual(inboundListeners(read, [target(80)]).conflicts, []);
});

Deno.test("HTTP is inspected on ports without a protocol and on unknown ports, and nowhere else", () => {
  const targets = [
    target(80),
    target(81, { servicePort: port(81, "Unsupported") }),
    target(82, { servicePort: port(82, "TCP") }),
  ];
  const [built] = inboundListeners(meshReader(), targets).listeners;
  const inspector = built?.message.listener_filters?.find((f) => f.name?.endsWith("http_inspector"));
  const ranges = inspector?.filter_disabled?.or_match?.rules?.map((rule) => rule.destination_port_range?.start);
  assert.deepEqual(ranges, [80, 82, 15006]);
});

Deno.test("TLS settings of a Sidecar hold only where the setting turns them on", () => {
  const tls = { mode: "SIMPLE", minProtocolVersion: "TLS_AUTO", maxProtocolVersion: "TLS_AUTO" } as const;
  const ingress = target(8443, { fromSidecarIngress: true, tls });
  const closed = (enableTlsOnSidecarIngress: boolean) =>
    inboundListeners(meshReader({ settings: { enableTlsOnSidecarIngress } }), [ingress]).listeners[0]?.warnings?.map((
      { text },
    ) => text);
  assert.equal(closed(false), undefined);
  assert.deepEqual(closed(true), ["port 8443 is closed: tls names no serverCertificate with privateKey"]);
});
