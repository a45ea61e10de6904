/**
 * A workload that answers with the identity of its caller.
 *
 * Permissions: net (a loopback port).
 *
 * @module
 */

/** An application that answers with the caller's identity from the proxy's header, or `nobody`. */
export function callerEcho(hostname = "127.0.0.1"): { readonly port: number } & AsyncDisposable {
  const server = Deno.serve({ hostname, port: 0, onListen() {} }, (request) => {
    const uri = /URI=([^;,]*)/.exec(request.headers.get("x-forwarded-client-cert") ?? "");
    return new Response(uri?.[1] ?? "nobody");
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}
