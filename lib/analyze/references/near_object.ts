/**
 * "Did you mean" for objects in references by namespace and name.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";

/** The most objects compared. More would cost too much in a folder of mistakes. */
const MOST = 1000;

/** The name of an object. */
export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The guess to add to an expectation: an object of the same namespace, or else of any; empty: no object is near.
 *
 * @param all The objects that would be right.
 */
export function nearObject({ namespace, name }: NamedObject, all: readonly NamedObject[]): string {
  const closest = nearestName(name, all.filter((one) => one.namespace === namespace).map((one) => one.name));
  if (closest !== undefined) return `, such as ${namespace}/${closest}`;
  if (all.length > MOST) return "";
  const guess = nearestName(`${namespace}/${name}`, all.map((one) => `${one.namespace}/${one.name}`)) ??
    all.filter((one) => one.name === name).map((one) => `${one.namespace}/${name}`).sort()[0];
  return guess === undefined ? "" : `, such as ${guess}`;
}
