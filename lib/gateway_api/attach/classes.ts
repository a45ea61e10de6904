/**
 * Classes of Gateways: which Gateways this implementation serves, and how.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { AttachOptions, AttachReader, ClassRole } from "./types.ts";

/** The class of a Gateway that this implementation serves. */
export interface ServedClass {
  readonly role: ClassRole;
  /** `controllerName` as written. */
  readonly controller: string;
}

/**
 * The class of a Gateway; undefined: the Gateway belongs to another implementation, or its class does not exist. An
 * existing GatewayClass decides; the names of built-in classes work without a GatewayClass.
 */
export function classOf(
  { spec: { gatewayClassName } }: ConfigObject<"ApiGateway">,
  read: Pick<AttachReader, "object">,
  { controllers, builtInClasses }: AttachOptions,
): ServedClass | undefined {
  const written = read.object("GatewayClass", "", gatewayClassName);
  const controller = written?.spec.controllerName ?? own(builtInClasses, gatewayClassName);
  const role = controller === undefined ? undefined : own(controllers, controller);
  return controller === undefined || role === undefined ? undefined : { role, controller };
}

/** Whether a class hands traffic on over HBONE, the tunnel of the mesh. */
export function isTunnelClass(role: ClassRole): boolean {
  return role === "waypoint" || role === "east-west";
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
