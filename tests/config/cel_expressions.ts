/**
 * Texts with and without the form of CEL expressions.
 * @module
 */

/** Texts compiled by Envoy. */
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
  "request.headers['x'].matches(r'^\\d+(?i:a)$') || request.path.matches('\\\\d')",
  "request.path.matches('a' + request.method)",
  "9223372036854775807 > -9223372036854775808 && 0x7f < 18446744073709551615u",
  "'\\x41\\u0041\\101\\n' != ''",
];

/** Texts refused by Envoy. */
export const BAD = [
  "",
  "response.code >=",
  "request.path.matches('(')",
  "request.path.matches(r'a(?=b)')",
  "9223372036854775808 > 1",
  "-9223372036854775809 > 1",
  "0xFFFFFFFFFFFFFFFFFF > 1",
  "18446744073709551616u > 1u",
  "'\\q' == 'a'",
  "'\\x4' == 'a'",
  "\"\\u12\" == 'a'",
  "'\\400' == 'a'",
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
