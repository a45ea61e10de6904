/**
 * Generates `proto/gen/`:
 *
 * - `descriptor.json`: a pruned descriptor of every message that the programs encode or decode.
 * - `node.json`: the small part that every stream needs to read its client's node.
 * - `kinds.json`: the kinds of the mesh in their form between control planes.
 * - `encoder_functions.js`, typed by `encoders.ts`: functions that encode messages.
 * - `types.ts` and `enums.ts`: TypeScript shapes and enums.
 *
 * Source: the Envoy API tree in the npm package `@grpc/grpc-js-xds`. Nothing is copied into git. Field names stay
 * snake_case, as in Envoy's documentation, so code that builds messages reads like Envoy YAML.
 *
 * Permissions: read (node_modules, proto), write (proto/gen).
 *
 * @module
 */
import protobuf from "protobufjs";
import { entryMessages } from "../proto/entries.ts";
import { KIND_WIRE_TYPES, MCP_RESOURCE } from "../lib/mcp/wire_types.ts";
import { NEWER_FIELDS, NEWER_VALUES } from "../proto/newer_fields.ts";
import { ENCODER_MODULE, encoderModule, TYPED_ENCODERS } from "./proto_encoders.ts";

const packages = new URL("../node_modules/", import.meta.url).pathname;
const deps = `${packages}@grpc/grpc-js-xds/deps/`;
const roots = [
  ...["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((d) => deps + d + "/"),
  `${packages}protobufjs/`,
  new URL("../proto/", import.meta.url).pathname,
];
const out = new URL("../proto/gen/", import.meta.url).pathname;

/** These files import OpenCensus, which neither the package nor Envoy has any longer. */
const WITHOUT_IMPORTS: ReadonlySet<string> = new Set(
  ["opencensus", "trace"].map((name) => `envoy/config/trace/v3/${name}.proto`),
);

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Protos are in folders named like their package: `envoy.config.cluster.v3.Cluster` in `envoy/config/cluster/v3/`. */
function packageFolder(message: string): string {
  const parts = message.split(".");
  return parts.slice(0, parts.findIndex((p) => /^[A-Z]/.test(p))).join("/") + "/";
}

function loadAll(): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => roots.map((r) => r + target).find(exists) ?? target;
  const files: string[] = [];
  const walk = (base: string, dir: string) => {
    for (const entry of Deno.readDirSync(base + dir)) {
      const path = dir + entry.name;
      if (entry.isDirectory && entry.name !== "gen") walk(base, path + "/");
      else if (entry.name.endsWith(".proto")) files.push(path);
    }
  };
  for (const dir of new Set(entryMessages.map(packageFolder))) {
    const base = roots.find((r) => isFolder(r + dir));
    if (base) walk(base, dir);
  }
  walk(roots.at(-1)!, "");
  const skipped: string[] = [];
  for (const file of files.sort().filter((one) => !WITHOUT_IMPORTS.has(one))) {
    try {
      root.loadSync(file, { keepCase: true });
    } catch (error) {
      skipped.push(`${file}: ${(error as Error).message}`);
    }
  }
  if (skipped.length > 0) throw new Error(`protos that do not load:\n${skipped.join("\n")}`);
  for (const [message, fields] of Object.entries(NEWER_FIELDS)) {
    const type = root.lookupType(message);
    for (const { name, number, type: of } of fields) type.add(new protobuf.Field(name, number, of));
  }
  for (const [name, values] of Object.entries(NEWER_VALUES)) {
    const type = root.lookupEnum(name);
    for (const value of values) type.add(value.name, value.number);
  }
  return root;
}

/** All types reachable from some messages through fields. */
function closure(root: protobuf.Root, messages: readonly string[]): Set<protobuf.Type | protobuf.Enum> {
  const seen = new Set<protobuf.Type | protobuf.Enum>();
  const visit = (type: protobuf.Type | protobuf.Enum) => {
    if (seen.has(type)) return;
    seen.add(type);
    if (!(type instanceof protobuf.Type)) return;
    for (const field of type.fieldsArray) {
      field.resolve();
      if (field.resolvedType) visit(field.resolvedType);
    }
  };
  for (const name of messages) visit(root.lookupType(name));
  return seen;
}

/**
 * A copy of the tree with the wanted types and their parents only. Comments are removed. Only options about the
 * encoding of a field, or its secrecy, are kept.
 */
function prune(ns: protobuf.NamespaceBase, keep: Set<unknown>): Record<string, unknown> | null {
  const nested: Record<string, unknown> = {};
  for (const child of ns.nestedArray) {
    if (child instanceof protobuf.Enum) {
      if (keep.has(child)) nested[child.name] = { values: child.values };
    } else if (child instanceof protobuf.Namespace || child instanceof protobuf.Type) {
      const pruned = prune(child, keep);
      if (pruned) nested[child.name] = pruned;
    }
  }
  const hasNested = Object.keys(nested).length > 0;
  if (ns instanceof protobuf.Type && keep.has(ns)) {
    const json = ns.toJSON({ keepComments: false }) as unknown as Record<string, unknown>;
    delete json.options;
    delete json.reserved;
    delete json.extensions;
    delete json.nested;
    if (hasNested) json.nested = nested;
    for (const field of Object.values(json.fields as Record<string, { options?: Record<string, unknown> }>)) {
      const packed = field.options?.packed;
      const optional = field.options?.proto3_optional;
      const sensitive = field.options?.["(udpa.annotations.sensitive)"];
      delete field.options;
      if (packed !== undefined) field.options = { packed };
      if (optional !== undefined) field.options = { ...field.options, proto3_optional: optional };
      if (sensitive === true) field.options = { ...field.options, sensitive };
    }
    return json;
  }
  return hasNested ? { nested } : null;
}

const scalars: Record<string, string> = {
  double: "number",
  float: "number",
  int32: "number",
  uint32: "number",
  sint32: "number",
  fixed32: "number",
  sfixed32: "number",
  int64: "number",
  uint64: "number",
  sint64: "number",
  fixed64: "number",
  sfixed64: "number",
  bool: "boolean",
  string: "string",
  bytes: "Uint8Array",
};

function fieldType(field: protobuf.Field): string {
  const one = field.resolvedType ? field.resolvedType.fullName.slice(1) : scalars[field.type] ?? "unknown";
  if (field instanceof protobuf.MapField) return `Record<string, ${one}>`;
  return field.repeated ? `${one}[]` : one;
}

function writeTypes(ns: protobuf.NamespaceBase, keep: Set<unknown>, indent: string, lines: string[]): void {
  for (const child of ns.nestedArray) {
    if (child instanceof protobuf.Enum) {
      if (keep.has(child)) {
        lines.push(`${indent}export type ${child.name} = ${[...new Set(Object.values(child.values))].join(" | ")};`);
      }
      continue;
    }
    if (child instanceof protobuf.Type && keep.has(child)) {
      lines.push(`${indent}export interface ${child.name} {`);
      for (const f of child.fieldsArray) lines.push(`${indent}  ${f.name}?: ${fieldType(f)};`);
      lines.push(`${indent}}`);
    }
    if (child instanceof protobuf.Namespace && child.nestedArray.length > 0) {
      const inner: string[] = [];
      writeTypes(child, keep, indent + "  ", inner);
      if (inner.length > 0) lines.push(`${indent}export namespace ${child.name} {`, ...inner, `${indent}}`);
    }
  }
}

/**
 * Enum constants, named by the path below the package: `Cluster_DiscoveryType`. On a clash, the package's last words
 * become a prefix.
 */
function writeEnums(keep: Set<protobuf.Type | protobuf.Enum>): string[] {
  const lines: string[] = [];
  const taken = new Set<string>();
  const enums = [...keep].filter((x) => x instanceof protobuf.Enum).sort((a, b) => a.fullName < b.fullName ? -1 : 1);
  for (const e of enums) {
    const parts = e.fullName.slice(1).split(".");
    const firstType = parts.findIndex((p) => /^[A-Z]/.test(p));
    let name = parts.slice(firstType).join("_");
    if (taken.has(name)) name = `${parts.slice(0, firstType).filter((p) => !/^v\d/.test(p)).at(-1)}_${name}`;
    taken.add(name);
    lines.push(`/** ${e.fullName.slice(1)} */`, `export const ${name} = ${JSON.stringify(e.values)} as const;`);
  }
  return lines;
}

const root = loadAll();
const keep = closure(root, entryMessages);
Deno.mkdirSync(out, { recursive: true });
Deno.writeTextFileSync(out + "descriptor.json", JSON.stringify(prune(root, keep)));
const node = closure(root, ["envoy.config.core.v3.Node"]);
Deno.writeTextFileSync(out + "node.json", JSON.stringify(prune(root, node)));
const kinds = closure(root, [MCP_RESOURCE, ...KIND_WIRE_TYPES.map(({ message }) => message)]);
Deno.writeTextFileSync(out + "kinds.json", JSON.stringify(prune(root, kinds)));
const messages = [...keep].filter((type) => type instanceof protobuf.Type);
Deno.writeTextFileSync(out + ENCODER_MODULE, encoderModule(messages));
Deno.writeTextFileSync(out + "encoders.ts", TYPED_ENCODERS);
const types: string[] = ["// Generated by scripts/gen_proto.ts. Do not edit.", "// deno-lint-ignore-file"];
writeTypes(root, keep, "", types);
Deno.writeTextFileSync(out + "types.ts", types.join("\n") + "\n");
Deno.writeTextFileSync(
  out + "enums.ts",
  ["// Generated by scripts/gen_proto.ts. Do not edit.", ...writeEnums(keep)].join("\n") + "\n",
);
console.log(`gen_proto: ${keep.size} types`);
