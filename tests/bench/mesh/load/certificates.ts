/**
 * Requests certificates from an authority, one after the other on each of several connections, driven by lines on
 * standard input (`./certificate_protocol.ts`).
 *
 * Permissions: net (the authority).
 *
 * @module
 */
import { callUnary } from "../../../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../../../lib/grpc/client/client_connection.ts";
import { dial } from "../../../../lib/grpc/client/dial.ts";
import { encode } from "../../../../lib/pb/codec.ts";
import { readLines } from "../lines.ts";
import type { CertificateLoadAnswer, CertificateLoadOptions } from "./certificate_protocol.ts";

const PATH = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
/** For a connection, and for an answer, ms. */
const TIMEOUT = 20_000;

class CertificateLoad {
  readonly #connections: ClientConnection[] = [];
  readonly #request: Uint8Array;
  #issued = 0;
  #errors: string[] = [];
  #started = 0;
  #going: Promise<void>[] = [];
  #running = false;

  constructor(private readonly options: CertificateLoadOptions) {
    this.#request = encode("istio.v1.auth.IstioCertificateRequest", { csr: options.csr, validity_duration: 3600 });
  }

  async open(): Promise<void> {
    const { target, serverName, root, identity, inFlight } = this.options;
    const [host, port] = target.split(":");
    for (let i = 0; i < inFlight; i++) {
      const tls = { serverName, roots: root, identity };
      this.#connections.push(new ClientConnection(await dial({ host: host!, port: Number(port), tls }, TIMEOUT)));
    }
  }

  begin(): void {
    this.#issued = 0;
    this.#errors = [];
    this.#started = performance.now();
    this.#running = true;
    this.#going = this.#connections.map((connection) => this.#ask(connection));
  }

  /** Counts the certificates received until the end, with the elapsed time. */
  async end(): Promise<CertificateLoadAnswer> {
    const now = this.answer();
    this.#running = false;
    await Promise.all(this.#going);
    return { ...now, errors: this.#errors };
  }

  answer(): CertificateLoadAnswer {
    return { issued: this.#issued, seconds: (performance.now() - this.#started) / 1000, errors: this.#errors };
  }

  async #ask(connection: ClientConnection): Promise<void> {
    const call = { authority: this.options.serverName, path: PATH, metadata: {}, secure: true };
    while (this.#running) {
      try {
        const answer = await callUnary(connection, call, this.#request, TIMEOUT);
        if (answer.length === 0) throw new Error("an answer without certificates");
        this.#issued++;
      } catch (error) {
        this.#errors.push(String(error));
        return;
      }
    }
  }
}

let load: CertificateLoad | undefined;
await readLines(Deno.stdin.readable, async (line) => {
  if (load === undefined) {
    load = new CertificateLoad(JSON.parse(line) as CertificateLoadOptions);
    await load.open();
    console.log(JSON.stringify(load.answer()));
  } else if (line === "begin") {
    load.begin();
    console.log(JSON.stringify(load.answer()));
  } else console.log(JSON.stringify(await load.end()));
});
Deno.exit(0);
