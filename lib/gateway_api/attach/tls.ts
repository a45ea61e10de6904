/**
 * TLS of a listener: its certificates, and how clients are verified.
 *
 * @module
 */
import type { ApiGatewaySpec, ApiListener, FrontendValidation } from "../../config/kinds/kinds.ts";
import { ownKey, VALUE_SPELLINGS } from "../../config/spelling/spelling.ts";
import { authoritiesOf, certificateOf, type CredentialRefusal, hasAuthorities } from "./credentials.ts";
import type { ReferenceOrigin } from "./grants.ts";
import { endsTls } from "./protocols.ts";
import type {
  AttachReader,
  AuthorityObject,
  ClientMode,
  ConditionVerdict,
  ListenerTlsView,
  NamespacedName,
} from "./types.ts";
import { fails, joined } from "./verdicts.ts";

/** TLS of a listener with its faults. */
export interface JudgedTls {
  readonly tls: ListenerTlsView;
  /** Present: a reference cannot be used. The listener may still serve with its other references. */
  readonly refs?: ConditionVerdict;
  /** Present: no usable authority of clients. The listener must not serve. */
  readonly accepted?: ConditionVerdict;
  /** Present: the listener cannot serve. */
  readonly programmed?: ConditionVerdict;
}

/** The Gateway and the owner of a listener, as origins of references. */
export interface ListenerTlsContext {
  /** The origin of references to certificates: the Gateway or the ListenerSet. */
  readonly owner: ReferenceOrigin;
  /** The origin of references to authorities of clients. */
  readonly gateway: ReferenceOrigin;
  readonly spec: ApiGatewaySpec;
  readonly read: AttachReader;
}

const PASSTHROUGH: ListenerTlsView = {
  mode: "Passthrough",
  ...{ certificateFrom: "none", certificates: [], clients: "none", authorities: [], cipherSuites: [] },
};

/** Most certificates of a listener: one with an RSA key, one with an ECDSA key. */
const MOST_CERTIFICATES = 2;

/** TLS of a listener; undefined: the listener is in plain text. */
export function tlsOf(listener: ApiListener, context: ListenerTlsContext): JudgedTls | undefined {
  if (!endsTls(listener)) return listener.protocol === "TLS" ? { tls: PASSTHROUGH } : undefined;
  const { mode: written, cipherSuites } = tlsOptions(listener);
  const frontend = listener.protocol === "HTTPS" ? validationOf(listener, context.spec) : undefined;
  // A mode of a listener's own options has precedence over the Gateway's settings. The author of a ListenerSet may be
  // somebody else, who does not decide which clients reach the Gateway.
  const mode = frontend !== undefined && context.owner.kind === "ListenerSet" ? "simple" : written;
  const own = ownCertificates(listener, mode, context);
  const clients: JudgedClients = mode === "simple" && frontend !== undefined
    ? frontendClients(frontend, context)
    : { clients: CLIENTS[mode], authorities: [], refusals: [] };
  const refusals = [...own.refusals, ...clients.refusals];
  const [first] = refusals;
  return {
    tls: {
      mode: "Terminate",
      ...{ certificateFrom: own.from, certificates: own.certificates, cipherSuites },
      ...{ clients: clients.clients, authorities: clients.authorities },
    },
    ...(first && { refs: fails(first.reason, joined(refusals.map(({ message }) => message))) }),
    ...(clients.accepted && { accepted: clients.accepted }),
    ...(own.from === "none" && { programmed: fails("Invalid", `no certificate can be used: ${first?.message ?? ""}`) }),
  };
}

/** How a listener's options end TLS. */
type TerminateMode = "simple" | "mutual" | "optional" | "mesh" | "mesh-simple";

const CLIENTS: Readonly<Record<TerminateMode, ClientMode>> = {
  simple: "none",
  mutual: "required",
  optional: "optional",
  mesh: "required",
  "mesh-simple": "none",
};

const MODES: Readonly<Record<string, TerminateMode>> = {
  SIMPLE: "simple",
  MUTUAL: "mutual",
  OPTIONAL_MUTUAL: "optional",
  MESH_MUTUAL: "mesh",
  MESH_SIMPLE: "mesh-simple",
  ISTIO_SIMPLE: "mesh-simple",
};

/** The settings of a listener's options. Unknown options belong to other implementations. */
function tlsOptions({ tls }: ApiListener): { mode: TerminateMode; cipherSuites: readonly string[] } {
  const options = new Map(Object.entries(tls?.options ?? {}).map(([key, value]) => [ownKey(key), value]));
  const written = options.get("gateway.mesh.io/tls-terminate-mode") ?? "";
  const mode = MODES[VALUE_SPELLINGS[written] ?? written];
  const suites = options.get("gateway.mesh.io/tls-cipher-suites") ?? "";
  const cipherSuites = suites.split(",").map((one) => one.trim()).filter((one) => one !== "");
  return { mode: mode ?? "simple", cipherSuites };
}

/** Whether the server names of connections at a listener say where the connections go (traffic between networks). */
export function isAutoPassthrough(
  { tls, port }: ApiListener,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (tls === undefined) return false;
  const wanted = Object.entries(tls.options ?? {}).some(([key, value]) =>
    ownKey(key) === "gateway.mesh.io/listener-protocol" && value === "auto-passthrough"
  );
  if (wanted) return true;
  const gatewayPort = labels["networking.mesh.io/gatewayPort"] ?? "15443";
  return labels["topology.mesh.io/network"] !== undefined && `${port}` === gatewayPort;
}

/** A reference that cannot be used, as conditions say it. */
interface RefusedReference {
  readonly reason: string;
  readonly message: string;
}

interface OwnCertificates {
  readonly from: ListenerTlsView["certificateFrom"];
  readonly certificates: readonly NamespacedName[];
  readonly refusals: readonly RefusedReference[];
}

/** The certificates of a listener. References that cannot be used are left out. */
function ownCertificates(
  { tls }: ApiListener,
  mode: TerminateMode,
  { owner, read }: ListenerTlsContext,
): OwnCertificates {
  if (mode === "mesh" || mode === "mesh-simple") return { from: "mesh", certificates: [], refusals: [] };
  const refs = tls?.certificateRefs ?? [];
  const nothing = (message: string): OwnCertificates => ({
    ...{ from: "none", certificates: [] },
    refusals: [{ reason: "InvalidCertificateRef", message }],
  });
  if (refs.length === 0) {
    return nothing("tls.certificateRefs, expected a Secret with a certificate, because the listener ends TLS");
  }
  if (refs.length > MOST_CERTIFICATES) {
    const expected = `at most ${MOST_CERTIFICATES}, an RSA and an ECDSA certificate`;
    return nothing(`tls.certificateRefs: ${refs.length} references, expected ${expected}`);
  }
  const judged = refs.map((ref) => certificateOf(ref, owner, read));
  const certificates = judged.flatMap(({ found }) => found ? [found] : []);
  const refusals = judged.flatMap((one, at) => one.found ? [] : [certificateRefusal(one, at)]);
  const needsAuthorities = mode === "mutual" || mode === "optional";
  const [first] = certificates;
  if (needsAuthorities && first !== undefined && !hasAuthorities(first, read)) {
    const { namespace, name } = first;
    const places = `Secret ${namespace}/${name} or in Secret ${namespace}/${name}-cacert`;
    return nothing(`tls.certificateRefs[0]: expected authorities of clients (ca.crt) in ${places}`);
  }
  return { from: first === undefined ? "none" : "secrets", certificates, refusals };
}

function certificateRefusal({ because, message }: CredentialRefusal, at: number): RefusedReference {
  const reason = because === "permission" ? "RefNotPermitted" : "InvalidCertificateRef";
  return { reason, message: `tls.certificateRefs[${at}]: ${message}` };
}

/** How clients of a listener's port are verified; undefined: not at all. */
function validationOf({ port }: ApiListener, { tls }: ApiGatewaySpec): FrontendValidation | undefined {
  const ofPort = tls?.frontend?.perPort?.find((one) => one.port === port);
  return (ofPort === undefined ? tls?.frontend?.default : ofPort.tls)?.validation;
}

/** How clients are verified, with the faults of the authorities. */
interface JudgedClients {
  readonly clients: ClientMode;
  readonly authorities: readonly AuthorityObject[];
  readonly refusals: readonly RefusedReference[];
  /** Present: no authority is usable. */
  readonly accepted?: ConditionVerdict;
}

/** How the Gateway's `tls.frontend` verifies clients. Without a usable authority the listener is refused. */
function frontendClients(
  { caCertificateRefs, mode }: FrontendValidation,
  { gateway, read }: ListenerTlsContext,
): JudgedClients {
  const judged = caCertificateRefs.map((ref) => authoritiesOf(ref, gateway, read));
  const authorities = judged.flatMap(({ found }) => found ? [found] : []);
  const refusals = judged.flatMap((one) => one.found ? [] : [authorityRefusal(one)]);
  const message = joined(refusals.map((one) => one.message));
  return {
    clients: mode === "AllowInsecureFallback" ? "unverified" : "required",
    ...{ authorities, refusals },
    ...(authorities.length === 0 && { accepted: fails("NoValidCACertificate", message) }),
  };
}

function authorityRefusal({ because, message }: CredentialRefusal): RefusedReference {
  const reason = because === "permission"
    ? "RefNotPermitted"
    : because === "kind"
    ? "InvalidCACertificateKind"
    : "InvalidCACertificateRef";
  return { reason, message: `tls.frontend of the Gateway: ${message}` };
}
