/**
 * The authenticators of a discovery server, from its settings and the mesh configuration.
 *
 * Permissions: net (issuers of tokens), read (the server's own token).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import { parseRanges } from "../../authenticators/addresses.ts";
import { tokenAudiences } from "../../authenticators/audiences.ts";
import { Authentication } from "../../authenticators/authentication.ts";
import type { Authenticator } from "../../authenticators/caller.ts";
import { clientCertificateAuthenticator } from "../../authenticators/client_certificate.ts";
import { fetchKeySet, KEYS_FETCH_LIMITS } from "../../authenticators/issuer_keys.ts";
import { JwtAuthenticator } from "../../authenticators/jwt.ts";
import { parseTokenRule, type TokenRule } from "../../authenticators/jwt_rule.ts";
import { orchestratorTokenAuthenticator, type TokenReviewer } from "../../authenticators/orchestrator_token.ts";
import { OWN_TOKEN_FILES, type OwnTokenClaims, ownTokenClaims } from "../../authenticators/own_token.ts";
import { TokenKeys } from "../../authenticators/token_keys.ts";
import type { TrustDomains } from "../../authenticators/trust.ts";
import { xfccAuthenticator } from "../../authenticators/xfcc.ts";
import { fetchText } from "../../kernel/fetch/fetch_text.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { compliantExchange } from "../../sockets/fetch/policy_exchange.ts";
import type { RevocationList } from "../../pki/revocation.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** The settings about accepted proofs of callers. */
export type AuthenticationSettings = Pick<
  DiscoverySettings,
  | "JWT_RULE"
  | "TRUSTED_GATEWAY_CIDR"
  | "XDS_AUTH_PLAINTEXT"
  | "TOKEN_AUDIENCES"
  | "TOKEN_ISSUER"
  | "AUDIENCE"
  | "COMPLIANCE_POLICY"
>;

/** All problems of the settings: variable, value, expectation. */
export function authenticationProblems(settings: AuthenticationSettings): string[] {
  const problems: string[] = [];
  const check = (name: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      problems.push(...(error as Error).message.split("\n").map((line) => `${name}: ${line}`));
    }
  };
  if (settings.JWT_RULE !== "") check("JWT_RULE", () => parseTokenRule(settings.JWT_RULE));
  check("TRUSTED_GATEWAY_CIDR", () => parseRanges(settings.TRUSTED_GATEWAY_CIDR));
  return problems;
}

/** Makes the authentications of one server. They share the authenticators and the keys of issuers. */
export class ServerAuthentication {
  readonly #settings: AuthenticationSettings;
  readonly #kernel: Pick<Kernel, "log" | "clock">;
  readonly #domains: () => TrustDomains;
  readonly #authenticators: readonly Authenticator[];
  #revocations: () => readonly RevocationList[] = () => [];

  /**
   * @param review Asks the orchestrator about tokens. Default: there is no orchestrator.
   * @throws TypeError when a setting is wrong; {@linkcode authenticationProblems} names all wrong settings
   */
  constructor(
    settings: AuthenticationSettings,
    mesh: Pick<MeshSource, "state">,
    kernel: Pick<Kernel, "log" | "clock">,
    review?: TokenReviewer,
  ) {
    this.#settings = settings;
    this.#kernel = kernel;
    this.#domains = () => {
      const { trustDomain, trustDomainAliases } = mesh.state.mesh;
      return { own: trustDomain, aliases: trustDomainAliases };
    };
    const rule = settings.JWT_RULE;
    const gateways = parseRanges(settings.TRUSTED_GATEWAY_CIDR);
    const audiences = tokenAudiences(settings.TOKEN_AUDIENCES);
    this.#authenticators = [
      clientCertificateAuthenticator(this.#domains, () => this.#revocations()),
      ...rule === "" ? [] : [this.#tokensOf("JWT_RULE", parseTokenRule(rule))],
      ...review === undefined ? [] : [orchestratorTokenAuthenticator(review, audiences, this.#domains)],
      ...gateways.length === 0 ? [] : [xfccAuthenticator(gateways, this.#domains)],
    ];
  }

  /** Rejects revoked certificates. The lists are read at each call. */
  useRevocations(lists: () => readonly RevocationList[]): void {
    this.#revocations = lists;
  }

  /** Clients of discovery. */
  forDiscovery(): Authentication {
    return this.#of(this.#authenticators, this.#settings.XDS_AUTH_PLAINTEXT);
  }

  /** Callers of pages. Pages are served in plain text, and tokens are accepted in plain text. */
  forPages(): Authentication {
    return this.#of(this.#authenticators, true);
  }

  /**
   * Callers that ask for certificates: like discovery's clients, and last by tokens of `TOKEN_ISSUER` for `AUDIENCE`.
   * The server's own token replaces a missing setting. Without an own token the audiences are `TOKEN_AUDIENCES`.
   *
   * @param tokenFiles Candidate files of the server's own token.
   */
  async forAuthority(tokenFiles: readonly string[] = OWN_TOKEN_FILES): Promise<Authentication> {
    const settings = this.#settings;
    const isWhole = settings.TOKEN_ISSUER !== "" && settings.AUDIENCE !== "";
    const own = isWhole ? undefined : await readOwnToken(tokenFiles, this.#kernel);
    const issuer = settings.TOKEN_ISSUER || own?.issuer || "";
    const audience = settings.AUDIENCE || own?.audiences[0] || settings.TOKEN_AUDIENCES;
    const audiences = tokenAudiences(audience);
    const last = issuer === "" ? [] : [this.#tokensOf("TOKEN_ISSUER", { issuer, audiences })];
    return this.#of([...this.#authenticators, ...last], settings.XDS_AUTH_PLAINTEXT);
  }

  #of(authenticators: readonly Authenticator[], plaintext: boolean): Authentication {
    return new Authentication(authenticators, { plaintext, log: this.#kernel.log.scope("authn") });
  }

  #tokensOf(name: string, rule: TokenRule): Authenticator {
    const { clock, log } = this.#kernel;
    const exchange = compliantExchange(this.#settings.COMPLIANCE_POLICY);
    const get = (url: string) => fetchText(url, KEYS_FETCH_LIMITS, { exchange });
    const keys = new TokenKeys(() => fetchKeySet(rule, get), clock, (reason) => {
      log.scope("authn").warn("keys of a token issuer", { setting: name, issuer: rule.issuer, reason });
    });
    return new JwtAuthenticator(name, rule, keys, this.#domains, clock);
  }
}

/** The claims of the first own token that exists and can be read; undefined: there is no such token. */
async function readOwnToken(
  files: readonly string[],
  kernel: Pick<Kernel, "log">,
): Promise<OwnTokenClaims | undefined> {
  for (const path of files) {
    try {
      return ownTokenClaims(await readRegularText(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) continue;
      kernel.log.scope("authn").warn("the server's own token cannot be read", { path, error });
    }
  }
  return undefined;
}
