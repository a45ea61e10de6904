/**
 * Texts that are expressions of CEL, and others.
 *
 * @module
 */

/** Envoy compiles them. */
export const GOOD = [
  "response.code >= 400",
  'request.headers["x-a"] == "b" && !(response.code in [200, 204])',
  "has(request.headers.host) ? true : false",
  "request.path.startsWith('/a') || request.url_path.matches('^/b+$')",
  "size(request.headers) > 3u",
  "request.duration > duration('1s')",
  "-1 < 2 && 1 - -1 == 2.5e1",
  "a.for.b",
  "{'a': 1}['a'] == 1",
  "connection.mtls // a comment",
  "r'\\d' + \"\\\"\" == ''",
];

/** Envoy refuses them. */
export const BAD = [
  "",
  "response.code >=",
  "response.code => 400",
  "(response.code",
  "response..code",
  "a b",
  "request.headers['a]",
  "noSuchFunction(1)",
  "for.b",
  "[1, 2].exists(x, x == 1)",
  "string(1)",
  "size()",
  "'a'.contains()",
  "a == 'b' &&",
  "x ? 1",
  "has(request.headers['x-a'])",
  "has(a)",
];
