import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import tls from "node:tls";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { XdsServer } from "../../lib/xds/server.ts";
import { CLUSTER } from "../../lib/xds/types.ts";
import { MemorySource, textResource } from "../xds/support/memory_source.ts";

const openssl = await (async () => {
  try {
    return (await new Deno.Command("openssl", { args: ["version"], stdout: "null" }).output()).success;
  } catch {
    return false;
  }
})();

/** A self-signed certificate for a name, and its key. */
async function certificate(name: string): Promise<{ cert: Uint8Array; key: Uint8Array }> {
  const folder = await Deno.makeTempDir();
  const [key, cert] = [`${folder}/key.pem`, `${folder}/cert.pem`];
  const { success, stderr } = await new Deno.Command("openssl", {
    args: [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"],
      ...["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", cert],
    ],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const files = { cert: await Deno.readFile(cert), key: await Deno.readFile(key) };
  await Deno.remove(folder, { recursive: true });
  return files;
}

Deno.test({
  name: "a TLS listener needs nothing but its sockets: 3 MB arrive, with and without client certificate",
  ignore: !openssl,
  fn: async () => {
    const filler = "x".repeat(1000);
    const source = new MemorySource().change(
      CLUSTER,
      Array.from({ length: 3000 }, (_, i) => textResource(CLUSTER, `c${i}`, `${i}${filler}`)),
    );
    const server = new XdsServer({ source, resources: source.table });
    const [mine, theirs] = [await certificate("localhost"), await certificate("client")];
    const listener = tls.createServer(
      {
        cert: Buffer.from(mine.cert),
        key: Buffer.from(mine.key),
        ALPNProtocols: ["h2"],
        requestCert: true,
        rejectUnauthorized: false,
      },
      (socket) => server.grpc.accept(socket),
    );
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as { port: number };
    try {
      for (const withCertificate of [false, true]) {
        const credentials = withCertificate
          ? grpc.credentials.createSsl(Buffer.from(mine.cert), Buffer.from(theirs.key), Buffer.from(theirs.cert))
          : grpc.credentials.createSsl(Buffer.from(mine.cert));
        const client = new grpc.Client(`localhost:${port}`, credentials, {
          "grpc.use_local_subchannel_pool": 1,
          "grpc.max_receive_message_length": -1,
        });
        const same = (bytes: Uint8Array) => Buffer.from(bytes);
        const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
        const call = client.makeBidiStreamRequest(path, same, same);
        const first = new Promise<Uint8Array>((resolve, reject) => call.once("data", resolve).once("error", reject));
        call.write(
          encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", { node: { id: "n" }, type_url: CLUSTER }),
        );
        const response = decode<{ resources: unknown[] }>(
          "envoy.service.discovery.v3.DeltaDiscoveryResponse",
          await first,
        );
        assert.equal(response.resources.length, 3000);
        const [connection] = [...server.streams()];
        const peer = (connection!.call.peer.socket as tls.TLSSocket).getPeerCertificate();
        assert.equal(peer?.subject?.CN, withCertificate ? "client" : undefined);
        call.on("error", () => {});
        call.cancel();
        client.close();
        while ([...server.streams()].length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    } finally {
      listener.close();
      await server.stop(1000);
    }
  },
});
