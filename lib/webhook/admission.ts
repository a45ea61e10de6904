/**
 * Admission reviews: the question of the orchestrator's API about one object, and the answer.
 *
 * Fields: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";

/** Version of the review that is written where none was read. */
const ADMISSION = "admission.k8s.io/v1";

/** The API sends the version that the webhook's configuration asks for. */
const VERSIONS = [ADMISSION, "admission.k8s.io/v1beta1"] as const;

/** Longest name of the API, in characters: `uid`, names of objects and of namespaces. */
const MAX_WORD = 253;

const word = z.string({ error: "a text" }).max(MAX_WORD, { error: `a text of at most ${MAX_WORD} characters` });
/** Null is as if the field were not there. */
const absentOr = <T extends z.ZodType>(of: T) => of.nullish().transform((value) => value ?? undefined).optional();
const resource = z.object({ group: word, version: word, resource: word }, { error: "group, version and resource" });

const reviewSchema = z.object({
  apiVersion: z.enum(VERSIONS, { error: VERSIONS.join(" or ") }),
  kind: z.literal("AdmissionReview", { error: "AdmissionReview" }),
  request: z.object({
    uid: word,
    resource,
    subResource: absentOr(word),
    name: absentOr(word),
    namespace: absentOr(word),
    operation: word,
    dryRun: absentOr(z.boolean({ error: "true or false" })),
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
  }, { error: "a request" }),
}, { error: "an AdmissionReview" });

/** The fields that an answer needs of a review whose other fields cannot be read. */
const headSchema = z.object({
  apiVersion: z.enum(VERSIONS).optional().catch(undefined),
  request: z.object({ uid: word }).optional().catch(undefined),
});

/** A request of the API. `object` is the new version, `oldObject` the stored one; null: there is none. */
export type AdmissionRequest = z.infer<typeof reviewSchema>["request"];

/** A review that was read, or why it was not. */
export type ReadReview =
  | { readonly apiVersion: string; readonly request: AdmissionRequest }
  | UnreadReview;

/** A review that cannot be read, with the fields that can be: an answer without the request's `uid` is none. */
export interface UnreadReview {
  readonly problems: readonly string[];
  readonly apiVersion: string;
  readonly uid: string;
}

/** Reads a review; all problems of its form at once. */
export function readReview(text: string): ReadReview {
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch (error) {
    const problems = [`the body: expected JSON: ${(error as Error).message}`];
    return { problems, apiVersion: ADMISSION, uid: "" };
  }
  const read = reviewSchema.safeParse(tree, { reportInput: true });
  if (read.success) return read.data;
  const { apiVersion = ADMISSION, request } = headSchema.safeParse(tree).data ?? {};
  return { problems: issueLines(read.error.issues, "the body"), apiVersion, uid: request?.uid ?? "" };
}

/** One thing that is wrong with an object. */
export interface AdmissionCause {
  /** Path from the object; empty: the object as a whole. */
  readonly field: string;
  readonly message: string;
}

export interface AdmissionAnswer {
  /** None: the object is admitted. */
  readonly causes: readonly AdmissionCause[];
  /** Lines for the user that the object is admitted for, or refused. */
  readonly warnings: readonly string[];
  /** How an object that is admitted is changed: operations of a JSON patch (RFC 6902). Default: it is not. */
  readonly patch?: readonly object[];
}

/** Characters of one warning that clients show (RFC 7234 header lines are cut by the API server beyond 256). */
const MAX_WARNING = 256;

/** Causes of one answer, characters of each, and of all of them together: a client chooses the texts that they name. */
const MAX_CAUSES = 100;
const MAX_CAUSE = 1000;
const MAX_MESSAGE = 16_000;

/** The causes that an answer names, short enough; the last one says how many others there are. */
function namedCauses(causes: readonly AdmissionCause[]): readonly AdmissionCause[] {
  const named: AdmissionCause[] = [];
  let characters = 0;
  for (const { field, message } of causes.slice(0, MAX_CAUSES)) {
    const cause = { field: shortText(field, MAX_WORD), message: shortText(message, MAX_CAUSE) };
    characters += cause.message.length;
    if (characters > MAX_MESSAGE) break;
    named.push(cause);
  }
  const others = causes.length - named.length;
  return others === 0 ? named : [...named, { field: "", message: `and ${others} more problems` }];
}

/** A text of so many characters at most, with its length where it is longer. */
export function shortText(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}... (${text.length} characters)`;
}

/** A cause's message without the field at its start, because clients print the field of a cause before its message. */
function withoutField(field: string, message: string): string {
  return field !== "" && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
}

/** The answer as the API reads it: `kubectl` prints a line a cause. */
export function reviewAnswer(
  apiVersion: string,
  { uid, resource: { group, resource }, name = "" }: AdmissionRequest,
  { causes, warnings, patch = [] }: AdmissionAnswer,
) {
  const response = {
    uid,
    allowed: causes.length === 0,
    ...(warnings.length > 0 && { warnings: warnings.slice(0, MAX_CAUSES).map((text) => text.slice(0, MAX_WARNING)) }),
    ...(causes.length === 0 && patch.length > 0 &&
      { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") }),
  };
  const named = namedCauses(causes);
  const status = causes.length > 0 && {
    status: {
      status: "Failure",
      code: 422,
      reason: "Invalid",
      message: named.map(({ message }) => message).join("; "),
      details: {
        ...{ name, group, kind: resource },
        causes: named.map(({ field, message }) => ({
          ...{ reason: "FieldValueInvalid", field },
          message: withoutField(field, message),
        })),
      },
    },
  };
  return { apiVersion, kind: "AdmissionReview", response: { ...response, ...status } };
}

/** The answer to a review that cannot be read: nothing is admitted that nobody has looked at. */
export function unreadAnswer({ apiVersion, uid, problems }: UnreadReview) {
  const status = {
    status: "Failure",
    code: 400,
    reason: "BadRequest",
    message: shortText(problems.join("; "), MAX_MESSAGE),
  };
  return { apiVersion, kind: "AdmissionReview", response: { uid, allowed: false, status } };
}
