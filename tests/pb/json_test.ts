/** Forms of protobuf's JSON outside of the output of the tests' Envoy, and secrets below secrets. */
import assert from "node:assert/strict";
import { any, encode } from "../../lib/pb/codec.ts";
import { anyJson, messageJson } from "../../lib/pb/json.ts";

const TLS = "envoy.extensions.transport_sockets.tls.v3";

Deno.test("an Any of a well-known message has its value in a field, and one of an unknown type shows no bytes", () => {
  const typeUrl = "type.googleapis.com/google.protobuf.Duration";
  assert.deepEqual(anyJson(typeUrl, new Uint8Array([8, 90])), { "@type": typeUrl, value: "90s" });
  const json = anyJson("type.googleapis.com/vendor.Secret", new TextEncoder().encode("hunter2"));
  assert.deepEqual(json, {
    "@type": "type.googleapis.com/vendor.Secret",
    "@unknown": "7 bytes of a type that this server does not know",
  });
});

Deno.test("negative and fractional durations have as many digits as they need, by threes", () => {
  const cluster = (seconds: number, nanos: number) =>
    messageJson(
      "envoy.config.cluster.v3.Cluster",
      encode("envoy.config.cluster.v3.Cluster", { connect_timeout: { seconds, nanos } }),
    );
  assert.deepEqual(cluster(0, 1), { connect_timeout: "0.000000001s" });
  assert.deepEqual(cluster(-1, -20_000_000), { connect_timeout: "-1.020s" });
  assert.deepEqual(cluster(0, 1_500_000), { connect_timeout: "0.001500s" });
});

Deno.test("everything below a secret field is redacted, of any type, also packed", () => {
  const secret = { private_key_provider: { provider_name: "p", typed_config: any(`${TLS}.TlsCertificate`, chain) } };
  const json = messageJson(`${TLS}.TlsCertificate`, encode(`${TLS}.TlsCertificate`, secret));
  assert.deepEqual(json, {
    private_key_provider: {
      provider_name: "p",
      typed_config: {
        "@type": `type.googleapis.com/${TLS}.TlsCertificate`,
        certificate_chain: { inline_string: "[redacted]" },
      },
    },
  });
});

const chain = { certificate_chain: { inline_string: "not even secret" } };

Deno.test("for programs that work with them secrets are shown, however deep they lie", () => {
  const files = { private_key: { filename: "/etc/certs/key.pem" }, password: { inline_string: "p" } };
  const json = messageJson(`${TLS}.TlsCertificate`, encode(`${TLS}.TlsCertificate`, files), "shown");
  assert.deepEqual(json, files);
});
