/**
 * Access by orchestrator config files, by the text of such a file, or by the account of the pod. Files are read again
 * once a minute, and at once after a refusal by the API: tokens and certificates are rotated while the program runs.
 *
 * Permissions: read (the files, and files named in them), run (an allowed program for credentials).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import { parseYaml } from "../../config/yaml/parse.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { type Clock, systemClock } from "../../kernel/time/clock.ts";
import type { AccessSource, ApiAccess } from "../client/access.ts";
import { type ConfigContext, type Held, readConfigFiles } from "./config_file.ts";
import { type ExecCredentials, execCredentials } from "./exec.ts";
import type { AccessPlace } from "./find.ts";

/** How files are read. */
export interface FileAccessOptions {
  /**
   * Proofs of identity that are allowed although they run programs or plug-ins (`exec`, names of providers) or, in a
   * text, read files: `tokenFile`, `clientCertificate`, `clientKey`, `certificateAuthority`.
   */
  readonly allowed: readonly string[];
  readonly log: Logger;
  readonly clock?: Clock;
}

/** Age at which files are read again, milliseconds. */
const MAX_AGE_MS = 60_000;

/** Least time between two readings because of a refusal, milliseconds. */
const AGAIN_MS = 1000;

/** Time before their expiry at which a program's credentials are renewed, milliseconds. */
const EARLY_MS = 30_000;

export class FileAccess implements AccessSource {
  readonly #place: AccessPlace;
  readonly #options: FileAccessOptions;
  readonly #clock: Clock;
  #last: ApiAccess | undefined;
  #readAt = -Infinity;
  #reading: Promise<ApiAccess> | undefined;
  #printed: ExecCredentials | undefined;

  constructor(place: AccessPlace, options: FileAccessOptions) {
    this.#place = place;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** @throws {Error} when nothing could be read yet. Later, the last access stays in force, with a warning. */
  current(): ApiAccess | Promise<ApiAccess> {
    const isOld = this.#clock.monotonic() - this.#readAt > MAX_AGE_MS;
    if (this.#last !== undefined && !isOld) return this.#last;
    return this.#reading ??= this.#read().finally(() => this.#reading = undefined);
  }

  refused(): void {
    if (this.#clock.monotonic() - this.#readAt < AGAIN_MS) return;
    this.#readAt = -Infinity;
    this.#printed = undefined;
  }

  async #read(): Promise<ApiAccess> {
    try {
      const access = await this.#readPlace(this.#place);
      this.#last = access;
      this.#readAt = this.#clock.monotonic();
      return access;
    } catch (error) {
      if (this.#last === undefined) throw error;
      this.#readAt = this.#clock.monotonic();
      this.#options.log.warn("access to the orchestrator cannot be read again; the last access stays in force", {
        error,
      });
      return this.#last;
    }
  }

  async #readPlace(place: AccessPlace): Promise<ApiAccess> {
    if (place.from === "pod") return await podAccess(place);
    if (place.from === "files") return await this.#fileAccess(place);
    return await this.#accessOf(readAccessText(place, this.#options.allowed));
  }

  async #fileAccess({ files, context: name }: AccessPlace & { readonly from: "files" }): Promise<ApiAccess> {
    const texts = (await Promise.all(files.map(async (file) => ({ file, text: await textOf(file, files.length > 1) }))))
      .filter((one): one is { file: string; text: string } => one.text !== undefined);
    if (texts.length === 0) throw new Error(`${files.join(", ")}: expected an orchestrator config file`);
    const context = readConfigFiles(texts, treeOf, name);
    refuseUnsafe(context, this.#options.allowed);
    return await this.#accessOf(context);
  }

  async #accessOf(context: ConfigContext): Promise<ApiAccess> {
    const { server, unchecked, proxy, user } = context;
    const printed = user.exec === undefined ? {} : await this.#exec(user.exec);
    const identity = user.cert && user.key
      ? { cert: await valueOf(user.cert), key: await valueOf(user.key) }
      : printed.identity;
    const token = printed.token ?? user.provider?.idToken ?? (user.token && (await valueOf(user.token)).trim());
    const basic = user.basic &&
      `Basic ${new TextEncoder().encode(`${user.basic.username}:${user.basic.password}`).toBase64()}`;
    return {
      ...{ server, unchecked, proxy, identity, actsAs: user.actsAs },
      ca: context.ca && await valueOf(context.ca),
      authorization: token ? bearer(token, `context ${context.name}: the user's token`) : basic,
    };
  }

  async #exec(program: NonNullable<ConfigContext["user"]["exec"]>): Promise<ExecCredentials> {
    const { expires = Infinity } = this.#printed ?? { expires: 0 };
    if (this.#printed === undefined || expires - EARLY_MS < this.#clock.now()) {
      this.#printed = await execCredentials(program);
    }
    return this.#printed;
  }
}

/**
 * The access in a text. The text's author may neither read files of this program's machine nor run programs there.
 *
 * @throws {Error} naming the text, the field at fault, its value and the expectation.
 */
export function readAccessText(
  { name, text }: AccessPlace & { readonly from: "text" },
  allowed: readonly string[],
): ConfigContext {
  const context = readConfigFiles([{ file: name, text }], treeOf);
  refuseUnsafe(context, allowed);
  const { ca, user: { cert, key, token } } = context;
  const files = { certificateAuthority: ca, clientCertificate: cert, clientKey: key, tokenFile: token };
  const wrong = Object.entries(files).flatMap(([way, held]) => {
    if (held === undefined || !("file" in held) || allowed.includes(way)) return [];
    const whose = way === "certificateAuthority" ? "cluster" : "user";
    const got = JSON.stringify(held.file);
    return [`${name}: the ${whose}'s ${way}: got ${got}, expected no file, unless ${VARIABLE} names ${way}`];
  });
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  return context;
}

/** The account of the pod. The token is read anew each time, because the node renews the token in its file. */
async function podAccess({ server, folder }: AccessPlace & { readonly from: "pod" }): Promise<ApiAccess> {
  const token = (await readRegularText(`${folder}/token`)).trim();
  if (token === "") throw new Error(`${folder}/token: got an empty file, expected a token`);
  return { server, ca: await readRegularText(`${folder}/ca.crt`), authorization: bearer(token, `${folder}/token`) };
}

/** Setting with the allowed proofs of identity that run programs or read files. */
const VARIABLE = "PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS";

/** @throws {Error} for a proof of identity that runs a program from the file, unless the proof is allowed. */
function refuseUnsafe({ name, user }: ConfigContext, allowed: readonly string[]): void {
  if (user.exec !== undefined && !allowed.includes("exec")) {
    throw new Error(
      `context ${name}: the user's exec: got ${
        JSON.stringify(user.exec.command)
      }, expected no program: it runs only if ${VARIABLE} names exec`,
    );
  }
  const { provider } = user;
  if (provider === undefined) return;
  if (provider.name !== "oidc" && !allowed.includes(provider.name)) {
    throw new Error(
      `context ${name}: the user's auth-provider: got ${provider.name}, expected oidc, or a provider in ${VARIABLE}`,
    );
  }
  if (provider.idToken === undefined) {
    throw new Error(
      `context ${name}: the user's auth-provider ${provider.name}: expected config.id-token, which is the token that is sent`,
    );
  }
}

/**
 * The value of the header `authorization`.
 *
 * @throws {Error} for a token that a header cannot hold, such as a token of two lines. The platform's own error would
 * quote the token.
 */
function bearer(token: string, what: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  throw new Error(`${what}: got a text of ${token.length} characters, expected a token of one line without spaces`);
}

async function valueOf(held: Held): Promise<string> {
  return "inline" in held ? held.inline : await readRegularText(held.file);
}

/** A file's text. Of several files some may be absent. */
async function textOf(file: string, mayLack: boolean): Promise<string | undefined> {
  try {
    return await readRegularText(file);
  } catch (error) {
    if (mayLack && error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function treeOf(text: string): unknown {
  const read = parseYaml(text);
  if ("problem" in read) throw new Error("the text does not parse");
  return read.tree;
}
