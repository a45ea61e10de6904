/**
 * ReferenceGrant and BackendTLSPolicy of the Gateway API.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required } from "../../schema/field.ts";
import { limitedList, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { string } from "../../schema/scalars.ts";
import {
  choice,
  group,
  hostname,
  kindName,
  localRef,
  namespaceName,
  objectName,
  options,
  preciseHostname,
  sectionName,
} from "./common.ts";

const grantFrom = message({
  /** Group of the referring objects. */
  group: required(group, "an API group; empty: the core group"),
  /** Kind of the referring objects. */
  kind: required(kindName, "a kind"),
  /** Namespace of the referring objects. */
  namespace: required(namespaceName, "the name of a namespace"),
});

const grantTo = message({
  /** Group of the objects. */
  group: required(group, "an API group; empty: the core group"),
  /** Kind of the objects. */
  kind: required(kindName, "a kind"),
  /** Name of one object; absent: all objects of the kind. */
  name: objectName,
});

export const referenceGrant = message({
  /** Who may refer to objects of the grant's namespace. */
  from: required(limitedList(list(grantFrom), { min: 1, max: 16 }), "1 to 16 origins of references"),
  /** Which objects of the namespace. */
  to: required(limitedList(list(grantTo), { min: 1, max: 16 }), "1 to 16 targets of references"),
});

/** A ReferenceGrant of the Gateway API: permits references from other namespaces. */
export interface ReferenceGrantSpec extends Of<typeof referenceGrant> {}

const target = message({
  /** Group of the target; empty: the core group. */
  group: required(group, "an API group; empty: the core group"),
  /** Service or ServiceEntry. */
  kind: required(kindName, "a kind such as Service"),
  /** Name of the target. */
  name: required(objectName, "a name"),
  /** Name of a port; absent: all ports. */
  sectionName,
});

/** A target of a BackendTLSPolicy. */
export interface BackendTLSTarget extends Of<typeof target> {}

const alternativeName = message({
  /** Which of the two fields is used. */
  type: required(choice("Hostname", "URI"), "Hostname or URI"),
  /** Name of a host. */
  hostname,
  /** A URI such as a SPIFFE identity. */
  uri: limitedText(string(), "a URI", { min: 1, max: 253 }, /^[^:/?#]+:\/\/[^/?#]*[^?#]*(\?[^#]*)?(#.*)?/),
});

export const backendValidation = message({
  /** Objects with the authorities of the backend's certificate. */
  caCertificateRefs: limitedList(list(localRef), { max: 8 }),
  /** `System`: the authorities of the proxy's system. */
  wellKnownCACertificates: limitedText(
    string(),
    "System, or DOMAIN/NAME",
    { min: 1, max: 253 },
    /^(System|([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]))$/,
  ),
  /** Server name sent to the backend; without subjectAltNames also the name in the backend's certificate. */
  hostname: required(preciseHostname, "a host name"),
  /** Accepted names in the backend's certificate. */
  subjectAltNames: limitedList(list(alternativeName), { max: 5 }),
});

/** How the certificate of a backend is verified. */
export interface BackendValidation extends Of<typeof backendValidation> {}

export const backendTlsPolicy = message({
  /** The targets, in the namespace of the policy. */
  targetRefs: required(limitedList(list(target), { min: 1, max: 16 }), "1 to 16 targets"),
  /** How the backend's certificate is verified. */
  validation: required(backendValidation, "how the certificate is verified"),
  /** Settings of this implementation. */
  options,
});

/** A BackendTLSPolicy of the Gateway API: TLS from proxies to backends. */
export interface BackendTLSPolicySpec extends Of<typeof backendTlsPolicy> {}
