/**
 * The call by which a certificate authority signs a request: `istio.v1.auth.IstioCertificateService/CreateCertificate`.
 *
 * Permissions: net (the authority), read (tokens and certificates).
 *
 * @module
 */
import { callUnary } from "../../grpc/client/client_call.ts";
import { ClientConnection } from "../../grpc/client/client_connection.ts";
import { dial } from "../../grpc/client/dial.ts";
import { MessageWriter } from "../../grpc/message_writer.ts";
import { codeName } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { WireCursor } from "../../resource/protowire.ts";
import type { ServerCall } from "../../grpc/client/server_stream.ts";
import type { SignRequest } from "./issued_certificate.ts";

/** Time for a connection, and for the answer, ms. */
const TIMEOUT = 10_000;

const PATH = "/istio.v1.auth.IstioCertificateService/CreateCertificate";

/**
 * Calls the authority, each time on a connection of its own: certificates are renewed hours apart, and roots may have
 * changed.
 * @param signer The signer that the authority shall use. Empty: the authority's default.
 */
export function authoritySigner(server: () => Promise<ServerCall>, signer: string): SignRequest {
  return async (csr, ttlSeconds) => {
    const { target, authority, metadata } = await server();
    const connection = new ClientConnection(await dial(target, TIMEOUT));
    try {
      const secure = "tls" in target && target.tls !== undefined;
      const options = { authority, path: PATH, metadata, secure };
      return readChain(await callUnary(connection, options, certificateCall(csr, ttlSeconds, signer), TIMEOUT));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      throw new Error(`${authority}: ${codeName(error.code)}: ${error.message}`, { cause: error });
    } finally {
      connection.close();
    }
  };
}

/** `IstioCertificateRequest`: csr = 1, validity_duration = 3 (seconds), metadata = 4 (a struct). */
function certificateCall(csr: string, ttlSeconds: number, signer: string): Uint8Array {
  const out = new MessageWriter().string(1, csr).varint(3, ttlSeconds);
  if (signer === "") return out.finish();
  const value = new MessageWriter().string(3, signer).finish();
  const entry = new MessageWriter().string(1, "CertSigner").bytes(2, value).finish();
  return out.bytes(4, new MessageWriter().bytes(1, entry).finish()).finish();
}

/** `IstioCertificateResponse`: cert_chain = 1, repeated. */
function readChain(bytes: Uint8Array): string[] {
  const chain: string[] = [];
  const cursor = new WireCursor(bytes);
  while (cursor.next()) {
    if (cursor.field === 1 && cursor.wireType === 2) chain.push(cursor.string());
    else cursor.skip();
  }
  return chain;
}
