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

/** Version of the answer to a review without a readable version. */
const ADMISSION = "admission.k8s.io/v1";

/** The API sends the version in the webhook's configuration. */
const VERSIONS = [ADMISSION, "admission.k8s.io/v1beta1"] as const;

/** Longest name of the API, in characters: `uid`, names of objects and of namespaces. */
const MAX_WORD = 253;

const word = z.string({ error: "a text" }).max(MAX_WORD, { error: `a text of at most ${MAX_WORD} characters` });
/** Null counts as an absent field. */
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

/** The fields that an answer needs from a review with other unreadable fields. */
const headSchema = z.object({
  apiVersion: z.enum(VERSIONS).optional().catch(undefined),
  request: z.object({ uid: word }).optional().catch(undefined),
});

/**
 * A request of the API. `object` is the new version, `oldObject` the stored version; null: there is no such version.
 */
export type AdmissionRequest = z.infer<typeof reviewSchema>["request"];

/** A review, or the reasons why the review cannot be read. */
export type ReadReview =
  | { readonly apiVersion: string; readonly request: AdmissionRequest }
  | UnreadReview;

/** An unreadable review, with its readable fields: an answer must have the `uid` of the request. */
export interface UnreadReview {
  readonly problems: readonly string[];
  readonly apiVersion: string;
  readonly uid: string;
}

/** Reads a review, and reports all problems of its form at once. */
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

/** One problem of an object. */
export interface AdmissionCause {
  /** Path from the object; empty: the object as a whole. */
  readonly field: string;
  readonly message: string;
}

export interface AdmissionAnswer {
  /** None: the object is admitted. */
  readonly causes: readonly AdmissionCause[];
  /** Lines for the user, whether the object is admitted or refused. */
  readonly warnings: readonly string[];
  /** The changes of an admitted object, as operations of a JSON patch (RFC 6902). Default: no changes. */
  readonly patch?: readonly object[];
}

/** Most characters of a warning that clients show (the API server cuts RFC 7234 header lines beyond 256 characters). */
const MAX_WARNING = 256;

/**
 * Most causes in an answer, most characters of a cause, and of all causes together: a client chooses the texts in
 * causes.
 */
const MAX_CAUSES = 100;
const MAX_CAUSE = 1000;
const MAX_MESSAGE = 16_000;

/** The causes in an answer, shortened. The last cause gives the number of omitted causes. */
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

/** Cuts a text to a number of characters. A cut text ends with its full length. */
export function shortText(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}... (${text.length} characters)`;
}

/** A cause's message without the field at its start, because clients print the field before the message. */
function withoutField(field: string, message: string): string {
  return field !== "" && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
}

/** The answer in the API's form: `kubectl` prints one line per cause. */
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

/** The answer to an unreadable review. An object that nobody has checked is refused. */
export function unreadAnswer({ apiVersion, uid, problems }: UnreadReview) {
  const status = {
    status: "Failure",
    code: 400,
    reason: "BadRequest",
    message: shortText(problems.join("; "), MAX_MESSAGE),
  };
  return { apiVersion, kind: "AdmissionReview", response: { uid, allowed: false, status } };
}
