/**
 * What is wrong with the authority, for the pages.
 *
 * @module
 */
import type { SigningAuthority } from "../../authority/authority.ts";
import { type Finding, findingOf } from "../../finding/finding.ts";

/** The finding about an authority that must not sign now; none where it may, or where the server has no authority. */
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
