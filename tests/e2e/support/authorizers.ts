/**
 * External authorizers of a test, over HTTP and gRPC. They admit requests with the token `good`.
 *
 * Permissions: net (loopback ports).
 *
 * @module
 */
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from "@grpc/grpc-js";

/** A running authorizer. */
export interface TestAuthorizer extends AsyncDisposable {
  readonly port: number;
  /** Received questions. HTTP: method and path. gRPC: the whole question as text. */
  readonly asked: readonly string[];
  /** The header `x-key` of all questions over HTTP. */
  readonly keys?: ReadonlySet<string | null>;
}

/** Asked over HTTP: 200 admits, and names the caller; everything else refuses. */
export function httpAuthorizer(): TestAuthorizer {
  const asked: string[] = [];
  const keys = new Set<string | null>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    keys.add(request.headers.get("x-key"));
    const good = request.headers.get("x-token") === "good";
    return new Response(good ? "" : "who are you?", { status: good ? 200 : 401, headers: { "x-why": "token" } });
  });
  return { port: server.addr.port, asked, keys, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** `google.rpc.Status` inside `CheckResponse`: OK, and PERMISSION_DENIED. */
const ADMITTED = new Uint8Array([0x0a, 0x00]);
const REFUSED = new Uint8Array([0x0a, 0x02, 0x08, 0x07]);

/** Answers over gRPC (`envoy.service.auth.v3.Authorization`). A question with `good` is admitted. */
export async function grpcAuthorizer(good: string): Promise<TestAuthorizer> {
  const asked: string[] = [];
  const server = new Server();
  const bytes = (value: Uint8Array) => Buffer.from(value);
  const Check = {
    path: "/envoy.service.auth.v3.Authorization/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: (value: Uint8Array) => new TextDecoder().decode(value),
    responseSerialize: bytes,
    responseDeserialize: bytes,
  } as const;
  server.addService({ Check }, {
    Check: ({ request }: ServerUnaryCall<string, Uint8Array>, answer: sendUnaryData<Uint8Array>) => {
      asked.push(request);
      answer(null, request.includes(good) ? ADMITTED : REFUSED);
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
      (error, bound) => error ? reject(error) : resolve(bound),
    )
  );
  return { port, asked, [Symbol.asyncDispose]: () => Promise.resolve(server.forceShutdown()) };
}
