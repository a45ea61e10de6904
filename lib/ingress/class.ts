/**
 * Decides which Ingresses are ours: by annotation, by class, or by the mode of the mesh configuration.
 *
 * @module
 */
import type { Fact } from "../config/facts/types.ts";
import { ownKey } from "../config/spelling/spelling.ts";
import type { IngressReader } from "./reader.ts";

/** The controller that IngressClasses of ours name; Istio's name is understood, too. */
export const INGRESS_CONTROLLER = "mesh.io/ingress-controller";

/** The annotation that was before classes were objects. */
const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

/** Makes a class that of new Ingresses that name none. */
const DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";

/**
 * Whether an Ingress is to be served.
 *
 * The annotation decides before the class, and the class before the mode: with DEFAULT an Ingress without either is ours,
 * with STRICT it is not, with OFF none is.
 */
export function isServed(ingress: Fact<"Ingress">, read: IngressReader): boolean {
  const mode = read.mesh("ingressControllerMode");
  if (mode !== "DEFAULT" && mode !== "STRICT") return false;
  const { annotations } = ingress.meta;
  if (Object.hasOwn(annotations, CLASS_ANNOTATION)) return annotations[CLASS_ANNOTATION] === read.mesh("ingressClass");
  const chosen = classOf(ingress, read);
  return chosen === undefined ? mode === "DEFAULT" : ownKey(chosen.spec.controller) === INGRESS_CONTROLLER;
}

/** The class of an Ingress; undefined: it names none, or one that is not there. */
function classOf({ spec, origin }: Fact<"Ingress">, read: IngressReader): Fact<"IngressClass"> | undefined {
  if (spec.className !== undefined) return read.fact("IngressClass", "", spec.className);
  // The API server writes the default class into objects as they are made; those in files have not been there.
  return origin.from === "file" ? defaultClass(read.facts("IngressClass")) : undefined;
}

/** Of several default classes the newest, then the first by name, as the API server chooses. */
function defaultClass(classes: readonly Fact<"IngressClass">[]): Fact<"IngressClass"> | undefined {
  return classes
    .filter(({ meta }) => meta.annotations[DEFAULT_ANNOTATION] === "true")
    .sort((a, b) => b.meta.creationTimestamp - a.meta.creationTimestamp || (a.meta.name < b.meta.name ? -1 : 1))[0];
}
