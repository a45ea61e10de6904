/**
 * The security token service of a workload. `POST /token` exchanges the workload's token for a token that a provider's
 * services accept (RFC 8693). `GET /stsStatus` lists the issued tokens, without their texts.
 *
 * @module
 */
import { bodyText, type HttpRequest, type HttpResponse, isLocalPeer, textResponse } from "../../http/message.ts";
import { guardOwnNames } from "../../http/own_names.ts";
import type { Guard, Route } from "../../http/route.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { ACCESS_TOKEN, ExchangeError, type ExchangeRequest, readExchangeRequest } from "./exchange_request.ts";

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Facts about an issued token, for people. Times in ms since 1970. */
export interface TokenStatus {
  readonly type: string;
  readonly issued: number;
  readonly expires: number;
}

/** A provider of tokens. */
export interface TokenManager {
  /** @throws {ExchangeError} When no token is issued. */
  exchange(request: ExchangeRequest): Promise<IssuedToken>;
  status(): readonly TokenStatus[];
}

/** Tokens are only for the workload: other machines, and web pages in a browser of this machine, get none. */
const guards: readonly Guard[] = [
  ({ peer }) => isLocalPeer(peer) ? undefined : textResponse(403, "only from this machine\n"),
  guardOwnNames([]),
];

/**
 * The pages.
 *
 * @param now milliseconds since 1970
 */
export function tokenRoutes(manager: TokenManager, now: () => number, log: Logger): Route[] {
  return [
    {
      methods: ["POST"],
      path: "/token",
      guards,
      handle: async (request) => {
        try {
          return await issued(manager, request, now());
        } catch (error) {
          if (!(error instanceof ExchangeError)) throw error;
          log.warn(`no token: ${error.message}`);
          return refusal(error);
        }
      },
    },
    {
      methods: ["GET"],
      path: "/stsStatus",
      guards,
      handle: () => json(200, { tokens: manager.status().map(statusRow) }),
    },
  ];
}

async function issued(manager: TokenManager, request: HttpRequest, now: number): Promise<HttpResponse> {
  const { token, expires } = await manager.exchange(
    readExchangeRequest(request.headers["content-type"] ?? "", bodyText(request)),
  );
  return json(200, {
    access_token: token,
    issued_token_type: ACCESS_TOKEN,
    token_type: "Bearer",
    expires_in: Math.max(0, Math.floor((expires - now) / 1000)),
  });
}

function statusRow({ type, issued, expires }: TokenStatus) {
  return {
    token_type: type,
    issue_time: new Date(issued).toISOString(),
    expire_time: new Date(expires).toISOString(),
  };
}

function refusal({ code, message }: ExchangeError): HttpResponse {
  // RFC 6749, 5.2: visible ASCII without quote and backslash.
  const error_description = message.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
  return json(code === "temporarily_unavailable" ? 503 : 400, { error: code, error_description });
}

/** RFC 6749, 5.1: nobody on the way keeps a token. */
function json(status: number, value: unknown): HttpResponse {
  const headers = { "content-type": "application/json", "cache-control": "no-store", pragma: "no-cache" };
  return { status, headers, body: `${JSON.stringify(value)}\n` };
}
