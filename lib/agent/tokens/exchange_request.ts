/**
 * Requests for an exchange of tokens (RFC 8693, 2.1), and their refusals (RFC 6749, 5.2; RFC 8693, 2.2.2).
 *
 * @module
 */

/** A valid request. */
export interface ExchangeRequest {
  /** JSON Web Token of the workload. Access is requested for this workload. */
  readonly subjectToken: string;
  /** The scopes of the issued token; empty: the provider's default. */
  readonly scopes: readonly string[];
}

/** Codes of refusals. The last code is RFC 6749's word (4.1.2.1) for a server that cannot answer now. */
export type ExchangeErrorCode =
  | "invalid_request"
  | "unsupported_grant_type"
  | "invalid_scope"
  | "invalid_target"
  | "temporarily_unavailable";

/** A refusal: the code for programs, the message for people. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
  constructor(readonly code: ExchangeErrorCode, message: string) {
    super(message);
  }
}

const FORM = "application/x-www-form-urlencoded";
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
/** Type of issued tokens. */
export const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

/**
 * These parameters may be given several times (RFC 8693, 2.1). The provider decides which services accept its tokens.
 */
const REPEATED = ["resource", "audience"];

/**
 * Reads a request.
 * @param contentType The header of this name. Empty: none.
 * @throws {ExchangeError} With the parameter, the value and the expectation.
 */
export function readExchangeRequest(contentType: string, body: string): ExchangeRequest {
  if (contentType.split(";")[0]!.trim().toLowerCase() !== FORM) {
    throw new ExchangeError("invalid_request", `content-type: got ${contentType || "none"}, expected ${FORM}`);
  }
  const form = new URLSearchParams(body);
  const twice = [...new Set(form.keys())].find((name) => !REPEATED.includes(name) && form.getAll(name).length > 1);
  if (twice !== undefined) throw new ExchangeError("invalid_request", `${twice}: given more than once`);
  const grant = form.get("grant_type") ?? "";
  if (grant !== GRANT) {
    const code = grant === "" ? "invalid_request" : "unsupported_grant_type";
    throw new ExchangeError(code, `grant_type: got ${grant || "none"}, expected ${GRANT}`);
  }
  expectText(form, "subject_token_type", [JWT]);
  if (form.has("requested_token_type")) expectText(form, "requested_token_type", [ACCESS_TOKEN]);
  // A token for the subject alone must not be taken for a token of an actor on the subject's behalf.
  if (form.has("actor_token")) throw new ExchangeError("invalid_request", "actor_token: no provider takes one");
  const subjectToken = form.get("subject_token") ?? "";
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(subjectToken)) {
    throw new ExchangeError("invalid_request", "subject_token: expected a JSON Web Token");
  }
  return { subjectToken, scopes: scopesOf(form.get("scope") ?? "") };
}

function expectText(form: URLSearchParams, name: string, expected: readonly string[]): void {
  const value = form.get(name) ?? "";
  if (expected.includes(value)) return;
  throw new ExchangeError("invalid_request", `${name}: got ${value || "none"}, expected ${expected.join(" or ")}`);
}

/** RFC 6749, 3.3: words of visible characters without quote and backslash. */
function scopesOf(text: string): string[] {
  const scopes = text.split(" ").filter((scope) => scope !== "");
  const wrong = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (wrong !== undefined) throw new ExchangeError("invalid_scope", `scope: got ${wrong}, expected words of ASCII`);
  return scopes;
}
