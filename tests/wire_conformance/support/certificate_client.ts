/**
 * A client of the certificate service, as agents are.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { PATIENCE } from "../../patience.ts";

/** Asks for a certificate; the chain, or the status. */
export function certificateFor(
  { host = "localhost", port, root, token, identity, csr, seconds = 3600, asked = {}, within = PATIENCE }: {
    /** Default: localhost. */
    host?: string;
    port: number;
    root: string;
    token?: string;
    /** The client's certificate, as PEM. */
    identity?: { readonly key: string; readonly chain: string };
    csr: string;
    seconds?: number;
    /** Texts of the request's metadata: `CertSigner`, `ImpersonatedIdentity`. */
    asked?: Readonly<Record<string, string>>;
    /** Milliseconds. */
    within?: number;
  },
): Promise<readonly string[] | string> {
  const own = identity === undefined ? [] : [Buffer.from(identity.key), Buffer.from(identity.chain)];
  const credentials = grpc.credentials.createSsl(Buffer.from(root), ...own);
  const client = new grpc.Client(`${host}:${port}`, credentials, {
    "grpc.use_local_subchannel_pool": 1,
  });
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const fields = Object.fromEntries(Object.entries(asked).map(([name, stringValue]) => [name, { stringValue }]));
  const { promise, resolve } = Promise.withResolvers<readonly string[] | string>();
  client.makeUnaryRequest(
    "/istio.v1.auth.IstioCertificateService/CreateCertificate",
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes: Uint8Array) => decode<{ cert_chain: string[] }>("istio.v1.auth.IstioCertificateResponse", bytes).cert_chain,
    encode("istio.v1.auth.IstioCertificateRequest", { csr, validity_duration: seconds, metadata: { fields } }),
    metadata,
    { deadline: Date.now() + within },
    (error, chain) => {
      client.close();
      resolve(error === null ? chain ?? [] : `${grpc.status[error.code]}: ${error.details}`);
    },
  );
  return promise;
}
