/** Messages without secrets: equal to their redacted JSON, and untouched without a secret. */
import assert from "node:assert/strict";
import { any, encode } from "../../lib/pb/codec.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { withoutSecrets } from "../../lib/pb/redact.ts";
import { struct } from "../../lib/pb/wellknown.ts";

const TLS = "envoy.extensions.transport_sockets.tls.v3";
const SECRET = `${TLS}.Secret`;
const CLUSTER = "envoy.config.cluster.v3.Cluster";
const text = (value: string) => new TextEncoder().encode(value);

/** A message's JSON without further redaction. */
const shown = (name: string, bytes: Uint8Array) => messageJson(name, bytes, "shown");

Deno.test("keys, passwords and secret words are replaced; public data stays", () => {
  const certificate = {
    certificate_chain: { inline_string: "public" },
    private_key: { inline_bytes: text("hunter2") },
    password: { inline_string: "hunter2" },
  };
  assert.deepEqual(
    shown(SECRET, withoutSecrets(SECRET, encode(SECRET, { name: "own", tls_certificate: certificate }))),
    {
      name: "own",
      tls_certificate: {
        certificate_chain: { inline_string: "public" },
        private_key: { inline_bytes: btoa("[redacted]") },
        password: { inline_string: "[redacted]" },
      },
    },
  );
});

Deno.test("lists, maps, numbers and packed messages below a secret are replaced, whatever they are", () => {
  const word = struct({ a: "hunter2", b: 7, c: ["hunter2"] });
  const hidden = { private_key_provider: { provider_name: "p", typed_config: any("google.protobuf.Struct", word) } };
  const tickets = { session_ticket_keys: { keys: [{ inline_string: "hunter2" }, { inline_bytes: text("hunter2") }] } };
  for (const secret of [{ tls_certificate: hidden }, tickets]) {
    const cleaned = withoutSecrets(SECRET, encode(SECRET, secret));
    assert.doesNotMatch(new TextDecoder().decode(cleaned), /hunter2/);
    assert.match(new TextDecoder().decode(cleaned), /\[redacted\]/);
    assert.doesNotMatch(JSON.stringify(shown(SECRET, cleaned)), /7|aHVudGVyMg/);
  }
});

Deno.test("a secret in a message in a message is replaced; a packed message of an unknown type is emptied", () => {
  const context = (typed_config: object) =>
    encode(CLUSTER, { name: "c", transport_socket: { name: "tls", typed_config } });
  const certificates = [{ private_key: { inline_string: "hunter2" } }];
  const tls = any(`${TLS}.UpstreamTlsContext`, { common_tls_context: { tls_certificates: certificates } });
  assert.doesNotMatch(new TextDecoder().decode(withoutSecrets(CLUSTER, context(tls))), /hunter2/);
  const foreign = { type_url: "type.googleapis.com/vendor.Secret", value: text("hunter2") };
  const json = shown(CLUSTER, withoutSecrets(CLUSTER, context(foreign)));
  assert.deepEqual(json.transport_socket, {
    name: "tls",
    typed_config: { "@type": foreign.type_url, "@unknown": "0 bytes of a type that this server does not know" },
  });
  assert.equal(withoutSecrets("vendor.Secret", text("hunter2")).length, 0);
});

Deno.test("a message without a secret is returned unchanged", () => {
  const bytes = encode(CLUSTER, { name: "c", connect_timeout: { seconds: 1 } });
  assert.equal(withoutSecrets(CLUSTER, bytes), bytes);
});
