/**
 * Permissions of references to objects of other namespaces: ReferenceGrants in the namespace of the target.
 *
 * @module
 */
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { AttachReader, RouteKind } from "./types.ts";

/** The referring object. All kinds are of the Gateway API's group. */
export interface ReferenceOrigin {
  /** Kind as written, such as `Gateway`. */
  readonly kind: RouteKind | "Gateway" | "ListenerSet";
  readonly namespace: string;
}

/** The object of a reference. */
export interface ReferenceTarget {
  /** Empty: the core group. */
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a reference is permitted. A reference to another namespace needs a ReferenceGrant of that namespace. */
export function isPermitted(
  from: ReferenceOrigin,
  to: ReferenceTarget,
  read: Pick<AttachReader, "objects">,
): boolean {
  if (from.namespace === to.namespace) return true;
  return read.objects("ReferenceGrant", to.namespace).some(({ spec }) =>
    spec.from.some((one) =>
      one.group === GATEWAY_API_GROUP && one.kind === from.kind && one.namespace === from.namespace
    ) &&
    spec.to.some((one) => one.group === to.group && one.kind === to.kind && (!one.name || one.name === to.name))
  );
}

/** The grant that a reference needs. The text does not tell whether the target exists. */
export function missingGrant(from: ReferenceOrigin, to: ReferenceTarget): string {
  return `a ReferenceGrant in namespace ${to.namespace} from ${from.kind} of namespace ${from.namespace} ` +
    `to ${to.kind} ${to.name}`;
}
