/** A proxy's ALPN offer in mutual TLS, by which the server's proxy chooses a filter chain. */
import assert from "node:assert/strict";
import { meshAlpn } from "../../../lib/translate/cluster/tls.ts";
import type { Protocol } from "../../../lib/registry/types.ts";

const HTTP_1: readonly Protocol[] = ["HTTP", "HTTP_PROXY"];
const HTTP_2: readonly Protocol[] = ["HTTP2", "GRPC", "GRPC-Web"];
const BYTES: readonly Protocol[] = ["TCP", "TLS", "HTTPS", "Mongo", "MySQL", "Redis"];
const VERSIONS = ["http1", "http2", "client"] as const;

Deno.test("requests and bytes are distinguished by the offered protocols, whatever the version of HTTP", () => {
  for (const version of VERSIONS) {
    for (const protocol of [...HTTP_1, ...HTTP_2]) {
      const { socket, http } = meshAlpn(protocol, version);
      assert.match(socket[0]!, /^istio-h(ttp\/1\.1|2)$/, `${protocol} ${version}`);
      assert.equal(http, undefined);
    }
    for (const protocol of BYTES) assert.deepEqual(meshAlpn(protocol, version), { socket: ["istio"] });
    // Connections of both kinds: a request announces HTTP itself.
    assert.deepEqual(meshAlpn("Unsupported", version), { socket: ["istio"], http: ["istio-http/1.1", "istio"] });
  }
});

Deno.test("peer exchange, which stock Envoy does not speak, is never offered", () => {
  for (const protocol of [...HTTP_1, ...HTTP_2, ...BYTES, "Unsupported"] as const) {
    for (const version of VERSIONS) {
      const { socket, http = [] } = meshAlpn(protocol, version);
      assert.ok(![...socket, ...http].includes("istio-peer-exchange"), `${protocol} ${version}`);
    }
  }
});
