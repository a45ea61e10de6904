/**
 * InferencePools: the host of a pool in the mesh, and the program that picks the pool's endpoints.
 *
 * @module
 */
import { POOL_SUFFIX } from "../../config/kinds/service_entry/internal.ts";
import type { EndpointPicker } from "../../config/kinds/virtual_service/internal.ts";
import type { ConfigObject } from "../../config/types.ts";
import { hostOfObject } from "./names.ts";
import { serviceNamed } from "./services.ts";
import type { AttachOptions, AttachReader, FieldFault, NamespacedName } from "./types.ts";

/** A pool object. */
export type InferencePool = ConfigObject<"InferencePool">;

/** Full host name of a pool. No Service and no ServiceEntry of a user has such a host. */
export function poolHost({ namespace, name }: NamespacedName): string {
  return hostOfObject({ namespace, name }, POOL_SUFFIX);
}

/** Port of a pool's host: its first target port. */
export function poolPort({ spec: { targetPorts } }: InferencePool): number {
  return targetPorts[0]!.number;
}

/** The endpoint picker of a pool, or why the pool has none. Requests to a pool without a picker are refused. */
export type PoolPicker =
  | { readonly picker: EndpointPicker; readonly fault?: undefined }
  | { readonly picker?: undefined; readonly fault: FieldFault };

/** The fault of a pool that names no endpoint picker. */
export const MISSING: FieldFault = { field: "endpointPickerRef", value: undefined, expected: "an endpoint picker" };

/** The endpoint picker of a pool. */
export function pickerOf(
  { meta: { namespace }, spec: { endpointPickerRef: ref } }: InferencePool,
  read: AttachReader,
  options: AttachOptions,
): PoolPicker {
  const refuse = (part: string, value: unknown, expected: string): PoolPicker => ({
    fault: { field: `endpointPickerRef.${part}`, value, expected },
  });
  if (ref === undefined) return { fault: MISSING };
  if (ref.group !== "" || ref.kind !== "Service") {
    return refuse("kind", ref.group === "" ? ref.kind : `${ref.kind}.${ref.group}`, "a Service");
  }
  const at = { namespace, name: ref.name };
  const service = serviceNamed(at, read, options);
  if (service === undefined) {
    return refuse("name", ref.name, `a Service that exists (${namespace}/${ref.name} does not)`);
  }
  // Whoever may write the alias would choose the program that sees all requests of the pool.
  if (read.fact("Service", namespace, ref.name)?.spec.type === "ExternalName") {
    return refuse("name", ref.name, "a Service of another type than ExternalName");
  }
  const { number = 0 } = ref.port ?? {};
  const known = service.ports?.filter(({ transport }) => transport === "TCP");
  if (known !== undefined && !known.some((one) => one.number === number)) {
    const usable = known.map((one) => one.number).join(", ");
    return refuse("port.number", number, `a TCP port of ${service.host} (${usable === "" ? "there is none" : usable})`);
  }
  return { picker: { host: service.host, port: number, failOpen: ref.failureMode === "FailOpen" } };
}
