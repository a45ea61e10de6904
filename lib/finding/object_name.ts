/**
 * Names of objects, and texts with names.
 *
 * @module
 */

/** The name of an object. Parts that the text lacks are empty. */
export interface ObjectName {
  readonly kind: string;
  /** Empty: the kind has no namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** The name in the key of an object: `kind/namespace/name`. */
export function objectName(key: string): ObjectName {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return { kind, namespace, name };
}

/** An object in a text for people: `VirtualService shop/web`, or `GatewayClass edge`. Without a kind the text is empty. */
export function objectText({ kind, namespace, name }: ObjectName): string {
  if (kind === "") return "";
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

/** The same from the key of an object. */
export function keyText(key: string): string {
  return objectText(objectName(key));
}
