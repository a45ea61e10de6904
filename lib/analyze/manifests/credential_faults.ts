/**
 * Faults in the contents of a Secret or ConfigMap used by configuration as a credential.
 *
 * @module
 */
import { ConcealedBytes } from "../../config/facts/concealed.ts";
import { judgeCredential, judgeStaple, judgeTrust } from "../../config/facts/credential.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** A fault, as a demand that the secret does not meet. */
export interface CredentialFault {
  readonly finding: "incomplete-credential" | "unusable-credential";
  readonly severity: "error" | "warning";
  /** Follows `a Secret ` or `a ConfigMap `. */
  readonly wanted: string;
  /** Key of the faulty text in the data; absent: the keys themselves are the fault. */
  readonly key?: string;
  /** The actual content. The text follows the name of the secret, or the key and the name. */
  readonly has: string;
}

/** Names of the keys of a certificate and of its private key, in pairs. */
const PAIRS = [["tls.crt", "tls.key"], ["cert", "key"]] as const;
/** Names of the keys of authorities and of their revocation lists, in pairs. */
const AUTHORITIES = [["ca.crt", "ca.crl"], ["cacert", "crl"]] as const;
const STAPLE = "tls.ocsp-staple";

/** The fault in a secret's certificate and key; undefined: no fault, or a placeholder for text from elsewhere. */
export function pairFault({ spec: { data } }: Fact<"Secret">, read: AnalysisReader): CredentialFault | undefined {
  const pair = PAIRS.find((each) => each.every((key) => Object.hasOwn(data, key)));
  if (pair === undefined) {
    const begun = PAIRS.find((each) => each.some((key) => Object.hasOwn(data, key))) ?? PAIRS[0];
    return missing(begun.filter((key) => !Object.hasOwn(data, key)).join(" and "), data);
  }
  const [certificate, key] = pair;
  const verdict = judgeCredential(data[certificate]!, data[key]!);
  if (verdict === undefined) return undefined;
  switch (verdict.problem) {
    case "certificate":
      return unusable(certificate, `whose ${certificate} is a certificate in PEM form that Envoy takes`, verdict.why);
    case "key":
      return unusable(key, `whose ${key} is a private key in PEM form that Envoy takes`, verdict.why);
    case "pair":
      return unusable(key, `whose ${key} is the key of ${certificate}`, verdict.why);
    case undefined: {
      const staple = data[STAPLE];
      return timeFault(certificate, verdict, read) ??
        (!staple?.length || judgeStaple(data[certificate]!, staple) ? undefined : {
          ...unusable(
            STAPLE,
            `whose ${STAPLE} is an OCSP response about ${certificate}`,
            "is another text, and is not sent",
          ),
          severity: "warning",
        });
    }
  }
}

/**
 * The fault in the authorities of a Secret or ConfigMap; undefined: no fault, or a placeholder for text from elsewhere.
 */
export function trustFault(
  holder: Fact<"Secret"> | Fact<"ConfigMap">,
  read: AnalysisReader,
): CredentialFault | undefined {
  const data = holder.kind === "Secret" ? holder.spec.data : bytesOf(holder.spec);
  const names = AUTHORITIES.find(([key]) => Object.hasOwn(data, key));
  if (names === undefined) return missing(AUTHORITIES[0][0], data);
  const [key, list] = names;
  const verdict = judgeTrust(data[key]!, data[list]);
  if (verdict === undefined) return undefined;
  if (verdict.problem === "authorities") {
    return unusable(key, `whose ${key} has certificates in PEM form that Envoy takes`, verdict.why);
  }
  if (verdict.problem !== undefined) {
    return unusable(list, `whose ${list} has a revocation list of each authority of ${key}`, verdict.why);
  }
  const late = timeFault(key, verdict.authorities, read) ?? (verdict.lists && timeFault(list, verdict.lists, read));
  if (late !== undefined) return late;
  if (verdict.passedOver !== undefined) {
    const wanted = `whose ${key} has certificates in PEM form that Envoy takes`;
    return { ...unusable(key, wanted, verdict.passedOver), severity: "warning" };
  }
  const [first] = verdict.without;
  if (first === undefined) return undefined;
  const why = `has no list of ${JSON.stringify(first)}: clients with certificates of that authority are refused`;
  return {
    ...unusable(list, `whose ${list} has a revocation list of each authority of ${key}`, why),
    severity: "warning",
  };
}

/** The texts of a ConfigMap in the form of a Secret's data. */
function bytesOf({ data, binaryData }: Fact<"ConfigMap">["spec"]): Fact<"Secret">["spec"]["data"] {
  const encoder = new TextEncoder();
  return Object.fromEntries([
    ...Object.entries(data).map(([key, text]) => [key, new ConcealedBytes(encoder.encode(text))] as const),
    ...Object.entries(binaryData).map(([key, bytes]) => [key, new ConcealedBytes(bytes)] as const),
  ]);
}

/** The type of the key of a secret's certificate; undefined: the certificate is unusable, or has another type. */
export function keyTypeOf({ spec: { data } }: Fact<"Secret">): "rsa" | "ec" | undefined {
  const pair = PAIRS.find((each) => each.every((key) => Object.hasOwn(data, key)));
  const verdict = pair && judgeCredential(data[pair[0]]!, data[pair[1]]!);
  return verdict?.problem === undefined ? verdict?.keyType : undefined;
}

function missing(keys: string, data: Fact<"Secret">["spec"]["data"]): CredentialFault {
  const has = Object.keys(data).sort().join(", ") || "no key";
  return { finding: "incomplete-credential", severity: "error", wanted: `with ${keys}`, has: `has ${has}` };
}

function unusable(key: string, wanted: string, why: string): CredentialFault {
  return { finding: "unusable-credential", severity: "error", wanted, key, has: why };
}

function timeFault(
  key: string,
  { validFrom, validUntil }: { readonly validFrom: number; readonly validUntil: number },
  read: AnalysisReader,
): CredentialFault | undefined {
  const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  const wanted = `whose ${key} is valid now`;
  if (!read.hasCome(validFrom)) return unusable(key, wanted, `begins on ${day(validFrom)}`);
  // A certificate is valid until the end of its last second.
  if (validUntil === Infinity || !read.hasCome(validUntil + 1000)) return undefined;
  return unusable(key, wanted, `ended on ${day(validUntil)}`);
}
