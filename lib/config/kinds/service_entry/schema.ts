/**
 * Schema of ServiceEntry.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { type Field, required, withDefault } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { enumOf, string, uint32 } from "../../schema/scalars.ts";
import { labelsSelector } from "../common/schema.ts";
import { workloadEntry } from "../workload_entry/schema.ts";
import type * as types from "./types.ts";

/** Schema of {@link types.ServiceEntrySpec}. */
export const serviceEntry: Field<types.ServiceEntrySpec> = message<types.ServiceEntrySpec>({
  hosts: required(list(string()), "at least one host"),
  addresses: list(string()),
  ports: list(message<types.ServiceEntryPort>({
    number: required(uint32(), "a port number, 1..65535"),
    protocol: string(),
    name: required(string(), "the name of the port"),
    targetPort: uint32(),
  })),
  location: withDefault(enumOf("MESH_EXTERNAL", "MESH_INTERNAL"), "MESH_EXTERNAL"),
  resolution: withDefault(enumOf("NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"), "NONE"),
  endpoints: list(workloadEntry),
  workloadSelector: labelsSelector,
  exportTo: list(string()),
  subjectAltNames: list(string()),
});
