/**
 * Persistent sessions: requests of a session stay on one endpoint, if a label of the service or a policy of the Gateway
 * API asks for sessions.
 *
 * @module
 */
import type { RuleSession } from "../../../../config/kinds/virtual_service/internal.ts";
import { any } from "../../../../pb/codec.ts";
import type { Service } from "../../../../registry/types.ts";
import type { envoy, google } from "../../../../../proto/gen/types.ts";
import type { Reader } from "../../../reader/reader.ts";
import { boundedDuration } from "../../../values/wire_limits.ts";

/** Name of the filter, and of the per-route configuration. */
export const STATEFUL_SESSION_FILTER = "envoy.filters.http.stateful_session";

type StatefulSession = envoy.extensions.filters.http.stateful_session.v3.StatefulSession;

const STATE = "envoy.extensions.http.stateful_session";

/**
 * The per-route configuration of the session filter for requests to a service; undefined when the setting is off, or no
 * policy targets the service and the service carries neither label. A policy has precedence. The cookie label reads `name`
 * or `name:/path`, the header label is the header.
 */
export function statefulSession(read: Reader, service: Service | undefined): google.protobuf.Any | undefined {
  const stateful_session = sessionState(read, service);
  return stateful_session &&
    any("envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute", { stateful_session });
}

/** The per-route configuration for the sessions of a rule, whatever the labels of its services. */
export function ruleSession(session: RuleSession): google.protobuf.Any {
  const stateful_session = stateOf(session);
  return any("envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute", { stateful_session });
}

function stateOf({ type, name, ttl }: RuleSession): StatefulSession {
  const life = ttl === undefined ? {} : { ttl: boundedDuration(ttl) };
  return type === "cookie"
    ? stateIn("cookie", `${STATE}.cookie.v3.CookieBasedSessionState`, { cookie: { name, path: "/", ...life } })
    : stateIn("header", `${STATE}.header.v3.HeaderBasedSessionState`, { name });
}

function sessionState(read: Reader, service: Service | undefined): StatefulSession | undefined {
  const { enablePersistentSessionFilter, persistentSessionLabel, persistentSessionHeaderLabel } = read.settings;
  if (!service || !enablePersistentSessionFilter) return undefined;
  const ofPolicy = read.destinationRule(service.hostname)?.session;
  if (ofPolicy !== undefined) return stateOf(ofPolicy);
  const cookie = service.labels[persistentSessionLabel];
  const header = service.labels[persistentSessionHeaderLabel];
  if (cookie) return stateIn("cookie", `${STATE}.cookie.v3.CookieBasedSessionState`, { cookie: cookieOf(cookie) });
  if (header) return stateIn("header", `${STATE}.header.v3.HeaderBasedSessionState`, { name: header });
  return undefined;
}

/**
 * The filter for requests to a single service, in the form for libraries. Libraries without the filter ignore the
 * entry.
 */
export function ownStatefulSession(
  read: Reader,
  service: Service | undefined,
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter | undefined {
  const state = sessionState(read, service);
  return state && {
    name: STATEFUL_SESSION_FILTER,
    typed_config: any("envoy.extensions.filters.http.stateful_session.v3.StatefulSession", state),
    is_optional: true,
  };
}

/** Without a lifetime: the cookie ends with the browser's session. */
function cookieOf(label: string): { name: string; path: string } {
  const colon = label.indexOf(":");
  return colon < 0 ? { name: label, path: "/" } : { name: label.slice(0, colon), path: label.slice(colon + 1) };
}

function stateIn(kind: string, type: string, state: object): StatefulSession {
  return { session_state: { name: `envoy.http.stateful_session.${kind}`, typed_config: any(type, state) } };
}
