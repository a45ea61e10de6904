/**
 * Decides which Ingresses are ours: by annotation, by class, or by the mode of the mesh configuration.
 *
 * @module
 */
import type { Fact } from "../config/facts/types.ts";
import { ownKey } from "../config/spelling/spelling.ts";
import type { IngressReader } from "./reader.ts";

/** The controller in IngressClasses of ours. Istio's name counts too. */
const INGRESS_CONTROLLER = "mesh.io/ingress-controller";

/** The annotation from the time before classes were objects. */
const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

/** Makes a class the default of new Ingresses. */
const DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";

/**
 * Whether an Ingress is to be served.
 *
 * The annotation decides before the class, and the class before the mode. An Ingress without annotation and class is
 * ours with DEFAULT, but not with STRICT. With OFF no Ingress is ours.
 */
export function isServed(ingress: Fact<"Ingress">, read: IngressReader): boolean {
  const mode = read.mesh("ingressControllerMode");
  if (mode !== "DEFAULT" && mode !== "STRICT") return false;
  const { annotations } = ingress.meta;
  if (Object.hasOwn(annotations, CLASS_ANNOTATION)) return annotations[CLASS_ANNOTATION] === read.mesh("ingressClass");
  const chosen = classOf(ingress, read);
  return chosen === undefined ? mode === "DEFAULT" : ownKey(chosen.spec.controller) === INGRESS_CONTROLLER;
}

/**
 * Whether the class of a served Ingress names the controller in Istio's spelling. Istio's control plane may serve the
 * Ingress as well.
 */
export function isOfIstioClass(ingress: Fact<"Ingress">, read: Pick<IngressReader, "fact" | "facts">): boolean {
  if (Object.hasOwn(ingress.meta.annotations, CLASS_ANNOTATION)) return false;
  const controller = classOf(ingress, read)?.spec.controller;
  return controller !== undefined && controller !== INGRESS_CONTROLLER;
}

/** The class of an Ingress; undefined: the Ingress names none, or the class does not exist. */
function classOf(
  { spec, origin }: Fact<"Ingress">,
  read: Pick<IngressReader, "fact" | "facts">,
): Fact<"IngressClass"> | undefined {
  if (spec.className !== undefined) return read.fact("IngressClass", "", spec.className);
  // The API server writes the default class into new objects; objects of files never were there.
  return origin.from === "file" ? defaultClass(read.facts("IngressClass")) : undefined;
}

/** Of several default classes the newest, then the first by name, as the API server chooses. */
function defaultClass(classes: readonly Fact<"IngressClass">[]): Fact<"IngressClass"> | undefined {
  return classes
    .filter(({ meta }) => meta.annotations[DEFAULT_ANNOTATION] === "true")
    .sort((a, b) => b.meta.creationTimestamp - a.meta.creationTimestamp || (a.meta.name < b.meta.name ? -1 : 1))[0];
}
