/**
 * Findings about the authority, for the pages.
 *
 * @module
 */
import type { SigningAuthority } from "../../authority/authority.ts";
import { type Finding, findingOf } from "../../finding/finding.ts";

/**
 * The finding about an authority that must not sign now. The list is empty when signing is allowed, or when the server
 * has no authority.
 */
export function authorityFindings(authority: Pick<SigningAuthority, "fault"> | undefined): Finding[] {
  const message = authority?.fault();
  if (message === undefined) return [];
  return [
    findingOf("authority-not-valid", {
      ...{ severity: "error", message },
      place: { objects: [], field: "", line: 0 },
    }),
  ];
}
