/**
 * A collector of a test: takes access logs of Envoy's log service, and logs and spans of OpenTelemetry, over gRPC.
 *
 * Permissions: net (loopback ports).
 *
 * @module
 */
import { type sendUnaryData, Server, ServerCredentials } from "@grpc/grpc-js";
import type { ServerReadableStream, ServerUnaryCall } from "@grpc/grpc-js";

/** What it takes. */
export type CollectedSort = "envoyLogs" | "logs" | "spans";

/** A running collector. */
export interface TestCollector extends AsyncDisposable {
  readonly port: number;
  /** Every message as text, as it lies on the wire: texts in it can be looked for. */
  readonly got: Readonly<Record<CollectedSort, readonly string[]>>;
}

const text = (value: Uint8Array) => new TextDecoder().decode(value);
const empty = () => Buffer.alloc(0);

function method(path: string, requestStream: boolean) {
  const codec = {
    requestSerialize: empty,
    requestDeserialize: text,
    responseSerialize: empty,
    responseDeserialize: text,
  };
  return { path, requestStream, responseStream: false, ...codec } as const;
}

/** Starts one. */
export async function testCollector(): Promise<TestCollector> {
  const got: Record<CollectedSort, string[]> = { envoyLogs: [], logs: [], spans: [] };
  const server = new Server();
  const Export =
    (sort: CollectedSort) => ({ request }: ServerUnaryCall<string, object>, answer: sendUnaryData<object>) => {
      got[sort].push(request);
      answer(null, {});
    };
  const StreamAccessLogs = (call: ServerReadableStream<string, object>) => {
    call.on("data", (message: string) => got.envoyLogs.push(message));
    call.on("error", () => {});
  };
  const collector = "/opentelemetry.proto.collector";
  server.addService(
    { StreamAccessLogs: method("/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs", true) },
    { StreamAccessLogs },
  );
  server.addService({ Export: method(`${collector}.logs.v1.LogsService/Export`, false) }, { Export: Export("logs") });
  server.addService({ Export: method(`${collector}.trace.v1.TraceService/Export`, false) }, {
    Export: Export("spans"),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
      (error, bound) => error ? reject(error) : resolve(bound),
    )
  );
  return { port, got, [Symbol.asyncDispose]: () => Promise.resolve(server.forceShutdown()) };
}
