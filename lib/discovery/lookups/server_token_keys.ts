/**
 * Keys of token issuers in a running server. Rules of the store name the issuers; fetched keys go to the pipeline.
 *
 * Permissions: net (the addresses in rules), read (the file of further authorities).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import { fetchKeySet, KEYS_FETCH_LIMITS } from "../../authenticators/issuer_keys.ts";
import { parseKeySet } from "../../authenticators/token_keys.ts";
import type { Finding } from "../../finding/finding.ts";
import { type KeyPlace, publicKeySet } from "../../config/kinds/request_authentication/key_set.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import { uncheckedExchange } from "../../kernel/fetch/unchecked.ts";
import { fetchText, type TextExchange } from "../../kernel/fetch/fetch_text.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { policyExchange } from "../../sockets/fetch/policy_exchange.ts";
import { FIPS_TLS_POLICY } from "../../sockets/listen/tls_policy.ts";
import { keyHost } from "../../translate/filters/http/jwt_authn/provider.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { type DiscoverySettings, tokenKeysFetchedBy } from "../settings/settings.ts";
import { tokenKeyFindings } from "./token_keys/findings.ts";
import { TokenKeyResolver } from "./token_keys/resolver.ts";

/** Longest time for which a start waits for keys, ms: reconnecting proxies should not lose their keys. */
const START_WAIT_MS = 10_000;

/**
 * Files of further authorities that vouch for issuers, beside the public authorities (this project's path, then
 * Istio's).
 */
const EXTRA_AUTHORITIES: readonly string[] = ["./cacerts/extra.pem", "/cacerts/extra.pem"];

/** The settings about fetching keys. */
export type TokenKeySettings = Pick<
  DiscoverySettings,
  "COMPLIANCE_POLICY" | "JWKS_RESOLVER_INSECURE_SKIP_VERIFY" | "PILOT_JWT_PUB_KEY_REFRESH_INTERVAL"
>;

/** The part of a server that fetches keys. */
export class ServerTokenKeys {
  readonly resolver: TokenKeyResolver;
  readonly #kernel: Pick<Kernel, "metrics" | "clock" | "stopper">;
  readonly #fetchedBy: ReturnType<typeof tokenKeysFetchedBy>;
  #pipeline: Pipeline | undefined;

  /** @param extraAuthorities where further authorities are looked for; for tests */
  constructor(
    settings: TokenKeySettings & Pick<DiscoverySettings, "PILOT_JWT_ENABLE_REMOTE_JWKS">,
    kernel: Pick<Kernel, "metrics" | "clock" | "stopper">,
    extraAuthorities = EXTRA_AUTHORITIES,
  ) {
    this.#kernel = kernel;
    this.#fetchedBy = tokenKeysFetchedBy(settings);
    const get = countedFetch(settings, kernel, extraAuthorities);
    this.resolver = new TokenKeyResolver({
      clock: kernel.clock,
      refreshInterval: settings.PILOT_JWT_PUB_KEY_REFRESH_INTERVAL,
      fetches: ({ uri }) => uri === undefined || this.#fetchedBy !== "proxy",
      get: async (place, options) => keysOfPlace(place, await fetchKeySet(ruleOf(place), (url) => get(url, options))),
      changed: (place) => this.#pipeline?.tokenKeysChanged(place),
    });
    kernel.stopper.add("keys of token issuers", () => this.resolver.stop());
  }

  /** Follows the objects of a store. Resolves when the keys of all rules have been tried, after 10 s at the latest. */
  async follow(store: ConfigStore, pipeline: Pipeline): Promise<void> {
    this.#pipeline = pipeline;
    const stop = store.subscribe(({ added, updated, removed }) => {
      const gone = [...removed, ...updated.map((one) => one.old)].filter(isRequestAuthentication);
      const come = [...added, ...updated.map((one) => one.new)].filter(isRequestAuthentication);
      if (gone.length + come.length > 0) this.resolver.update(gone, come);
    });
    this.#kernel.stopper.add("rules about tokens", stop);
    this.resolver.update([], [...store.list("RequestAuthentication")].filter(isRequestAuthentication));
    const given = new AbortController();
    const late = this.#kernel.clock.sleep(START_WAIT_MS, given.signal).catch(() => {});
    await Promise.race([this.resolver.tried(), late]);
    given.abort();
  }

  /** The present findings about keys. */
  findings(): Iterable<Finding> {
    const isService = (uri: string) => {
      const { host, port } = keyHost(uri);
      const services = this.#pipeline?.translator.mesh.services.of(host) ?? [];
      return services.some(({ ports }) => ports.some((one) => one.port === port));
    };
    return tokenKeyFindings(this.resolver, this.#fetchedBy === "hybrid", isService);
  }
}

function isRequestAuthentication(object: ConfigObject): object is ConfigObject<"RequestAuthentication"> {
  return object.kind === "RequestAuthentication";
}

function ruleOf({ uri, issuer }: KeyPlace): { readonly issuer: string; readonly jwksUri?: string } {
  return uri === undefined ? { issuer: issuer ?? "" } : { issuer: "", jwksUri: uri };
}

/** @throws Error that names the place when the answer is not a key set */
function keysOfPlace({ uri, issuer }: KeyPlace, text: string): string {
  const where = uri ?? `the keys of ${issuer}`;
  try {
    parseKeySet(text);
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`);
  }
  const keys = publicKeySet(text);
  if (keys === undefined) throw new Error(`${where}: expected a JSON Web Key Set whose keys have a type (kty)`);
  return keys;
}

/** Fetches a text, and counts successes and failures. */
function countedFetch(
  settings: TokenKeySettings,
  { metrics }: Pick<Kernel, "metrics">,
  extraAuthorities: readonly string[],
): (url: string, options: { timeout: number; signal: AbortSignal }) => Promise<string> {
  const succeeded = metrics.counter("pilot_jwks_resolver_network_fetch_success_total");
  const failed = metrics.counter("pilot_jwks_resolver_network_fetch_fail_total");
  return async (url, { timeout, signal }) => {
    try {
      const isSecure = /^https:/i.test(url);
      const { exchange, close } = isSecure ? await secureExchange(settings, extraAuthorities) : PLAIN;
      const text = await fetchText(url, { timeout, size: KEYS_FETCH_LIMITS.size }, { signal, exchange }).finally(close);
      succeeded.inc();
      return text;
    } catch (error) {
      failed.inc();
      throw error;
    }
  };
}

/** A way to fetch, and a function to call afterwards. */
interface KeyExchange {
  readonly exchange: TextExchange;
  readonly close: () => void;
}

const PLAIN: KeyExchange = { exchange: fetch, close: () => {} };

async function secureExchange(
  settings: TokenKeySettings,
  extraAuthorities: readonly string[],
): Promise<KeyExchange> {
  const unchecked = settings.JWKS_RESOLVER_INSECURE_SKIP_VERIFY;
  if (settings.COMPLIANCE_POLICY !== "") {
    const further = await firstText(extraAuthorities);
    const trust = { unchecked, ...(further === undefined ? {} : { further }) };
    return { exchange: policyExchange(FIPS_TLS_POLICY, trust), close: () => {} };
  }
  if (unchecked) return { exchange: uncheckedExchange, close: () => {} };
  const authorities = await firstText(extraAuthorities);
  if (authorities === undefined) return PLAIN;
  const client = Deno.createHttpClient({ caCerts: [authorities] });
  return { exchange: (url, init) => fetch(url, { ...init, client }), close: () => client.close() };
}

/** The text of the first readable file. */
async function firstText(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    try {
      return await readRegularText(file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) continue;
      throw error;
    }
  }
  return undefined;
}
