/**
 * Server reflection, v1 and v1alpha (with the same messages): the services of a server, and the files that describe
 * them.
 *
 * Rule: https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 *
 * @module
 */
import { putFieldHead, utf8Text, varintSize, WireCursor, WireError } from "../../resource/protowire.ts";
import type { Call } from "../call.ts";
import type { CallHandler } from "../call_handler.ts";
import { Code } from "../codes.ts";
import { MessageWriter } from "../message_writer.ts";
import type { GrpcService } from "../service.ts";
import { RpcError } from "../status.ts";
import type { ProtoFile } from "./files.ts";

const VERSIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];
/** Largest request, in bytes: each answer repeats the request. */
const MAX_REQUEST = 4096;
/** Most waiting answers of a call, for a client that does not read. */
const MAX_WAITING = 100;

/** Adds reflection to the services. Reflection describes all services, including itself. */
export function withReflection(services: readonly GrpcService[]): readonly GrpcService[] {
  const all: GrpcService[] = [...services];
  const describer = new Describer(all);
  for (const version of VERSIONS) {
    all.push({
      name: `${version}.ServerReflection`,
      methods: [{
        name: "ServerReflectionInfo",
        input: `${version}.ServerReflectionRequest`,
        output: `${version}.ServerReflectionResponse`,
        clientStreaming: true,
        serverStreaming: true,
        handle: (call) => call.start(new ReflectionCall(call, describer)),
      }],
    });
  }
  return all;
}

/** The fields of a `ServerReflectionRequest` that are questions. */
const Question = { FILE_BY_NAME: 3, FILE_OF_SYMBOL: 4, LIST_SERVICES: 7 } as const;

/** The fields of a `ServerReflectionResponse`. */
const Answer = { ORIGINAL_REQUEST: 2, FILES: 4, SERVICES: 6, ERROR: 7 } as const;

/** Answers questions about services. Descriptions are made at the first question and shared by all answers. */
class Describer {
  #files: Promise<readonly ProtoFile[]> | undefined;
  readonly #answers = new Map<ProtoFile, Uint8Array>();

  readonly #services: readonly GrpcService[];

  constructor(services: readonly GrpcService[]) {
    this.#services = services;
  }

  /** The runs of bytes of the answer to a request. */
  async answer(request: Uint8Array): Promise<readonly Uint8Array[]> {
    if (request.length > MAX_REQUEST) {
      throw new RpcError(Code.INVALID_ARGUMENT, `expected a request of at most ${MAX_REQUEST} bytes`);
    }
    const { field, text } = readQuestion(request);
    // The reflected message types are heavy. A server without questions does not load the types.
    this.#files ??= import("./files.ts").then(({ describeServices }) => describeServices(this.#services));
    const files = await this.#files;
    const original = new MessageWriter().bytes(Answer.ORIGINAL_REQUEST, request).finish();
    if (field === Question.LIST_SERVICES) return [original, this.#list()];
    const file = field === Question.FILE_BY_NAME
      ? files.find((other) => other.name === text)
      : field === Question.FILE_OF_SYMBOL
      ? files.find((other) => other.symbols.some((symbol) => text === symbol || text.startsWith(symbol + ".")))
      : undefined;
    return file === undefined ? [original, notFound(text)] : [original, ...this.#describe(file, files)];
  }

  #list(): Uint8Array {
    const list = new MessageWriter();
    for (const { name } of this.#services) list.bytes(1, new MessageWriter().string(1, name).finish());
    return new MessageWriter().bytes(Answer.SERVICES, list.finish()).finish();
  }

  /** The file and all dependencies, encoded once. */
  #describe(file: ProtoFile, files: readonly ProtoFile[]): readonly Uint8Array[] {
    let body = this.#answers.get(file);
    if (body === undefined) {
      const out = new MessageWriter();
      for (const needed of withDependencies(file, files)) out.bytes(1, needed.bytes);
      this.#answers.set(file, body = out.finish());
    }
    const head = new Uint8Array(1 + varintSize(body.length));
    putFieldHead(head, 0, Answer.FILES, body.length);
    return [head, body];
  }
}

/** One reflection call. Answers go out in the order of the questions. */
class ReflectionCall implements CallHandler {
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  readonly #call: Call;
  readonly #describer: Describer;

  constructor(call: Call, describer: Describer) {
    this.#call = call;
    this.#describer = describer;
  }

  message(request: Uint8Array): void {
    if (++this.#waiting > MAX_WAITING) throw new RpcError(Code.RESOURCE_EXHAUSTED, "answers are not read");
    const answer = this.#describer.answer(request);
    // A refusal may come before its turn, and must not count as an unhandled rejection.
    answer.catch(() => {});
    this.#last = this.#last.then(async () => this.#call.send(await answer, false, () => this.#waiting--))
      .catch((error) => this.#call.fail(error));
  }

  halfClose(): void {
    this.#last.then(() => this.#call.end());
  }
}

function notFound(text: string): Uint8Array {
  const error = new MessageWriter().varint(1, Code.NOT_FOUND).string(2, `not found: ${text}`);
  return new MessageWriter().bytes(Answer.ERROR, error.finish()).finish();
}

/** The last of the fields 3 to 7. A request has one such field; all are texts or messages. */
function readQuestion(request: Uint8Array): { field: number; text: string } {
  try {
    let question = { field: 0, text: "" };
    const cursor = new WireCursor(request);
    while (cursor.next()) {
      const { field, wireType } = cursor;
      if (field >= 3 && field <= 7 && wireType === 2) question = { field, text: utf8Text(cursor.bytes()) };
      else cursor.skip();
    }
    return question;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new RpcError(Code.INVALID_ARGUMENT, `expected a ServerReflectionRequest: ${error.message}`);
  }
}

/** The file first, then all dependencies. */
function withDependencies(file: ProtoFile, files: readonly ProtoFile[]): Set<ProtoFile> {
  const out = new Set<ProtoFile>([file]);
  for (const known of out) {
    for (const name of known.dependencies) out.add(files.find((other) => other.name === name)!);
  }
  return out;
}
