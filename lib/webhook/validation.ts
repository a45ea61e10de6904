/**
 * The validating webhook: objects of the mesh's kinds are checked before they are stored, by the rules for files in a
 * folder.
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import { parseObject } from "../config/object.ts";
import { isObject } from "../config/schema/field.ts";
import type { AdmissionAnswer, AdmissionRequest } from "./admission.ts";

/** Why an object is refused, as label `reason` of `galley_validation_failed`. */
export type ValidationFailure = "invalid_resource" | "unknown_type" | "unsupported_operation" | "yaml_decode_error";

/** The verdict on an object. */
export interface Validation extends AdmissionAnswer {
  /** Undefined: the object is admitted. */
  readonly failure: ValidationFailure | undefined;
}

const ORIGIN = { from: "api", source: "", uid: "" } as const;

const ADMITTED: Validation = { causes: [], warnings: [], failure: undefined };

/**
 * Checks the object of a request. Removals, connections and subresources (such as a status) are admitted: the rules are
 * about the specs that users write.
 *
 * An update may leave an object's spec and problems unchanged. Then the object is admitted with the problems as
 * warnings: otherwise labels, finalizers and removals of objects that are older than the rules would be refused.
 */
export function validate({ operation, subResource = "", namespace, object, oldObject }: AdmissionRequest): Validation {
  if (subResource !== "" || (operation !== "CREATE" && operation !== "UPDATE")) return ADMITTED;
  if (!isObject(object)) {
    return refused("yaml_decode_error", [{ field: "", message: "object: expected an object, got none" }]);
  }
  const tree = namedTree(object);
  const options = { defaultNamespace: namespace || "default" };
  const { findings, foreign } = parseObject(tree, ORIGIN, options);
  if (foreign) {
    const message = "apiVersion: expected a kind of this mesh; the webhook's rules should not send others";
    return refused("unknown_type", [{ field: "apiVersion", message }]);
  }
  const causes = findings.filter(({ severity }) => severity === "error");
  const warnings = findings.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  if (causes.length === 0) return { causes: [], warnings, failure: undefined };
  const texts = causes.map(({ message }) => message);
  if (operation === "UPDATE" && isObject(oldObject) && sameText(oldObject["spec"], object["spec"])) {
    const before = new Set(parseObject(oldObject, ORIGIN, options).findings.map(({ message }) => message));
    if (texts.every((text) => before.has(text))) {
      return { causes: [], warnings: [...texts, ...warnings], failure: undefined };
    }
  }
  const failure = causes.some((found) => found.name === "unknown-kind") ? "unknown_type" : "invalid_resource";
  return refused(failure, causes.map(causeOf), warnings);
}

function refused(
  failure: ValidationFailure,
  causes: AdmissionAnswer["causes"],
  warnings: readonly string[] = [],
): Validation {
  return { causes, warnings, failure };
}

function causeOf({ place: { field }, message }: Finding): { readonly field: string; readonly message: string } {
  return { field, message };
}

/** Adds a name to an object without one: the API makes a name of `generateName` only after asking the webhook. */
function namedTree(object: Readonly<Record<string, unknown>>): unknown {
  const { metadata } = object;
  if (!isObject(metadata) || typeof metadata["generateName"] !== "string" || metadata["name"]) return object;
  return { ...object, metadata: { ...metadata, name: `${metadata["generateName"]}x` } };
}

function sameText(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
