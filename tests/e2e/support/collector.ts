/**
 * A collector of a test: takes access logs of Envoy's log service, logs and spans of OpenTelemetry, and segments of
 * SkyWalking, over gRPC.
 *
 * Permissions: net (loopback ports).
 *
 * @module
 */
import { type sendUnaryData, Server, ServerCredentials } from "@grpc/grpc-js";
import type { ServerReadableStream, ServerUnaryCall } from "@grpc/grpc-js";
import { WireCursor } from "../../../lib/resource/protowire.ts";

/** Kinds of collected messages. */
export type CollectedSort = "envoyLogs" | "logs" | "spans" | "segments";

/** A running collector. */
export interface TestCollector extends AsyncDisposable {
  readonly port: number;
  /** Every message as text in wire form, for searching. */
  readonly got: Readonly<Record<CollectedSort, readonly string[]>>;
  /** Spans of OpenTelemetry, read. */
  readonly spans: readonly CollectedSpan[];
  /** Metadata `x-key` of OpenTelemetry calls, if present. */
  readonly keys: readonly string[];
}

/** A span of OpenTelemetry. */
export interface CollectedSpan {
  /** Name in the resource. */
  readonly service: string;
  /** In hexadecimal digits, like the other IDs. */
  readonly trace: string;
  readonly id: string;
  /** Empty: no parent. */
  readonly parent: string;
  readonly name: string;
  readonly kind: "server" | "client" | "other";
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

/** Starts a collector. */
export async function testCollector(): Promise<TestCollector> {
  const got: Record<CollectedSort, string[]> = { envoyLogs: [], logs: [], spans: [], segments: [] };
  const spans: CollectedSpan[] = [];
  const keys: string[] = [];
  const server = new Server();
  const Export = (sort: CollectedSort) =>
  (
    { request, metadata }: ServerUnaryCall<string, object>,
    answer: sendUnaryData<object>,
  ) => {
    got[sort].push(request);
    keys.push(...metadata.get("x-key").map(String));
    answer(null, {});
  };
  const Stream = (sort: CollectedSort) => (call: ServerReadableStream<string, object>) => {
    call.on("data", (message: string) => got[sort].push(message));
    call.on("error", () => {});
  };
  const collector = "/opentelemetry.proto.collector";
  server.addService(
    { StreamAccessLogs: method("/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs", true) },
    { StreamAccessLogs: Stream("envoyLogs") },
  );
  server.addService({ collect: method("/skywalking.v3.TraceSegmentReportService/collect", true) }, {
    collect: Stream("segments"),
  });
  server.addService({ Export: method(`${collector}.logs.v1.LogsService/Export`, false) }, { Export: Export("logs") });
  const traces = method(`${collector}.trace.v1.TraceService/Export`, false);
  const read = (value: Uint8Array) => {
    spans.push(...spansIn(value));
    return text(value);
  };
  server.addService({ Export: { ...traces, requestDeserialize: read } }, { Export: Export("spans") });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
      (error, bound) => error ? reject(error) : resolve(bound),
    )
  );
  return { port, got, spans, keys, [Symbol.asyncDispose]: () => Promise.resolve(server.forceShutdown()) };
}

/** Contents of a message's length-delimited fields, by number. */
function fieldsOf(message: Uint8Array): Map<number, Uint8Array[]> {
  const fields = new Map<number, Uint8Array[]>();
  for (const cursor = new WireCursor(message); cursor.next();) {
    if (cursor.wireType === 2) fields.set(cursor.field, [...fields.get(cursor.field) ?? [], cursor.bytes()]);
    else cursor.skip();
  }
  return fields;
}

const KINDS: Readonly<Record<number, CollectedSpan["kind"]>> = { 2: "server", 3: "client" };

/**
 * `ExportTraceServiceRequest`: resource_spans = 1. Inside: resource = 1, scope_spans = 2. Inside scope_spans: spans =
 * 2.
 */
function* spansIn(request: Uint8Array): Iterable<CollectedSpan> {
  for (const ofResource of fieldsOf(request).get(1) ?? []) {
    const { resource, scopes } = namedFields(ofResource, { resource: 1, scopes: 2 });
    const service = serviceOf(resource[0]!);
    for (const message of scopes.flatMap((scope) => fieldsOf(scope).get(2) ?? [])) {
      const { trace, id, parent, name } = namedFields(message, { trace: 1, id: 2, parent: 4, name: 5 });
      const hex = (value?: Uint8Array) => value?.toHex() ?? "";
      const ids = { trace: hex(trace[0]), id: hex(id[0]), parent: hex(parent[0]) };
      yield { service, ...ids, name: text(name[0]!), kind: kindOf(message) };
    }
  }
}

function namedFields<K extends string>(message: Uint8Array, numbers: Readonly<Record<K, number>>) {
  const fields = fieldsOf(message);
  const named = Object.entries<number>(numbers).map(([name, number]) => [name, fields.get(number) ?? []]);
  return Object.fromEntries(named) as Record<K, Uint8Array[]>;
}

/** `attributes` = 1, each with `key` = 1 and `value` = 2, with `string_value` = 1 inside. */
function serviceOf(resource: Uint8Array): string {
  for (const attribute of fieldsOf(resource).get(1) ?? []) {
    const { key, value } = namedFields(attribute, { key: 1, value: 2 });
    if (text(key[0]!) === "service.name") return text(fieldsOf(value[0]!).get(1)![0]!);
  }
  return "";
}

/** `kind` = 6. */
function kindOf(span: Uint8Array): CollectedSpan["kind"] {
  for (const cursor = new WireCursor(span); cursor.next();) {
    if (cursor.field === 6) return KINDS[cursor.varint()] ?? "other";
    cursor.skip();
  }
  return "other";
}
