/**
 * File descriptors for generic gRPC clients (grpcurl, Postman ...), made from the reflected message types.
 *
 * The types come without their original files. So each package becomes one file, with the definitions that the given
 * services reach. Only the well-known types keep their files, since clients have these files already.
 *
 * Rule: https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/descriptor.proto
 *
 * @module
 */
import protobuf from "protobufjs";
import { messageType } from "../../pb/reflect.ts";
import type { MethodShape } from "../service.ts";
import { MessageWriter } from "../message_writer.ts";

/** A service to describe. */
export interface ServiceDescription {
  /** Full name, e.g. `envoy.service.discovery.v3.AggregatedDiscoveryService`. */
  readonly name: string;
  readonly methods: readonly MethodShape[];
}

/** A file descriptor. */
export interface ProtoFile {
  readonly name: string;
  /** Full names of the file's messages, enums and services. */
  readonly symbols: readonly string[];
  readonly dependencies: readonly string[];
  /** The encoded `FileDescriptorProto`. */
  readonly bytes: Uint8Array;
}

/** Numbers of `FieldDescriptorProto.Type`. */
const SCALARS: Readonly<Record<string, number>> = {
  ...{ double: 1, float: 2, int64: 3, uint64: 4, int32: 5, fixed64: 6, fixed32: 7, bool: 8, string: 9 },
  ...{ bytes: 12, uint32: 13, sfixed32: 15, sfixed64: 16, sint32: 17, sint64: 18 },
};
const MESSAGE = 11;
const ENUM = 14;

/** Files of the well-known types. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  ...{ Any: "any", Duration: "duration", Timestamp: "timestamp", Empty: "empty" },
  ...{ Struct: "struct", Value: "struct", ListValue: "struct", NullValue: "struct" },
};

type Definition = protobuf.Type | protobuf.Enum;

/** Describes services and all reachable definitions. Each file comes after its dependencies. */
export function describeServices(services: readonly ServiceDescription[]): ProtoFile[] {
  const found = new Set<Definition>();
  for (const { methods } of services) {
    for (const method of methods) for (const name of [method.input, method.output]) reach(messageType(name), found);
  }
  const files = new Map<string, { package: string; definitions: Definition[]; services: ServiceDescription[] }>();
  const fileOf = (name: string, packageName: string) => {
    let file = files.get(name);
    if (file === undefined) files.set(name, file = { package: packageName, definitions: [], services: [] });
    return file;
  };
  for (const definition of found) {
    fileOf(fileName(definition), packageOf(definition)).definitions.push(definition);
  }
  for (const service of services) {
    const packageName = service.name.slice(0, service.name.lastIndexOf("."));
    fileOf(packageFile(packageName), packageName).services.push(service);
  }
  return sorted([...files].map(([name, file]) => makeFile(name, file.package, file.definitions, file.services)));
}

/** Collects a top-level definition and all definitions that its fields use. */
function reach(definition: Definition, found: Set<Definition>): void {
  const top = topLevel(definition);
  if (found.has(top)) return;
  found.add(top);
  if (top instanceof protobuf.Enum) return;
  for (const type of [top, ...nestedTypes(top)]) {
    for (const field of type.fieldsArray) {
      field.resolve();
      if (field.resolvedType) reach(field.resolvedType as Definition, found);
    }
  }
}

function nestedTypes(type: protobuf.Type): protobuf.Type[] {
  const own = type.nestedArray.filter((nested) => nested instanceof protobuf.Type);
  return own.flatMap((nested) => [nested, ...nestedTypes(nested)]);
}

function topLevel(definition: Definition): Definition {
  let at: protobuf.ReflectionObject = definition;
  while (at.parent instanceof protobuf.Type) at = at.parent;
  return at as Definition;
}

function packageOf(definition: Definition): string {
  return topLevel(definition).parent!.fullName.replace(/^\./, "");
}

function packageFile(packageName: string): string {
  return `${packageName.replaceAll(".", "/")}.proto`;
}

function fileName(definition: Definition): string {
  const top = topLevel(definition);
  const packageName = packageOf(top);
  if (packageName !== "google.protobuf") return packageFile(packageName);
  return `google/protobuf/${WELL_KNOWN[top.name] ?? "wrappers"}.proto`;
}

function makeFile(
  name: string,
  packageName: string,
  definitions: readonly Definition[],
  services: readonly ServiceDescription[],
): ProtoFile {
  const dependencies = new Set<string>();
  const use = (definition: Definition) => {
    const file = fileName(definition);
    if (file !== name) dependencies.add(file);
    return definition.fullName;
  };
  const messages = definitions.filter((d) => d instanceof protobuf.Type).map((type) => describeMessage(type, use));
  const enums = definitions.filter((d) => d instanceof protobuf.Enum).map(describeEnum);
  const described = services.map((service) => describeService(service, use));
  const file = new MessageWriter().string(1, name).string(2, packageName);
  for (const dependency of dependencies) file.string(3, dependency);
  for (const message of messages) file.bytes(4, message);
  for (const item of enums) file.bytes(5, item);
  for (const service of described) file.bytes(6, service);
  return {
    name,
    dependencies: [...dependencies],
    symbols: [...definitions.map((d) => d.fullName.slice(1)), ...services.map((service) => service.name)],
    bytes: file.string(12, "proto3").finish(),
  };
}

function describeMessage(type: protobuf.Type, use: (definition: Definition) => string): Uint8Array {
  const message = new MessageWriter().string(1, type.name);
  const oneofs = type.oneofsArray;
  const entries: Uint8Array[] = [];
  for (const field of type.fieldsArray) {
    field.resolve();
    if (field instanceof protobuf.MapField) {
      const entry = `${camelCase(field.name)}Entry`;
      entries.push(describeMapEntry(entry, field, use));
      message.bytes(2, describeField(field.name, field.id, true, MESSAGE, `${type.fullName}.${entry}`));
      continue;
    }
    const { kind, typeName } = kindOf(field, use);
    const oneof = field.partOf ? oneofs.indexOf(field.partOf) + 1 : 0;
    message.bytes(2, describeField(field.name, field.id, field.repeated, kind, typeName, oneof));
  }
  for (const nested of type.nestedArray) {
    if (nested instanceof protobuf.Type) message.bytes(3, describeMessage(nested, use));
  }
  for (const entry of entries) message.bytes(3, entry);
  for (const nested of type.nestedArray) if (nested instanceof protobuf.Enum) message.bytes(4, describeEnum(nested));
  for (const oneof of oneofs) message.bytes(8, new MessageWriter().string(1, oneof.name).finish());
  return message.finish();
}

function kindOf(
  field: protobuf.FieldBase,
  use: (definition: Definition) => string,
): { kind: number; typeName: string } {
  const resolved = field.resolvedType as Definition | null;
  if (resolved === null) return { kind: SCALARS[field.type]!, typeName: "" };
  return { kind: resolved instanceof protobuf.Enum ? ENUM : MESSAGE, typeName: use(resolved) };
}

/** @param oneof 0: no oneof, else the index plus 1 */
function describeField(
  name: string,
  id: number,
  repeated: boolean,
  kind: number,
  typeName: string,
  oneof = 0,
): Uint8Array {
  const field = new MessageWriter().string(1, name).varint(3, id).varint(4, repeated ? 3 : 1).varint(5, kind);
  field.string(6, typeName);
  if (oneof > 0) field.present(9, oneof - 1);
  return field.finish();
}

function describeMapEntry(
  name: string,
  field: protobuf.MapField,
  use: (definition: Definition) => string,
): Uint8Array {
  const { kind, typeName } = kindOf(field, use);
  return new MessageWriter()
    .string(1, name)
    .bytes(2, describeField("key", 1, false, SCALARS[field.keyType]!, ""))
    .bytes(2, describeField("value", 2, false, kind, typeName))
    .bytes(7, new MessageWriter().varint(7, 1).finish())
    .finish();
}

function describeEnum(item: protobuf.Enum): Uint8Array {
  const out = new MessageWriter().string(1, item.name);
  for (const [name, number] of Object.entries(item.values)) {
    const value = new MessageWriter().string(1, name);
    out.bytes(2, (number < 0 ? value.varint(2, number) : value.present(2, number)).finish());
  }
  return out.finish();
}

function describeService(service: ServiceDescription, use: (definition: Definition) => string): Uint8Array {
  const out = new MessageWriter().string(1, service.name.slice(service.name.lastIndexOf(".") + 1));
  for (const method of service.methods) {
    const [input, output] = [method.input, method.output].map((name) => use(messageType(name)));
    const described = new MessageWriter().string(1, method.name).string(2, input!).string(3, output!)
      .varint(5, method.clientStreaming ? 1 : 0).varint(6, method.serverStreaming ? 1 : 0);
    out.bytes(2, described.finish());
  }
  return out.finish();
}

function camelCase(name: string): string {
  return name.replaceAll(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
}

/** Dependencies first. */
function sorted(files: readonly ProtoFile[]): ProtoFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const out = new Set<ProtoFile>();
  const add = (file: ProtoFile) => {
    for (const name of file.dependencies) add(byName.get(name)!);
    out.add(file);
  };
  for (const file of files) add(file);
  return [...out];
}
