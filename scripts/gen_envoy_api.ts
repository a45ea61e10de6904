/**
 * Generates `proto/gen/envoy_api.json`: the descriptors of every message of this Envoy release, read from the binary.
 * Patches of users may use any message. `descriptor.json` has only the messages that the programs build.
 *
 * The file holds compressed text, which is opened only for patches. Beside descriptors the file has the limits that
 * Envoy checks in each message.
 *
 * Permissions: read (the program, given as argument), write (proto/gen).
 *
 * @module
 */
import { gzipSync } from "node:zlib";
import protobuf from "protobufjs";
import type * as Descriptor from "protobufjs/ext/descriptor.js";
import { descriptor, embeddedDescriptors } from "./envoy_descriptors.ts";
import { messageRules } from "./envoy_rules.ts";

/** Files of the binary without configuration: options of descriptors, and files of libraries. */
const OTHERS =
  /^(google\/protobuf\/(descriptor|cpp)|google\/api\/(annotations|http)|(validate|udpa\/annotations)\/)|^(xds|envoy)\/annotations\/|^(src|source|tcmalloc)\//;

interface Options {
  options?: unknown;
}

/** Options do not affect the wire form, except the option of messages for map entries. */
function withoutOptions(message: Descriptor.IDescriptorProto): void {
  const map = message.options?.mapEntry === true;
  message.options = map ? { mapEntry: true } : {};
  message.extension = [];
  for (const field of message.field ?? []) delete (field as Options).options;
  for (const nested of message.nestedType ?? []) withoutOptions(nested);
  for (const one of message.enumType ?? []) enumWithoutOptions(one);
}

function enumWithoutOptions(one: Descriptor.IEnumDescriptorProto): void {
  delete (one as Options).options;
  for (const value of one.value ?? []) delete (value as Options).options;
}

/** The members of `google.protobuf`. */
function googleOf(root: protobuf.INamespace): Record<string, unknown> {
  const { google } = root.nested as Record<string, protobuf.INamespace>;
  return (google!.nested as Record<string, protobuf.INamespace>).protobuf!.nested!;
}

const program = Deno.args[0];
if (program === undefined) throw new Error("usage: gen_envoy_api.ts <the program of Envoy>");
const all = embeddedDescriptors(Deno.readFileSync(program));
const rules = messageRules(all);
const files = all.filter(({ name = "" }) => !OTHERS.test(name));
for (const file of files) {
  delete (file as Options).options;
  file.extension = [];
  file.service = [];
  for (const message of file.messageType ?? []) withoutOptions(message);
  for (const one of file.enumType ?? []) enumWithoutOptions(one);
}
if (files.length < 100) {
  throw new Error(`${program} carries ${files.length} descriptors, expected those of Envoy's API`);
}
const set = descriptor.FileDescriptorSet.create({ file: files });
const root = protobuf.Root.fromDescriptor(set as unknown as Descriptor.IFileDescriptorSet, { keepCase: true });
const json = root.toJSON();
// protobufjs has separate definitions of these messages, with camelCase names, used by builders and by the JSON of
// protobufjs.
const ours = protobuf.Root.fromJSON(protobuf.common.get("google/protobuf/struct.proto")!);
Object.assign(googleOf(json), googleOf(ours.toJSON()));
const out = new URL("../proto/gen/", import.meta.url).pathname;
const packed = (one: unknown) => gzipSync(JSON.stringify(one), { level: 9 }).toString("base64");
Deno.writeTextFileSync(out + "envoy_api.json", JSON.stringify({ gzip: packed(json), rules: packed(rules) }) + "\n");
console.log(`gen_envoy_api: ${files.length} files, limits of ${Object.keys(rules).length} messages`);
