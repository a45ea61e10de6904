/**
 * Secrets and ConfigMaps of an orchestrator as secrets of Envoy.
 *
 *     tls.crt, tls.key, tls.ocsp-staple | cert, key    a certificate with its key
 *     ca.crt, ca.crl | cacert, crl                     authorities, and their revoked certificates
 *     .dockerconfigjson                                credentials for registries of images
 *
 * @module
 */
import { judgeCredential, judgeStaple, judgeTrust, publicPart } from "../../config/facts/credential.ts";
import { ConcealedBytes } from "../../config/facts/concealed.ts";
import type { AnyFact } from "../../config/facts/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";

type EnvoySecret = envoy.extensions.transport_sockets.tls.v3.Secret;

/** The message, or why there is none (follows the object's name in a sentence). */
export type CredentialMessage =
  | { readonly secret: EnvoySecret }
  /** `isFilledIn`: a placeholder stands for the contents, so nothing is known about the contents. */
  | { readonly why: string; readonly isFilledIn?: true };

const FILLED_IN: CredentialMessage = { why: "holds placeholders for contents", isFilledIn: true };

/** The Envoy secret of an object: the authorities, or the certificate and its key. */
export function certificateOrAuthorities(name: string, fact: AnyFact, authorities: boolean): CredentialMessage {
  return authorities ? authoritiesSecret(name, fact) : certificateSecret(name, fact);
}

/** The certificate and key of an object, under the name of the resource. */
export function certificateSecret(name: string, fact: AnyFact): CredentialMessage {
  if (fact.kind !== "Secret") return { why: "holds no keys" };
  const { data } = fact.spec;
  const [chain, key] = data["tls.crt"] && data["tls.key"]
    ? [data["tls.crt"], data["tls.key"]]
    : [data["cert"], data["key"]];
  if (!chain?.length || !key?.length) return { why: "has neither tls.crt with tls.key nor cert with key" };
  const verdict = judgeCredential(chain, key);
  if (verdict === undefined) return FILLED_IN;
  if (verdict.problem !== undefined) {
    return { why: `cannot be used: its ${verdict.problem === "certificate" ? "certificate" : "key"} ${verdict.why}` };
  }
  const staple = data["tls.ocsp-staple"];
  return {
    secret: {
      name,
      tls_certificate: {
        certificate_chain: { inline_bytes: publicPart(chain.reveal()) },
        private_key: inline(key),
        // Envoy refuses a whole certificate when its OCSP answer is about another certificate. Without an answer Envoy
        // serves the certificate.
        ...(staple?.length && judgeStaple(chain, staple) ? { ocsp_staple: inline(staple) } : {}),
      },
    },
  };
}

/** The authorities of an object, under the name of the resource. */
export function authoritiesSecret(name: string, fact: AnyFact): CredentialMessage {
  const { authorities, revoked } = authoritiesOf(fact);
  if (!authorities?.length) return { why: "has neither ca.crt nor cacert" };
  const verdict = judgeTrust(new ConcealedBytes(authorities), revoked && new ConcealedBytes(revoked));
  if (verdict === undefined) return FILLED_IN;
  if (verdict.problem !== undefined) {
    const part = verdict.problem === "lists" ? "list of revoked certificates" : "text of authorities";
    return { why: `cannot be used: its ${part} ${verdict.why}` };
  }
  return {
    secret: {
      name,
      validation_context: {
        trusted_ca: { inline_bytes: publicPart(authorities) },
        ...(revoked?.length ? { crl: { inline_bytes: revoked } } : {}),
      },
    },
  };
}

/**
 * The authorities of several objects together, under the name of the resource. Objects without usable authorities are
 * left out. If an object has a list of revoked certificates, Envoy wants such a list for every authority.
 *
 * @param messages Never empty.
 */
export function togetherMessage(name: string, messages: readonly CredentialMessage[]): CredentialMessage {
  const contexts = messages.flatMap((one) => "why" in one ? [] : [one.secret.validation_context ?? {}]);
  const [first] = messages;
  if (contexts.length === 0 && first !== undefined) return first;
  const revoked = contexts.flatMap(({ crl }) => crl ?? []);
  return {
    secret: {
      name,
      validation_context: {
        trusted_ca: together(contexts.flatMap(({ trusted_ca }) => trusted_ca ?? [])),
        ...(revoked.length > 0 ? { crl: together(revoked) } : {}),
      },
    },
  };
}

/** PEM texts as one text. */
function together(sources: readonly envoy.config.core.v3.DataSource[]): envoy.config.core.v3.DataSource {
  const texts = sources.map(({ inline_bytes }) => new TextDecoder().decode(inline_bytes as Uint8Array));
  return { inline_bytes: encoder.encode(texts.join("\n")) };
}

/** Credentials for registries of an object of type `kubernetes.io/dockerconfigjson`, under the name of the resource. */
export function registrySecret(name: string, fact: AnyFact): CredentialMessage {
  if (fact.kind !== "Secret" || fact.spec.type !== "kubernetes.io/dockerconfigjson") {
    return { why: "is not of type kubernetes.io/dockerconfigjson" };
  }
  const bytes = fact.spec.data[".dockerconfigjson"];
  if (!bytes?.length) return { why: "has no .dockerconfigjson" };
  return { secret: { name, generic_secret: { secret: inline(bytes) } } };
}

function authoritiesOf(fact: AnyFact): { readonly authorities?: Uint8Array; readonly revoked?: Uint8Array } {
  const part = (authorities: Uint8Array | undefined, revoked: Uint8Array | undefined) => ({
    ...(authorities ? { authorities } : {}),
    ...(revoked ? { revoked } : {}),
  });
  if (fact.kind === "ConfigMap") {
    const { data, binaryData } = fact.spec;
    const bytes = (key: string) => binaryData[key] ?? (data[key] === undefined ? undefined : encoder.encode(data[key]));
    return bytes("ca.crt") ? part(bytes("ca.crt"), bytes("ca.crl")) : part(bytes("cacert"), bytes("crl"));
  }
  if (fact.kind !== "Secret") return {};
  const { data } = fact.spec;
  return data["ca.crt"]
    ? part(data["ca.crt"].reveal(), data["ca.crl"]?.reveal())
    : part(data["cacert"]?.reveal(), data["crl"]?.reveal());
}

const encoder = new TextEncoder();

function inline(bytes: ConcealedBytes): envoy.config.core.v3.DataSource {
  return { inline_bytes: bytes.reveal() };
}
