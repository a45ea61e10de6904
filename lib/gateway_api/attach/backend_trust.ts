/**
 * The authorities that verify backends.
 *
 * @module
 */
import type { BackendValidation } from "../../config/kinds/kinds.ts";
import { authoritiesOf, type CredentialRefusal } from "./credentials.ts";
import type { AttachReader, AuthorityObject, BackendTlsView, ConditionVerdict } from "./types.ts";
import { ALL_RESOLVED, fails, joined } from "./verdicts.ts";

/** The authorities that verify a backend, with their verdicts. */
export interface BackendTrust {
  readonly authorities: BackendTlsView["authorities"];
  readonly resolvedRefs: ConditionVerdict;
  /** Present: backends cannot be verified. */
  readonly refusal?: ConditionVerdict;
}

/**
 * Judges the authorities of a backend. Status and derivation both ask here: a status must not refuse authorities with which
 * proxies connect.
 *
 * @param at Path of the validation in the spec.
 */
export function backendTrust(
  namespace: string,
  validation: BackendValidation,
  read: AttachReader,
  at = "validation",
): BackendTrust {
  const { wellKnownCACertificates: wellKnown, caCertificateRefs: refs = [] } = validation;
  if (refs.length === 0) {
    if (wellKnown === "System") return { authorities: "system", resolvedRefs: ALL_RESOLVED };
    const message = wellKnown === undefined
      ? `${at}, expected caCertificateRefs or wellKnownCACertificates`
      : `${at}.wellKnownCACertificates: "${wellKnown}", expected System`;
    return { authorities: [], resolvedRefs: ALL_RESOLVED, refusal: fails("Invalid", message) };
  }
  const judged = refs.map((ref) =>
    ref.group === "" && ref.kind === "ConfigMap"
      ? authoritiesOf(ref, { kind: "Gateway", namespace }, read)
      // All clients of the mesh need the authorities, and sidecars may not read Secrets.
      : { because: "kind", message: `${ref.kind} ${ref.name}, expected a ConfigMap` } as const
  );
  const authorities = judged.flatMap(({ found }): AuthorityObject[] => found ? [found] : []);
  const refusals = judged.flatMap((one) => one.found ? [] : [one]);
  const message = joined(refusals.map((one) => `${at}.caCertificateRefs: ${one.message}`));
  return {
    authorities,
    resolvedRefs: refusals[0] === undefined ? ALL_RESOLVED : fails(reasonOf(refusals[0]), message),
    ...(authorities.length === 0 && { refusal: fails("NoValidCACertificate", message) }),
  };
}

function reasonOf({ because }: CredentialRefusal): string {
  return because === "kind" ? "InvalidKind" : "InvalidCACertificateRef";
}
