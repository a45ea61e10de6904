/**
 * Whether proxies get the secrets for their TLS, as far as the texts of a folder say.
 *
 * @module
 */
import { neverHolds } from "../../config/credentials/named.ts";
import type { FactStore } from "../../config/facts/store.ts";
import { absence, factOf } from "../../discovery/credentials/credentials.ts";
import { certificateOrAuthorities } from "../../discovery/credentials/envoy_secret.ts";
import { type CredentialReference, credentialReferences } from "../../discovery/credentials/reference.ts";
import type { SecretLookup, UnsentSecret } from "../../simulate/secret_types.ts";

/** Objects of a folder. */
export interface SecretTexts {
  readonly facts: Pick<FactStore, "get" | "list">;
  /** Whether an object is refused and has no version in force, by the object's key. */
  readonly isRefused: (key: string) => boolean;
  /** Whether a Gateway gives the proxies a right to read a Secret, `namespace/name`. */
  readonly isPermitted: (secret: string) => boolean;
}

/** Looks up secrets for a namespace's proxies. Their agents prove the proxies' identity. */
export function folderSecrets(texts: SecretTexts, namespace: string): SecretLookup {
  return (resource, part) => {
    const never = neverHolds({ resource, part });
    if (never !== undefined) return certain(never);
    const unsent =
      credentialReferences(resource, namespace)?.map((reference) =>
        unsentBy({ resource, reference, namespace }, texts)
      ) ?? [];
    // One usable object of several is enough.
    return unsent.every((one) => one !== undefined) ? unsent[0] : undefined;
  };
}

/** A reference of a proxy. */
interface AskedReference {
  readonly resource: string;
  readonly reference: CredentialReference;
  /** Namespace of the proxy. */
  readonly namespace: string;
}

/** Why the object of a reference is not sent; undefined: the object is sent, or nothing is known. */
function unsentBy({ resource, reference, namespace }: AskedReference, texts: SecretTexts): UnsentSecret | undefined {
  const isPermitted = reference.names.some((name) => texts.isPermitted(`${reference.namespace}/${name}`));
  if (reference.kind === "Secret" && reference.namespace !== namespace && !isPermitted) {
    return certain(`the Secret is of namespace ${reference.namespace}, the proxy's identity of ${namespace}`);
  }
  const fact = factOf(texts.facts, reference);
  if (fact === undefined) return absentIn(texts, reference);
  const message = certificateOrAuthorities(resource, fact, reference.authorities);
  if (!("why" in message)) return undefined;
  return { why: `${fact.key} ${message.why}`, isCertain: message.isFilledIn !== true };
}

/** Files seldom have all Secrets. A Secret counts as missing only if others of its namespace are known. */
function absentIn({ facts, isRefused }: SecretTexts, reference: CredentialReference): UnsentSecret {
  const { kind, namespace, names } = reference;
  const isRefusedText = names.some((name) => isRefused(`${kind}/${namespace}/${name}`));
  const isCertain = isRefusedText || facts.list(kind, namespace).length > 0;
  return {
    why: isCertain ? absence(reference, isRefused) : `no text has ${kind} ${namespace}/${names.at(-1)}`,
    isCertain,
  };
}

function certain(why: string): UnsentSecret {
  return { why, isCertain: true };
}
