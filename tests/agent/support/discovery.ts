/**
 * A discovery server of a test: takes streams on a TCP port, keeps requests, and sends the test's answers.
 *
 * Permissions: net (loopback).
 * @module
 */
import type { Call } from "../../../lib/grpc/call.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { listen, type Listener } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";

/** A client's stream. */
export interface TestStream {
  readonly call: Call;
  readonly delta: boolean;
  readonly requests: Uint8Array[];
}

/** The server. */
export class TestDiscovery implements AsyncDisposable {
  readonly streams: TestStream[] = [];
  #server!: GrpcServer;
  #listener!: Listener;
  readonly #onRequest: (stream: TestStream, request: Uint8Array) => void;

  private constructor(onRequest: (stream: TestStream, request: Uint8Array) => void) {
    this.#onRequest = onRequest;
  }

  /**
   * Listens on a port; 0: any.
   *
   * @param onRequest answers; default: nothing does
   */
  static async start(
    port = 0,
    onRequest: (stream: TestStream, request: Uint8Array) => void = () => {},
  ): Promise<TestDiscovery> {
    const discovery = new TestDiscovery(onRequest);
    const shape = {
      ...{ input: "envoy.service.discovery.v3.DiscoveryRequest", clientStreaming: true },
      ...{ output: "envoy.service.discovery.v3.DiscoveryResponse", serverStreaming: true },
    };
    discovery.#server = new GrpcServer([{
      name: "envoy.service.discovery.v3.AggregatedDiscoveryService",
      methods: [
        { name: "StreamAggregatedResources", ...shape, handle: (call) => discovery.#accept(call, false) },
        { name: "DeltaAggregatedResources", ...shape, handle: (call) => discovery.#accept(call, true) },
      ],
    }]);
    discovery.#listener = await listen(
      { host: "127.0.0.1", port },
      (socket) => discovery.#server.accept(new SocketTransport(socket)),
    );
    return discovery;
  }

  get port(): number {
    return this.#listener.port;
  }

  #accept(call: Call, delta: boolean): void {
    const stream: TestStream = { call, delta, requests: [] };
    this.streams.push(stream);
    call.start({
      message: (bytes) => {
        const request = new Uint8Array(bytes);
        stream.requests.push(request);
        this.#onRequest(stream, request);
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
    await this.#server.stop(0);
  }
}
