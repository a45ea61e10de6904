/**
 * Server reflection, v1 and v1alpha (the same messages): what services there are, and the files that describe them.
 *
 * Rule: https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 *
 * @module
 */
import { utf8Text, WireCursor, WireError } from "../../resource/protowire.ts";
import type { GrpcServer } from "../server.ts";
import { Code, RpcError } from "../status.ts";
import { describeServices, type ProtoFile, type ServiceDescription } from "./files.ts";
import { MessageWriter } from "./writer.ts";

const VERSIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"];

/** Lets clients ask `server` for the description of these services; made at the first question. */
export function serveReflection(server: GrpcServer, services: readonly ServiceDescription[]): void {
  let files: readonly ProtoFile[] | undefined;
  const answer = (request: Uint8Array) => {
    files ??= describeServices(services);
    return answerRequest(request, services, files);
  };
  for (const version of VERSIONS) {
    server.handle(`/${version}.ServerReflection/ServerReflectionInfo`, (call) => {
      call.start({ message: (request) => call.send([answer(request)], false) });
    });
  }
}

/**
 * Answers one `ServerReflectionRequest`: file_by_filename = 3, file_containing_symbol = 4, file_containing_extension = 5,
 * all_extension_numbers_of_type = 6, list_services = 7.
 */
function answerRequest(
  request: Uint8Array,
  services: readonly ServiceDescription[],
  files: readonly ProtoFile[],
): Uint8Array {
  const { field, text } = readQuestion(request);
  const response = new MessageWriter().bytes(2, request);
  if (field === 7) {
    const list = new MessageWriter();
    for (const { name } of services) list.bytes(1, new MessageWriter().string(1, name).finish());
    return response.bytes(6, list.finish()).finish();
  }
  const file = field === 3
    ? files.find((other) => other.name === text)
    : field === 4
    ? files.find((other) => other.symbols.some((symbol) => text === symbol || text.startsWith(symbol + ".")))
    : undefined;
  if (file === undefined) {
    const error = new MessageWriter().varint(1, Code.NOT_FOUND).string(2, `not found: ${text}`);
    return response.bytes(7, error.finish()).finish();
  }
  const out = new MessageWriter();
  for (const needed of withDependencies(file, files)) out.bytes(1, needed.bytes);
  return response.bytes(4, out.finish()).finish();
}

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
    throw new RpcError(Code.INVALID_ARGUMENT, `the request is no reflection request: ${error.message}`);
  }
}

/** The file first, then all that it needs. */
function withDependencies(file: ProtoFile, files: readonly ProtoFile[]): Set<ProtoFile> {
  const out = new Set<ProtoFile>([file]);
  for (const known of out) {
    for (const name of known.dependencies) out.add(files.find((other) => other.name === name)!);
  }
  return out;
}
