/**
 * The states of a relay between one proxy and one server, as a pure function of state and event.
 *
 *     no downstream ── it opens ──> dialing ── connected ──> open ── first response ──> answered
 *          ^                          ^  │                    │                            │
 *          │                 in a while  failed               ended                        ended
 *          │                          │  v                    │                            │
 *          │                          waiting <───────────────┘                            │
 *          └── downstream ends (also because another one came) <──────────────────────────┘
 *
 * Until the first response all requests are kept, and said again to the next connection: nothing was answered, so the
 * server has seen nothing of which the proxy knows more. Afterwards the proxy's own stream is ended; the proxy opens
 * another one and says itself which versions it has.
 *
 * @module
 */
import { Code } from "../../grpc/codes.ts";
import type { WorkloadReport } from "../health/health_state.ts";
import {
  acceptedVersions,
  answerRequest,
  firstRequest,
  healthRequest,
  isRejection,
  NO_VERSIONS,
  type OwnResponse,
  type OwnVersions,
  type RejectedResponse,
  rejectRequest,
  type RelayVariant,
  requestNonce,
  requestType,
  responseType,
} from "./messages.ts";

/** An event of a relay. Streams and connections have numbers. Events of ended streams and connections are ignored. */
export type RelayEvent =
  | { readonly type: "downstream opened"; readonly stream: number; readonly variant: RelayVariant }
  | { readonly type: "downstream message"; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly type: "downstream closed"; readonly stream: number }
  | { readonly type: "upstream opened"; readonly connection: number }
  | { readonly type: "upstream message"; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly type: "upstream closed"; readonly connection: number; readonly reason: string }
  | { readonly type: "time to dial"; readonly connection: number }
  /** The agent has processed a response. With an error, the response is rejected. */
  | {
    readonly type: "worked off";
    readonly connection: number;
    readonly response: OwnResponse;
    readonly error?: string;
  }
  /** A response is in the form for the proxy. */
  | { readonly type: "rewritten"; readonly connection: number; readonly bytes: Uint8Array }
  /** A part of a response is not in force. The server hears the reason after the proxy's answer. */
  | { readonly type: "refused"; readonly connection: number } & RejectedResponse
  /** The health of the workload has changed. The report holds until the next report. */
  | { readonly type: "health"; readonly report: WorkloadReport }
  | { readonly type: "stop" };

/** An action that an event asks for. */
export type RelayEffect =
  | { readonly type: "dial"; readonly connection: number; readonly variant: RelayVariant }
  /** After a time that grows with the failures in a row. */
  | { readonly type: "dial later"; readonly connection: number; readonly failures: number }
  | { readonly type: "send up"; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly type: "close upstream"; readonly connection: number }
  | { readonly type: "send down"; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly type: "close downstream"; readonly stream: number; readonly code: Code; readonly reason: string }
  /** A response for the agent, and a response that is rewritten for the proxy. */
  | { readonly type: "work off" } & HeldResponse
  | { readonly type: "rewrite" } & HeldResponse;

/** A response that does not go straight to the proxy. */
export interface HeldResponse {
  readonly connection: number;
  readonly variant: RelayVariant;
  readonly typeUrl: string;
  readonly bytes: Uint8Array;
}

/** A proxy's stream, and the connection for this stream. */
export interface RelaySession {
  readonly stream: number;
  readonly variant: RelayVariant;
  readonly connection: number;
  readonly phase: "waiting" | "dialing" | "open" | "answered";
  /** Requests in order, until the first response. */
  readonly kept: readonly Uint8Array[];
  readonly keptBytes: number;
  /** The proxy has asked for listeners, and the agent for the agent's own types. */
  readonly asked: boolean;
  /** Refusals of responses of rewritten types, to be sent once the proxy has acknowledged the response. */
  readonly refusals: PendingRefusals;
}

/** The state of a relay. */
export interface RelayState {
  readonly session: RelaySession | undefined;
  /** Number of the next connection. */
  readonly next: number;
  /** Connections in a row without a response. */
  readonly failures: number;
  /** Types that the agent requests itself, with the versions that the agent has. */
  readonly own: ReadonlyMap<string, OwnVersions>;
  /** Types whose responses are rewritten for the proxy. */
  readonly rewritten: ReadonlySet<string>;
  readonly health: WorkloadReport | undefined;
  readonly stopped: boolean;
}

/** A state, and the effects on the way to it. */
export interface RelayStep {
  readonly state: RelayState;
  readonly effects: readonly RelayEffect[];
}

/** Limit of kept requests, bytes: more than the names of 100,000 resources. */
export const MAX_KEPT = 16 * 1024 * 1024;

const LISTENER_TYPE = "type.googleapis.com/envoy.config.listener.v3.Listener";
const PROXY_TYPES = /^type\.googleapis\.com\/(?:envoy\.|istio\.workload\.)/;

/** A relay before the first stream. */
export function initialRelay(ownTypes: readonly string[], rewrittenTypes: readonly string[] = []): RelayState {
  const own = new Map(ownTypes.map((typeUrl) => [typeUrl, NO_VERSIONS]));
  const rewritten = new Set(rewrittenTypes);
  return { session: undefined, next: 1, failures: 0, own, rewritten, health: undefined, stopped: false };
}

export function stepRelay(state: RelayState, event: RelayEvent): RelayStep {
  if (state.stopped) return event.type === "downstream opened" ? refuse(state, event.stream) : stay(state);
  switch (event.type) {
    case "downstream opened":
      return opened(state, event.stream, event.variant);
    case "health":
      return health(state, event.report);
    case "stop":
      return ended({ ...state, stopped: true }, Code.UNAVAILABLE, "the agent is stopping");
    case "downstream message":
    case "downstream closed":
      if (event.stream !== state.session?.stream) return stay(state);
      return event.type === "downstream message"
        ? requested(state, state.session, event.bytes)
        : { state: { ...state, session: undefined }, effects: closeUpstream(state.session) };
    default:
      if (event.connection !== state.session?.connection) return stay(state);
      return ofUpstream(state, state.session, event);
  }
}

type UpstreamEvent = Extract<RelayEvent, { connection: number }>;

function ofUpstream(state: RelayState, session: RelaySession, event: UpstreamEvent): RelayStep {
  const { connection, phase } = session;
  switch (event.type) {
    case "time to dial":
      if (phase !== "waiting") return stay(state);
      return {
        state: { ...state, session: { ...session, phase: "dialing" } },
        effects: [{ type: "dial", connection, variant: session.variant }],
      };
    case "upstream opened":
      if (phase !== "dialing") return stay(state);
      return {
        state: { ...state, session: { ...session, phase: "open" } },
        effects: session.kept.map((bytes) => ({ type: "send up", connection, bytes })),
      };
    case "upstream message":
      return isConnected(session) ? responded(state, session, event.bytes) : stay(state);
    case "upstream closed":
      return phase === "waiting" ? stay(state) : upstreamClosed(state, session, event.reason);
    case "rewritten": {
      const effect = { type: "send down", stream: session.stream, bytes: event.bytes } as const;
      return phase === "answered" ? { state, effects: [effect] } : stay(state);
    }
    case "refused":
      return {
        state: { ...state, session: { ...session, refusals: withRefusal(session.refusals, event) } },
        effects: [],
      };
    case "worked off":
      return phase === "answered" ? workedOff(state, session, event.response, event.error) : stay(state);
  }
}

function stay(state: RelayState): RelayStep {
  return { state, effects: [] };
}

function refuse(state: RelayState, stream: number): RelayStep {
  const reason = "the agent is stopping";
  return { state, effects: [{ type: "close downstream", stream, code: Code.UNAVAILABLE, reason }] };
}

function isConnected({ phase }: RelaySession): boolean {
  return phase === "open" || phase === "answered";
}

function closeUpstream({ connection, phase }: RelaySession): RelayEffect[] {
  return phase === "waiting" ? [] : [{ type: "close upstream", connection }];
}

/** Ends the session from this side. */
function ended(state: RelayState, code: Code, reason: string): RelayStep {
  const { session } = state;
  if (session === undefined) return stay(state);
  const close: RelayEffect = { type: "close downstream", stream: session.stream, code, reason };
  return { state: { ...state, session: undefined }, effects: [close, ...closeUpstream(session)] };
}

function opened(before: RelayState, stream: number, variant: RelayVariant): RelayStep {
  const { state, effects } = ended(before, Code.CANCELLED, "the proxy has opened another stream");
  const connection = state.next;
  // A proxy that returns because the server was gone must not dial more often than the server can restart.
  const later = state.failures > 0;
  const phase = later ? "waiting" : "dialing";
  const nothing = { kept: [], keptBytes: 0, asked: false, refusals: new Map() };
  const session: RelaySession = { stream, variant, connection, phase, ...nothing };
  const effect: RelayEffect = later
    ? { type: "dial later", connection, failures: state.failures }
    : { type: "dial", connection, variant };
  return { state: { ...state, session, next: connection + 1 }, effects: [...effects, effect] };
}

function requested(state: RelayState, session: RelaySession, bytes: Uint8Array): RelayStep {
  const typeUrl = requestType(session.variant, bytes);
  if (state.rewritten.has(typeUrl)) {
    const { requests, refusals } = withRefused(session.variant, session.refusals, typeUrl, bytes);
    return send(state, { ...session, refusals }, requests);
  }
  const first = !session.asked && typeUrl === LISTENER_TYPE;
  if (!first) return send(state, session, [bytes]);
  const own = [...state.own].map(([typeUrl, versions]) => firstRequest(session.variant, typeUrl, versions));
  const events = state.health === undefined ? [] : [healthRequest(session.variant, state.health)];
  return send(state, { ...session, asked: true }, [bytes, ...own, ...events]);
}

/** Requests go out as soon as there is a connection. Until the first response they are kept as well. */
function send(state: RelayState, session: RelaySession, requests: readonly Uint8Array[]): RelayStep {
  const { connection } = session;
  const effects: RelayEffect[] = isConnected(session)
    ? requests.map((bytes) => ({ type: "send up", connection, bytes }))
    : [];
  if (session.phase === "answered") return { state: { ...state, session }, effects };
  const keptBytes = requests.reduce((sum, { length }) => sum + length, session.keptBytes);
  if (keptBytes > MAX_KEPT) {
    return ended({ ...state, session }, Code.RESOURCE_EXHAUSTED, "too much was asked for before the server answered");
  }
  return { state: { ...state, session: { ...session, kept: [...session.kept, ...requests], keptBytes } }, effects };
}

function health(before: RelayState, report: WorkloadReport): RelayStep {
  const state = { ...before, health: report };
  const { session } = state;
  return session?.asked ? send(state, session, [healthRequest(session.variant, report)]) : stay(state);
}

function responded(before: RelayState, asking: RelaySession, bytes: Uint8Array): RelayStep {
  const session: RelaySession = { ...asking, phase: "answered", kept: [], keptBytes: 0 };
  const state = { ...before, failures: 0, session };
  const { stream, variant, connection } = session;
  const typeUrl = responseType(variant, bytes);
  if (state.own.has(typeUrl)) return { state, effects: [{ type: "work off", connection, variant, typeUrl, bytes }] };
  if (state.rewritten.has(typeUrl)) {
    return { state, effects: [{ type: "rewrite", connection, variant, typeUrl, bytes }] };
  }
  return { state, effects: PROXY_TYPES.test(typeUrl) ? [{ type: "send down", stream, bytes }] : [] };
}

function upstreamClosed(state: RelayState, session: RelaySession, reason: string): RelayStep {
  if (session.phase === "answered") {
    const close: RelayEffect = {
      type: "close downstream",
      ...{ stream: session.stream, code: Code.UNAVAILABLE, reason: `the server ended the stream: ${reason}` },
    };
    return { state: { ...state, session: undefined }, effects: [close] };
  }
  const failures = state.failures + 1;
  const connection = state.next;
  return {
    state: { ...state, failures, next: connection + 1, session: { ...session, connection, phase: "waiting" } },
    effects: [{ type: "dial later", connection, failures }],
  };
}

function workedOff(state: RelayState, session: RelaySession, response: OwnResponse, error?: string): RelayStep {
  const before = state.own.get(response.typeUrl) ?? NO_VERSIONS;
  const versions = error === undefined ? acceptedVersions(before, response) : before;
  const own = new Map(state.own).set(response.typeUrl, versions);
  const bytes = answerRequest(session.variant, response, versions, error);
  return { state: { ...state, own }, effects: [{ type: "send up", connection: session.connection, bytes }] };
}

// Refusals wait for the proxy's acknowledgement. Before the acknowledgement a server would conclude that the proxy does
// not have the response, and would not replace the proxy's resources.

/** The pending refusal of each type's last response. */
type PendingRefusals = ReadonlyMap<string, RejectedResponse>;

/** The pending refusals, with the refusal of one more response. */
function withRefusal(refusals: PendingRefusals, { typeUrl, nonce, reason }: RejectedResponse): PendingRefusals {
  return new Map(refusals).set(typeUrl, { typeUrl, nonce, reason });
}

/**
 * The requests to the server for a request of the proxy, and the refusals that stay pending. A rejection by the proxy
 * replaces the refusal.
 */
function withRefused(
  variant: RelayVariant,
  refusals: PendingRefusals,
  typeUrl: string,
  bytes: Uint8Array,
): { readonly requests: readonly Uint8Array[]; readonly refusals: PendingRefusals } {
  const refusal = refusals.get(typeUrl);
  if (refusal === undefined || requestNonce(variant, bytes) !== refusal.nonce) return { requests: [bytes], refusals };
  const left = new Map(refusals);
  left.delete(typeUrl);
  return {
    requests: isRejection(variant, bytes) ? [bytes] : [bytes, rejectRequest(variant, refusal, bytes)],
    refusals: left,
  };
}
