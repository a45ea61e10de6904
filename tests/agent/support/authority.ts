/**
 * A certificate authority of a test, over gRPC.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import { type GrpcService, unaryMethod } from "../../../lib/grpc/service.ts";
import { readCertificate } from "../../../lib/pki/certificate.ts";
import { issueLeaf, type Issuer, issueRoot } from "../../../lib/pki/issue.ts";
import { certificatePem } from "../../../lib/pki/pem.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { readCertificateRequest } from "../../../lib/pki/request.ts";
import { utf8Bytes, WireCursor } from "../../../lib/resource/protowire.ts";
import type { TlsCertificates } from "../../../lib/sockets/listen/certificates.ts";
import { listenTls } from "../../../lib/sockets/listen/tls.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";

/** An authority. */
export class TestAuthority {
  readonly requests: {
    readonly csr: string;
    readonly ttlSeconds: number;
    readonly token: string | undefined;
    readonly headers: Readonly<Record<string, string>>;
    /** Field `metadata` of the request, unchanged. */
    readonly metadata: Uint8Array | undefined;
  }[] = [];
  /** How far the authority's clock is ahead, ms: certificates begin a minute before its time. */
  ahead = 0;
  #issuer: Issuer;
  /** Root of the authority, as PEM. */
  root: string;

  private constructor(issuer: Issuer, root: string) {
    this.#issuer = issuer;
    this.root = root;
  }

  static async make(): Promise<TestAuthority> {
    return new TestAuthority(...await newRoot());
  }

  /** Signs with another root from now on. */
  async replaceRoot(): Promise<void> {
    [this.#issuer, this.root] = await newRoot();
  }

  /** Signs for a request: valid from a minute ago. */
  async sign(csr: string, ttlSeconds: number, now = Date.now() + this.ahead): Promise<string[]> {
    const { spki, names } = await readCertificateRequest(csr);
    const validity = { notBefore: now - 60_000, notAfter: now + ttlSeconds * 1000 };
    const leaf = await issueLeaf(this.#issuer, { spki, names: { uris: [...names.uris] }, ...validity });
    return [certificatePem(leaf), this.root];
  }

  /** A certificate and key for a TLS server. */
  serverCertificate(name: string): Promise<TlsCertificates> {
    return this.certificateOf({ dns: [name] });
  }

  /** A certificate and key with the given names. */
  async certificateOf(names: { readonly dns?: string[]; readonly uris?: string[] }): Promise<TlsCertificates> {
    const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const leaf = await issueLeaf(this.#issuer, { spki: key.spki, names, ...validity });
    return { certificate: certificatePem(leaf), privateKey: key.pem() };
  }

  /** Serves certificates over TLS, under a name, on a port of 127.0.0.1; 0: any. */
  async listen(name: string, port = 0): Promise<{ readonly port: number } & AsyncDisposable> {
    const server = new GrpcServer([this.service]);
    const listener = await listenTls(
      { host: "127.0.0.1", port },
      await this.serverCertificate(name),
      (socket, tls) => server.accept(new SocketTransport(socket, tls)),
    );
    return {
      port: listener.port,
      async [Symbol.asyncDispose]() {
        await listener.close();
        await server.stop(0);
      },
    };
  }

  /** The service of the field. */
  get service(): GrpcService {
    const shape = { input: "istio.v1.auth.IstioCertificateRequest", output: "istio.v1.auth.IstioCertificateResponse" };
    return {
      name: "istio.v1.auth.IstioCertificateService",
      methods: [unaryMethod({ name: "CreateCertificate", ...shape }, async (bytes, call) => {
        const request = {
          ...{ csr: "", ttlSeconds: 0, token: call.headers.authorization, headers: { ...call.headers } },
          metadata: undefined as Uint8Array | undefined,
        };
        const cursor = new WireCursor(bytes);
        while (cursor.next()) {
          if (cursor.field === 1) request.csr = cursor.string();
          else if (cursor.field === 3) request.ttlSeconds = cursor.varint();
          else if (cursor.field === 4) request.metadata = cursor.bytes().slice();
          else cursor.skip();
        }
        this.requests.push(request);
        const out = new MessageWriter();
        for (const entry of await this.sign(request.csr, request.ttlSeconds)) out.bytes(1, utf8Bytes(entry));
        return out.finish();
      })],
    };
  }
}

async function newRoot(): Promise<[Issuer, string]> {
  const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 };
  const der = await issueRoot(key, { ...validity, subject: { organization: "cluster.local" } });
  return [{ key, certificate: readCertificate(der) }, certificatePem(der)];
}
