/**
 * Findings about keys of token issuers.
 *
 * @module
 */
import { type Finding, findingOf } from "../../../finding/finding.ts";
import type { KeyPlaceUse } from "./places.ts";
import type { KeyFailure, TokenKeyResolver } from "./resolver.ts";

/**
 * The findings about keys of issuers, one for each rule.
 *
 * @param isService Whether an address of keys is a service of the mesh. Proxies fetch keys from services themselves.
 */
export function* tokenKeyFindings(
  resolver: Pick<TokenKeyResolver, "failures" | "usesElsewhere">,
  proxiesFetch: boolean,
  isService: (uri: string) => boolean,
): Iterable<Finding> {
  for (const failure of resolver.failures()) {
    for (const use of failure.uses) {
      const isUri = use.field.endsWith(".jwksUri");
      if (!(proxiesFetch && isUri && isService(use.value))) yield failedFinding(failure, use);
    }
  }
  for (const use of resolver.usesElsewhere()) if (!isService(use.value)) yield unreachableFinding(use);
}

function failedFinding({ reason, hasKeys }: KeyFailure, use: KeyPlaceUse): Finding {
  const effect = hasKeys ? "the keys fetched before stay in force" : "every token of this issuer is refused";
  const message = `${use.field}: the keys of issuer ${
    JSON.stringify(use.issuer)
  } cannot be fetched: ${reason}; ${effect}`;
  return findingOf("keys-not-fetched", { severity: hasKeys ? "warning" : "error", ...about(use), message });
}

function unreachableFinding(use: KeyPlaceUse): Finding {
  const expected = "a service of the mesh, from which proxies fetch keys (PILOT_JWT_ENABLE_REMOTE_JWKS is proxy)";
  const message = `${use.field}: ${JSON.stringify(use.value)}, expected ${expected}; every token of issuer ` +
    `${JSON.stringify(use.issuer)} is refused`;
  return findingOf("keys-not-fetched", { severity: "error", ...about(use), expected, message });
}

function about({ object: { kind, meta }, field, value }: KeyPlaceUse) {
  const objects = [{ kind, namespace: meta.namespace, name: meta.name }];
  return { place: { objects, field, line: 0 }, value: JSON.stringify(value) };
}
