/**
 * A proxy at a running server, with clusters. Acknowledges responses on the test's command.
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const same = (bytes: Uint8Array) => Buffer.from(bytes);

/** A sidecar of namespace `x`. */
const SIDECAR = { id: "sidecar~10.0.0.1~a.x~x.svc.cluster.local" };

/** A gateway of namespace `x`. */
export const ROUTER = { id: "router~10.0.0.2~door.x~x.svc.cluster.local" };

/** A wait, over at once after the end of a stream. A rejection counts only where somebody awaits the promise. */
function awaited(end?: Error): PromiseWithResolvers<void> {
  const one = Promise.withResolvers<void>();
  one.promise.catch(() => {});
  if (end !== undefined) one.reject(end);
  return one;
}

export class TestProxy implements Disposable {
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #waiting: Uint8Array[] = [];
  #holding = false;
  /** Nonce of the last acknowledged response about clusters. */
  #acknowledged = "";
  #disposed = false;
  readonly #heard: (response: Uint8Array) => void;
  /** Why the stream has ended. */
  #end: Error | undefined;
  #received = awaited();

  private constructor(
    port: number,
    node: object,
    refusal: string | undefined,
    heard: (response: Uint8Array) => void = () => {},
  ) {
    this.#heard = heard;
    this.#client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#call = this.#client.makeBidiStreamRequest(ADS, same, same, new grpc.Metadata());
    this.#call.on("error", (error) => {
      // The test itself has ended the stream. No wait fails for that reason.
      if (this.#disposed) return;
      this.#end = error;
      this.#received.reject(error);
    });
    this.#call.on("data", (response: Uint8Array) => {
      this.#waiting.push(response);
      this.#heard(response);
      this.#received.resolve();
      if (refusal !== undefined) this.reject(refusal);
      else if (!this.#holding) this.release();
    });
    this.#send({ node });
  }

  /**
   * Attaches a proxy, and waits for its clusters.
   *
   * @param refusal Text with which the proxy rejects every response. Default: the proxy accepts every response.
   * @param heard Called with each response, from the first response on. Default: nothing is called.
   */
  static async attach(
    port: number,
    node: object = SIDECAR,
    refusal?: string,
    heard?: (response: Uint8Array) => void,
  ): Promise<TestProxy> {
    const proxy = new TestProxy(port, node, refusal, heard);
    await proxy.#received.promise;
    return proxy;
  }

  /** Asks for everything of another type, and waits for the response. */
  async ask(typeUrl: string): Promise<void> {
    this.#received = awaited(this.#end);
    this.#send({ type_url: typeUrl });
    await this.#received.promise;
  }

  /** Acknowledges nothing from now on. */
  hold(): void {
    this.#holding = true;
    this.#received = awaited(this.#end);
  }

  /** Resolves when something has been received since `hold`. */
  received(): Promise<void> {
    return this.#received.promise;
  }

  /** Number of held-back responses. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Acknowledges held-back responses. */
  release(): void {
    this.#holding = false;
    for (const response of this.#waiting.splice(0)) {
      const { nonce, ...rest } = decode("envoy.service.discovery.v3.DiscoveryResponse", response) as {
        readonly type_url: string;
        readonly nonce: string;
        readonly version_info: string;
      };
      this.#send({ type_url: rest.type_url, response_nonce: nonce, version_info: rest.version_info });
      if (rest.type_url === CLUSTERS) this.#acknowledged = nonce;
    }
  }

  /** Rejects held-back responses, and acknowledges later responses. */
  reject(message: string): void {
    this.#holding = false;
    for (const response of this.#waiting.splice(0)) {
      const { nonce, type_url } = decode("envoy.service.discovery.v3.DiscoveryResponse", response) as {
        readonly type_url: string;
        readonly nonce: string;
      };
      this.#send({ type_url, response_nonce: nonce, error_detail: { code: 13, message } });
    }
  }

  /** Rejects the acknowledged clusters. */
  rejectLate(message: string): void {
    this.#send({ response_nonce: this.#acknowledged, error_detail: { code: 13, message } });
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#call.cancel();
    this.#client.close();
  }

  #send(request: object): void {
    this.#call.write(encode("envoy.service.discovery.v3.DiscoveryRequest", { type_url: CLUSTERS, ...request }));
  }
}
