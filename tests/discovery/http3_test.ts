/** HTTP/3 of a gateway comes and goes with the UDP port of the gateway's service. */
import assert from "node:assert/strict";
import { Fixture, texts } from "./fixture.ts";

const api = "networking.mesh.io/v1";
const metadata = { name: "door", namespace: "a" };
const service = (protocol: string) => ({
  apiVersion: api,
  kind: "ServiceEntry",
  metadata,
  spec: {
    hosts: ["door.test"],
    resolution: "STATIC",
    ports: [{ number: 8443, name: "own", protocol }],
    endpoints: [{ address: "172.16.0.8" }],
  },
});
const gateway = {
  apiVersion: api,
  kind: "Gateway",
  metadata,
  spec: {
    selector: { app: "gw" },
    servers: [{
      port: { number: 8443, name: "https", protocol: "HTTPS" },
      hosts: ["a.test"],
      tls: { mode: "SIMPLE", credentialName: "web" },
    }],
  },
};

for (const on of [true, false]) {
  Deno.test(`PILOT_ENABLE_QUIC_LISTENERS=${on}: a gateway ${on ? "takes and offers" : "has no"} HTTP/3 where its service has a UDP port`, () => {
    const fixture = new Fixture({ settings: { PILOT_ENABLE_QUIC_LISTENERS: on } });
    const state = fixture.join({
      ...{ namespace: "a", address: "172.16.0.8", labels: { app: "gw" }, type: "router" },
      metadata: { PROXY_CONFIG: { stringValue: "{}" } },
    });
    const seen = (...trees: object[]) => {
      fixture.put(...trees);
      fixture.pipeline.flush();
      const all = texts(state);
      assert.ok("listener/0.0.0.0_8443" in all, Object.keys(all).join());
      const offers = /"alt-svc"[^}]*h3=\\":8443\\"; ma=86400/.test(all["route/https.8443.https.door.a"] ?? "");
      return ["listener/udp_0.0.0.0_8443" in all, offers];
    };
    assert.deepEqual(seen(gateway, service("TCP")), [false, false]);
    assert.deepEqual(seen(service("UDP")), [on, on]);
    assert.deepEqual(seen(service("TCP")), [false, false]);
  });
}
