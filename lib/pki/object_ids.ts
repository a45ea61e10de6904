/**
 * Object identifiers of certificates, requests and keys, in dotted form.
 *
 * @module
 */

/** By name, from RFC 5280, 5480, 5912, 2985 and 8017. */
export const ObjectId = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  emailAddress: "1.2.840.113549.1.9.1",
  rsaEncryption: "1.2.840.113549.1.1.1",
  sha256WithRsa: "1.2.840.113549.1.1.11",
  sha384WithRsa: "1.2.840.113549.1.1.12",
  sha512WithRsa: "1.2.840.113549.1.1.13",
  ecPublicKey: "1.2.840.10045.2.1",
  p256: "1.2.840.10045.3.1.7",
  p384: "1.3.132.0.34",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  ecdsaWithSha384: "1.2.840.10045.4.3.3",
  ecdsaWithSha512: "1.2.840.10045.4.3.4",
  extensionRequest: "1.2.840.113549.1.9.14",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeNames: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  revocationListPlaces: "2.5.29.31",
  policies: "2.5.29.32",
  policyMappings: "2.5.29.33",
  authorityKeyId: "2.5.29.35",
  policyConstraints: "2.5.29.36",
  extendedKeyUsage: "2.5.29.37",
  inhibitAnyPolicy: "2.5.29.54",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;
