/**
 * An application of a test: answers with the client's address, the path and the headers. Writes a line when it listens.
 *
 *     application.ts PORT
 *
 * Permissions: net.
 *
 * @module
 */
Deno.serve(
  { hostname: "0.0.0.0", port: Number(Deno.args[0]), onListen: () => console.log("listening") },
  (request, { remoteAddr }) =>
    Response.json({
      from: remoteAddr.hostname,
      path: new URL(request.url).pathname,
      headers: Object.fromEntries(request.headers),
    }),
);
