/**
 * The limits that Envoy checks in each received message, from the options in the binary's descriptors
 * (`validate.rules`, number 1071, of protoc-gen-validate).
 *
 * @module
 */
import protobuf from "protobufjs";
import type * as Descriptor from "protobufjs/ext/descriptor.js";
import { descriptor, embeddedDescriptors } from "./envoy_descriptors.ts";

/** The limits of a message: by field, and groups of fields of which one is required. */
export interface MessageRules {
  readonly fields: Record<string, unknown>;
  readonly oneofs: string[][];
}

const OPTION = 1071;

/** The options, which protobufjs otherwise skips. They are read when a field is decoded. */
interface WithOptions {
  readonly FieldOptions: protobuf.Type;
  readonly OneofOptions: protobuf.Type;
}

const { FieldOptions, OneofOptions } = descriptor as unknown as WithOptions;
FieldOptions.add(new protobuf.Field("validateRules", OPTION, "bytes"));
OneofOptions.add(new protobuf.Field("validateRequired", OPTION, "bool"));

type Files = ReturnType<typeof embeddedDescriptors>;

/** Limits by full name of the message. */
export function messageRules(files: Files): Record<string, MessageRules> {
  const type = rulesType(files);
  const found: Record<string, MessageRules> = {};
  const visit = (message: Descriptor.IDescriptorProto, prefix: string) => {
    const name = `${prefix}.${message.name}`;
    const rules: MessageRules = { fields: {}, oneofs: [] };
    for (const field of message.field ?? []) {
      const bytes = (field.options as { readonly validateRules?: Uint8Array } | undefined)?.validateRules;
      if (!bytes?.length) continue;
      rules.fields[field.name!] = type.toObject(type.decode(bytes), { longs: Number, enums: String, bytes: String });
    }
    for (const [at, one] of (message.oneofDecl ?? []).entries()) {
      if (!(one.options as { readonly validateRequired?: boolean } | undefined)?.validateRequired) continue;
      const members = (message.field ?? []).filter((field) =>
        Object.hasOwn(field, "oneofIndex") && field.oneofIndex === at
      );
      rules.oneofs.push(members.map((field) => field.name!));
    }
    if (Object.keys(rules.fields).length > 0 || rules.oneofs.length > 0) found[name] = rules;
    for (const nested of message.nestedType ?? []) visit(nested, name);
  };
  for (const file of files) for (const message of file.messageType ?? []) visit(message, file.package ?? "");
  return found;
}

/** `FieldRules`, which the binary describes as well. */
function rulesType(files: Files): protobuf.Type {
  const wanted = ["validate/validate.proto", "google/protobuf/duration.proto", "google/protobuf/timestamp.proto"];
  const own = wanted.map((name) => {
    const file = files.find((one) => one.name === name);
    if (file === undefined) throw new Error(`the program has no ${name}, expected it among its descriptors`);
    return { ...file, extension: [], options: undefined, dependency: [] };
  });
  const set = descriptor.FileDescriptorSet.create({ file: own as unknown as Descriptor.IFileDescriptorProto[] });
  const root = protobuf.Root.fromDescriptor(set as unknown as Descriptor.IFileDescriptorSet, { keepCase: true });
  return root.lookupType("validate.FieldRules");
}
