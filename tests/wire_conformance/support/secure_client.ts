/**
 * Clients of the secure port: ADS by grpc-js over TLS.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { CLUSTER } from "../../../lib/xds/protocol/types.ts";
import type { Certificate } from "../../certificates.ts";
import { PATIENCE } from "../../patience.ts";

/** How a client connects; without `root` in plain text. */
export interface SecureClientOptions {
  readonly port: number;
  readonly root?: string;
  readonly own?: Certificate;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly serviceAccount?: string;
}

/** An ADS stream over a separate connection. */
export class SecureClient {
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #responses: number[] = [];
  #wake = Promise.withResolvers<void>();
  /** The end of the stream: code and message. */
  readonly status: Promise<string>;

  constructor(
    { port, root, own, token, headers = {}, namespace = "shop", serviceAccount = "cart" }: SecureClientOptions,
  ) {
    const credentials = root === undefined
      ? grpc.credentials.createInsecure()
      : own === undefined
      ? grpc.credentials.createSsl(Buffer.from(root))
      : grpc.credentials.createSsl(Buffer.from(root), Buffer.from(own.key), Buffer.from(own.certificate));
    this.#client = new grpc.Client(`localhost:${port}`, credentials, { "grpc.use_local_subchannel_pool": 1 });
    const metadata = new grpc.Metadata();
    if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
    const same = (bytes: Uint8Array) => Buffer.from(bytes);
    this.#call = this.#client.makeBidiStreamRequest(path, same, same, metadata, { deadline: Date.now() + PATIENCE });
    const status = Promise.withResolvers<string>();
    this.status = status.promise;
    this.#call.on("data", (bytes: Uint8Array) => {
      const { resources } = decode<{ resources?: unknown[] }>("envoy.service.discovery.v3.DiscoveryResponse", bytes);
      this.#responses.push(resources?.length ?? 0);
      this.#wake.resolve();
    });
    this.#call.on("error", () => {});
    this.#call.on("status", ({ code, details }: grpc.StatusObject) => {
      status.resolve(`${grpc.status[code]}: ${details}`);
      this.#wake.resolve();
    });
    const node = {
      id: `sidecar~10.0.0.9~cart-1.${namespace}~${namespace}.svc.cluster.local`,
      metadata: struct({ NAMESPACE: namespace, SERVICE_ACCOUNT: serviceAccount }),
    };
    this.#call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { node, type_url: CLUSTER }));
  }

  /** `served` after clusters, else the status at the end of the stream. */
  async outcome(): Promise<string> {
    await this.#wake.promise;
    return this.#responses.length > 0 ? "served" : await this.status;
  }

  close(): void {
    this.#call.cancel();
    this.#client.close();
  }
}

/** The outcome of a client: `served`, or the status. */
export async function outcomeOf(options: SecureClientOptions): Promise<string> {
  const client = new SecureClient(options);
  try {
    return await client.outcome();
  } finally {
    client.close();
  }
}
