/**
 * TLS to a backend whose certificate is verified.
 *
 * @module
 */
import { joinedNames } from "../../config/credentials/named.ts";
import type { DerivationReader } from "../../config/derive/derivation.ts";
import type { BackendTls } from "../../config/kinds/destination_rule/internal.ts";
import type { BackendValidation } from "../../config/kinds/kinds.ts";
import { backendTrust } from "../attach/backend_trust.ts";
import { credentialName } from "./listener_gateway.ts";

/**
 * TLS with a verified certificate. Without a usable authority the backend is closed.
 *
 * @param namespace Namespace of the authorities.
 * @param owner The object with the validation, in words.
 */
export function verifiedTls(
  namespace: string,
  validation: BackendValidation,
  owner: string,
  read: DerivationReader,
): BackendTls {
  const { hostname, subjectAltNames = [] } = validation;
  const names = subjectAltNames.flatMap((one) => (one.type === "URI" ? one.uri : one.hostname) ?? []);
  const checked = { sni: hostname, subjectAltNames: names.length > 0 ? names : [hostname] };
  const { authorities } = backendTrust(namespace, validation, read);
  if (authorities === "system") return checked;
  const credentials = new Set(authorities.map(credentialName));
  if (credentials.size > 0) return { ...checked, authorities: joinedNames([...credentials]) };
  return { ...checked, closed: `${owner} has no usable authority` };
}
