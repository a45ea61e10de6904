/**
 * The accepted audiences of tokens.
 *
 * @module
 */
import { commaList } from "../kernel/text/comma_list.ts";

/** This project's name of the certificate authority, and Istio's. Each name stands for both (docs/decisions/0025). */
const AUTHORITY_AUDIENCES = ["mesh-ca", "istio-ca"];

/** Reads a comma-separated list of audiences. One of the authority's two names stands for both names. */
export function tokenAudiences(text: string): string[] {
  const named = commaList(text);
  const both = named.some((one) => AUTHORITY_AUDIENCES.includes(one)) ? AUTHORITY_AUDIENCES : [];
  return [...new Set([...named, ...both])];
}
